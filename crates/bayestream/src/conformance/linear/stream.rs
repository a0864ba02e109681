//! Labelled rows and documents to check with, whose truth is known.

use super::subject::Setup;
use crate::conformance::stream::SEED;
use crate::num::stream;
use crate::text::RawDocument;

/// Columns of the rows.
pub(super) const N_COLUMNS: usize = 4;
/// Labels, in the order of the alphabet.
pub(super) const LABELS: [&str; 3] = ["amber", "blue", "coral"];
/// Words of each label, and words of all.
const OF_LABEL: usize = 30;

/// Rows or documents with what they are told.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub(super) cells: Vec<f64>,
    pub(super) documents: Vec<RawDocument>,
    pub(super) labels: Vec<Vec<String>>,
}

/// Every word there is, for models with a given list.
pub(super) fn words() -> Vec<String> {
    let own = LABELS.iter().flat_map(|label| (0..OF_LABEL).map(move |at| format!("{label}{at}")));
    own.chain((0..OF_LABEL).map(|at| format!("common{at}"))).collect()
}

/// A document of these words.
pub(super) fn of_words(words: &[&str]) -> RawDocument {
    RawDocument::Tokens(words.iter().map(ToString::to_string).collect())
}

/// Rows from number `first` on: each has its own random numbers, so that any part of the stream can be had alone.
pub(super) fn sample(setup: Setup, seed: u64, first: u64, n: usize) -> Sample {
    let mut all = Sample { cells: Vec::new(), documents: Vec::new(), labels: Vec::new() };
    for row in first..first + n as u64 {
        let mut rng = stream(SEED + seed, 77, row);
        let (theme, second) = (rng.below(3), rng.below(3));
        // Columns of very different sizes; each label pulls one of them, the last is noise.
        let mut cells: Vec<f64> = (0..N_COLUMNS).map(|_| rng.normal()).collect();
        cells[theme] += 5.0;
        if setup == Setup::Several {
            cells[second] += if second == theme { 0.0 } else { 5.0 };
        }
        let number = 200.0 + 30.0 * cells[0] - 10.0 * cells[1] + rng.normal();
        let scaled = [1000.0 + 3.0 * cells[0], 0.01 * cells[1], cells[2], 50.0 * cells[3]];
        all.cells.extend(scaled);
        let mut tokens = Vec::new();
        for at in 0..24 {
            let theme = if setup == Setup::Several && at % 2 == 1 { second } else { theme };
            tokens.push(match rng.uniform() < 0.6 {
                true => format!("{}{}", LABELS[theme], rng.below(OF_LABEL)),
                false => format!("common{}", rng.below(OF_LABEL)),
            });
        }
        all.documents.push(RawDocument::Tokens(tokens));
        all.labels.push(match setup {
            Setup::Number => vec![number.to_string()],
            Setup::Several if second != theme => vec![LABELS[theme].to_string(), LABELS[second].to_string()],
            _ => vec![LABELS[theme].to_string()],
        });
    }
    all
}

impl Sample {
    /// How many rows.
    pub(super) fn len(&self) -> usize {
        self.labels.len()
    }

    /// Some of the rows.
    pub(super) fn part(&self, from: usize, to: usize) -> Sample {
        Sample {
            cells: self.cells[from * N_COLUMNS..to * N_COLUMNS].to_vec(),
            documents: self.documents[from..to].to_vec(),
            labels: self.labels[from..to].to_vec(),
        }
    }

    /// The rows whose numbers are such.
    pub(super) fn only(&self, keep: impl Fn(usize) -> bool) -> Sample {
        let kept = (0..self.len()).filter(|at| keep(*at)).map(|at| self.part(at, at + 1));
        kept.fold(self.part(0, 0), |mut all, one| {
            all.cells.extend(one.cells);
            all.documents.extend(one.documents);
            all.labels.extend(one.labels);
            all
        })
    }
}
