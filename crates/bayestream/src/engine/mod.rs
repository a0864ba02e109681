//! How a batch changes the state. One folder or file per engine; moves that engines share live in `parts`.

pub mod bayespa;
pub mod bmm;
pub mod dp;
pub mod fab;
pub mod lfm;
pub mod linear;
pub mod ofab;
pub mod ofab_paper;
pub mod parts;
pub mod readout;
mod ring_fit;
pub mod svi;
pub mod topics;
pub mod vb;

use crate::data::{Batch, Documents};
use crate::interrupt::{Interrupt, Interrupted};
use crate::model::Settings;
use crate::structure::{
    Component, DocumentScores, Evaluation, EventLog, FeatureSet, LabelSummary, LogScore, PooledSnapshot, Scorer, Topic,
    TopicHistory,
};

/// What an update did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Rows learnt from.
    pub n_rows: usize,
    /// Components in the master model afterwards.
    pub k_implemented: usize,
    /// Sum of the rows' log-densities before they were learnt from, in the data's own units.
    pub log_score: f64,
    /// Rows that sum is over: rows that arrive before there is a model are not scored.
    pub n_scored: usize,
    /// Covariances whose diagonal had to be raised to stay positive definite.
    pub n_repairs: u32,
    /// Events so far, over the whole stream.
    pub n_events: u64,
    /// True when an interrupt cut the update short: no row was learned, and the model is as it was before.
    pub is_interrupted: bool,
}

