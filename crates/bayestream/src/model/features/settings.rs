//! All that can be set of a model of binary latent features.

use super::FeatureKind;
use crate::engine::lfm::{Gate, OnlineSettings, RivalSettings, Start};
use crate::model::parse::{positive, put, put_option, put_word, word};
use crate::model::settings::put_known;
use crate::model::{ConfigError, SettingInfo};
use serde::{Deserialize, Serialize};

/// Everything that can be set. `--set NAME=VALUE` on the command line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FeatureSettings {
    /// Fits by FAB, of all rows and of those of a stream.
    pub online: OnlineSettings,
    /// The rivals, but for the most features and the tolerance, which all kinds share.
    pub rivals: RivalSettings,
}

const STARTS: [(&str, Start); 2] = [("births", Start::Births), ("random", Start::Random)];
const GATES: [(&str, Gate); 3] = [("auto", Gate::Auto), ("on", Gate::On), ("off", Gate::Off)];
const SWITCH: [(&str, bool); 2] = [("on", true), ("off", false)];

const DRIFT: [(&str, bool); 2] = [("off", false), ("auto", true)];

fn streams(kind: FeatureKind) -> bool {
    kind.info().streaming
}

fn every(_: FeatureKind) -> bool {
    true
}

fn fab(kind: FeatureKind) -> bool {
    matches!(kind, FeatureKind::Fab | FeatureKind::OnlineFab)
}

fn rival(kind: FeatureKind) -> bool {
    !fab(kind)
}

/// Rivals with priors, which do not learn the noise.
fn told(kind: FeatureKind) -> bool {
    rival(kind) && kind != FeatureKind::Em
}

