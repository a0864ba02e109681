//! All defaults, in one place, and the one table that names, documents, parses and prints them.

use super::error::ConfigError;
use super::kind::{Kind, nearest};
use super::parse::{positive, put, put_list, put_option, put_word, word};
use crate::data::Scaling;
use crate::family::NormalWishart;
use serde::{Deserialize, Serialize};

/// How the online engine works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Variant {
    /// The version that works: see `engine::ofab` and `engine::bmm`.
    Default,
    /// Algorithm 1 of the paper with the documented corrections: see `engine::ofab_paper`; for moment matching, its
    /// sampling and its heuristics.
    Paper,
}

/// What `scale` may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScaleChoice {
    /// Columns for full Gaussians, common for PPCA.
    Auto,
    /// Each column by its own spread.
    Columns,
    /// One scale for all columns.
    Common,
}

/// How sequential Dirichlet-process kinds get rid of components.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PruneMerge {
    /// Components stay for ever.
    Off,
    /// As printed: pruned by relative weight, merged by the distance of their posteriors over time.
    Paper,
    /// Merged when the marginal likelihood gains by it; pruned by weight per age, after a time of grace.
    Exact,
}

/// The prior and the moves of Dirichlet-process mixtures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DirichletSettings {
    /// Degrees of freedom ν₀ = 2δ₀ of the Wishart prior; `None`: what foretells the first rows best.
    pub nu0: Option<f64>,
    /// Weight c₀ of the prior mean, in rows; `None`: what agrees with the prior scale s, s/(1 − s).
    pub c0: Option<f64>,
    /// Expected variance within a component as a share of the columns' variance; `None`: the one of a few that foretells
    /// the first rows best.
    pub prior_scale: Option<f64>,
    /// Concentration α; `None`: the kind's own way of learning it (SVA: 1).
    pub alpha: Option<f64>,
    /// Values of α that SUGS averages over.
    pub alpha_grid: Vec<f64>,
    /// Rate λ of the exponential prior of α.
    pub lambda: f64,
    /// SVA: the probability of a new component above which it is made.
    pub epsilon: f64,
    /// See [`PruneMerge`].
    pub prune_merge: PruneMerge,
    /// Relative weight below which a component is pruned.
    pub prune_below: f64,
    /// Distance of posteriors over time below which two components are merged as printed.
    pub merge_below: f64,
    /// Rows between two rounds of pruning and merging.
    pub prune_every: usize,
}

impl Default for DirichletSettings {
    fn default() -> Self {
        DirichletSettings {
            nu0: None,
            c0: None,
            prior_scale: None,
            alpha: None,
            alpha_grid: vec![0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0],
            lambda: 1.0,
            epsilon: 0.1,
            prune_merge: PruneMerge::Off,
            prune_below: 1e-3,
            merge_below: 1e-2,
            prune_every: 50,
        }
    }
}

impl DirichletSettings {
    /// Says what is wrong with the prior for so many columns, if anything.
    pub(super) fn check(&self, n_columns: usize) -> Result<(), ConfigError> {
        let bound = NormalWishart::nu_bound(n_columns);
        match self.nu0 {
            Some(nu0) if nu0 <= bound => Err(ConfigError::BadValue {
                name: "nu0".into(),
                value: nu0.to_string(),
                expected: format!(
                    "a number larger than {bound} with {n_columns} columns (delta0 larger than {}): the prior does not exist below",
                    bound / 2.0
                ),
            }),
            _ => Ok(()),
        }
    }
}

/// What Bayesian moment matching of rows expects before it has seen any.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MomentSettings {
    /// Components expected, λ.
    pub lambda0: f64,
    /// Dirichlet parameter γ of a component without rows.
    pub gamma: f64,
    /// Known variance τ² within components, in the columns' own units squared; `None`: the share of each column's
    /// variance that foretells the first rows best.
    pub tau2: Option<f64>,
    /// Variance of the prior of means, in the columns' own units squared; `None`: 40 times each column's variance.
    pub prior_variance: Option<f64>,
    /// Paper variant: draws of the number of components per row, M.
    pub draws: usize,
}

impl Default for MomentSettings {
    fn default() -> Self {
        MomentSettings { lambda0: 3.0, gamma: 1.0, tau2: None, prior_variance: None, draws: 1000 }
    }
}

