//! All that can be set of a classifier or regressor.

use super::LinearKind;
use crate::engine::linear::{Inference, Inputs, LinearSettings, Rule, TargetChoice, WordSettings, WordWeighting};
use crate::model::parse::{positive, put, put_option, put_word, word};
use crate::model::settings::put_known;
use crate::model::{ConfigError, SettingInfo};
use crate::text::{TextSetting, TextSettings};
use serde::{Deserialize, Serialize};

/// What features are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FeatureChoice {
    /// Columns of numbers.
    Numbers,
    /// The words of documents.
    Words,
}

/// What is kept of the covariance of weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CovarianceChoice {
    /// All of it up to [`FULL_UP_TO`] columns, variances beyond and for words.
    Auto,
    /// All of it.
    Full,
    /// Variances.
    Diagonal,
}

/// Columns up to which `covariance=auto` keeps all covariances: a row costs their square for each label.
pub const FULL_UP_TO: usize = 128;
/// Columns up to which `covariance=full` does.
const MOST_FULL: usize = 4096;

/// Everything that can be set. `--set NAME=VALUE` on the command line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinearChoices {
    /// Which of the passive-aggressive steps `classify/pa` takes.
    pub rule: Rule,
    /// What is to be told.
    pub target: TargetChoice,
    /// What from.
    pub features: FeatureChoice,
    /// Aggressiveness; none for the default of kind and target.
    pub c: Option<f64>,
    /// Margin, or error forgiven; none for the default of the target.
    pub epsilon: Option<f64>,
    /// Variance of a weight before the first row; none for the default of kind and features.
    pub sigma2: Option<f64>,
    /// What is kept of covariances.
    pub covariance: CovarianceChoice,
    /// How the Gaussian of a Gibbs classifier is found.
    pub inference: Inference,
    /// Rounds of the augmentation for each row.
    pub rounds: u32,
    /// Value of the constant feature; none for the default of the features.
    pub bias: Option<f64>,
    /// How much more rows with a label count.
    pub positive: f64,
    /// Columns are put on their scales so far.
    pub scale: bool,
    /// What a word counts.
    pub words: WordSettings,
    /// Labels at most.
    pub max_labels: usize,
    /// From text to words.
    pub text: TextSettings,
}

const RULES: [(&str, Rule); 2] = [("pa-1", Rule::PaOne), ("pa-2", Rule::PaTwo)];
const TARGETS: [(&str, TargetChoice); 3] =
    [("label", TargetChoice::Label), ("labels", TargetChoice::Labels), ("number", TargetChoice::Number)];
const FEATURES: [(&str, FeatureChoice); 2] = [("numbers", FeatureChoice::Numbers), ("words", FeatureChoice::Words)];
const COVARIANCES: [(&str, CovarianceChoice); 3] =
    [("auto", CovarianceChoice::Auto), ("full", CovarianceChoice::Full), ("diagonal", CovarianceChoice::Diagonal)];
const WEIGHTINGS: [(&str, WordWeighting); 3] =
    [("once", WordWeighting::Once), ("counts", WordWeighting::Counts), ("log", WordWeighting::Log)];
const INFERENCES: [(&str, Inference); 2] = [("moments", Inference::Moments), ("augmented", Inference::Augmented)];
const SWITCH: [(&str, bool); 2] = [("on", true), ("off", false)];
const LENGTHS: [(&str, bool); 2] = [("unit", true), ("raw", false)];

fn every(_: LinearKind) -> bool {
    true
}

fn gibbs(kind: LinearKind) -> bool {
    kind == LinearKind::BayesPaGibbs
}

/// Settings that say nothing of columns, and nothing of words.
const OF_WORDS: [&str; 3] = ["counts", "idf", "length"];
const OF_NUMBERS: [&str; 2] = ["scale", "covariance"];

