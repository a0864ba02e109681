//! Supervised topics by online Bayesian passive-aggressive learning (BayesPA): topics of documents whose labels are told by
//! the shares of the topics, with a margin.
//!
//! A mini-batch is learnt by Gibbs sampling of the topics of its words. The labels pull: a word rather goes to topics that
//! put its document on the right side of every label. What is kept are statistics that add up: counts of words in topics, and
//! for each label the natural parameters of a Gaussian over the topics' weights.
//!
//! | file | what is in it |
//! |---|---|
//! | `settings` | what can be set |
//! | `space` | topics and the labels that share them; the caches that follow from them |
//! | `task` | the weights of one label |
//! | `sticks` | shares of topics when their number is open, and the tables of documents |
//! | `lot` | a mini-batch made ready |
//! | `sample` | the local step: topics of words |
//! | `augment` | the hinge as a mixture of Gaussians |
//! | `step` | the global step: counts and weights |
//! | `dual` | the passive-aggressive problem of averaging classifiers |
//! | `objective` | what batch learning minimises |
//! | `course` | mini-batch after mini-batch, and what is noted on the way |
//! | `reader` | documents that are not learnt |
//! | `export` | topics and labels as others see them |
//! | `merge` | learners of shards, combined |
//! | `restore` | what a file must satisfy |

mod augment;
mod course;
mod dual;
mod export;
mod lot;
mod merge;
mod objective;
mod reader;
mod restore;
mod sample;
mod settings;
mod space;
mod step;
mod sticks;
mod task;
#[cfg(test)]
mod tests;

pub use settings::{Classifier, LabelsEach, MedSettings, Mode, Sharing, Size};

use super::parts::ScoreTrack;
use super::readout::Readout;
use super::{DocumentLearner, StepReport};
use crate::data::{DocumentBuffer, Documents};
use crate::interrupt::{Interrupt, Interrupted};
use crate::structure::{DocumentScores, Event, EventLog, Happening, LabelSummary, LogScore, Topic, TopicHistory};
use course::{Judged, Leg, Notes};
use export::View;
use lot::Lot;
use serde::{Deserialize, Serialize};
use space::Space;
use std::sync::OnceLock;
use step::Draws;

/// C of the machine that learns labels from the topics at the end.
const READOUT_COST: f64 = 10.0;

/// Supervised topics.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MedTopics {
    settings: MedSettings,
    seed: u64,
    shard: u32,
    n_seen: u64,
    n_words: usize,
    /// Documents that wait until there is a whole mini-batch; all of them in batch mode.
    held: DocumentBuffer,
    /// True when batch mode has learnt what is held.
    is_fitted: bool,
    labels: LabelCounts,
    spaces: Vec<Space>,
    history: TopicHistory,
    events: EventLog,
    scores: ScoreTrack,
    judgement: Judgement,
    /// Labelled documents, to learn labels from the topics that they have at the end.
    readout: Option<Readout>,
    /// Rounds that each set of topics took, in batch mode; a file does not keep them.
    #[serde(skip)]
    n_rounds: Vec<usize>,
    #[serde(skip)]
    view: OnceLock<Box<View>>,
    #[serde(skip)]
    n_threads: usize,
}

/// How often each label came.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct LabelCounts {
    /// Documents with each label.
    each: Vec<u64>,
    /// Documents with any.
    n_labelled: u64,
    /// True once a document had several.
    has_several: bool,
}

/// How right the labels were of documents that were judged before they were learnt: one in eight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// Documents judged.
    pub n_documents: u64,
    /// Those whose labels were told exactly.
    pub n_exact: u64,
    /// Labels told rightly, told wrongly, and not told.
    pub n_true: u64,
    /// Labels told that the document did not have.
    pub n_false: u64,
    /// Labels that the document had and that were not told.
    pub n_missed: u64,
}

impl MedTopics {
    /// A learner that has seen nothing; the settings must be without [fault](MedSettings::fault).
    pub fn new(settings: &MedSettings, seed: u64, shard: u32) -> MedTopics {
        MedTopics {
            settings: settings.clone(),
            seed,
            shard,
            n_seen: 0,
            n_words: 0,
            held: DocumentBuffer::new(),
            is_fitted: false,
            labels: LabelCounts::default(),
            spaces: Vec::new(),
            history: TopicHistory::default(),
            events: EventLog::default(),
            scores: ScoreTrack::default(),
            judgement: Judgement::default(),
            readout: (settings.keep > 0).then(|| Readout::new(settings.keep, READOUT_COST, seed, shard)),
            n_rounds: Vec::new(),
            view: OnceLock::new(),
            n_threads: 1,
        }
    }

