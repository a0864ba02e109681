//! What a file must satisfy.

use super::master::Master;
use super::{Method, SviTopics};
use crate::num::TOPIC_LANES;
use crate::structure::ComponentId;

impl SviTopics {
    /// What is wrong with a learner that was read from a file, if anything is.
    pub(super) fn check(&self, n_words: usize) -> Result<(), String> {
        let settings = &self.plan.settings;
        if let Some(fault) = settings.fault() {
            return Err(fault);
        }
        self.held.check().map_err(|error| error.to_string())?;
        let held = self.held.documents();
        if held.largest_word().is_some_and(|word| word as usize >= n_words) {
            return Err("a held document has a word without a number".into());
        }
        if held.len() >= settings.batch_size || held.iter().any(|(words, _)| words.is_empty()) {
            return Err("documents are held that should have been learnt or have no words".into());
        }
        if self.master.n_learnt.saturating_add(held.len() as u64) > self.n_seen {
            return Err(format!("{} documents learnt of {} seen", self.master.n_learnt, self.n_seen));
        }
        if !self.scores.is_sound() || !self.history.is_sound() {
            return Err("log-scores or history are not sound".into());
        }
        self.readout.check(n_words)?;
        let k = self.master.k();
        let (least, most) = match self.plan.method {
            Method::Variational | Method::Gibbs => (settings.n_topics, settings.n_topics),
            Method::Growing => (settings.n_topics, settings.max_topics.max(settings.n_topics)),
        };
        if !(least..=most).contains(&k) {
            return Err(format!("{k} topics, and {least} to {most} may be"));
        }
        self.master.check(n_words)
    }
}

impl Master {
    fn check(&self, n_words: usize) -> Result<(), String> {
        let k = self.k();
        if self.stride != k.max(1).next_multiple_of(TOPIC_LANES)
            || [&self.totals, &self.tables].iter().any(|v| v.len() != k)
        {
            return Err("topics do not agree with each other in number".into());
        }
        if !self.rows.len().is_multiple_of(self.stride) || self.n_words() > n_words {
            return Err(format!("rows for {} words of {n_words}", self.n_words()));
        }
        if (self.n_steps == 0) != (self.n_learnt == 0) || self.n_steps > self.n_learnt {
            return Err(format!("{} mini-batches of {} documents", self.n_steps, self.n_learnt));
        }
        let mut ids: Vec<ComponentId> = self.ids.clone();
        ids.sort_unstable();
        if ids.windows(2).any(|pair| pair[0] == pair[1]) || ids.iter().any(|id| id.serial >= self.next_serial) {
            return Err("topics have ids of others, or ids that were not given yet".into());
        }
        let count = |x: &f64| (0.0..=1e18).contains(x);
        let padded =
            |row: &[f32]| row[..k].iter().all(|s| (0.0..=1e30).contains(s)) && row[k..].iter().all(|s| *s == 0.0);
        if !(1e-12..=1.0).contains(&self.scale)
            || !self.totals.iter().chain(&self.tables).all(count)
            || !self.rows.chunks_exact(self.stride).all(padded)
        {
            return Err("a topic has a number out of range".into());
        }
        Ok(())
    }
}
