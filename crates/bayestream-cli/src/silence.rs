//! Columns that fall silent: a sensor that stops to report has nothing to be surprised at, so it is watched apart.

/// A run of missing cells is told when chance would have made it once in this many rows.
const ROWS_PER_FALSE_NOTE: f64 = 1e6;
/// No shorter run is told, however seldom cells were missing before.
const SHORTEST: f64 = 25.0;
/// Cells seen before anything is said of a column: before, nobody knows how often it is missing.
const LEAST_SEEN: u64 = 50;

/// Something to say of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// It has had no value since a row.
    Silent {
        /// The column, from zero.
        column: usize,
        /// The first row without a value.
        since: u64,
    },
    /// It was silent, and has values again.
    Back {
        /// The column, from zero.
        column: usize,
        /// The first row with a value.
        at: u64,
    },
}

/// What is known of one column.
#[derive(Clone, Debug, Default)]
struct Voice {
    n_present: u64,
    /// Missing cells in runs that have ended: the run that goes on must not excuse itself.
    n_missing: u64,
    run: u64,
    run_began: u64,
    is_told: bool,
}

/// Which columns have values.
#[derive(Clone, Debug)]
pub struct Silences(Vec<Voice>);

impl Silences {
    /// Nothing heard yet.
    pub fn new(n_columns: usize) -> Silences {
        Silences(vec![Voice::default(); n_columns])
    }

    /// Takes a row and says what is to be said after it.
    pub fn hear(&mut self, number: u64, row: &[f64]) -> Vec<Word> {
        let voices = self.0.iter_mut().zip(row).enumerate();
        voices.filter_map(|(column, (voice, cell))| voice.hear(column, number, cell.is_nan())).collect()
    }
}

impl Voice {
    fn hear(&mut self, column: usize, number: u64, is_missing: bool) -> Option<Word> {
        if !is_missing {
            self.n_present += 1;
            // What a dead column was missing says nothing of how it is when it lives.
            self.n_missing += if self.is_told { 0 } else { self.run };
            self.run = 0;
            return std::mem::take(&mut self.is_told).then_some(Word::Back { column, at: number });
        }
        if self.run == 0 {
            self.run_began = number;
        }
        self.run += 1;
        let is_long = self.n_present >= LEAST_SEEN && self.run as f64 >= self.longest_by_chance();
        if self.is_told || !is_long {
            return None;
        }
        self.is_told = true;
        Some(Word::Silent { column, since: self.run_began })
    }

    /// How long a run of missing cells chance makes at most.
    fn longest_by_chance(&self) -> f64 {
        let share = (self.n_missing as f64 + 1.0) / (self.n_missing + self.n_present + 2) as f64;
        (ROWS_PER_FALSE_NOTE.ln() / -share.ln()).max(SHORTEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(cells: impl Iterator<Item = f64>) -> Vec<Word> {
        let mut silences = Silences::new(2);
        (1..).zip(cells).flat_map(|(number, cell)| silences.hear(number, &[1.5, cell])).collect()
    }

    #[test]
    fn a_column_that_dies_and_comes_back_is_told_twice() {
        let cells = (1..=900).map(|row| if (301..=600).contains(&row) { f64::NAN } else { 2.5 });
        assert_eq!(words(cells), [Word::Silent { column: 1, since: 301 }, Word::Back { column: 1, at: 601 }]);
    }

    #[test]
    fn a_column_that_is_often_missing_is_not_told() {
        // Nine cells of ten are missing, in runs of nine and once of fifty.
        let cells = (1..=5000).map(|row| if row % 10 == 0 && !(2001..2050).contains(&row) { 2.5 } else { f64::NAN });
        assert_eq!(words(cells), []);
        assert_eq!(words((0..500).map(|_| f64::NAN)), []);
    }
}