    /// Rounds over all documents that each set of topics took in batch mode, when this learner fitted it.
    pub fn batch_rounds(&self) -> &[usize] {
        &self.n_rounds
    }

    /// The settings it was made with.
    pub fn settings(&self) -> &MedSettings {
        &self.settings
    }

    /// How right labels were before documents were learnt.
    pub fn judgement(&self) -> Judgement {
        self.judgement
    }

    /// True when a document may have several labels.
    pub fn tells_several(&self) -> bool {
        match self.settings.labels_each {
            LabelsEach::Auto => self.labels.has_several,
            LabelsEach::One => false,
            LabelsEach::Several => true,
        }
    }

    /// Learns documents in mini-batches from the first on: whole ones only, unless `to_the_end`. Gives the number learnt.
    fn learn(
        &mut self,
        documents: &Documents<'_>,
        to_the_end: bool,
        report: &mut StepReport,
        interrupt: &Interrupt,
    ) -> usize {
        let size = self.settings.minibatch;
        let n_learnt = if to_the_end { documents.len() } else { documents.len() / size * size };
        let first = self.n_seen - documents.len() as u64;
        let mut legs = Vec::with_capacity(n_learnt.div_ceil(size));
        let is_batch = self.settings.mode == Mode::Batch;
        let mut all_labels = if is_batch { self.labels.meet(documents, 0..n_learnt) } else { Vec::new() };
        for from in (0..n_learnt).step_by(size) {
            let range = from..(from + size).min(n_learnt);
            let new_labels = match is_batch {
                false => self.labels.meet(documents, range.clone()),
                // All are known from the first document on.
                true => std::mem::take(&mut all_labels),
            };
            let lot = Lot::new(*documents, range.clone(), first + from as u64, self.settings.once);
            legs.push(Leg { lot, new_labels, positive_cost: self.positive_cost() });
        }
        let notes = self.travel(&legs, interrupt);
        self.take_notes(&legs, notes, report);
        n_learnt
    }

