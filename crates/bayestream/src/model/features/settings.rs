//! All that can be set of a model of binary latent features.

use super::FeatureKind;
use crate::engine::lfm::{FabSettings, Gate, Start};
use crate::model::parse::{positive, put, put_word, word};
use crate::model::settings::put_known;
use crate::model::{ConfigError, SettingInfo};
use serde::{Deserialize, Serialize};

/// Everything that can be set. `--set NAME=VALUE` on the command line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FeatureSettings {
    /// Fits by FAB.
    pub fab: FabSettings,
}

const STARTS: [(&str, Start); 2] = [("births", Start::Births), ("random", Start::Random)];
const GATES: [(&str, Gate); 3] = [("auto", Gate::Auto), ("on", Gate::On), ("off", Gate::Off)];
const SWITCH: [(&str, bool); 2] = [("on", true), ("off", false)];

fn every(_: FeatureKind) -> bool {
    true
}

/// Every setting there is.
pub const FEATURE_SETTINGS: [SettingInfo<FeatureSettings, FeatureKind>; 9] = [
    SettingInfo {
        name: "max-features",
        takes: "a number from 1 to 10000",
        help: "most features there may be",
        of: every,
        get: |s| s.fab.max_features.to_string(),
        set: |s, t| put(&mut s.fab.max_features, t, |v| (1..=10_000).contains(v)),
    },
    SettingInfo {
        name: "start",
        takes: "births or random",
        help: "where a fit begins: without features, which are born as long as the criterion rises, or with many random ones \
               that shrink (the paper's)",
        of: every,
        get: |s| word(&s.fab.start, &STARTS),
        set: |s, t| put_word(&mut s.fab.start, t, &STARTS),
    },
    SettingInfo {
        name: "shrink-steps",
        takes: "a number from 0 to 10000",
        help: "steps in each iteration that let go of features faster (the paper's T); 0 for none",
        of: every,
        get: |s| s.fab.shrink_steps.to_string(),
        set: |s, t| put(&mut s.fab.shrink_steps, t, |v| *v <= 10_000),
    },
    SettingInfo {
        name: "tolerance",
        takes: "a number larger than 0",
        help: "a fit ends when the criterion grows by less than this for a row",
        of: every,
        get: |s| s.fab.tolerance.to_string(),
        set: |s, t| put(&mut s.fab.tolerance, t, positive),
    },
    SettingInfo {
        name: "max-iterations",
        takes: "a number from 1 to 1000000",
        help: "iterations of a fit at most",
        of: every,
        get: |s| s.fab.max_iterations.to_string(),
        set: |s, t| put(&mut s.fab.max_iterations, t, |v| (1..=1_000_000).contains(v)),
    },
    SettingInfo {
        name: "held-out-gate",
        takes: "auto, on or off",
        help: "whether births are also judged by cells that the fit does not see (auto: when rows are few for the columns)",
        of: every,
        get: |s| word(&s.fab.held_out_gate, &GATES),
        set: |s, t| put_word(&mut s.fab.held_out_gate, t, &GATES),
    },
    SettingInfo {
        name: "trial-iterations",
        takes: "a number from 1 to 10000",
        help: "iterations before a birth is judged",
        of: every,
        get: |s| s.fab.trial_iterations.to_string(),
        set: |s, t| put(&mut s.fab.trial_iterations, t, |v| (1..=10_000).contains(v)),
    },
    SettingInfo {
        name: "tries",
        takes: "a number from 1 to 1000",
        help: "directions in which a birth is tried before births end",
        of: every,
        get: |s| s.fab.tries.to_string(),
        set: |s, t| put(&mut s.fab.tries, t, |v| (1..=1000).contains(v)),
    },
    SettingInfo {
        name: "moves",
        takes: "on or off",
        help: "whether features are tried to be removed and merged once the criterion has settled",
        of: every,
        get: |s| word(&s.fab.moves, &SWITCH),
        set: |s, t| put_word(&mut s.fab.moves, t, &SWITCH),
    },
];

impl FeatureSettings {
    /// Sets one setting by name.
    pub fn set(&mut self, kind: FeatureKind, name: &str, value: &str) -> Result<(), ConfigError> {
        put_known(self, Self::of_kind(kind), std::iter::empty(), kind.name(), (name, value))
    }

    /// The settings that a kind has.
    pub fn of_kind(kind: FeatureKind) -> impl Iterator<Item = &'static SettingInfo<FeatureSettings, FeatureKind>> {
        FEATURE_SETTINGS.iter().filter(move |s| (s.of)(kind))
    }

    /// A kind's settings as name and value.
    pub fn list(&self, kind: FeatureKind) -> Vec<(&'static str, String)> {
        Self::of_kind(kind).map(|s| (s.name, (s.get)(self))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FEATURE_KINDS;

    #[test]
    fn every_setting_takes_what_it_prints_and_some_kind_has_it() {
        let mut n_listed = vec![0; FEATURE_SETTINGS.len()];
        for kind in FEATURE_KINDS.iter().map(|info| info.kind) {
            let mut settings = FeatureSettings::default();
            for (name, value) in settings.list(kind) {
                settings.set(kind, name, &value).unwrap_or_else(|error| panic!("{name}={value}: {error}"));
                let at = FEATURE_SETTINGS.iter().position(|info| info.name == name).unwrap();
                n_listed[at] += 1;
            }
            assert_eq!(settings, FeatureSettings::default());
        }
        assert!(n_listed.iter().all(|n| *n > 0), "{n_listed:?}");
    }

    #[test]
    fn wrong_settings_are_refused_with_a_hint() {
        let mut settings = FeatureSettings::default();
        let refused = settings.set(FeatureKind::Fab, "max-featurs", "3").unwrap_err().to_string();
        assert!(refused.contains("did you mean `max-features`"), "{refused}");
        for (name, value) in [("max-features", "0"), ("tolerance", "NaN"), ("tolerance", "0"), ("start", "none")] {
            assert_eq!(settings.set(FeatureKind::Fab, name, value).unwrap_err().code(), "bad-value", "{name}={value}");
        }
        assert_eq!(settings, FeatureSettings::default());
    }
}