/// The settings beside those of text.
pub const LINEAR_SETTINGS: [SettingInfo<LinearChoices, LinearKind>; 16] = [
    SettingInfo {
        name: "target",
        takes: "label, labels or number",
        help: "what to tell: one label of each row, any number of them, or a number",
        of: every,
        get: |s| word(&s.target, &TARGETS),
        set: |s, t| put_word(&mut s.target, t, &TARGETS),
    },
    SettingInfo {
        name: "features",
        takes: "numbers or words",
        help: "what to tell it from: columns of numbers or the words of documents; --text-column says words too",
        of: every,
        get: |s| word(&s.features, &FEATURES),
        set: |s, t| put_word(&mut s.features, t, &FEATURES),
    },
    SettingInfo {
        name: "rule",
        takes: "pa-1 or pa-2",
        help: "steps cut at C, or steps that shrink with the squared loss",
        of: |k| k == LinearKind::Pa,
        get: |s| word(&s.rule, &RULES),
        set: |s, t| put_word(&mut s.rule, t, &RULES),
    },
    SettingInfo {
        name: "c",
        takes: "a number from 1e-9 to 1e9, or auto",
        help: "aggressiveness: C of PA; BayesPA counts a loss 2c (auto: 1 by Gibbs; else a step of 1, of 0.1 for numbers)",
        of: every,
        get: |s| s.c.map_or("auto".into(), |v| v.to_string()),
        set: |s, t| put_option(&mut s.c, t, "auto", |v| (1e-9..=1e9).contains(v)),
    },
    SettingInfo {
        name: "epsilon",
        takes: "a number of at least 0, or auto",
        help: "margin wanted of a label (auto: 1), error forgiven of a number (auto: 0.1; in deviations with scale=on)",
        of: every,
        get: |s| s.epsilon.map_or("auto".into(), |v| v.to_string()),
        set: |s, t| put_option(&mut s.epsilon, t, "auto", |v| (0.0..=1e9).contains(v)),
    },
    SettingInfo {
        name: "sigma2",
        takes: "a number from 1e-9 to 1e9, or auto",
        help: "variance of each weight before the first row (auto: 1; 10 for a Gibbs classifier of words)",
        of: LinearKind::is_bayesian,
        get: |s| s.sigma2.map_or("auto".into(), |v| v.to_string()),
        set: |s, t| put_option(&mut s.sigma2, t, "auto", |v| (1e-9..=1e9).contains(v)),
    },
    SettingInfo {
        name: "covariance",
        takes: "auto, full or diagonal",
        help: "what is kept beside the means of weights: auto keeps all covariances up to 128 columns, then variances",
        of: gibbs,
        get: |s| word(&s.covariance, &COVARIANCES),
        set: |s, t| put_word(&mut s.covariance, t, &COVARIANCES),
    },
    SettingInfo {
        name: "inference",
        takes: "moments or augmented",
        help: "how a row's hinge makes the weights a Gaussian again: by exact moments, or by the paper's augmentation",
        of: gibbs,
        get: |s| word(&s.inference, &INFERENCES),
        set: |s, t| put_word(&mut s.inference, t, &INFERENCES),
    },
    SettingInfo {
        name: "rounds",
        takes: "a number from 1 to 100",
        help: "inference=augmented: rounds in which a row's augmentation and the weights are sought in turn",
        of: gibbs,
        get: |s| s.rounds.to_string(),
        set: |s, t| put(&mut s.rounds, t, |v| (1..=100).contains(v)),
    },
    SettingInfo {
        name: "bias",
        takes: "a number from 0 to 1e6, or auto",
        help: "value of the constant feature, 0 for none (auto: 1 beside columns, 0.1 beside words)",
        of: every,
        get: |s| s.bias.map_or("auto".into(), |v| v.to_string()),
        set: |s, t| put_option(&mut s.bias, t, "auto", |v| (0.0..=1e6).contains(v)),
    },
    SettingInfo {
        name: "positive",
        takes: "a number larger than 0",
        help: "how much more a row counts for its own labels than against the others: above 1 finds more rare labels",
        of: every,
        get: |s| s.positive.to_string(),
        set: |s, t| put(&mut s.positive, t, positive),
    },
    SettingInfo {
        name: "scale",
        takes: "on or off",
        help: "centre columns, and a number to be told, and divide by their deviations so far; off takes them as they are",
        of: every,
        get: |s| word(&s.scale, &SWITCH),
        set: |s, t| put_word(&mut s.scale, t, &SWITCH),
    },
    SettingInfo {
        name: "counts",
        takes: "once, counts or log",
        help: "what a word counts: 1, its count, or 1 + ln(count)",
        of: every,
        get: |s| word(&s.words.weighting, &WEIGHTINGS),
        set: |s, t| put_word(&mut s.words.weighting, t, &WEIGHTINGS),
    },
    SettingInfo {
        name: "idf",
        takes: "on or off",
        help: "rare words count more, by their documents so far",
        of: every,
        get: |s| word(&s.words.idf, &SWITCH),
        set: |s, t| put_word(&mut s.words.idf, t, &SWITCH),
    },
    SettingInfo {
        name: "length",
        takes: "unit or raw",
        help: "whether every document has length one",
        of: every,
        get: |s| word(&s.words.unit_length, &LENGTHS),
        set: |s, t| put_word(&mut s.words.unit_length, t, &LENGTHS),
    },
    SettingInfo {
        name: "max-labels",
        takes: "a number from 1 to 1000000",
        help: "labels at most: one more is an error, so that a column of names is not taken for labels",
        of: every,
        get: |s| s.max_labels.to_string(),
        set: |s, t| put(&mut s.max_labels, t, |v| (1..=1_000_000).contains(v)),
    },
];