/// Everything that can be set. `--set NAME=VALUE` on the command line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// See [`Variant`].
    pub variant: Variant,
    /// Share of the rows below which a component is left out of a snapshot, and let go when structure is looked at;
    /// `None`: see [`Settings::least_share`].
    pub delta: Option<f64>,
    /// Whether vanished and moving components are detected.
    pub drift: bool,
    /// Effective memory in rows; `None` never forgets.
    pub memory: Option<f64>,
    /// Rows kept before the first model is made; `gmm/dp` takes 20 per column when that is more, up to 1,000.
    pub warm_up: usize,
    /// Components the first model starts from.
    pub start_components: usize,
    /// Most components the master model may hold.
    pub max_components: usize,
    /// Rows kept for structure moves; `None` grows it with the model, up to 16,000.
    pub buffer: Option<usize>,
    /// What the learner's frame divides by.
    pub scale: ScaleChoice,
    /// Watching: share of the mass that looked normal, heaviest components first, under which a row is normal.
    pub established: f64,
    /// Watching: rows of its own that a new component must bring before it counts half.
    pub new_mode_rows: f64,
    /// Watching: p-value below which a row counts less among the normal ones; 0 counts all alike.
    pub trim_below: f64,
    /// Paper variant: offset of the step schedule.
    pub tau: f64,
    /// Paper variant: decay of the step schedule.
    pub kappa: f64,
    /// Paper variant: inner iterations per batch.
    pub inner: usize,
    /// Paper variant: redundant components to keep and to add.
    pub spare: usize,
    /// Dirichlet-process kinds.
    pub dirichlet: DirichletSettings,
    /// SDA-DP: components tried in each batch.
    pub new_components: usize,
    /// Moment matching.
    pub moments: MomentSettings,
}

/// Share below which a component is left out unless told otherwise; where there are so many that a fair share is near
/// it, that part of a fair share.
const LEAST_SHARE: f64 = 1e-3;
const OF_A_FAIR_SHARE: f64 = 0.5;

impl Settings {
    /// Share of the rows that a component must have to be shown, when there are `k`.
    pub fn least_share(&self, k: usize) -> f64 {
        self.delta.unwrap_or_else(|| LEAST_SHARE.min(OF_A_FAIR_SHARE / k.max(1) as f64))
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            variant: Variant::Default,
            delta: None,
            drift: true,
            memory: None,
            warm_up: 500,
            start_components: 50,
            max_components: 2000,
            buffer: None,
            scale: ScaleChoice::Auto,
            established: 0.98,
            new_mode_rows: 50.0,
            trim_below: 0.2,
            tau: 1.0,
            kappa: 0.5,
            inner: 10,
            spare: 2,
            dirichlet: DirichletSettings::default(),
            new_components: 20,
            moments: MomentSettings::default(),
        }
    }
}

/// A line of a table of settings.
pub struct SettingInfo<S = Settings, K = Kind> {
    /// The name on the command line and in files.
    pub name: &'static str,
    /// What values it takes.
    pub takes: &'static str,
    /// What it does.
    pub help: &'static str,
    /// Which kinds have it.
    pub of: fn(K) -> bool,
    pub(super) get: fn(&S) -> String,
    pub(super) set: fn(&mut S, &str) -> bool,
}

/// Sets the one of these settings that has the name; `others` are names that are known elsewhere.
pub(super) fn put_known<S: 'static, K: 'static>(
    settings: &mut S,
    known: impl Iterator<Item = &'static SettingInfo<S, K>>,
    others: impl Iterator<Item = &'static str>,
    kind: &str,
    (name, value): (&str, &str),
) -> Result<(), ConfigError> {
    let known: Vec<_> = known.collect();
    let Some(info) = known.iter().find(|info| info.name == name) else {
        return Err(ConfigError::UnknownSetting {
            name: name.to_string(),
            nearest: nearest(name, known.iter().map(|info| info.name).chain(others)),
            kind: kind.to_string(),
        });
    };
    if (info.set)(settings, value.trim()) {
        return Ok(());
    }
    let (name, value, expected) = (name.to_string(), value.to_string(), info.takes.to_string());
    Err(ConfigError::BadValue { name, value, expected })
}

fn every(_: Kind) -> bool {
    true
}

fn streams(kind: Kind) -> bool {
    kind.info().streaming
}

fn remembers(kind: Kind) -> bool {
    kind.is_ofab() || kind == Kind::GmmDp || kind.is_moment_matching()
}

