//! What a file must satisfy.

use super::space::Space;
use super::task::{Task, Weights};
use super::{MedSettings, MedTopics, Mode, Sharing};
use crate::num;

impl MedTopics {
    /// What is wrong with a learner that was read from a file, if anything is.
    pub(super) fn check(&self, n_words: usize) -> Result<(), String> {
        if let Some(fault) = self.settings.fault() {
            return Err(fault);
        }
        self.held.check().map_err(|error| error.to_string())?;
        let held = self.held.documents();
        if held.largest_word().is_some_and(|word| word as usize >= n_words) || self.n_words > n_words {
            return Err("a document has a word without a number".into());
        }
        let most = match self.settings.mode {
            Mode::Online => self.settings.minibatch as u64 - 1,
            Mode::Batch => u64::MAX,
        };
        if held.len() as u64 > most.min(self.n_seen) || self.is_fitted && self.settings.mode == Mode::Online {
            return Err(format!("{} documents are held of {} seen", held.len(), self.n_seen));
        }
        if !self.scores.is_sound() || !self.history.is_sound() {
            return Err("log-scores or history are not sound".into());
        }
        if let Some(readout) = &self.readout {
            readout.check(n_words)?;
        }
        if self.readout.is_some() != (self.settings.keep > 0) {
            return Err("documents are kept against the settings".into());
        }
        if self.labels.each.len() > 10_000 || self.labels.each.iter().any(|n| *n > self.labels.n_labelled) {
            return Err("labels are not counted soundly".into());
        }
        if self.settings.sharing == Sharing::Shared && self.spaces.len() > 1 || self.spaces.len() > 10_000 {
            return Err(format!("{} sets of topics", self.spaces.len()));
        }
        for (number, space) in self.spaces.iter().enumerate() {
            if space.number as usize != number {
                return Err("sets of topics are out of order".into());
            }
            space.check(&self.settings, n_words, &self.labels.each)?;
        }
        Ok(())
    }
}

impl MedTopics {
    /// What is wrong with its labels, given how many there are.
    pub fn check_labels(&self, n_labels: usize) -> Result<(), String> {
        let held = self.held.documents();
        let largest = (0..held.len()).filter_map(|document| held.labels(document).last()).max();
        let kept = self.readout.as_ref().map_or(0, |readout| readout.n_labels());
        if largest.is_some_and(|label| *label as usize >= n_labels) || self.labels.each.len().max(kept) > n_labels {
            return Err("a document has a label without a name".into());
        }
        Ok(())
    }
}

impl Space {
    fn check(&self, settings: &MedSettings, n_words: usize, labels: &[u64]) -> Result<(), String> {
        let (k, stride) = (self.k, self.stride);
        if stride != k.next_multiple_of(num::SWEEP_LANES) || k >= 1 << 16 || self.totals.len() != stride {
            return Err(format!("{k} topics in rows of {stride}"));
        }
        let named = |tag: &Option<u32>| tag.is_none_or(|label| (label as usize) < labels.len());
        if self.tags.len() != k || self.told.len() > stride || !self.tags.iter().all(named) {
            return Err("topics without a place".into());
        }
        if stride > 0 && (!self.sums.len().is_multiple_of(stride) || self.n_words() > n_words)
            || stride == 0 && !self.sums.is_empty()
        {
            return Err(format!("rows for {} words of {n_words}", self.n_words()));
        }
        let mut totals = vec![0i64; stride];
        for row in self.sums.chunks_exact(stride.max(1)) {
            if row.iter().any(|n| *n < 0) || row[k..].iter().any(|n| *n != 0) {
                return Err("a word is counted less than never".into());
            }
            totals.iter_mut().zip(row).for_each(|(total, n)| *total += i64::from(*n));
        }
        // A count that reached its limit stays there while its sum goes on.
        if totals.iter().zip(&self.totals).any(|(sum, total)| total < sum || *total > 1 << 60) {
            return Err("words of a topic do not add up".into());
        }
        if let Some(sticks) = &self.sticks {
            let sound = |n: &f64| n.is_finite() && (0.0..1e18).contains(n);
            if sticks.tables.len() != k || !sticks.tables.iter().all(sound) {
                return Err("tables of topics are out of range".into());
            }
        }
        if self.sticks.is_some() != (settings.size == super::Size::Open) {
            return Err("the number of topics is neither given nor open".into());
        }
        self.tasks.iter().try_for_each(|task| task.check(k, settings, labels))
    }
}

impl Task {
    fn check(&self, k: usize, settings: &MedSettings, labels: &[u64]) -> Result<(), String> {
        let d = k + 1;
        let number = |x: &f64| x.is_finite() && x.abs() < 1e100;
        let sound = match &self.weights {
            Weights::Gibbs { precision, shift } => {
                let mut factor = precision.clone();
                settings.classifier == super::Classifier::Gibbs
                    && precision.len() == d * d
                    && shift.len() == d
                    && precision.iter().chain(shift).all(number)
                    && num::cholesky(&mut factor, d).is_ok()
            }
            Weights::Averaging { mean, sum, n } => {
                settings.classifier == super::Classifier::Averaging
                    && mean.len() == d
                    && sum.len() == d
                    && *n < 1 << 60
                    && mean.iter().chain(sum).all(number)
            }
        };
        if !sound || self.label as usize >= labels.len() {
            return Err("the weights of a label are not sound".into());
        }
        let share = |x: &f64| x.is_finite() && *x >= 0.0;
        let milestone = |m: &super::task::Milestone| {
            m.shares.len() <= k
                && m.shares.iter().all(|x| x.is_finite() && *x >= 0.0)
                && m.n_documents <= self.n_documents
        };
        let in_order = self.milestones.windows(2).all(|pair| pair[0].n_documents <= pair[1].n_documents);
        if self.shares.len() != k
            || !self.shares.iter().all(share)
            || self.milestones.len() > 64
            || !self.milestones.iter().all(milestone)
            || !in_order
        {
            return Err("the course of a label is not sound".into());
        }
        Ok(())
    }
}