/// Every setting there is.
pub const FEATURE_SETTINGS: [SettingInfo<FeatureSettings, FeatureKind>; 18] = [
    SettingInfo {
        name: "max-features",
        takes: "a number from 1 to 10000",
        help: "most features there may be",
        of: every,
        get: |s| s.online.fab.max_features.to_string(),
        set: |s, t| put(&mut s.online.fab.max_features, t, |v| (1..=10_000).contains(v)),
    },
    SettingInfo {
        name: "start",
        takes: "births or random",
        help: "where a fit begins: without features, which are born as long as the criterion rises, or with many random ones \
               that shrink (the paper's)",
        of: fab,
        get: |s| word(&s.online.fab.start, &STARTS),
        set: |s, t| put_word(&mut s.online.fab.start, t, &STARTS),
    },
    SettingInfo {
        name: "shrink-steps",
        takes: "a number from 0 to 10000",
        help: "steps in each iteration that let go of features faster (the paper's T); 0 for none",
        of: fab,
        get: |s| s.online.fab.shrink_steps.to_string(),
        set: |s, t| put(&mut s.online.fab.shrink_steps, t, |v| *v <= 10_000),
    },
    SettingInfo {
        name: "tolerance",
        takes: "a number larger than 0",
        help: "a fit ends when the criterion grows by less than this for a row (for a cell where there are many)",
        of: every,
        get: |s| s.online.fab.tolerance.to_string(),
        set: |s, t| put(&mut s.online.fab.tolerance, t, positive),
    },
    SettingInfo {
        name: "max-iterations",
        takes: "a number from 1 to 1000000",
        help: "iterations of a fit at most",
        of: fab,
        get: |s| s.online.fab.max_iterations.to_string(),
        set: |s, t| put(&mut s.online.fab.max_iterations, t, |v| (1..=1_000_000).contains(v)),
    },
    SettingInfo {
        name: "held-out-gate",
        takes: "auto, on or off",
        help: "whether births are also judged by cells that the fit does not see (auto: when rows are few for the columns)",
        of: fab,
        get: |s| word(&s.online.fab.held_out_gate, &GATES),
        set: |s, t| put_word(&mut s.online.fab.held_out_gate, t, &GATES),
    },
    SettingInfo {
        name: "trial-iterations",
        takes: "a number from 1 to 10000",
        help: "iterations before a birth is judged",
        of: fab,
        get: |s| s.online.fab.trial_iterations.to_string(),
        set: |s, t| put(&mut s.online.fab.trial_iterations, t, |v| (1..=10_000).contains(v)),
    },
    SettingInfo {
        name: "tries",
        takes: "a number from 1 to 1000",
        help: "directions in which a birth is tried before births end",
        of: fab,
        get: |s| s.online.fab.tries.to_string(),
        set: |s, t| put(&mut s.online.fab.tries, t, |v| (1..=1000).contains(v)),
    },
    SettingInfo {
        name: "moves",
        takes: "on or off",
        help: "whether features are tried to be removed and merged once the criterion has settled",
        of: fab,
        get: |s| word(&s.online.fab.moves, &SWITCH),
        set: |s, t| put_word(&mut s.online.fab.moves, t, &SWITCH),
    },
    SettingInfo {
        name: "warm-up",
        takes: "a number of rows from 10 to 100000, or auto",
        help: "rows that are held for the first fit (auto: 15 for each column, at least 500 and at most 4000)",
        of: streams,
        get: |s| s.online.warm_up.map_or("auto".into(), |v| v.to_string()),
        set: |s, t| put_option(&mut s.online.warm_up, t, "auto", |v| (10..=100_000).contains(v)),
    },
    SettingInfo {
        name: "mini-batch",
        takes: "a number of rows from 1 to 100000, or auto",
        help: "rows that are learnt together after that (auto: 100, or 300 for more than 100 columns)",
        of: streams,
        get: |s| s.online.mini_batch.map_or("auto".into(), |v| v.to_string()),
        set: |s, t| put_option(&mut s.online.mini_batch, t, "auto", |v| (1..=100_000).contains(v)),
    },
    SettingInfo {
        name: "drift",
        takes: "off or auto",
        help: "auto shortens the memory when the stream changes",
        of: streams,
        get: |s| word(&s.online.watches_drift, &DRIFT),
        set: |s, t| put_word(&mut s.online.watches_drift, t, &DRIFT),
    },
    SettingInfo {
        name: "buffer",
        takes: "a number of rows from 10 to 1000000",
        help: "latest rows kept, by which features are judged when the small model is asked for",
        of: streams,
        get: |s| s.online.buffer.to_string(),
        set: |s, t| put(&mut s.online.buffer, t, |v| (10..=1_000_000).contains(v)),
    },
    SettingInfo {
        name: "polish",
        takes: "on or off",
        help: "whether they are",
        of: streams,
        get: |s| word(&s.online.polishes, &SWITCH),
        set: |s, t| put_word(&mut s.online.polishes, t, &SWITCH),
    },
    SettingInfo {
        name: "sweeps",
        takes: "a number from 1 to 1000000",
        help: "sweeps of a sampler, or rounds at most",
        of: rival,
        get: |s| s.rivals.sweeps.to_string(),
        set: |s, t| put(&mut s.rivals.sweeps, t, |v| (1..=1_000_000).contains(v)),
    },
    SettingInfo {
        name: "alpha",
        takes: "a number larger than 0",
        help: "features that a row is expected to have",
        of: told,
        get: |s| s.rivals.alpha.to_string(),
        set: |s, t| put(&mut s.rivals.alpha, t, positive),
    },
    SettingInfo {
        name: "noise",
        takes: "a number larger than 0",
        help: "standard deviation of the noise while features are learnt, in units of each column's own",
        of: told,
        get: |s| s.rivals.noise.to_string(),
        set: |s, t| put(&mut s.rivals.noise, t, positive),
    },
    SettingInfo {
        name: "spread",
        takes: "a number larger than 0",
        help: "standard deviation of a weight before any row, in the same units",
        of: told,
        get: |s| s.rivals.spread.to_string(),
        set: |s, t| put(&mut s.rivals.spread, t, positive),
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