fn adapts(kind: Kind) -> bool {
    matches!(kind, Kind::GmmAsugs | Kind::GmmDp)
}

fn steps(kind: Kind) -> bool {
    kind.is_ofab() || matches!(kind, Kind::GmmStrust | Kind::MppcaStrust)
}

fn iterates(kind: Kind) -> bool {
    kind.is_ofab() || kind.is_variational()
}

pub(super) const VARIANTS: [(&str, Variant); 2] = [("default", Variant::Default), ("paper", Variant::Paper)];
const SWITCH: [(&str, bool); 2] = [("off", false), ("auto", true)];
const PRUNE_MERGE: [(&str, PruneMerge); 3] =
    [("off", PruneMerge::Off), ("paper", PruneMerge::Paper), ("exact", PruneMerge::Exact)];
const SCALES: [(&str, ScaleChoice); 3] =
    [("auto", ScaleChoice::Auto), ("columns", ScaleChoice::Columns), ("common", ScaleChoice::Common)];

/// Every setting there is.
pub const SETTINGS: [SettingInfo; 33] = [
    SettingInfo {
        name: "variant",
        takes: "default or paper",
        help: "paper runs the algorithm of the paper, for reproduction",
        of: Kind::has_paper_variant,
        get: |s| word(&s.variant, &VARIANTS),
        set: |s, t| put_word(&mut s.variant, t, &VARIANTS),
    },
    SettingInfo {
        name: "delta",
        takes: "a share in [0, 1), or auto",
        help: "components with a smaller share of the rows are left out of snapshots, and let go when structure is looked at (auto: 0.001, half a fair share where there are more than 500)",
        of: every,
        get: |s| s.delta.map_or("auto".into(), |v| v.to_string()),
        set: |s, t| put_option(&mut s.delta, t, "auto", |v| (0.0..1.0).contains(v)),
    },
    SettingInfo {
        name: "drift",
        takes: "off or auto",
        help: "auto lets go of components that the stream left and shortens the memory of those that move; off suits rows sorted by cluster",
        of: Kind::is_ofab,
        get: |s| word(&s.drift, &SWITCH),
        set: |s, t| put_word(&mut s.drift, t, &SWITCH),
    },
    SettingInfo {
        name: "memory",
        takes: "a number of rows of at least 10, or all",
        help: "effective memory: older rows fade with this time constant",
        of: remembers,
        get: |s| s.memory.map_or("all".into(), |m| m.to_string()),
        set: |s, t| put_option(&mut s.memory, t, "all", |v: &f64| *v >= 10.0 && v.is_finite()),
    },
    SettingInfo {
        name: "warm-up",
        takes: "a number of rows from 10 to 100000",
        help: "rows kept before the first full model is made (gmm/dp: at least 20 a column, up to 1000)",
        of: streams,
        get: |s| s.warm_up.to_string(),
        set: |s, t| put(&mut s.warm_up, t, |v| (10..=100_000).contains(v)),
    },
    SettingInfo {
        name: "start-components",
        takes: "a number from 1 to 1000",
        help: "components the first model starts from, before it shrinks",
        of: |k| !k.is_dirichlet() && !k.is_moment_matching(),
        get: |s| s.start_components.to_string(),
        set: |s, t| put(&mut s.start_components, t, |v| (1..=1000).contains(v)),
    },
    SettingInfo {
        name: "max-components",
        takes: "a number from 1 to 10000",
        help: "most components the learner may hold at once",
        of: streams,
        get: |s| s.max_components.to_string(),
        set: |s, t| put(&mut s.max_components, t, |v| (1..=10_000).contains(v)),
    },
    SettingInfo {
        name: "buffer",
        takes: "a number of rows from 100 to 1000000, or auto",
        help: "recent rows kept for merges and splits",
        of: streams,
        get: |s| s.buffer.map_or("auto".into(), |b| b.to_string()),
        set: |s, t| put_option(&mut s.buffer, t, "auto", |v| (100..=1_000_000).contains(v)),
    },
    SettingInfo {
        name: "scale",
        takes: "auto, columns or common",
        help: "whether columns are scaled each by its spread or all by one (auto: common for mppca)",
        of: every,
        get: |s| word(&s.scale, &SCALES),
        set: |s, t| put_word(&mut s.scale, t, &SCALES),
    },
    SettingInfo {
        name: "established",
        takes: "a share in (0, 1]",
        help: "outliers: rows are normal under the heaviest components that hold this share of the mass that looked normal",
        of: every,
        get: |s| s.established.to_string(),
        set: |s, t| put(&mut s.established, t, |v| *v > 0.0 && *v <= 1.0),
    },
    SettingInfo {
        name: "new-mode-rows",
        takes: "a number of rows of at least 0",
        help: "outliers: rows a new component must bring before it counts half among those under which rows are normal",
        of: every,
        get: |s| s.new_mode_rows.to_string(),
        set: |s, t| put(&mut s.new_mode_rows, t, |v| *v >= 0.0 && v.is_finite()),
    },
    SettingInfo {
        name: "trim-below",
        takes: "a share in [0, 1]",
        help: "outliers: rows rarer than this, column by column, count less among the normal ones (0: all count alike)",
        of: every,
        get: |s| s.trim_below.to_string(),
        set: |s, t| put(&mut s.trim_below, t, |v| (0.0..=1.0).contains(v)),
    },
    SettingInfo {
        name: "tau",
        takes: "a number of at least 0",
        help: "offset of the step schedule (online FAB: paper variant)",
        of: steps,
        get: |s| s.tau.to_string(),
        set: |s, t| put(&mut s.tau, t, |v| *v >= 0.0 && v.is_finite()),
    },
    SettingInfo {
        name: "kappa",
        takes: "a number in (0, 1]",
        help: "decay of the step schedule (online FAB: paper variant)",
        of: steps,
        get: |s| s.kappa.to_string(),
        set: |s, t| put(&mut s.kappa, t, |v| *v > 0.0 && *v <= 1.0),
    },
    SettingInfo {
        name: "inner",
        takes: "a number from 1 to 1000",
        help: "inner iterations per batch, at most (online FAB: paper variant)",
        of: iterates,
        get: |s| s.inner.to_string(),
        set: |s, t| put(&mut s.inner, t, |v| (1..=1000).contains(v)),
    },
    SettingInfo {
        name: "spare",
        takes: "a number from 1 to 100",
        help: "paper variant: redundant components to keep and to add",
        of: Kind::is_ofab,
        get: |s| s.spare.to_string(),
        set: |s, t| put(&mut s.spare, t, |v| (1..=100).contains(v)),
    },
    SettingInfo {
        name: "nu0",
        takes: "a number larger than the columns less one, or auto",
        help: "degrees of freedom of the Wishart prior, twice delta0 of the papers (auto: what foretells the first rows best; variational kinds: columns + 3; gmm/bmm: columns + 2)",
        of: Kind::has_prior,
        get: |s| s.dirichlet.nu0.map_or("auto".into(), |v| v.to_string()),
        set: |s, t| put_option(&mut s.dirichlet.nu0, t, "auto", positive),
    },
    SettingInfo {
        name: "c0",
        takes: "a number of rows larger than 0, or auto",
        help: "weight of the prior mean (auto: what agrees with prior-scale; gmm/bmm: 0.01)",
        of: Kind::has_prior,
        get: |s| s.dirichlet.c0.map_or("auto".into(), |v| v.to_string()),
        set: |s, t| put_option(&mut s.dirichlet.c0, t, "auto", positive),
    },
    SettingInfo {
        name: "prior-scale",
        takes: "a share in (0, 1), or auto",
        help: "variance expected within a component, as a share of the columns' (auto: what foretells the first rows best; variational kinds: 0.03)",
        of: Kind::has_prior,
        get: |s| s.dirichlet.prior_scale.map_or("auto".into(), |v| v.to_string()),
        set: |s, t| put_option(&mut s.dirichlet.prior_scale, t, "auto", |v| *v >= 1e-9 && *v < 1.0),
    },
    SettingInfo {
        name: "alpha",
        takes: "a number larger than 0, or auto",
        help: "concentration of the Dirichlet process (auto: learnt; gmm/sva and variational kinds: 1)",
        of: |k| k.has_prior() && !k.is_moment_matching(),
        get: |s| s.dirichlet.alpha.map_or("auto".into(), |v| v.to_string()),
        set: |s, t| put_option(&mut s.dirichlet.alpha, t, "auto", positive),
    },
    SettingInfo {
        name: "alpha-grid",
        takes: "numbers larger than 0, separated by commas",
        help: "concentrations that are averaged over",
        of: |k| k == Kind::GmmSugs,
        get: |s| s.dirichlet.alpha_grid.iter().map(f64::to_string).collect::<Vec<_>>().join(","),
        set: |s, t| put_list(&mut s.dirichlet.alpha_grid, t),
    },
    SettingInfo {
        name: "lambda",
        takes: "a number larger than 0",
        help: "rate of the exponential prior of the concentration",
        of: adapts,
        get: |s| s.dirichlet.lambda.to_string(),
        set: |s, t| put(&mut s.dirichlet.lambda, t, positive),
    },
    SettingInfo {
        name: "epsilon",
        takes: "a probability in (0, 1)",
        help: "a component is made when the probability of a new one is larger",
        of: |k| k == Kind::GmmSva,
        get: |s| s.dirichlet.epsilon.to_string(),
        set: |s, t| put(&mut s.dirichlet.epsilon, t, |v| *v > 0.0 && *v < 1.0),
    },
    SettingInfo {
        name: "prune-merge",
        takes: "off, paper or exact",
        help: "how components go: never, as printed, or by the marginal likelihood",
        of: Kind::is_sequential,
        get: |s| word(&s.dirichlet.prune_merge, &PRUNE_MERGE),
        set: |s, t| put_word(&mut s.dirichlet.prune_merge, t, &PRUNE_MERGE),
    },
    SettingInfo {
        name: "prune-below",
        takes: "a share in [0, 1)",
        help: "prune-merge: relative weight below which a component is pruned",
        of: Kind::is_sequential,
        get: |s| s.dirichlet.prune_below.to_string(),
        set: |s, t| put(&mut s.dirichlet.prune_below, t, |v| (0.0..1.0).contains(v)),
    },
    SettingInfo {
        name: "merge-below",
        takes: "a distance in [0, 2)",
        help: "prune-merge=paper: distance of posteriors over time below which two components are merged",
        of: Kind::is_sequential,
        get: |s| s.dirichlet.merge_below.to_string(),
        set: |s, t| put(&mut s.dirichlet.merge_below, t, |v| (0.0..2.0).contains(v)),
    },
    SettingInfo {
        name: "prune-every",
        takes: "a number of rows from 1 to 1000000",
        help: "prune-merge: rows between two rounds",
        of: Kind::is_sequential,
        get: |s| s.dirichlet.prune_every.to_string(),
        set: |s, t| put(&mut s.dirichlet.prune_every, t, |v| (1..=1_000_000).contains(v)),
    },
    SettingInfo {
        name: "new-components",
        takes: "a number from 1 to 1000",
        help: "components tried in each batch",
        of: Kind::is_sda,
        get: |s| s.new_components.to_string(),
        set: |s, t| put(&mut s.new_components, t, |v| (1..=1000).contains(v)),
    },
    SettingInfo {
        name: "lambda0",
        takes: "a number of at least 1",
        help: "components expected before any row was seen",
        of: Kind::is_moment_matching,
        get: |s| s.moments.lambda0.to_string(),
        set: |s, t| put(&mut s.moments.lambda0, t, |v| (1.0..=1e4).contains(v)),
    },
    SettingInfo {
        name: "gamma",
        takes: "a number larger than 0",
        help: "Dirichlet parameter of a component without rows",
        of: Kind::is_moment_matching,
        get: |s| s.moments.gamma.to_string(),
        set: |s, t| put(&mut s.moments.gamma, t, positive),
    },
    SettingInfo {
        name: "tau2",
        takes: "a variance larger than 0, or auto",
        help: "known variance within components, in the column's own units squared (auto: what foretells the first rows best)",
        of: |k| k == Kind::Gaussian1dBmm,
        get: |s| s.moments.tau2.map_or("auto".into(), |v| v.to_string()),
        set: |s, t| put_option(&mut s.moments.tau2, t, "auto", |v| (1e-150..1e150).contains(v)),
    },
    SettingInfo {
        name: "prior-variance",
        takes: "a variance larger than 0, or auto",
        help: "variance of the prior of means, in the column's own units squared (auto: 40 times the column's variance)",
        of: |k| k == Kind::Gaussian1dBmm,
        get: |s| s.moments.prior_variance.map_or("auto".into(), |v| v.to_string()),
        set: |s, t| put_option(&mut s.moments.prior_variance, t, "auto", |v| (1e-150..1e150).contains(v)),
    },
    SettingInfo {
        name: "draws",
        takes: "a number from 1 to 1000000",
        help: "paper variant: draws of the number of components per row",
        of: Kind::is_moment_matching,
        get: |s| s.moments.draws.to_string(),
        set: |s, t| put(&mut s.moments.draws, t, |v| (1..=1_000_000).contains(v)),
    },
];

