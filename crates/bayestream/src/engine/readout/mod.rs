//! Labels told by a linear machine on top of the topics, for learners that do not look at labels themselves: some of the
//! labelled documents are kept, and when labels are asked for, a linear support vector machine learns them from the kept
//! documents' shares of topics as the topics are then.

mod reservoir;
mod svm;

pub use reservoir::Reservoir;
pub use svm::{Features, LinearMachine, SvmSettings};

use crate::data::Documents;
use serde::{Deserialize, Serialize};

/// Labels that a file may name: a bound for what a damaged file asks for.
const MOST_LABELS: u32 = 10_000;

/// Labelled documents, and how labels are learnt from them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Readout {
    reservoir: Reservoir,
    cost: f64,
    seed: u64,
    n_labels: u32,
    /// True once a document had several labels.
    has_several: bool,
}

/// A linear machine for each label.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    machines: Vec<LinearMachine>,
}

impl Readout {
    /// Keeps at most `keep` documents; `cost` is C of the machines.
    pub fn new(keep: usize, cost: f64, seed: u64, shard: u32) -> Readout {
        Readout { reservoir: Reservoir::new(keep, seed, shard), cost, seed, n_labels: 0, has_several: false }
    }

    /// Takes note of a document; one without labels says nothing here.
    pub fn see(&mut self, documents: &Documents<'_>, document: usize) {
        if self.meet(documents.labels(document)) {
            self.reservoir.see(documents, document);
        }
    }

    /// Takes note of labels alone, in ascending order: those of a document without words are labels too. False when there
    /// are none.
    pub fn meet(&mut self, labels: &[u32]) -> bool {
        let Some(largest) = labels.last() else { return false };
        self.n_labels = self.n_labels.max(largest + 1);
        self.has_several |= labels.len() > 1;
        true
    }

    /// Labels met so far: one more than the largest number.
    pub fn n_labels(&self) -> usize {
        self.n_labels as usize
    }

    /// True when documents have several labels: all with a positive margin are told.
    pub fn has_several(&self) -> bool {
        self.has_several
    }

    /// The documents kept.
    pub fn reservoir(&self) -> &Reservoir {
        &self.reservoir
    }

    /// Learns `n_labels` labels from the documents kept. `features` gives the same number of features for each document, one
    /// document after the other, and must not look at labels.
    pub fn fit(&self, features: impl Fn(&Documents<'_>) -> Vec<f32>, n_labels: usize) -> Weights {
        let kept = self.reservoir.documents();
        let documents = kept.documents();
        let rows = features(&documents);
        let n_features = rows.len() / documents.len().max(1);
        let rows: Vec<&[f32]> = match n_features {
            0 => vec![&[]; documents.len()],
            n => rows.chunks_exact(n).collect(),
        };
        // A rare label would rather not be told at all, were its documents not to count more.
        let settings = SvmSettings { cost: self.cost, balanced: self.has_several, seed: self.seed };
        let machine = |label: usize| {
            let has = |document: usize| documents.labels(document).binary_search(&(label as u32)).is_ok();
            let is_in: Vec<bool> = (0..documents.len()).map(has).collect();
            LinearMachine::learn(&rows, &is_in, n_features, &settings)
        };
        Weights { machines: (0..n_labels).map(machine).collect() }
    }

    /// Words under other numbers; a word without a number is let go.
    pub fn renumber(&mut self, number: impl Fn(u32) -> Option<u32>) {
        self.reservoir.renumber(number);
    }

    /// A copy with other numbers for words and labels; a word without a number is let go.
    pub fn relabelled(&self, number: impl Fn(u32) -> Option<u32>, labels: &[u32]) -> Readout {
        let mut copy = self.clone();
        copy.reservoir.renumber(number);
        copy.reservoir.relabel(labels);
        copy.n_labels = labels.iter().take(self.n_labels as usize).max().map_or(0, |label| label + 1);
        copy
    }

    /// The readout of all documents that two have seen. Words and labels of both must have the same numbers.
    pub fn merged(&self, other: &Readout) -> Readout {
        Readout {
            reservoir: self.reservoir.merged(&other.reservoir),
            n_labels: self.n_labels.max(other.n_labels),
            has_several: self.has_several || other.has_several,
            ..self.clone()
        }
    }

    /// What is wrong with a readout that was read from a file.
    pub fn check(&self, n_words: usize) -> Result<(), String> {
        if !(self.cost > 0.0 && self.cost.is_finite()) || self.n_labels > MOST_LABELS {
            return Err("labels are out of range".into());
        }
        self.reservoir.check(n_words, self.n_labels)
    }
}

impl Weights {
    /// How many labels.
    pub fn n_labels(&self) -> usize {
        self.machines.len()
    }

    /// Adds the margin of each label for a document with these features.
    pub fn margins(&self, features: &[f32], into: &mut Vec<f32>) {
        into.extend(self.machines.iter().map(|machine| machine.decide(features) as f32));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::DocumentBuffer;

    #[test]
    fn labels_are_read_from_features() {
        let mut buffer = DocumentBuffer::new();
        for at in 0..90u32 {
            buffer.push_tokens([at % 3, 3 + at % 2]);
            buffer.label(at as usize, if at % 10 == 9 { vec![] } else { vec![at % 3, 5] });
        }
        let documents = buffer.documents();
        let mut readout = Readout::new(60, 1.0, 3, 0);
        (0..90).for_each(|document| readout.see(&documents, document));
        assert_eq!((readout.n_labels(), readout.reservoir().len()), (6, 60));
        let features = |documents: &Documents<'_>| {
            let one = |(words, _): (&[u32], &[u32])| (0..5).map(|w| f32::from(u8::from(words.contains(&w)))).collect();
            documents.iter().flat_map(|document| -> Vec<f32> { one(document) }).collect()
        };
        let weights = readout.fit(features, readout.n_labels());
        for at in 0..90 {
            let mut margins = Vec::new();
            let own: Vec<f32> = features(&documents)[at * 5..at * 5 + 5].to_vec();
            weights.margins(&own, &mut margins);
            let best = (0..3).max_by(|a, b| margins[*a].total_cmp(&margins[*b]));
            assert_eq!(best, Some(at % 3));
            // Labels that none has, and the one that all have.
            assert!(margins[3] < 0.0 && margins[4] < 0.0 && margins[5] > 0.0);
        }
        readout.check(5).unwrap();
        assert!(readout.check(4).is_err());
    }

    #[test]
    fn no_documents_and_no_features_are_no_harm() {
        let readout = Readout::new(10, 1.0, 0, 0);
        let mut margins = Vec::new();
        readout.fit(|_| Vec::new(), 2).margins(&[], &mut margins);
        assert_eq!(margins, [0.0, 0.0]);
    }
}
