//! What can be set of supervised topics.

use super::{DocumentKind, DocumentSettings};
use crate::engine::bayespa::{Classifier, LabelsEach, MedSettings, Mode, Sharing, Size};
use crate::model::SettingInfo;
use crate::model::parse::{positive, put, put_option, put_word, word};

const SHARING: [(&str, Sharing); 2] = [("shared", Sharing::Shared), ("separate", Sharing::Separate)];
const MODES: [(&str, Mode); 2] = [("online", Mode::Online), ("batch", Mode::Batch)];
const LABELS_EACH: [(&str, LabelsEach); 3] =
    [("auto", LabelsEach::Auto), ("one", LabelsEach::One), ("several", LabelsEach::Several)];
const SWITCH: [(&str, bool); 2] = [("off", false), ("on", true)];
const DRAWN: [(&str, bool); 2] = [("expected", false), ("drawn", true)];

impl DocumentKind {
    /// The classifier and the sort of topics of a supervised topic model; none for other kinds.
    pub fn supervised(self) -> Option<(Classifier, Size)> {
        match self {
            DocumentKind::MedLdaAve => Some((Classifier::Averaging, Size::Given)),
            DocumentKind::MedLdaGibbs => Some((Classifier::Gibbs, Size::Given)),
            DocumentKind::MedHdpAve => Some((Classifier::Averaging, Size::Open)),
            DocumentKind::MedHdpGibbs => Some((Classifier::Gibbs, Size::Open)),
            _ => None,
        }
    }

    /// The defaults of supervised topics; those of another kind do not matter.
    pub(super) fn supervised_defaults(self) -> MedSettings {
        let (classifier, size) = self.supervised().unwrap_or((Classifier::Gibbs, Size::Given));
        MedSettings::new(classifier, size)
    }
}

fn supervised(kind: DocumentKind) -> bool {
    kind.supervised().is_some()
}

fn averaging(kind: DocumentKind) -> bool {
    kind.supervised().is_some_and(|(classifier, _)| classifier == Classifier::Averaging)
}

fn gibbs(kind: DocumentKind) -> bool {
    kind.supervised().is_some_and(|(classifier, _)| classifier == Classifier::Gibbs)
}

fn open(kind: DocumentKind) -> bool {
    kind.supervised().is_some_and(|(_, size)| size == Size::Open)
}

