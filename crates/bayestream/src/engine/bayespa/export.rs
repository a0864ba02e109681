//! Topics and labels as others see them.

use super::MedTopics;
use super::reader::{Lens, Reader};
use super::task::Task;
use crate::data::Documents;
use crate::engine::readout::Weights;
use crate::structure::{ComponentId, DocumentScores, LabelMoment, LabelSummary, LabelTopic, Topic};
use std::sync::OnceLock;

/// What others see of a learner, made once and kept until it learns again.
#[derive(Clone, Debug)]
pub(super) struct View {
    /// The learner when it has learnt what it holds.
    caught_up: Option<MedTopics>,
    pub topics: Vec<Topic>,
    /// For each topic its space and its place there.
    places: Vec<(usize, usize)>,
    /// What reading needs of each space, when it is asked for.
    lenses: OnceLock<Vec<Lens>>,
    /// Labels learnt from the topics of the documents kept, when they are asked for.
    machines: OnceLock<Option<Weights>>,
}

impl View {
    /// The learner that the view is of.
    pub fn learner<'a>(&'a self, original: &'a MedTopics) -> Seen<'a> {
        Seen { learner: self.caught_up.as_ref().unwrap_or(original), view: self }
    }
}

/// A learner with its view.
pub(super) struct Seen<'a> {
    learner: &'a MedTopics,
    view: &'a View,
}

impl MedTopics {
    pub(super) fn view(&self) -> &View {
        self.view.get_or_init(|| {
            let caught_up = self.caught_up();
            let (topics, places) = caught_up.as_ref().unwrap_or(self).shown_topics();
            Box::new(View { caught_up, topics, places, lenses: OnceLock::new(), machines: OnceLock::new() })
        })
    }

    /// The topics with words, by decreasing weight; those of each space count as much as those of the others.
    fn shown_topics(&self) -> (Vec<Topic>, Vec<(usize, usize)>) {
        let mut shown: Vec<(Topic, (usize, usize))> = Vec::new();
        for (s, space) in self.spaces.iter().enumerate() {
            let total: i64 = space.totals[..space.k].iter().sum();
            let cache = space.cache(&self.settings, None);
            for k in (0..space.k).filter(|k| space.totals[*k] > 0) {
                let id = space.id(k, self.shard);
                let probability = |row: &[i32]| cache.probability(row[k], k);
                let topic = Topic {
                    id,
                    members: vec![id],
                    weight: space.totals[k] as f64 / (total as f64 * self.spaces.len() as f64),
                    trend: self.history.trend(&[id]),
                    born: self.history.began(&[id]).unwrap_or(1),
                    words: space.sums.chunks_exact(space.stride).map(probability).collect(),
                };
                shown.push((topic, (s, k)));
            }
        }
        shown.sort_by(|a, b| b.0.weight.total_cmp(&a.0.weight).then(a.0.id.cmp(&b.0.id)));
        shown.into_iter().unzip()
    }
}

