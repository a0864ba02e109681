//! What can be set of supervised topics.

use serde::{Deserialize, Serialize};

/// What the classifier's margin is asked of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Classifier {
    /// Of the mean of its weights. \[BayesPA\] (18)
    Averaging,
    /// Of weights drawn from their distribution, in expectation. \[BayesPA\] (19)
    Gibbs,
}

/// Whether the number of topics is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Size {
    /// Latent Dirichlet allocation: it follows from the settings and the labels.
    Given,
    /// Hierarchical Dirichlet process: topics are added while they are used.
    Open,
}

/// Which labels share topics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sharing {
    /// All labels: one set of topics.
    Shared,
    /// None: each label has a model of its own that tells it from all others.
    Separate,
}

/// When documents are learnt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    /// In mini-batches, as they come.
    Online,
    /// At the end, in rounds over all of them: every document is kept.
    Batch,
}

/// How many labels a document has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LabelsEach {
    /// One, until a document with several comes.
    Auto,
    /// One: the likeliest is the answer.
    One,
    /// Any number: all with a positive margin are the answer.
    Several,
}

/// Settings of supervised topics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MedSettings {
    /// The classifier.
    pub classifier: Classifier,
    /// Whether topics are added.
    pub size: Size,
    /// Which labels share topics.
    pub sharing: Sharing,
    /// When documents are learnt.
    pub mode: Mode,
    /// How many labels a document has.
    pub labels_each: LabelsEach,
    /// Topics that belong to no label from the beginning; auto is none with shared topics and 20 with separate ones.
    pub n_topics: Option<usize>,
    /// Topics that there may be of each set, where their number is open.
    pub max_topics: usize,
    /// Topics that each label begins with, where topics are shared.
    pub topics_per_label: usize,
    /// ε: the margin that is asked for.
    pub epsilon: f64,
    /// c: what a margin that is not reached costs, beside the likelihood of the words.
    pub cost: f64,
    /// σ²: variance of a weight before any document.
    pub variance: f64,
    /// Variance of a label's constant, in units of σ²; 0 for no constant.
    pub constant: f64,
    /// Weight that a topic has for its own label before any document, in units of ε.
    pub tag: f64,
    /// Weight that it has for other labels, in units of the weight for its own, with the sign turned.
    pub tag_against: f64,
    /// α: Dirichlet parameter of a document's topics, of each (a given number) or of all (an open one); auto is one over the
    /// number of topics, or 5.
    pub alpha: Option<f64>,
    /// γ: Dirichlet parameter of a topic's words.
    pub gamma: f64,
    /// η: concentration of the topics of the stream, for an open number of topics.
    pub eta: f64,
    /// I: rounds over a mini-batch; auto is 1 for Gibbs classifiers, 2 for averaging ones, whose first round does not know the
    /// labels; in batch mode as many as it takes until the objective settles.
    pub rounds: Option<usize>,
    /// J: sweeps of each round.
    pub sweeps: usize,
    /// β: sweeps of each round that are not counted.
    pub burn_in: usize,
    /// Documents learnt together.
    pub minibatch: usize,
    /// L: how many times each document counts.
    pub ghosts: u32,
    /// Each word counts once in a document.
    pub once: bool,
    /// A word's weight in a topic is exp E log φ, as printed, and not E φ. \[BayesPA\] (28) In batch mode it is E φ without the
    /// words of the document itself: φ is integrated out.
    pub expected_log: bool,
    /// 1/λ is drawn and not its expectation taken; in batch mode it always is.
    pub drawn: bool,
    /// Documents are judged by the mean of the weights along the stream and not by the last ones (averaging classifiers).
    pub averaging: bool,
    /// How much more a document with a label counts than one without; auto is the root of how many times rarer labels are than
    /// their absence where documents have several, and 1 where they have one.
    pub positive_weight: Option<f64>,
    /// Labelled documents kept, from whose topics the labels are learnt anew when they are asked for; 0 for none.
    pub keep: usize,
}

/// Rounds over all documents in batch mode, at most, if nobody says how many.
const BATCH_ROUNDS: usize = 100;