/// A learner lives on a stream. Rows given to it have passed [`Batch`]'s checks and have its number of columns.
pub trait Learner {
    /// Learns from a batch.
    fn update(&mut self, batch: &Batch<'_>) -> StepReport;

    /// Long steps of later updates ask this whether to stop. What is left after that is of no use.
    fn heed(&mut self, _interrupt: &Interrupt) {}

    /// True once it was told to stop.
    fn is_interrupted(&self) -> bool {
        false
    }

    /// True when learning so many rows takes a step that asks.
    fn asks_within(&self, _n_rows: usize) -> bool {
        false
    }

    /// Ends a pass: batch engines fit now, streaming engines have nothing left to do. After an interrupt it is as before.
    fn finish_unless(&mut self, _interrupt: &Interrupt) -> Result<(), Interrupted> {
        Ok(())
    }

    /// The same to the end.
    fn finish(&mut self) {
        let finished = self.finish_unless(&Interrupt::default());
        debug_assert!(finished.is_ok(), "nothing interrupts it");
    }

    /// Makes the first model now, of the rows there are, where it was to wait for more; what there is otherwise stays.
    fn begin_early(&mut self) {}

    /// Rows after which the first model is made, so that the next are scored before they are learnt; none for engines that
    /// fit at the end and score no row before.
    fn scores_after(&self) -> Option<u64>;

    /// The components of a snapshot, by decreasing weight; those with a share below `delta` are left out.
    fn realize(&self, delta: f64) -> Vec<Component>;

    /// What rows are predicted by besides the mixture, for kinds that pool.
    fn pooled(&self) -> Option<PooledSnapshot> {
        None
    }

    /// Columns that go one way along the stream, as row numbers and times do, for kinds that look at it.
    fn counting(&self) -> Vec<usize> {
        Vec::new()
    }

    /// A scorer of the master model as it is now.
    fn scorer(&self) -> Scorer;

    /// Rows under every component of the master model as it is now, without copying it; none before there is a model.
    fn evaluate(&self, rows: &[f64], into: &mut Evaluation);

    /// The latest rows it holds, at most `n`, in the data's own units.
    fn recent_rows(&self, n: usize) -> Vec<f64>;

    /// Rows seen.
    fn n_seen(&self) -> u64;

    /// Components in the master model.
    fn k_implemented(&self) -> usize;

    /// What happened so far.
    fn events(&self) -> &EventLog;

    /// Log-scores so far.
    fn log_score(&self) -> LogScore;

    /// The settings it was made with.
    fn settings(&self) -> &Settings;

    /// Checks everything a file may have got wrong and rebuilds what is not saved.
    fn restore(&mut self, n_columns: usize) -> Result<(), String>;
}

/// A learner that lives on a stream of documents. In its reports and scores a row is a document and `n_scored` counts
/// words, so that log-scores are per word.
pub trait DocumentLearner {
    /// Learns from a batch. Words have any numbers below `n_words`; a word never seen before needs no announcement.
    fn update(&mut self, documents: &Documents<'_>, n_words: usize) -> StepReport;

    /// Ends a pass: batch engines fit now, streaming engines have nothing left to do. After an interrupt it is as before.
    fn finish_unless(&mut self, _interrupt: &Interrupt) -> Result<(), Interrupted> {
        Ok(())
    }

    /// The same to the end.
    fn finish(&mut self) {
        let finished = self.finish_unless(&Interrupt::default());
        debug_assert!(finished.is_ok(), "nothing interrupts it");
    }

    /// These numbers stand for other words from now on: what was learnt of them is let go.
    fn forget_words(&mut self, words: &[u32]);

    /// The topics of a snapshot, by decreasing weight: merged where they say the same, without those too light to show.
    fn topics(&self) -> Vec<Topic>;

    /// How the topics' shares of the stream changed.
    fn history(&self) -> &TopicHistory;

    /// Scores documents under the master model without learning from them. Words that the model does not know are
    /// scored as any new word.
    fn score(&self, documents: &Documents<'_>) -> DocumentScores;

    /// What topics say of labels, by the labels' numbers; none for learners without labels.
    fn labels(&self) -> Vec<LabelSummary> {
        Vec::new()
    }

    /// How much each word of a document, in its order, speaks for a label.
    fn votes(&self, _document: (&[u32], &[u32]), _label: u32) -> Vec<f32> {
        Vec::new()
    }

    /// True when a document may have several labels: all with a positive margin. Otherwise it has the one with the largest.
    fn tells_several(&self) -> bool {
        false
    }

    /// How many threads an update may use; the result does not depend on it.
    fn set_threads(&mut self, _n_threads: usize) {}

    /// Documents seen.
    fn n_seen(&self) -> u64;

    /// Topics in the master model.
    fn k_implemented(&self) -> usize;

    /// What happened so far.
    fn events(&self) -> &EventLog;

    /// Log-scores so far, per word.
    fn log_score(&self) -> LogScore;

    /// Checks everything a file may have got wrong and rebuilds what is not saved.
    fn restore(&mut self, n_words: usize) -> Result<(), String>;
}

/// A learner of binary latent features that lives on a stream of rows, which may have missing cells (NaN).
pub trait FeatureLearner {
    /// Learns from a batch.
    fn update(&mut self, batch: &Batch<'_>) -> StepReport;

    /// Ends a pass: batch engines fit now, streaming engines have nothing left to do. After an interrupt it is as before.
    fn finish_unless(&mut self, _interrupt: &Interrupt) -> Result<(), Interrupted> {
        Ok(())
    }

    /// The same to the end.
    fn finish(&mut self) {
        let finished = self.finish_unless(&Interrupt::default());
        debug_assert!(finished.is_ok(), "nothing interrupts it");
    }

    /// Rows after which the first model is made, so that the next are scored before they are learnt; none for engines that
    /// fit at the end and score no row before.
    fn scores_after(&self) -> Option<u64>;

    /// The small model of what was seen, in the data's own units. Batch engines that did not fit yet fit a copy.
    fn features(&self) -> FeatureSet;

    /// The latest rows it holds, at most `n`, in the data's own units; none where rows are not kept.
    fn recent_rows(&self, _n: usize) -> Vec<f64> {
        Vec::new()
    }

    /// Rows seen.
    fn n_seen(&self) -> u64;

    /// Features in the master model.
    fn k_implemented(&self) -> usize;

    /// What happened so far.
    fn events(&self) -> &EventLog;

    /// Log-scores of rows before they were learnt from.
    fn log_score(&self) -> LogScore;

    /// Checks everything a file may have got wrong and rebuilds what is not saved.
    fn restore(&mut self, n_columns: usize) -> Result<(), String>;
}
