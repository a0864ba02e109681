//! Online topic models with step sizes: a mini-batch is explained by the topics there are (the local step), and topics move
//! towards what would explain the whole stream if it were all like this mini-batch (the global step).
//!
//! The model: φ_z ~ Dirichlet(η); per document θ ~ Dirichlet(α), or a Dirichlet process over topics that all documents
//! share; per word z ~ θ, word ~ φ_z. The posterior of φ_z is Dirichlet(λ_z).
//!
//! The loop, per mini-batch B of step t: ŝ_zw, how often topic z explains word w, by the local step;
//! λ ← (1−ρ_t) λ + ρ_t (η + D/|B| ŝ) with ρ_t = (τ₀ + t)^−κ.
//!
//! Documents wait until there are enough for a mini-batch, so that it does not matter in which portions they come. Looks
//! learn those that wait on a copy, with a step as much smaller as they are fewer.
//!
//! | kind | local step |
//! |---|---|
//! | `topics/svi-lda` | `variational`: mean-field (Hoffman, Bach and Blei 2010; Hoffman et al. 2013) |
//! | `topics/splda` | `gibbs`: collapsed Gibbs sampling (Mimno, Hoffman and Blei 2012) |
//! | `topics/tfhdp` | `growing`: the same with new topics, whose shares are sticks (Wang and Blei 2012) |
//!
//! Beside these: `batch` (a mini-batch laid out), `master` (statistics and the global step), `step` (one mini-batch from
//! beginning to end), `export` (what others see), `restore` (what a file must satisfy).

mod batch;
mod export;
mod gibbs;
mod growing;
#[cfg(test)]
mod laws;
mod master;
mod restore;
mod settings;
mod step;
mod variational;

pub use super::topics::AllTopics;
pub use settings::SviSettings;
pub use step::Method;

use super::parts::ScoreTrack;
use super::readout::Readout;
use super::{DocumentLearner, StepReport};
use crate::data::{DocumentBuffer, Documents};
use crate::structure::{DocumentScores, Event, EventLog, Happening, LogScore, Topic, TopicHistory};
use export::View;
use master::Master;
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;
use step::Plan;

/// Online topic models with step sizes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SviTopics {
    plan: Plan,
    n_seen: u64,
    /// Documents that wait for the rest of their mini-batch.
    held: DocumentBuffer,
    master: Master,
    readout: Readout,
    history: TopicHistory,
    events: EventLog,
    scores: ScoreTrack,
    #[serde(skip)]
    view: OnceLock<View>,
}

impl SviTopics {
    /// A learner that has seen nothing; the settings must be without [fault](SviSettings::fault).
    pub fn new(method: Method, settings: &SviSettings, seed: u64, shard: u32) -> SviTopics {
        SviTopics {
            n_seen: 0,
            held: DocumentBuffer::new(),
            master: Master::new(settings.n_topics, shard),
            readout: Readout::new(settings.keep, settings.cost, seed, shard),
            history: TopicHistory::default(),
            events: EventLog::default(),
            scores: ScoreTrack::default(),
            view: OnceLock::new(),
            plan: Plan { method, settings: settings.clone(), seed, shard },
        }
    }

    /// How the topics of a document's words are found.
    pub fn method(&self) -> Method {
        self.plan.method
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &SviSettings {
        &self.plan.settings
    }

    /// Learns the mini-batch that is complete.
    fn learn(&mut self, report: &mut StepReport) {
        let held = std::mem::take(&mut self.held);
        let outcome = self.plan.step(&mut self.master, held.documents(), 1.0);
        for (log_probability, n_words) in outcome.foretold {
            self.scores.push_words(log_probability, n_words);
            report.log_score += log_probability;
            report.n_scored += n_words as usize;
        }
        self.history.add(held.len() as u64, outcome.words.into_iter().filter(|(_, n)| *n > 0.0));
        self.history.retain(|id| !outcome.died.contains(&id));
        let row = self.master.n_learnt;
        let born = outcome.born.into_iter().map(|id| (id, Happening::Born));
        let died = outcome.died.into_iter().map(|id| (id, Happening::Died));
        born.chain(died).for_each(|(component, what)| self.events.push(Event { row, component, what }));
    }
}

impl DocumentLearner for SviTopics {
    fn update(&mut self, documents: &Documents<'_>, _n_words: usize) -> StepReport {
        let mut report = StepReport { n_rows: documents.len(), ..StepReport::default() };
        self.view = OnceLock::new();
        for document in 0..documents.len() {
            self.n_seen += 1;
            if documents.get(document).0.is_empty() {
                self.readout.meet(documents.labels(document));
                continue;
            }
            self.readout.see(documents, document);
            self.held.push_from(documents, document);
            if self.held.len() >= self.plan.settings.batch_size {
                self.learn(&mut report);
            }
        }
        report.k_implemented = self.k_implemented();
        report.n_events = self.events.n_total();
        report
    }

    fn forget_words(&mut self, words: &[u32]) {
        self.view = OnceLock::new();
        let mut gone = words.to_vec();
        gone.sort_unstable();
        let kept = |word: u32| gone.binary_search(&word).is_err().then_some(word);
        gone.iter().for_each(|word| self.master.forget(*word));
        self.readout.renumber(kept);
        let without = self.held.renumbered(kept);
        self.held.clear();
        let documents = without.documents();
        // A document may have had nothing but such words.
        let told = (0..documents.len()).filter(|document| !documents.get(*document).0.is_empty());
        told.for_each(|document| self.held.push_from(&documents, document));
    }

    fn topics(&self) -> Vec<Topic> {
        self.view().topics.clone()
    }

    fn history(&self) -> &TopicHistory {
        &self.history
    }

    fn score(&self, documents: &Documents<'_>) -> DocumentScores {
        self.scored(documents)
    }

    fn tells_several(&self) -> bool {
        self.readout.has_several()
    }

    fn n_seen(&self) -> u64 {
        self.n_seen
    }

    fn k_implemented(&self) -> usize {
        if self.master.n_steps > 0 { self.master.k() } else { 0 }
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
