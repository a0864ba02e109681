//! Labelled documents learnt one way, and how well labels of others are told then.

use crate::corpus::Labelled;
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::parallel::run_all;
use crate::summary::{mean_sd, mean_sd_text};
use bayestream::data::{DocumentBuffer, Documents};
use bayestream::engine::DocumentLearner;
use bayestream::engine::bayespa::{Classifier, MedSettings, MedTopics, Sharing, Size};
use bayestream::metrics::accuracy;
use cpu_time::ThreadTime;

/// The paper's four models, by its names.
pub const MODELS: [Model; 4] = [
    Model { name: "paMedLDA-gibbs", classifier: Classifier::Gibbs, size: Size::Given },
    Model { name: "paMedLDA-ave", classifier: Classifier::Averaging, size: Size::Given },
    Model { name: "paMedHDP-gibbs", classifier: Classifier::Gibbs, size: Size::Open },
    Model { name: "paMedHDP-ave", classifier: Classifier::Averaging, size: Size::Open },
];

/// One of the paper's models.
#[derive(Clone, Copy)]
pub struct Model {
    pub name: &'static str,
    classifier: Classifier,
    pub size: Size,
}

impl Model {
    /// The settings of the paper.
    pub fn paper(&self) -> MedSettings {
        MedSettings::paper(self.classifier, self.size)
    }

    /// The settings of the paper with this number of topics, at first where it is open.
    pub fn with_topics(&self, k: usize) -> MedSettings {
        MedSettings { n_topics: Some(k), ..self.paper() }
    }

    /// Our defaults.
    pub fn ours(&self) -> MedSettings {
        MedSettings::new(self.classifier, self.size)
    }
}

/// The training documents in a random order, with their labels.
pub fn stream(corpus: &Labelled, seed: u64) -> DocumentBuffer {
    let (documents, labels) = corpus.train_in_order(seed);
    with_labels(documents, &labels)
}

/// Gives documents their labels.
pub fn with_labels(mut documents: DocumentBuffer, labels: &[Vec<u32>]) -> DocumentBuffer {
    labels.iter().enumerate().for_each(|(at, labels)| documents.label(at, labels.iter().copied()));
    documents
}

/// A learner, and the processor time that it has learnt for.
pub struct Timed {
    pub learner: MedTopics,
    pub seconds: f64,
}

impl Timed {
    pub fn new(settings: &MedSettings, seed: u64) -> Timed {
        Timed { learner: MedTopics::new(settings, seed, 0), seconds: 0.0 }
    }

    /// Learns documents, on this thread.
    pub fn learn(&mut self, documents: &Documents<'_>, n_words: usize) {
        let clock = ThreadTime::now();
        self.learner.update(documents, n_words);
        self.learner.finish();
        self.seconds += clock.elapsed().as_secs_f64();
    }

    /// Topics with words, of each model where every label has its own.
    pub fn n_topics(&self) -> f64 {
        let n_models = match self.learner.settings().sharing {
            Sharing::Shared => 1,
            Sharing::Separate => self.learner.labels().len().max(1),
        };
        self.learner.topics().len() as f64 / n_models as f64
    }
}

/// A learner to be looked at.
pub struct Told<'a> {
    pub learner: &'a dyn DocumentLearner,
    pub seconds: f64,
    pub n_topics: f64,
}

/// The labels that a learner gives to documents.
pub fn told(learner: &dyn DocumentLearner, documents: &Documents<'_>) -> Vec<Vec<u32>> {
    let scores = learner.score(documents);
    let several = learner.tells_several();
    (0..documents.len()).map(|document| chosen(scores.margins_of(document), several)).collect()
}

/// All labels with a positive margin, or the one with the largest.
fn chosen(margins: &[f32], several: bool) -> Vec<u32> {
    let numbered = (0u32..).zip(margins);
    if several {
        return numbered.filter(|(_, margin)| **margin > 0.0).map(|(label, _)| label).collect();
    }
    numbered
        .reduce(|best, next| if next.1 > best.1 { next } else { best })
        .map(|(label, _)| label)
        .into_iter()
        .collect()
}

/// The share of the test documents that are given their own label.
pub fn test_accuracy(learner: &dyn DocumentLearner, corpus: &Labelled) -> f64 {
    accuracy(&corpus.test_labels, &told(learner, &corpus.test.documents()))
}

/// What came of learning.
pub struct Run {
    pub accuracy: f64,
    pub seconds: f64,
    pub n_topics: f64,
    /// Rounds over all documents in batch mode, of each model where every label has its own.
    pub n_rounds: f64,
}

