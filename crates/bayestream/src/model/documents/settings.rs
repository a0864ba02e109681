//! All that can be set of a model of documents: its topics, and its way from text to words.

use super::DocumentKind;
use super::supervised::SUPERVISED_SETTINGS;
use crate::engine::bayespa::MedSettings;
use crate::engine::bmm::{BatchSettings, BmmSettings, MOST_COMMON};
use crate::engine::svi::SviSettings;
use crate::engine::topics::TopicSettings;
use crate::model::parse::{check_values, positive, put, put_option, put_word, word};
use crate::model::settings::{VARIANTS, put_known};
use crate::model::{ConfigError, SettingInfo};
use crate::text::{TextError, TextSetting, TextSettings};
use serde::{Deserialize, Serialize};

/// Everything that can be set. `--set NAME=VALUE` on the command line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DocumentSettings {
    /// From text to words, and from words to numbers.
    pub text: TextSettings,
    /// Topics of a hierarchical Dirichlet process.
    pub topics: TopicSettings,
    /// Moment matching.
    pub moments: BmmSettings,
    /// The batch rivals of moment matching.
    pub batch: BatchSettings,
    /// Topics that move by step sizes.
    pub svi: SviSettings,
    /// Supervised topics.
    pub supervised: MedSettings,
    /// Labels that there may be.
    pub max_labels: usize,
}

fn hdp(kind: DocumentKind) -> bool {
    kind == DocumentKind::TopicsMmHdp
}

fn growing(kind: DocumentKind) -> bool {
    kind == DocumentKind::TopicsTfHdp
}

fn sampled(kind: DocumentKind) -> bool {
    matches!(kind, DocumentKind::TopicsSpLda | DocumentKind::TopicsTfHdp)
}

fn batch(kind: DocumentKind) -> bool {
    !kind.info().streaming
}