    fn travel(&mut self, legs: &[Leg<'_>], interrupt: &Interrupt) -> Vec<Notes> {
        let draws = |space: &Space, n_threads: usize| Draws {
            seed: self.seed,
            shard: u64::from(self.shard) << 32 | u64::from(space.number),
            n_threads,
        };
        let (settings, n_words, n_threads) = (&self.settings, self.n_words, self.n_threads.max(1));
        if settings.sharing == Sharing::Shared {
            if self.spaces.is_empty() {
                self.spaces.push(Space::new(settings, 0));
            }
            return self
                .spaces
                .iter_mut()
                .map(|space| {
                    let draws = draws(space, n_threads);
                    space.travel(settings, legs, n_words, draws, interrupt)
                })
                .collect();
        }
        // Each label's own model begins with the mini-batch in which the label is first seen.
        let mut begins = vec![0; self.spaces.len()];
        for (at, leg) in legs.iter().enumerate() {
            for label in &leg.new_labels {
                let mut space = Space::new(settings, self.spaces.len() as u32);
                space.add_task(*label, settings);
                self.spaces.push(space);
                begins.push(at);
            }
        }
        let mut notes: Vec<Notes> = self.spaces.iter().map(|_| Notes::default()).collect();
        let per_thread = self.spaces.len().div_ceil(n_threads).max(1);
        std::thread::scope(|scope| {
            let jobs =
                self.spaces.chunks_mut(per_thread).zip(notes.chunks_mut(per_thread)).zip(begins.chunks(per_thread));
            for ((spaces, notes), begins) in jobs {
                let run = move || {
                    for ((space, notes), begin) in spaces.iter_mut().zip(notes).zip(begins) {
                        let draws = draws(space, 1);
                        *notes = space.travel(settings, &legs[*begin..], n_words, draws, interrupt);
                        notes.judged.iter_mut().for_each(|judged| judged.leg += begin);
                    }
                };
                if n_threads == 1 {
                    run();
                } else {
                    scope.spawn(run);
                }
            }
        });
        notes
    }

    fn take_notes(&mut self, legs: &[Leg<'_>], notes: Vec<Notes>, report: &mut StepReport) {
        let mut born = Vec::new();
        let mut told: Vec<(u64, Vec<_>)> = Vec::new();
        let mut judged: Vec<Judged> = Vec::new();
        if self.settings.mode == Mode::Batch {
            self.n_rounds = notes.iter().map(|notes| notes.n_rounds).collect();
        }
        for (space, mut notes) in self.spaces.iter().zip(notes) {
            report.n_repairs += notes.n_repairs;
            born.extend(notes.born.iter().map(|(row, k)| (*row, space.id(*k, self.shard))));
            for (at, words) in notes.told {
                let words = words.into_iter().enumerate().map(|(k, n)| (space.id(k, self.shard), n.max(0.0)));
                match told.binary_search_by_key(&at, |entry| entry.0) {
                    Ok(place) => told[place].1.extend(words),
                    Err(place) => told.insert(place, (at, words.collect())),
                }
            }
            judged.append(&mut notes.judged);
        }
        born.sort_unstable();
        born.iter().for_each(|(row, id)| self.events.push(Event { row: *row, component: *id, what: Happening::Born }));
        let mut from = self.history.documents().last().copied().unwrap_or(0);
        for (at, words) in told {
            self.history.add(at.saturating_sub(from), words.into_iter());
            from = at;
        }
        judged.sort_by_key(|one| (one.leg, one.document));
        let several = self.tells_several();
        for same in judged.chunk_by(|a, b| (a.leg, a.document) == (b.leg, b.document)) {
            let n_spaces = same.len() as f64;
            let log_probability = same.iter().map(|one| one.log_probability).sum::<f64>() / n_spaces;
            self.scores.push_words(log_probability, same[0].n_words);
            report.log_score += log_probability;
            report.n_scored += same[0].n_words as usize;
            let margins: Vec<(u32, f32)> = same.iter().flat_map(|one| one.margins.iter().copied()).collect();
            let labels = legs[same[0].leg].lot.labels(same[0].document);
            if !labels.is_empty() && !margins.is_empty() {
                self.judgement.take(&told_labels(&margins, several), labels);
            }
        }
    }

    /// c for documents that have a label. All labels have one weight: with weights of their own, rare labels would draw words
    /// away from common ones.
    fn positive_cost(&self) -> f64 {
        let weight = self.settings.positive_weight.unwrap_or_else(|| match self.tells_several() {
            false => 1.0,
            true => {
                // One document on each side for a start.
                let positive = 1.0 + self.labels.each.iter().sum::<u64>() as f64;
                let all = 2.0 + self.labels.n_labelled as f64 * self.labels.each.len() as f64;
                (all / positive - 1.0).sqrt().max(1.0)
            }
        });
        self.settings.cost * weight
    }

    /// This learner when it has learnt what it holds; none if it holds nothing more to learn.
    fn caught_up(&self) -> Option<MedTopics> {
        if self.held.is_empty() || self.is_fitted {
            return None;
        }
        let mut copy = MedTopics { view: OnceLock::new(), ..self.clone() };
        match self.settings.mode {
            Mode::Online => {
                copy.learn(&self.held.documents(), true, &mut StepReport::default(), &Interrupt::default());
            }
            Mode::Batch => copy.finish(),
        }
        Some(copy)
    }
}

/// The labels that margins tell, in increasing order.
pub(crate) fn told_labels(margins: &[(u32, f32)], several: bool) -> Vec<u32> {
    if several {
        let mut told: Vec<u32> = margins.iter().filter(|(_, margin)| *margin > 0.0).map(|(label, _)| *label).collect();
        told.sort_unstable();
        return told;
    }
    let best = margins.iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
    best.map(|(label, _)| *label).into_iter().collect()
}

impl Judgement {
    fn take(&mut self, told: &[u32], labels: &[u32]) {
        let n_true = told.iter().filter(|label| labels.contains(label)).count();
        self.n_documents += 1;
        self.n_exact += u64::from(told == labels);
        self.n_true += n_true as u64;
        self.n_false += (told.len() - n_true) as u64;
        self.n_missed += (labels.len() - n_true) as u64;
    }

    fn add(&mut self, other: &Judgement) {
        self.n_documents += other.n_documents;
        self.n_exact += other.n_exact;
        self.n_true += other.n_true;
        self.n_false += other.n_false;
        self.n_missed += other.n_missed;
    }

    /// The share of documents whose labels were told exactly; none before the first.
    pub fn accuracy(&self) -> Option<f64> {
        (self.n_documents > 0).then(|| self.n_exact as f64 / self.n_documents as f64)
    }

    /// F1 over all labels of all documents; none before the first.
    pub fn micro_f1(&self) -> Option<f64> {
        let all = 2 * self.n_true + self.n_false + self.n_missed;
        (all > 0).then(|| (2 * self.n_true) as f64 / all as f64)
    }
}

impl LabelCounts {
    /// Adds another's counts under the numbers that its labels have here.
    fn add(&mut self, other: &LabelCounts, numbers: &[u32]) {
        for (n, number) in other.each.iter().zip(numbers) {
            let at = *number as usize;
            if at >= self.each.len() {
                self.each.resize(at + 1, 0);
            }
            self.each[at] += n;
        }
        self.n_labelled += other.n_labelled;
        self.has_several |= other.has_several;
    }

    /// Counts the labels of documents and gives those never met before, in the order in which they come.
    fn meet(&mut self, documents: &Documents<'_>, range: std::ops::Range<usize>) -> Vec<u32> {
        let mut new = Vec::new();
        for document in range {
            let labels = documents.labels(document);
            self.n_labelled += u64::from(!labels.is_empty());
            self.has_several |= labels.len() > 1;
            for label in labels {
                if *label as usize >= self.each.len() {
                    self.each.resize(*label as usize + 1, 0);
                }
                if self.each[*label as usize] == 0 {
                    new.push(*label);
                }
                self.each[*label as usize] += 1;
            }
        }
        new
    }
}

impl DocumentLearner for MedTopics {
    fn update(&mut self, documents: &Documents<'_>, n_words: usize) -> StepReport {
        let mut report = StepReport { n_rows: documents.len(), ..StepReport::default() };
        if documents.is_empty() {
            return report;
        }
        self.view = OnceLock::new();
        self.n_words = self.n_words.max(n_words);
        self.n_seen += documents.len() as u64;
        let mut held = std::mem::take(&mut self.held);
        for document in 0..documents.len() {
            held.push_from(documents, document);
            if let Some(readout) = &mut self.readout {
                readout.see(documents, document);
            }
        }
        match self.settings.mode {
            Mode::Batch => {
                self.is_fitted = false;
                self.held = held;
            }
            Mode::Online => {
                let waiting = held.documents();
                let n_learnt = self.learn(&waiting, false, &mut report, &Interrupt::default());
                (n_learnt..waiting.len()).for_each(|document| self.held.push_from(&waiting, document));
            }
        }
        report.k_implemented = self.k_implemented();
        report.n_events = self.events.n_total();
        report
    }

    fn finish_unless(&mut self, interrupt: &Interrupt) -> Result<(), Interrupted> {
        if self.settings.mode == Mode::Batch && !self.is_fitted && !self.held.is_empty() {
            let fresh = MedTopics::new(&self.settings, self.seed, self.shard);
            let (n_seen, n_words, n_threads) = (self.n_seen, self.n_words, self.n_threads);
            let mut fitted = MedTopics { n_seen, n_words, n_threads, ..fresh };
            fitted.learn(&self.held.documents(), true, &mut StepReport::default(), interrupt);
            let fitted = interrupt.unless_raised(fitted)?;
            let (held, readout) = (std::mem::take(&mut self.held), self.readout.take());
            *self = MedTopics { held, readout, is_fitted: true, ..fitted };
        }
        Ok(())
    }

    fn forget_words(&mut self, words: &[u32]) {
        self.view = OnceLock::new();
        self.spaces.iter_mut().for_each(|space| space.forget_words(words));
        let kept = |word: u32| (!words.contains(&word)).then_some(word);
        self.held = self.held.renumbered(kept);
        if let Some(readout) = &mut self.readout {
            readout.renumber(kept);
        }
    }

    fn topics(&self) -> Vec<Topic> {
        self.view().topics.clone()
    }

    fn history(&self) -> &TopicHistory {
        &self.history
    }

    fn score(&self, documents: &Documents<'_>) -> DocumentScores {
        self.view().learner(self).read(documents)
    }

    fn labels(&self) -> Vec<LabelSummary> {
        self.view().learner(self).label_summaries()
    }

    fn votes(&self, document: (&[u32], &[u32]), label: u32) -> Vec<f32> {
        self.view().learner(self).votes_of(document, label)
    }

    fn tells_several(&self) -> bool {
        MedTopics::tells_several(self)
    }

    fn set_threads(&mut self, n_threads: usize) {
        self.n_threads = n_threads;
    }

    fn n_seen(&self) -> u64 {
        self.n_seen
    }

    fn k_implemented(&self) -> usize {
        self.spaces.iter().map(|space| space.k).sum()
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