/// Learns the training documents in the seed's order, some number of times over, and judges by the test documents.
pub fn run(corpus: &Labelled, settings: &MedSettings, passes: usize, seed: u64) -> Run {
    let documents = stream(corpus, seed);
    let mut timed = Timed::new(settings, seed);
    (0..passes).for_each(|_| timed.learn(&documents.documents(), corpus.vocabulary.len()));
    let rounds = timed.learner.batch_rounds();
    Run {
        accuracy: test_accuracy(&timed.learner, corpus),
        seconds: timed.seconds,
        n_topics: timed.n_topics(),
        n_rounds: rounds.iter().sum::<usize>() as f64 / rounds.len().max(1) as f64,
    }
}

/// One pass of every way with every seed, each of which has an order of its own: the runs of each way.
pub fn runs_of<W: Sync>(
    setting: &mut Setting<'_>,
    corpus: &Labelled,
    (ways, seeds): (&[W], &[u64]),
    describe: impl Fn(&W) -> String,
    settings: impl Fn(&W) -> MedSettings + Sync,
) -> Result<Vec<Vec<Run>>, ReproduceError> {
    let jobs: Vec<(&W, u64)> = ways.iter().flat_map(|way| seeds.iter().map(move |&seed| (way, seed))).collect();
    let name = |&(way, seed): &(&W, u64), run: &Run| {
        format!("{} seed {seed}: {:.4}, {:.1} s", describe(way), run.accuracy, run.seconds)
    };
    let learn = |&(way, seed): &(&W, u64)| Ok(run(corpus, &settings(way), 1, seed));
    let mut runs = run_all(&jobs, setting.n_threads, setting.progress, name, learn)?.into_iter();
    Ok(ways.iter().map(|_| runs.by_ref().take(seeds.len()).collect()).collect())
}

/// The mean of a quantity of runs.
pub fn mean(runs: &[Run], value: impl Fn(&Run) -> f64) -> f64 {
    mean_sd(&runs.iter().map(value).collect::<Vec<f64>>()).0
}

/// Mean and, of several, spread of a quantity of runs.
pub fn text(runs: &[Run], value: impl Fn(&Run) -> f64) -> String {
    mean_sd_text(&runs.iter().map(value).collect::<Vec<f64>>())
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use bayestream::synthetic::{LabelledShape, LabelledTopics};

    /// A small corpus of planted topics, three labels of which are told by its words.
    pub fn planted() -> Labelled {
        let shape = LabelledShape { n_labels: 3, noise: 0.0, ..LabelledShape::default() };
        let truth = LabelledTopics::new(&shape, 4);
        let (train, train_labels) = truth.documents(0, 400);
        let (test, test_labels) = truth.documents(400, 200);
        let label_names = ["a", "b", "c"].map(String::from).to_vec();
        let vocabulary = (0..shape.topics.n_words).map(|word| format!("w{word}")).collect();
        Labelled { train, train_labels, test, test_labels, label_names, vocabulary }
    }

    #[test]
    fn labels_are_those_with_a_margin_or_the_one_with_the_largest() {
        assert_eq!(chosen(&[-1.0, 0.5, 2.0, 0.0], true), [1, 2]);
        assert_eq!(chosen(&[-3.0, -0.5, f32::MIN, -0.5], false), [1]);
        assert!(chosen(&[-3.0, -0.5], true).is_empty() && chosen(&[], false).is_empty());
    }

    #[test]
    fn documents_keep_their_labels_in_another_order() {
        let corpus = planted();
        let documents = stream(&corpus, 11);
        let (order, documents) = (corpus.order(11), documents.documents());
        for (at, from) in order.iter().enumerate() {
            assert_eq!(documents.labels(at), corpus.train_labels[*from]);
            assert_eq!(documents.get(at), corpus.train.documents().get(*from));
        }
    }

    #[test]
    fn every_model_tells_planted_labels_better_than_chance() {
        let corpus = planted();
        for model in MODELS {
            let ours = MedSettings { minibatch: 32, ..model.ours() };
            let found = run(&corpus, &ours, 1, 5);
            assert!(found.accuracy > 0.7, "{}: {}", model.name, found.accuracy);
            assert!(found.n_topics >= 3.0 && found.seconds > 0.0);
            let paper = MedSettings { minibatch: 32, ..model.with_topics(6) };
            let found = run(&corpus, &paper, 2, 5);
            assert!(found.accuracy > 0.4, "{}, paper: {}", model.name, found.accuracy);
            assert!((1.0..10.0).contains(&found.n_topics), "{}: {}", model.name, found.n_topics);
        }
    }
}