/// The settings beside those of text, which every kind of documents has ([`TextSetting::all`]), and of supervised topics.
const DOCUMENT_SETTINGS: [SettingInfo<DocumentSettings, DocumentKind>; 41] = [
    SettingInfo {
        name: "max-topics",
        takes: "a number from 1 to 10000",
        help: "topics held while learning, at most: what a word costs grows with it",
        of: hdp,
        get: |s| s.topics.max_topics.to_string(),
        set: |s, t| put(&mut s.topics.max_topics, t, |v| (1..=10_000).contains(v)),
    },
    SettingInfo {
        name: "a0",
        takes: "a number from 1e-6 to 1e6",
        help: "concentration of a document's shares about those of the stream: small for documents of few topics",
        of: hdp,
        get: |s| s.topics.a0.to_string(),
        set: |s, t| put(&mut s.topics.a0, t, |v| (1e-6..=1e6).contains(v)),
    },
    SettingInfo {
        name: "gamma",
        takes: "a number from 1e-6 to 1e6",
        help: "weight of a topic not met yet",
        of: hdp,
        get: |s| s.topics.gamma.to_string(),
        set: |s, t| put(&mut s.topics.gamma, t, |v| (1e-6..=1e6).contains(v)),
    },
    SettingInfo {
        name: "a-new",
        takes: "a number from 1e-6 to 1e6",
        help: "least weight of the open topic in each document, so that new themes are noticed late in a stream too",
        of: hdp,
        get: |s| s.topics.a_new.to_string(),
        set: |s, t| put(&mut s.topics.a_new, t, |v| (1e-6..=1e6).contains(v)),
    },
    SettingInfo {
        name: "s0",
        takes: "a number from 1 to 1e6",
        help: "words that it takes to move a new topic",
        of: hdp,
        get: |s| s.topics.s0.to_string(),
        set: |s, t| put(&mut s.topics.s0, t, |v| (1.0..=1e6).contains(v)),
    },
    SettingInfo {
        name: "prior-words",
        takes: "a number from 2 to 1e9, or auto",
        help: "words that a new topic thinks there are: few make many narrow topics (auto: by the first documents)",
        of: hdp,
        get: |s| s.topics.prior_words.map_or("auto".into(), |v| v.to_string()),
        set: |s, t| put_option(&mut s.topics.prior_words, t, "auto", |v| (2.0..=1e9).contains(v)),
    },
    SettingInfo {
        name: "birth",
        takes: "a number from 1e-6 to 1e6",
        help: "words that the open topic must explain to become a topic",
        of: hdp,
        get: |s| s.topics.birth.to_string(),
        set: |s, t| put(&mut s.topics.birth, t, |v| (1e-6..=1e6).contains(v)),
    },
    SettingInfo {
        name: "recycle",
        takes: "a whole number",
        help: "topics given up for new ones, every 250 documents, when all are in use",
        of: hdp,
        get: |s| s.topics.recycle.to_string(),
        set: |s, t| put(&mut s.topics.recycle, t, |v| *v <= 10_000),
    },
    SettingInfo {
        name: "protect",
        takes: "a number of documents",
        help: "documents that a topic lives at least",
        of: hdp,
        get: |s| s.topics.protect.to_string(),
        set: |s, t| put(&mut s.topics.protect, t, |_| true),
    },
    SettingInfo {
        name: "memory",
        takes: "a number of words of at least s0, or none",
        help: "most words that a topic remembers; fewer follow a changing stream faster",
        of: hdp,
        get: |s| s.topics.memory.map_or("none".into(), |v| v.to_string()),
        set: |s, t| put_option(&mut s.topics.memory, t, "none", positive),
    },
    SettingInfo {
        name: "merge-above",
        takes: "a number from 0 to 1",
        help: "topics that overlap more than this (Bhattacharyya) are shown as one",
        of: hdp,
        get: |s| s.topics.merge_above.to_string(),
        set: |s, t| put(&mut s.topics.merge_above, t, |v| (0.0..=1.0).contains(v)),
    },
    SettingInfo {
        name: "show-above",
        takes: "a share from 0 to 1",
        help: "topics with a smaller share of the words are not shown",
        of: hdp,
        get: |s| s.topics.show_above.to_string(),
        set: |s, t| put(&mut s.topics.show_above, t, |v| (0.0..=1.0).contains(v)),
    },
    SettingInfo {
        name: "variant",
        takes: "default or paper",
        help: "paper runs the algorithm of the paper, for reproduction",
        of: DocumentKind::is_moment_matching,
        get: |s| word(&s.moments.variant, &VARIANTS),
        set: |s, t| put_word(&mut s.moments.variant, t, &VARIANTS),
    },
    SettingInfo {
        name: "lambda0",
        takes: "a number from 1 to 10000",
        help: "topics expected before any document was seen",
        of: DocumentKind::is_moment_matching,
        get: |s| s.moments.lambda0.to_string(),
        set: |s, t| put(&mut s.moments.lambda0, t, |v| (1.0..=1e4).contains(v)),
    },
    SettingInfo {
        name: "gamma0",
        takes: "a number larger than 0",
        help: "Dirichlet parameter of a topic without documents",
        of: DocumentKind::is_moment_matching,
        get: |s| s.moments.gamma.to_string(),
        set: |s, t| put(&mut s.moments.gamma, t, positive),
    },
    SettingInfo {
        name: "draws",
        takes: "a number from 1 to 1000000",
        help: "paper variant: draws of the number of topics per document or word",
        of: DocumentKind::is_moment_matching,
        get: |s| s.moments.draws.to_string(),
        set: |s, t| put(&mut s.moments.draws, t, |v| (1..=1_000_000).contains(v)),
    },
    SettingInfo {
        name: "components",
        takes: "a number from 1 to 10000",
        help: "topics held while learning, at most",
        of: DocumentKind::is_moment_matching,
        get: |s| s.moments.max_components.to_string(),
        set: |s, t| put(&mut s.moments.max_components, t, |v| (1..=10_000).contains(v)),
    },
    SettingInfo {
        name: "beta0",
        takes: "a number larger than 0, or auto",
        help: "Dirichlet parameter of every word in a topic without words (auto: naive-bayes/bmm as many words as eight documents have, by the first documents, over all words; lda/bmm 0.006)",
        of: DocumentKind::is_moment_matching,
        get: |s| s.moments.beta0.map_or("auto".into(), |v| v.to_string()),
        set: |s, t| put_option(&mut s.moments.beta0, t, "auto", positive),
    },
    SettingInfo {
        name: "common",
        takes: "a share from 0 to 0.999",
        help: "how far a topic without words expects words as often as the whole stream has them",
        of: |k| k == DocumentKind::NaiveBayesBmm,
        get: |s| s.moments.common.to_string(),
        set: |s, t| put(&mut s.moments.common, t, |v| (0.0..=MOST_COMMON).contains(v)),
    },
    SettingInfo {
        name: "memory",
        takes: "a number of documents of at least 10, or none",
        help: "documents remembered; none never forgets",
        of: DocumentKind::is_moment_matching,
        get: |s| s.moments.memory.map_or("none".into(), |v| v.to_string()),
        set: |s, t| put_option(&mut s.moments.memory, t, "none", |v| *v >= 10.0 && v.is_finite()),
    },
    SettingInfo {
        name: "topics",
        takes: "a number from 1 to 10000",
        help: "number of topics; naive-bayes/vb-dp: at most",
        of: batch,
        get: |s| s.batch.n_topics.to_string(),
        set: |s, t| put(&mut s.batch.n_topics, t, |v| (1..=10_000).contains(v)),
    },
    SettingInfo {
        name: "smoothing",
        takes: "a number larger than 0",
        help: "added to every word of every topic",
        of: batch,
        get: |s| s.batch.smoothing.to_string(),
        set: |s, t| put(&mut s.batch.smoothing, t, positive),
    },
    SettingInfo {
        name: "iterations",
        takes: "a number from 1 to 100000",
        help: "rounds over all documents, at most",
        of: batch,
        get: |s| s.batch.iterations.to_string(),
        set: |s, t| put(&mut s.batch.iterations, t, |v| (1..=100_000).contains(v)),
    },
    SettingInfo {
        name: "alpha",
        takes: "a number larger than 0",
        help: "concentration of the Dirichlet process",
        of: |k| k == DocumentKind::NaiveBayesVbDp,
        get: |s| s.batch.alpha.to_string(),
        set: |s, t| put(&mut s.batch.alpha, t, positive),
    },
    SettingInfo {
        name: "common",
        takes: "a share from 0 to 1",
        help: "how far a new topic expects words as often as the whole stream has them",
        of: hdp,
        get: |s| s.topics.common.to_string(),
        set: |s, t| put(&mut s.topics.common, t, |v| (0.0..=1.0).contains(v)),
    },
    SettingInfo {
        name: "n-topics",
        takes: "a number from 1 to 10000",
        help: "number of topics; topics/tfhdp: those there are at first",
        of: DocumentKind::has_steps,
        get: |s| s.svi.n_topics.to_string(),
        set: |s, t| put(&mut s.svi.n_topics, t, |v| (1..=10_000).contains(v)),
    },
    SettingInfo {
        name: "max-topics",
        takes: "a number from 1 to 10000",
        help: "topics that there may be, at most",
        of: growing,
        get: |s| s.svi.max_topics.to_string(),
        set: |s, t| put(&mut s.svi.max_topics, t, |v| (1..=10_000).contains(v)),
    },
    SettingInfo {
        name: "alpha",
        takes: "a number from 1e-6 to 1e6",
        help: "Dirichlet parameter of each topic in a document; topics/tfhdp: their sum. Small for documents of few topics",
        of: DocumentKind::has_steps,
        get: |s| s.svi.alpha.to_string(),
        set: |s, t| put(&mut s.svi.alpha, t, |v| (1e-6..=1e6).contains(v)),
    },
    SettingInfo {
        name: "eta",
        takes: "a number from 1e-6 to 1e6",
        help: "Dirichlet parameter of each word in a topic",
        of: DocumentKind::has_steps,
        get: |s| s.svi.eta.to_string(),
        set: |s, t| put(&mut s.svi.eta, t, |v| (1e-6..=1e6).contains(v)),
    },
    SettingInfo {
        name: "gamma",
        takes: "a number from 1e-6 to 1e6",
        help: "concentration of the topics' shares of the stream: more makes more topics",
        of: growing,
        get: |s| s.svi.gamma.to_string(),
        set: |s, t| put(&mut s.svi.gamma, t, |v| (1e-6..=1e6).contains(v)),
    },
    SettingInfo {
        name: "tau0",
        takes: "a number from 0 to 1e9",
        help: "delay of the step sizes (tau0 + t)^-kappa: more makes the first steps smaller",
        of: DocumentKind::has_steps,
        get: |s| s.svi.tau0.to_string(),
        set: |s, t| put(&mut s.svi.tau0, t, |v| (0.0..=1e9).contains(v)),
    },
    SettingInfo {
        name: "kappa",
        takes: "a number from 0 to 1",
        help: "decay of the step sizes: less forgets faster",
        of: DocumentKind::has_steps,
        get: |s| s.svi.kappa.to_string(),
        set: |s, t| put(&mut s.svi.kappa, t, |v| (0.0..=1.0).contains(v)),
    },
    SettingInfo {
        name: "batch-size",
        takes: "a number from 1 to 1000000",
        help: "documents in a mini-batch, whatever portions they come in",
        of: DocumentKind::has_steps,
        get: |s| s.svi.batch_size.to_string(),
        set: |s, t| put(&mut s.svi.batch_size, t, |v| (1..=1_000_000).contains(v)),
    },
    SettingInfo {
        name: "n-documents",
        takes: "a number from 1 to 1e12, or auto",
        help: "documents of the whole stream (auto: those seen so far)",
        of: DocumentKind::has_steps,
        get: |s| s.svi.n_documents.map_or("auto".into(), |v| v.to_string()),
        set: |s, t| put_option(&mut s.svi.n_documents, t, "auto", |v| (1.0..=1e12).contains(v)),
    },
    SettingInfo {
        name: "rounds",
        takes: "a number from 1 to 1000",
        help: "times that topics and a mini-batch are fitted to each other",
        of: DocumentKind::has_steps,
        get: |s| s.svi.rounds.to_string(),
        set: |s, t| put(&mut s.svi.rounds, t, |v| (1..=1000).contains(v)),
    },
    SettingInfo {
        name: "first-rounds",
        takes: "a number from 1 to 1000",
        help: "the same for the first mini-batch, whose topics start at random",
        of: DocumentKind::has_steps,
        get: |s| s.svi.first_rounds.to_string(),
        set: |s, t| put(&mut s.svi.first_rounds, t, |v| (1..=1000).contains(v)),
    },
    SettingInfo {
        name: "sweeps",
        takes: "a number from 1 to 1000",
        help: "sweeps of Gibbs sampling that count",
        of: sampled,
        get: |s| s.svi.sweeps.to_string(),
        set: |s, t| put(&mut s.svi.sweeps, t, |v| (1..=1000).contains(v)),
    },
    SettingInfo {
        name: "burn-in",
        takes: "a number from 0 to 1000",
        help: "sweeps of Gibbs sampling before those that count",
        of: sampled,
        get: |s| s.svi.burn_in.to_string(),
        set: |s, t| put(&mut s.svi.burn_in, t, |v| *v <= 1000),
    },
    SettingInfo {
        name: "keep",
        takes: "a number from 0 to 1e8",
        help: "labelled documents kept, to learn labels from their topics",
        of: DocumentKind::has_steps,
        get: |s| s.svi.keep.to_string(),
        set: |s, t| put(&mut s.svi.keep, t, |v| *v <= 100_000_000),
    },
    SettingInfo {
        name: "cost",
        takes: "a number from 1e-6 to 1e6",
        help: "C of the linear machine that tells labels by topics",
        of: DocumentKind::has_steps,
        get: |s| s.svi.cost.to_string(),
        set: |s, t| put(&mut s.svi.cost, t, |v| (1e-6..=1e6).contains(v)),
    },
    SettingInfo {
        name: "max-labels",
        takes: "a number from 1 to 10000",
        help: "different labels that there may be: what a document costs grows with it",
        of: DocumentKind::takes_labels,
        get: |s| s.max_labels.to_string(),
        set: |s, t| put(&mut s.max_labels, t, |v| (1..=10_000).contains(v)),
    },
];