impl Settings {
    /// Settings for watching, where every row is judged before it is learnt: a lighter mixture, quick to make and to
    /// follow. Its density is a little worse than that of the default, and its ranking of rows is not.
    pub fn for_watching() -> Settings {
        Settings { start_components: 5, max_components: 30, buffer: Some(500), ..Settings::default() }
    }

    /// Sets one setting by name.
    pub fn set(&mut self, kind: Kind, name: &str, value: &str) -> Result<(), ConfigError> {
        put_known(self, Settings::of_kind(kind), std::iter::empty(), kind.name(), (name, value))
    }

    /// The settings that a kind has.
    pub fn of_kind(kind: Kind) -> impl Iterator<Item = &'static SettingInfo> {
        SETTINGS.iter().filter(move |s| (s.of)(kind))
    }

    /// A kind's settings as name and value.
    pub fn list(&self, kind: Kind) -> Vec<(&'static str, String)> {
        Settings::of_kind(kind).map(|s| (s.name, (s.get)(self))).collect()
    }

    /// The frame's scaling for a kind.
    pub fn scaling(&self, kind: Kind) -> Scaling {
        match (self.scale, kind) {
            (ScaleChoice::Common, _) | (ScaleChoice::Auto, Kind::MppcaOfab | Kind::MppcaFab | Kind::MppcaStrust) => {
                Scaling::Common
            }
            (ScaleChoice::Columns | ScaleChoice::Auto, _) => Scaling::Columns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_setting_takes_what_it_prints() {
        for info in &SETTINGS {
            let mut settings = Settings::default();
            let printed = (info.get)(&settings);
            assert!((info.set)(&mut settings, &printed), "{}={printed}", info.name);
            assert_eq!(settings, Settings::default(), "{}", info.name);
        }
    }

    #[test]
    fn wrong_settings_are_refused_with_a_hint() {
        let mut settings = Settings::default();
        let err = settings.set(Kind::GmmOfab, "drfit", "off").unwrap_err();
        assert!(err.to_string().contains("did you mean `drift`"), "{err}");
        let err = settings.set(Kind::GmmDp, "prune-marge", "off").unwrap_err();
        assert_eq!(err.code(), "unknown-setting");
        assert_eq!(settings.set(Kind::GmmSugs, "alpha-grid", "1,-2").unwrap_err().code(), "bad-value");
        let err = settings.set(Kind::GmmOfab, "delta", "2").unwrap_err();
        assert!(err.to_string().contains("expected a share in [0, 1)"), "{err}");
        assert_eq!(settings.set(Kind::GmmFab, "memory", "100").unwrap_err().code(), "unknown-setting");
        assert_eq!(settings.set(Kind::GmmSdaDp, "variant", "paper").unwrap_err().code(), "unknown-setting");
        assert_eq!(settings, Settings::default());
    }

    #[test]
    fn variational_kinds_take_what_their_papers_name() {
        let common = ["start-components", "inner", "nu0", "c0", "prior-scale", "alpha", "warm-up", "max-components"];
        for (kind, own) in [
            (Kind::GmmSvb, &[][..]),
            (Kind::MppcaSvb, &[][..]),
            (Kind::GmmStrust, &["tau", "kappa"][..]),
            (Kind::MppcaStrust, &["tau", "kappa"][..]),
            (Kind::MppcaSdaDp, &["new-components"][..]),
            (Kind::GmmSdaDp, &["new-components"][..]),
        ] {
            let found: Vec<&str> = Settings::of_kind(kind).map(|s| s.name).collect();
            assert!(common.iter().chain(own).all(|name| found.contains(name)), "{kind}: {found:?}");
            assert!(!found.contains(&"drift") && !found.contains(&"lambda"), "{kind}: {found:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic_or_change_more_than_it_accepts(name in ".*", value in ".*") {
            let mut settings = Settings::default();
            if settings.set(Kind::MppcaOfab, &name, &value).is_err() {
                prop_assert_eq!(settings, Settings::default());
            }
        }

        #[test]
        fn known_names_survive_any_value(ix in 0..SETTINGS.len(), value in ".*") {
            let mut settings = Settings::default();
            let _ = settings.set(Kind::GmmOfab, SETTINGS[ix].name, &value);
        }
    }
}