/// The settings of supervised topics.
pub(super) const SUPERVISED_SETTINGS: [SettingInfo<DocumentSettings, DocumentKind>; 26] = [
    SettingInfo {
        name: "topics",
        takes: "shared or separate",
        help: "shared by all labels, or a model of its own for each label against all others, which costs as many times more",
        of: supervised,
        get: |s| word(&s.supervised.sharing, &SHARING),
        set: |s, t| put_word(&mut s.supervised.sharing, t, &SHARING),
    },
    SettingInfo {
        name: "mode",
        takes: "online or batch",
        help: "batch keeps all documents and learns them together at the end, in rounds until the objective settles",
        of: supervised,
        get: |s| word(&s.supervised.mode, &MODES),
        set: |s, t| put_word(&mut s.supervised.mode, t, &MODES),
    },
    SettingInfo {
        name: "labels",
        takes: "auto, one or several",
        help: "labels of a document: the best one, or all with a positive margin (auto: one, until a document has several)",
        of: supervised,
        get: |s| word(&s.supervised.labels_each, &LABELS_EACH),
        set: |s, t| put_word(&mut s.supervised.labels_each, t, &LABELS_EACH),
    },
    SettingInfo {
        name: "n-topics",
        takes: "a number from 0 to 10000, or auto",
        help: "topics that belong to no label from the beginning (auto: none if shared, 20 if separate)",
        of: supervised,
        get: |s| s.supervised.n_topics.map_or("auto".into(), |v| v.to_string()),
        set: |s, t| put_option(&mut s.supervised.n_topics, t, "auto", |v| *v <= 10_000),
    },
    SettingInfo {
        name: "max-topics",
        takes: "a number from 1 to 10000",
        help: "topics that there may be; what a document costs grows with it",
        of: open,
        get: |s| s.supervised.max_topics.to_string(),
        set: |s, t| put(&mut s.supervised.max_topics, t, |v| (1..=10_000).contains(v)),
    },
    SettingInfo {
        name: "topics-per-label",
        takes: "a number from 0 to 100",
        help: "topics that each label begins with, where topics are shared",
        of: supervised,
        get: |s| s.supervised.topics_per_label.to_string(),
        set: |s, t| put(&mut s.supervised.topics_per_label, t, |v| *v <= 100),
    },
    SettingInfo {
        name: "epsilon",
        takes: "a number larger than 0",
        help: "the margin that is asked for",
        of: supervised,
        get: |s| s.supervised.epsilon.to_string(),
        set: |s, t| put(&mut s.supervised.epsilon, t, |v| (1e-9..=1e9).contains(v)),
    },
    SettingInfo {
        name: "c",
        takes: "a number of at least 0",
        help: "what a margin that is not reached costs, beside the words; 0 learns topics without regard to labels",
        of: supervised,
        get: |s| s.supervised.cost.to_string(),
        set: |s, t| put(&mut s.supervised.cost, t, |v| (0.0..=1e9).contains(v)),
    },
    SettingInfo {
        name: "sigma2",
        takes: "a number larger than 0",
        help: "variance of a topic's weight for a label before any document",
        of: supervised,
        get: |s| s.supervised.variance.to_string(),
        set: |s, t| put(&mut s.supervised.variance, t, |v| (1e-12..=1e12).contains(v)),
    },
    SettingInfo {
        name: "constant",
        takes: "a number of at least 0",
        help: "variance of a label's constant in units of sigma2; 0 for no constant",
        of: supervised,
        get: |s| s.supervised.constant.to_string(),
        set: |s, t| put(&mut s.supervised.constant, t, |v| (0.0..=1e12).contains(v)),
    },
    SettingInfo {
        name: "tag",
        takes: "a number from 0 to 10",
        help: "weight of a topic for the label it begins with, in units of epsilon",
        of: supervised,
        get: |s| s.supervised.tag.to_string(),
        set: |s, t| put(&mut s.supervised.tag, t, |v| (0.0..=10.0).contains(v)),
    },
    SettingInfo {
        name: "tag-against",
        takes: "a number from 0 to 10",
        help: "weight of a topic against other labels, in units of that for its own",
        of: supervised,
        get: |s| s.supervised.tag_against.to_string(),
        set: |s, t| put(&mut s.supervised.tag_against, t, |v| (0.0..=10.0).contains(v)),
    },
    SettingInfo {
        name: "alpha",
        takes: "a number from 1e-6 to 1e6, or auto",
        help: "Dirichlet parameter of each topic in a document; medhdp: their sum (auto: one over the number of topics, 5)",
        of: supervised,
        get: |s| s.supervised.alpha.map_or("auto".into(), |v| v.to_string()),
        set: |s, t| put_option(&mut s.supervised.alpha, t, "auto", |v| (1e-6..=1e6).contains(v)),
    },
    SettingInfo {
        name: "gamma",
        takes: "a number from 1e-6 to 1e6",
        help: "Dirichlet parameter of each word in a topic",
        of: supervised,
        get: |s| s.supervised.gamma.to_string(),
        set: |s, t| put(&mut s.supervised.gamma, t, |v| (1e-6..=1e6).contains(v)),
    },
    SettingInfo {
        name: "eta",
        takes: "a number from 1e-6 to 1e6",
        help: "concentration of the topics' shares of the stream: more makes more topics",
        of: open,
        get: |s| s.supervised.eta.to_string(),
        set: |s, t| put(&mut s.supervised.eta, t, |v| (1e-6..=1e6).contains(v)),
    },
    SettingInfo {
        name: "rounds",
        takes: "a number from 1 to 10000, or auto",
        help: "times that topics, weights and a mini-batch are fitted to each other (auto: 1, averaging 2, in batch mode until the objective settles)",
        of: supervised,
        get: |s| s.supervised.rounds.map_or("auto".into(), |v| v.to_string()),
        set: |s, t| put_option(&mut s.supervised.rounds, t, "auto", |v| (1..=10_000).contains(v)),
    },
    SettingInfo {
        name: "sweeps",
        takes: "a number from 1 to 1000",
        help: "sweeps of Gibbs sampling in each round",
        of: supervised,
        get: |s| s.supervised.sweeps.to_string(),
        set: |s, t| put(&mut s.supervised.sweeps, t, |v| (1..=1000).contains(v)),
    },
    SettingInfo {
        name: "burn-in",
        takes: "a number smaller than sweeps",
        help: "first sweeps of each round that do not count",
        of: supervised,
        get: |s| s.supervised.burn_in.to_string(),
        set: |s, t| put(&mut s.supervised.burn_in, t, |v| *v < 1000),
    },
    SettingInfo {
        name: "batch-size",
        takes: "a number from 1 to 1000000",
        help: "documents in a mini-batch, whatever portions they come in",
        of: supervised,
        get: |s| s.supervised.minibatch.to_string(),
        set: |s, t| put(&mut s.supervised.minibatch, t, |v| (1..=1_000_000).contains(v)),
    },
    SettingInfo {
        name: "ghosts",
        takes: "a number from 1 to 1000",
        help: "copies of itself that each document counts as: 10 helps with less than a few thousand documents",
        of: supervised,
        get: |s| s.supervised.ghosts.to_string(),
        set: |s, t| put(&mut s.supervised.ghosts, t, |v| (1..=1000).contains(v)),
    },
    SettingInfo {
        name: "once",
        takes: "on or off",
        help: "each word counts once in a document",
        of: supervised,
        get: |s| word(&s.supervised.once, &SWITCH),
        set: |s, t| put_word(&mut s.supervised.once, t, &SWITCH),
    },
    SettingInfo {
        name: "expected-log",
        takes: "on or off",
        help: "weigh words by exp E[log φ], as the paper does, instead of E[φ]",
        of: supervised,
        get: |s| word(&s.supervised.expected_log, &SWITCH),
        set: |s, t| put_word(&mut s.supervised.expected_log, t, &SWITCH),
    },
    SettingInfo {
        name: "lambda",
        takes: "expected or drawn",
        help: "how far documents are from their margins: by its expectation or by draws",
        of: gibbs,
        get: |s| word(&s.supervised.drawn, &DRAWN),
        set: |s, t| put_word(&mut s.supervised.drawn, t, &DRAWN),
    },
    SettingInfo {
        name: "averaging",
        takes: "on or off",
        help: "judge by the mean of the weights along the stream instead of the last ones",
        of: averaging,
        get: |s| word(&s.supervised.averaging, &SWITCH),
        set: |s, t| put_word(&mut s.supervised.averaging, t, &SWITCH),
    },
    SettingInfo {
        name: "positive-weight",
        takes: "a number larger than 0, or auto",
        help: "how much more a document with a label counts than one without (auto: where documents have several, by how rare labels are)",
        of: supervised,
        get: |s| s.supervised.positive_weight.map_or("auto".into(), |v| v.to_string()),
        set: |s, t| put_option(&mut s.supervised.positive_weight, t, "auto", positive),
    },
    SettingInfo {
        name: "keep",
        takes: "a number from 0 to 1e8",
        help: "labelled documents kept, to learn the labels anew from their topics as these are at the end; 0 for none",
        of: supervised,
        get: |s| s.supervised.keep.to_string(),
        set: |s, t| put(&mut s.supervised.keep, t, |v| *v <= 100_000_000),
    },
];