/// Labels that there may be, if nobody says so: more of them rather come from a wrong column.
const MAX_LABELS: usize = 200;

impl DocumentSettings {
    /// The defaults of a kind.
    pub fn of(kind: DocumentKind) -> DocumentSettings {
        let moments = if kind == DocumentKind::LdaBmm { BmmSettings::for_lda() } else { BmmSettings::default() };
        let batch = match kind {
            DocumentKind::NaiveBayesVbDp => BatchSettings::for_dirichlet_process(),
            _ => BatchSettings::default(),
        };
        DocumentSettings {
            text: TextSettings::default(),
            topics: TopicSettings::default(),
            moments,
            batch,
            svi: if growing(kind) { SviSettings::for_hdp() } else { SviSettings::default() },
            supervised: kind.supervised_defaults(),
            max_labels: MAX_LABELS,
        }
    }

    /// Sets one setting by name.
    pub fn set(&mut self, kind: DocumentKind, name: &str, value: &str) -> Result<(), ConfigError> {
        if TextSetting::all().iter().any(|setting| setting.name == name) {
            return self.text.set(name, value.trim()).map_err(|error| ConfigError::Text { error });
        }
        let of_text = TextSetting::all().iter().map(|setting| setting.name);
        put_known(self, Self::of_kind(kind), of_text, kind.name(), (name, value))
    }

