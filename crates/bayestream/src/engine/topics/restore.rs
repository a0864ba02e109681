//! What a file must satisfy.

use super::master::Master;
use super::{HELD, MmHdp, TopicSettings};
use crate::num::TOPIC_LANES;
use crate::structure::ComponentId;

impl MmHdp {
    /// What is wrong with a learner that was read from a file, if anything is.
    pub(super) fn check(&self, n_words: usize) -> Result<(), String> {
        if let Some(fault) = self.settings.fault() {
            return Err(fault);
        }
        self.held.check().map_err(|error| error.to_string())?;
        let held = self.held.documents();
        if held.largest_word().is_some_and(|word| word as usize >= n_words) {
            return Err("a held document has a word without a number".into());
        }
        if !self.scores.is_sound() || !self.history.is_sound() {
            return Err("log-scores or history are not sound".into());
        }
        let ids = self.master.iter().flat_map(|master| &master.ids);
        if ids.filter(|id| id.shard == self.shard).any(|id| id.serial >= self.next_serial) {
            return Err("a topic has an id that was not given yet".into());
        }
        match &self.master {
            None if held.len() >= HELD || self.n_seen != held.len() as u64 => {
                Err(format!("{} documents are held of {} seen", held.len(), self.n_seen))
            }
            Some(_) if !held.is_empty() => Err("documents are held although there is a model".into()),
            Some(master) if master.n_learnt > self.n_seen || master.n_untold > master.n_learnt => {
                Err(format!("{} documents learnt of {} seen", master.n_learnt, self.n_seen))
            }
            Some(master) => master.check(&self.settings, n_words),
            None => Ok(()),
        }
    }
}

impl Master {
    fn check(&self, settings: &TopicSettings, n_words: usize) -> Result<(), String> {
        let stride = settings.max_topics.next_multiple_of(TOPIC_LANES);
        let slots = [&self.scale, &self.precision, &self.unseen].map(Vec::len);
        let counts = [self.documents.len(), self.words.len(), self.untold.len(), self.opened.len()];
        if self.stride != stride || slots.iter().chain(&counts).any(|n| *n != stride) {
            return Err("slots of topics do not agree with max_topics".into());
        }
        if self.k > settings.max_topics || self.ids.len() != self.k {
            return Err(format!("{} topics with {} ids", self.k, self.ids.len()));
        }
        if !self.rows.len().is_multiple_of(stride) || self.n_rows() > n_words {
            return Err(format!("rows for {} words of {n_words}", self.rows.len() / stride));
        }
        let count = |x: &f64| x.is_finite() && (-1.0..=1e18).contains(x);
        if self.frequency.len() != self.n_rows() || !self.frequency.iter().all(|n| count(n) && *n >= 0.0) {
            return Err("words do not agree with their frequencies".into());
        }
        let mut ids: Vec<ComponentId> = self.ids.clone();
        ids.sort_unstable();
        if ids.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err("two topics have one id".into());
        }
        if !(2.0..=1e12).contains(&self.prior_words) {
            return Err(format!("a vocabulary of {} words", self.prior_words));
        }
        // Padded slots take part in the arithmetic with weight zero: they must be numbers too.
        let in_range = |x: &f32, low: f32, high: f32| (low..=high).contains(x);
        if !self.scale.iter().all(|x| in_range(x, 1e-20, 1e20))
            || !self.precision.iter().all(|x| in_range(x, 0.5, 1e20))
            || !self.unseen.iter().chain(&self.rows).all(|x| in_range(x, 0.0, 1e20))
        {
            return Err("a topic has a number out of range".into());
        }
        let n_slots = self.n_slots(settings);
        if self.unseen[..n_slots].contains(&0.0)
            || self.rows.chunks_exact(stride).any(|row| row[..n_slots].contains(&0.0))
        {
            return Err("a word is impossible in a topic".into());
        }
        if ![&self.documents, &self.words, &self.untold].iter().all(|slots| slots.iter().all(count)) {
            return Err("a topic's counts are out of range".into());
        }
        if self.opened.iter().any(|at| *at > self.n_learnt) {
            return Err("a topic began after the last document".into());
        }
        Ok(())
    }
}