impl Default for LinearChoices {
    fn default() -> LinearChoices {
        LinearChoices::new()
    }
}

impl LinearChoices {
    /// The defaults, which are the same for every kind: what differs is `auto`.
    pub fn new() -> LinearChoices {
        LinearChoices {
            rule: Rule::PaOne,
            target: TargetChoice::Label,
            features: FeatureChoice::Numbers,
            c: None,
            epsilon: None,
            sigma2: None,
            covariance: CovarianceChoice::Auto,
            inference: Inference::Moments,
            rounds: 3,
            bias: None,
            positive: 1.0,
            scale: true,
            words: WordSettings { weighting: WordWeighting::Once, idf: false, unit_length: true },
            max_labels: 1000,
            text: TextSettings::default(),
        }
    }

    /// Sets one setting by name.
    pub fn set(&mut self, kind: LinearKind, name: &str, value: &str) -> Result<(), ConfigError> {
        if TextSetting::all().iter().any(|setting| setting.name == name) {
            return self.text.set(name, value.trim()).map_err(|error| ConfigError::Text { error });
        }
        let of_text = TextSetting::all().iter().map(|setting| setting.name);
        put_known(self, Self::of_kind(kind), of_text, kind.name(), (name, value))
    }

    /// The settings that a kind has beside those of text.
    pub fn of_kind(kind: LinearKind) -> impl Iterator<Item = &'static SettingInfo<LinearChoices, LinearKind>> {
        LINEAR_SETTINGS.iter().filter(move |s| (s.of)(kind))
    }

    /// All settings of a kind as name and value, those of text last.
    pub fn all(&self, kind: LinearKind) -> Vec<(&'static str, String)> {
        let own = Self::of_kind(kind).map(|s| (s.name, (s.get)(self)));
        let of_text = |s: &'static TextSetting| (s.name, self.text.get(s.name).unwrap_or_default());
        own.chain(TextSetting::all().iter().map(of_text)).collect()
    }

    /// Those of them that say something for the features chosen.
    pub fn list(&self, kind: LinearKind) -> Vec<(&'static str, String)> {
        let is_text = |name: &str| TextSetting::all().iter().any(|setting| setting.name == name);
        let speaks = |name: &str| match self.features {
            FeatureChoice::Words => !OF_NUMBERS.contains(&name),
            FeatureChoice::Numbers => !OF_WORDS.contains(&name) && !is_text(name),
        };
        self.all(kind).into_iter().filter(|(name, _)| speaks(name)).collect()
    }

    /// What the engine is told, for so many columns.
    pub fn engine(&self, kind: LinearKind, n_columns: usize) -> Result<LinearSettings, ConfigError> {
        self.text.check().map_err(|error| ConfigError::Text { error })?;
        let is_words = self.features == FeatureChoice::Words;
        let wants_full = match self.covariance {
            CovarianceChoice::Auto => !is_words && n_columns <= FULL_UP_TO,
            CovarianceChoice::Full => true,
            CovarianceChoice::Diagonal => false,
        };
        let full = gibbs(kind) && wants_full;
        if full && (is_words || n_columns > MOST_FULL) {
            return Err(ConfigError::BadValue {
                name: "covariance".into(),
                value: "full".into(),
                expected: format!("diagonal for words and beyond {MOST_FULL} columns: covariances would not fit"),
            });
        }
        let rule = match kind {
            LinearKind::Pa => self.rule,
            LinearKind::BayesPaAve => Rule::Average,
            LinearKind::BayesPaGibbs => Rule::Gibbs,
        };
        let is_number = self.target == TargetChoice::Number;
        let epsilon = self.epsilon.unwrap_or(if is_number { 0.1 } else { 1.0 });
        // Numbers are noisy, and a whole step for each would follow the noise. Steps of an averaging classifier are 2c.
        let step = if is_number { 0.1 } else { 1.0 };
        let c = match kind {
            LinearKind::Pa => step,
            LinearKind::BayesPaAve => 0.5 * step,
            LinearKind::BayesPaGibbs => 1.0,
        };
        let inputs = match self.features {
            FeatureChoice::Words => Inputs::Words(self.words),
            FeatureChoice::Numbers => Inputs::Columns { n: n_columns, scale: self.scale },
        };
        let settings = LinearSettings {
            rule,
            target: self.target,
            inputs,
            c: self.c.unwrap_or(c),
            epsilon,
            // A word is a small part of a document of length one, and its weight may be large.
            sigma2: self.sigma2.unwrap_or(if is_words && gibbs(kind) { 10.0 } else { 1.0 }),
            full,
            inference: self.inference,
            rounds: self.rounds,
            // Beside documents of length one, a constant of 1 would be half of every step.
            bias: self.bias.unwrap_or(if is_words { 0.1 } else { 1.0 }),
            positive: self.positive,
        };
        match settings.fault() {
            Some(reason) => Err(ConfigError::BadColumns { reason: reason.into() }),
            None => Ok(settings),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::LINEAR_KINDS;

    #[test]
    fn every_setting_takes_what_it_prints() {
        for kind in LINEAR_KINDS.iter().map(|info| info.kind) {
            let mut settings = LinearChoices::new();
            for (name, value) in settings.all(kind) {
                settings.set(kind, name, &value).unwrap_or_else(|error| panic!("{name}={value}: {error}"));
            }
            assert_eq!(settings, LinearChoices::new());
            settings.engine(kind, 3).unwrap();
        }
    }

    #[test]
    fn wrong_settings_are_refused_with_a_hint() {
        let kind = LinearKind::Pa;
        let mut settings = LinearChoices::new();
        assert!(settings.set(kind, "epsilom", "3").unwrap_err().to_string().contains("did you mean `epsilon`"));
        for (name, value) in [("c", "0"), ("c", "NaN"), ("epsilon", "-1"), ("target", "numbers"), ("bias", "inf")] {
            assert_eq!(settings.set(kind, name, value).unwrap_err().code(), "bad-value", "{name}={value}");
        }
        assert_eq!(settings.set(kind, "sigma2", "2").unwrap_err().code(), "unknown-setting");
        assert_eq!(settings, LinearChoices::new());
    }

    #[test]
    fn covariances_of_words_are_refused() {
        let kind = LinearKind::BayesPaGibbs;
        let mut settings = LinearChoices::new();
        settings.features = FeatureChoice::Words;
        assert!(!settings.engine(kind, 0).unwrap().full);
        settings.covariance = CovarianceChoice::Full;
        assert!(settings.engine(kind, 0).unwrap_err().to_string().contains("diagonal for words"));
        settings.features = FeatureChoice::Numbers;
        assert!(settings.engine(kind, 4000).unwrap().full);
        assert!(settings.engine(kind, 5000).is_err());
        settings.covariance = CovarianceChoice::Auto;
        assert!(settings.engine(kind, 128).unwrap().full && !settings.engine(kind, 129).unwrap().full);
    }
}