    /// The settings that a kind has beside those of text.
    pub fn of_kind(kind: DocumentKind) -> impl Iterator<Item = &'static SettingInfo<DocumentSettings, DocumentKind>> {
        DOCUMENT_SETTINGS.iter().chain(&SUPERVISED_SETTINGS).filter(move |s| (s.of)(kind))
    }

    /// A kind's settings as name and value, those of text last.
    pub fn list(&self, kind: DocumentKind) -> Vec<(&'static str, String)> {
        let own = Self::of_kind(kind).map(|s| (s.name, (s.get)(self)));
        let of_text = |s: &'static TextSetting| (s.name, self.text.get(s.name).unwrap_or_default());
        own.chain(TextSetting::all().iter().map(of_text)).collect()
    }

    /// Says what is wrong for a kind, if anything.
    pub(super) fn check(&self, kind: DocumentKind) -> Result<(), ConfigError> {
        self.text.check().map_err(|error: TextError| ConfigError::Text { error })?;
        check_values(self, Self::of_kind(kind))?;
        let fault = self
            .topics
            .fault()
            .or_else(|| self.moments.check().err())
            .or_else(|| self.supervised.fault())
            .or_else(|| self.svi.fault());
        fault.map_or(Ok(()), |reason| Err(ConfigError::BadColumns { reason }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::DOCUMENT_KINDS;

    #[test]
    fn every_setting_takes_what_it_prints() {
        for kind in DOCUMENT_KINDS.iter().map(|info| info.kind) {
            let mut settings = DocumentSettings::of(kind);
            for (name, value) in settings.list(kind) {
                settings.set(kind, name, &value).unwrap_or_else(|error| panic!("{name}={value}: {error}"));
            }
            assert_eq!(settings, DocumentSettings::of(kind));
            settings.check(kind).unwrap();
        }
    }

    #[test]
    fn wrong_settings_are_refused_with_a_hint() {
        let kind = DocumentKind::TopicsMmHdp;
        let mut settings = DocumentSettings::of(kind);
        assert!(settings.set(kind, "max-topic", "3").unwrap_err().to_string().contains("did you mean `max-topics`"));
        assert_eq!(settings.set(kind, "max-topics", "0").unwrap_err().code(), "bad-value");
        assert!(settings.set(kind, "stem", "klingon").unwrap_err().to_string().contains("no stemmer for `klingon`"));
        assert_eq!(settings.set(kind, "lambda0", "3").unwrap_err().code(), "unknown-setting");
        assert_eq!(settings, DocumentSettings::of(kind));
    }
}