/// Topics of a model of one label's own, if nobody says how many.
const SEPARATE_TOPICS: usize = 20;

impl MedSettings {
    /// What works best: topics shared by all labels, each label beginning with one of its own.
    pub fn new(classifier: Classifier, size: Size) -> MedSettings {
        let gibbs = classifier == Classifier::Gibbs;
        MedSettings {
            classifier,
            size,
            sharing: Sharing::Shared,
            mode: Mode::Online,
            labels_each: LabelsEach::Auto,
            n_topics: None,
            max_topics: 200,
            topics_per_label: 1,
            epsilon: if gibbs { 164.0 } else { 16.0 },
            cost: if gibbs { 1.0 } else { 500.0 },
            variance: if gibbs { 1.0 } else { 1e-3 },
            constant: if gibbs { 1e4 } else { 1.0 },
            tag: 0.6,
            tag_against: 0.05,
            alpha: Some(0.5),
            gamma: 0.1,
            eta: 1.0,
            rounds: None,
            sweeps: 2,
            burn_in: 0,
            minibatch: if gibbs { 512 } else { 64 },
            ghosts: 1,
            once: true,
            expected_log: false,
            drawn: false,
            averaging: false,
            positive_weight: None,
            keep: 0,
        }
    }

    /// The settings of the paper's section 8.
    pub fn paper(classifier: Classifier, size: Size) -> MedSettings {
        MedSettings {
            sharing: Sharing::Separate,
            n_topics: None,
            topics_per_label: 0,
            constant: 0.0,
            tag: 0.0,
            alpha: None,
            gamma: if size == Size::Given { 0.45 } else { 0.5 },
            minibatch: if classifier == Classifier::Gibbs { 512 } else { 1 },
            once: false,
            expected_log: true,
            ..MedSettings::new(classifier, size)
        }
    }

    /// What is wrong, if anything.
    pub fn fault(&self) -> Option<String> {
        if self.burn_in >= self.sweeps {
            return Some(format!("burn-in ({}) must be smaller than sweeps ({})", self.burn_in, self.sweeps));
        }
        None
    }

    /// Classifier and size.
    pub fn sort(&self) -> (Classifier, Size) {
        (self.classifier, self.size)
    }

    /// Why learners of shards cannot be combined, if they cannot.
    pub fn why_not_merged(&self) -> Option<String> {
        let advice = "fit one model of all documents";
        if self.mode == Mode::Batch {
            return Some(format!("batch mode learns all documents together: {advice}"));
        }
        if self.size == Size::Open || self.sharing == Sharing::Separate || self.n_free() > 0 {
            return Some(format!(
                "topics that no label began with have no counterpart in another model: {advice}, or shards of \
                 topics/medlda-gibbs or topics/medlda-ave with topics=shared and n-topics=0"
            ));
        }
        None
    }

    /// Rounds over a mini-batch.
    pub(super) fn n_rounds(&self) -> usize {
        self.rounds.unwrap_or(match (self.mode, self.classifier) {
            (Mode::Batch, _) => BATCH_ROUNDS,
            (Mode::Online, Classifier::Gibbs) => 1,
            (Mode::Online, Classifier::Averaging) => 2,
        })
    }

    /// True when 1/λ and shares of topics are drawn. In batch mode they always are: expectations, taken round after round, are
    /// a climb to the nearest summit and no longer a chain.
    pub(super) fn draws(&self) -> bool {
        self.drawn || self.mode == Mode::Batch
    }

    /// Topics without a label at the beginning.
    pub(super) fn n_free(&self) -> usize {
        self.n_topics.unwrap_or(match self.sharing {
            Sharing::Shared => 0,
            Sharing::Separate => SEPARATE_TOPICS,
        })
    }

    /// Sweeps of a round that count.
    pub(super) fn n_kept(&self) -> usize {
        self.sweeps - self.burn_in
    }

    /// What a kept sweep's count of a word is worth.
    pub(super) fn count_scale(&self) -> f64 {
        f64::from(self.ghosts) / self.n_kept() as f64
    }
}
