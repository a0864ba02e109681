//! Topics of a stream of documents, in one pass, with their number unknown: moment matching under a hierarchical Dirichlet
//! process (MM-HDP).
//!
//! A document's words are learnt one by one, in random order. A word w is explained by topic z with
//! p_z ∝ ν_z φ_z(w), where ν are the document's weights so far. Then φ_z ← (1−r) φ_z + r e_w with r = p_z / (S_z + 1), and
//! S_z += p_z². This is the projection of (1−p) Dir(S φ) + p Dir(S φ + e_w) back to a Dirichlet, to first order: a word of
//! unclear origin moves the mean by its full share p, but makes the topic surer by p² only, so that topics stay soft while
//! it is unclear what is whose. There is no gamma function in it, and every loop runs over topics side by side.
//!
//! One slot is open: what no topic explains gathers there, and when it holds enough words it becomes a topic.
//!
//! | file | what is in it |
//! |---|---|
//! | `settings` | what can be set |
//! | `master` | the topics, and how a document moves them |
//! | `recycle` | births, and topics given up for new ones |
//! | `export` | the snapshot: topics that say the same as one |
//! | `score` | shares of topics in documents that are not learnt |
//! | `renumber` | words under other numbers |
//! | `merge` | learners of shards, combined |
//! | `restore` | what a file must satisfy |

mod export;
mod master;
mod merge;
mod recycle;
mod renumber;
mod restore;
mod score;
mod settings;
#[cfg(test)]
mod tests;

pub use export::AllTopics;
pub use settings::{HELD, RECYCLE_EVERY, TopicSettings};

use super::parts::ScoreTrack;
use super::{DocumentLearner, StepReport};
use crate::data::{DocumentBuffer, Documents};
use crate::num;
use crate::structure::{DocumentScores, EventLog, LogScore, Topic, TopicHistory};
use export::View;
use master::{Master, Scratch};
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// Moment-matched hierarchical Dirichlet process topics.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MmHdp {
    settings: TopicSettings,
    seed: u64,
    shard: u32,
    n_seen: u64,
    next_serial: u32,
    /// The first documents, until there are enough of them to begin.
    held: DocumentBuffer,
    master: Option<Master>,
    history: TopicHistory,
    events: EventLog,
    scores: ScoreTrack,
    #[serde(skip)]
    view: OnceLock<View>,
    #[serde(skip)]
    scratch: Scratch,
}

impl MmHdp {
    /// A learner that has seen nothing; the settings must be without [fault](TopicSettings::fault).
    pub fn new(settings: &TopicSettings, seed: u64, shard: u32) -> MmHdp {
        MmHdp {
            settings: settings.clone(),
            seed,
            shard,
            n_seen: 0,
            next_serial: 0,
            held: DocumentBuffer::new(),
            master: None,
            history: TopicHistory::default(),
            events: EventLog::default(),
            scores: ScoreTrack::default(),
            view: OnceLock::new(),
            scratch: Scratch::default(),
        }
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &TopicSettings {
        &self.settings
    }

    /// Words that a new topic thinks there are; none before enough documents have come to tell.
    pub fn prior_words(&self) -> Option<f64> {
        self.master.as_ref().map(|master| master.prior_words)
    }

    /// Chooses the scale of the vocabulary by the held documents, and learns them.
    fn begin(&mut self, report: &mut StepReport) {
        let held = std::mem::take(&mut self.held);
        let documents = held.documents();
        let prior_words = self.settings.prior_words.unwrap_or_else(|| prior_words(&documents));
        self.master = Some(Master::new(&self.settings, prior_words));
        for document in documents.iter() {
            self.learn(document, report);
        }
    }

    fn learn(&mut self, document: (&[u32], &[u32]), report: &mut StepReport) {
        let Some(master) = &mut self.master else { return };
        let mut rng = num::stream(self.seed, u64::from(self.shard), master.n_learnt);
        let (worth, born) = master.learn(&self.settings, document, &mut rng, &mut self.scratch);
        let (n_learnt, n_untold) = (master.n_learnt, master.n_untold);
        self.scores.push_words(worth.log_probability, worth.n_words);
        report.log_score += worth.log_probability;
        report.n_scored += worth.n_words as usize;
        if born {
            self.give_birth();
        }
        if n_untold >= TopicHistory::TOLD_EVERY {
            self.tell_history();
        }
        if n_learnt.is_multiple_of(RECYCLE_EVERY) {
            self.recycle();
        }
    }

    /// This learner as if the held documents had been enough; none if it has begun.
    fn begun(&self) -> Option<MmHdp> {
        self.master.is_none().then(|| {
            let mut begun = self.clone();
            begun.begin(&mut StepReport::default());
            begun
        })
    }
}

/// How many words there are, those not met included, by how many of those met occur in one document only and in two
/// (Chao's estimate from incidence).
fn prior_words(documents: &Documents<'_>) -> f64 {
    let mut words: Vec<u32> = documents.iter().flat_map(|(words, _)| words.iter().copied()).collect();
    words.sort_unstable();
    let (mut met, mut once, mut twice) = (0.0, 0.0, 0.0);
    for run in words.chunk_by(|a, b| a == b) {
        met += 1.0;
        once += f64::from(u8::from(run.len() == 1));
        twice += f64::from(u8::from(run.len() == 2));
    }
    (met + once * (once - 1.0).max(0.0) / (2.0 * (twice + 1.0))).max(2.0)
}

impl DocumentLearner for MmHdp {
    fn update(&mut self, documents: &Documents<'_>, _n_words: usize) -> StepReport {
        let mut report = StepReport { n_rows: documents.len(), ..StepReport::default() };
        self.view = OnceLock::new();
        for (words, counts) in documents.iter() {
            self.n_seen += 1;
            if self.master.is_some() {
                self.learn((words, counts), &mut report);
                continue;
            }
            self.held.push_counts(words.iter().copied().zip(counts.iter().copied()).collect());
            if self.held.documents().len() >= HELD {
                self.begin(&mut report);
            }
        }
        report.k_implemented = self.k_implemented();
        report.n_events = self.events.n_total();
        report
    }

    fn forget_words(&mut self, words: &[u32]) {
        self.view = OnceLock::new();
        if let Some(master) = &mut self.master {
            words.iter().for_each(|word| master.forget(&self.settings, *word));
            return;
        }
        self.held = self.held.renumbered(|word| (!words.contains(&word)).then_some(word));
    }

    fn topics(&self) -> Vec<Topic> {
        self.view().topics.clone()
    }

    fn history(&self) -> &TopicHistory {
        &self.history
    }

    fn score(&self, documents: &Documents<'_>) -> DocumentScores {
        self.view().score(&self.settings, self.master.as_ref(), documents)
    }

    fn n_seen(&self) -> u64 {
        self.n_seen
    }

    fn k_implemented(&self) -> usize {
        self.master.as_ref().map_or(0, |master| master.k)
    }

    fn events(&self) -> &EventLog {
        &self.events
    }

    fn log_score(&self) -> LogScore {
        self.scores.report()
    }

    fn restore(&mut self, n_words: usize) -> Result<(), String> {
        self.check(n_words)
    }
}
