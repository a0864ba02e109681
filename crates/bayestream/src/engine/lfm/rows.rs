//! Rows as the engines see them: framed, column by column, with a note of what is missing where.

/// A column with missing cells.
#[derive(Clone, Debug)]
pub struct Holes {
    /// Which column.
    pub column: usize,
    /// 1 where a cell is there, 0 where it is missing.
    pub observed: Vec<f64>,
    /// The rows of whichever are fewer, those that are missing or those that are there.
    pub listed: Vec<u32>,
    /// True when `listed` has the missing ones.
    pub lists_missing: bool,
}

/// Rows column by column: whatever is summed over rows is contiguous. Missing cells are 0, so that sums pass over them.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// Rows.
    pub n: usize,
    /// Columns.
    pub d: usize,
    /// Cell of row n and column d at `d * self.n + n`.
    pub cells: Vec<f64>,
    /// A weight per row.
    pub weights: Vec<f64>,
    /// Sum of the weights.
    pub mass: f64,
    /// Mass of the rows in which a column is there.
    pub counts: Vec<f64>,
    /// Weighted sum of squares of each column.
    pub squares: Vec<f64>,
    /// The columns with missing cells.
    pub holes: Vec<Holes>,
    /// Cells that are there.
    pub n_cells: usize,
}

impl Rows {
    /// Takes framed rows, row by row, NaN where missing. Without weights each row counts as one.
    pub fn new(framed: &[f64], d: usize, weights: Option<&[f64]>) -> Rows {
        let n = framed.len() / d.max(1);
        let weights = weights.map_or_else(|| vec![1.0; n], <[f64]>::to_vec);
        let mut rows = Rows { n, d, mass: weights.iter().sum(), weights, ..Rows::default() };
        rows.cells.reserve(n * d);
        for j in 0..d {
            let column = || framed.iter().skip(j).step_by(d);
            rows.cells.extend(column().map(|v| if v.is_nan() { 0.0 } else { *v }));
            let n_missing = column().filter(|v| v.is_nan()).count();
            if n_missing > 0 {
                let lists_missing = 2 * n_missing <= n;
                let is_listed = |(i, v): (usize, &f64)| (v.is_nan() == lists_missing).then_some(i as u32);
                rows.holes.push(Holes {
                    column: j,
                    observed: column().map(|v| if v.is_nan() { 0.0 } else { 1.0 }).collect(),
                    listed: column().enumerate().filter_map(is_listed).collect(),
                    lists_missing,
                });
            }
            rows.n_cells += n - n_missing;
            rows.counts.push(column().zip(&rows.weights).filter(|(v, _)| !v.is_nan()).map(|(_, w)| w).sum());
            let weighted_square = |(v, w): (&f64, &f64)| v * v * w;
            rows.squares.push(rows.column(j).iter().zip(&rows.weights).map(weighted_square).sum());
        }
        rows
    }

    /// The cells of one column.
    pub fn column(&self, d: usize) -> &[f64] {
        &self.cells[d * self.n..][..self.n]
    }

    /// The columns with missing cells, as marks.
    pub fn is_complete(&self) -> Vec<bool> {
        let mut complete = vec![true; self.d];
        self.holes.iter().for_each(|h| complete[h.column] = false);
        complete
    }
}