impl Seen<'_> {
    fn readers(&self) -> Vec<Reader<'_>> {
        let learner = self.learner;
        let lenses = || learner.spaces.iter().map(|space| Lens::new(space, &learner.settings)).collect();
        learner.spaces.iter().zip(self.view.lenses.get_or_init(lenses)).map(|(s, lens)| Reader::new(s, lens)).collect()
    }

    /// Scores documents; the margin of a label that no model knows is the lowest.
    pub fn read(&self, documents: &Documents<'_>) -> DocumentScores {
        let learner = self.learner;
        let n_labels = learner.labels.each.len();
        let mut scores = DocumentScores {
            topics: self.view.topics.iter().map(|topic| topic.id).collect(),
            n_labels,
            ..DocumentScores::default()
        };
        let readers = self.readers();
        let n_spaces = readers.len().max(1) as f32;
        for (words, counts) in documents.iter() {
            scores.n_tokens.push(counts.iter().map(|count| u64::from(*count)).sum());
            let mut margins = vec![f32::MIN; n_labels];
            let mut log_likelihood = 0.0;
            let mut shares = Vec::with_capacity(readers.len());
            for (reader, space) in readers.iter().zip(&learner.spaces) {
                let read = reader.read(words, counts);
                log_likelihood += read.log_likelihood / f64::from(n_spaces);
                let each = space.tasks.iter().zip(&read.margins);
                each.for_each(|(task, margin)| margins[task.label as usize] = *margin);
                shares.push(read.shares);
            }
            if let Some(machines) = self.machines(&readers) {
                margins.clear();
                machines.margins(&shares.concat(), &mut margins);
            }
            scores.margins.extend_from_slice(&margins);
            scores.log_likelihood.push(log_likelihood);
            let at = scores.shares.len();
            scores.shares.extend(self.view.places.iter().map(|(s, k)| shares[*s][*k] / n_spaces));
            let shown: f32 = scores.shares[at..].iter().sum();
            for (share, topic) in scores.shares[at..].iter_mut().zip(&self.view.topics) {
                *share = if shown > 0.0 { *share / shown } else { topic.weight as f32 };
            }
        }
        scores
    }

    /// Linear machines on the topics of the documents kept, read without their labels.
    fn machines(&self, readers: &[Reader<'_>]) -> Option<&Weights> {
        let fit = || {
            let readout = self.learner.readout.as_ref().filter(|readout| !readout.reservoir().is_empty())?;
            let features = |documents: &Documents<'_>| -> Vec<f32> {
                let read = |(words, counts): (&[u32], &[u32])| {
                    readers.iter().flat_map(|reader| reader.read(words, counts).shares).collect::<Vec<f32>>()
                };
                documents.iter().flat_map(read).collect()
            };
            Some(readout.fit(features, self.learner.labels.each.len()))
        };
        self.view.machines.get_or_init(fit).as_ref()
    }

    pub fn votes_of(&self, (words, counts): (&[u32], &[u32]), label: u32) -> Vec<f32> {
        for (space, reader) in self.learner.spaces.iter().zip(self.readers()) {
            if let Some(task) = space.tasks.iter().position(|task| task.label == label) {
                return reader.votes(words, counts, task);
            }
        }
        vec![0.0; words.len()]
    }

    pub fn label_summaries(&self) -> Vec<LabelSummary> {
        let learner = self.learner;
        let mut summaries = Vec::new();
        for (s, space) in learner.spaces.iter().enumerate() {
            for task in &space.tasks {
                let weights = task.judging(&learner.settings);
                let shown = self.view.places.iter().zip(&self.view.topics).filter(|((of, _), _)| *of == s);
                let topics = shown.map(|((_, k), topic)| LabelTopic {
                    id: topic.id,
                    weight: weights[1 + k],
                    share: task.shares[*k] / task.n_documents.max(1) as f64,
                });
                summaries.push(LabelSummary {
                    label: task.label,
                    n_documents: learner.labels.each[task.label as usize],
                    constant: if learner.settings.constant > 0.0 { weights[0] } else { 0.0 },
                    topics: topics.collect(),
                    course: course(task, |k| space.id(k, learner.shard)),
                });
            }
        }
        summaries.sort_by_key(|summary| summary.label);
        summaries
    }
}

/// How the topics of a label's documents looked between its milestones, up to now.
fn course(task: &Task, id: impl Fn(usize) -> ComponentId) -> Vec<LabelMoment> {
    let mut moments = Vec::new();
    let (mut before, mut n_before): (Vec<f32>, u64) = (Vec::new(), 0);
    for milestone in &task.milestones {
        let n = milestone.n_documents - n_before;
        if n > 0 {
            let past = |k: usize| before.get(k).copied().unwrap_or(0.0);
            let share = |(k, sum): (usize, &f32)| (id(k), f64::from(sum - past(k)).max(0.0) / n as f64);
            let shares: Vec<(ComponentId, f64)> = milestone.shares.iter().enumerate().map(share).collect();
            moments.push(LabelMoment { n_seen: milestone.n_seen, n_documents: n, shares });
        }
        (before, n_before) = (milestone.shares.clone(), milestone.n_documents);
    }
    moments
}
