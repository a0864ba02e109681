//! How much memory a model needs, told before it takes any.
//!
//! Mixtures keep covariances, so that what a component takes grows with the square of the columns. The estimates are those of
//! a model with as many components as it begins with, which is where it holds most; `tests/memory.rs` measures them.

use super::{Config, ConfigError, FeatureConfig, FeatureKind, Kind, Settings};

/// Bytes that a new model may need, unless it is allowed more or less.
pub const DEFAULT_MEMORY: u64 = 2_000_000_000;

/// Components that an estimate is for where no setting says how many a model begins with.
const USUAL_COMPONENTS: usize = 50;
/// No machine has this many bytes for one component: a file that asks for them is forged.
const ABSURD: u64 = 1 << 44;

/// Matrices of columns by columns that a kind holds.
struct Matrices {
    /// For each component, at most.
    each: f64,
    /// Beside the components: buffers, priors, what is being made.
    once: f64,
}

fn matrices(kind: Kind) -> Matrices {
    let (each, once) = match kind {
        Kind::GmmOfab | Kind::MppcaOfab => (6.5, 4.5),
        Kind::GmmFab => (3.0, 2.0),
        Kind::MppcaFab => (4.8, 2.0),
        // Two models compete while the first is being made.
        Kind::GmmSugs | Kind::GmmAsugs | Kind::GmmSva | Kind::GmmDp => (11.3, 15.0),
        Kind::GmmSvb | Kind::MppcaSvb | Kind::GmmStrust | Kind::MppcaStrust | Kind::GmmSdaDp | Kind::MppcaSdaDp => {
            (6.5, 5.0)
        }
        Kind::Gaussian1dBmm => (7.0, 5.0),
        Kind::GmmBmm => (10.5, 5.0),
    };
    Matrices { each, once }
}

/// True for kinds whose settings say how many components they begin with.
pub(super) fn begins_with_components(kind: Kind) -> bool {
    Settings::of_kind(kind).any(|setting| setting.name == "start-components")
}

/// Components that an estimate is for.
fn components(kind: Kind, settings: &Settings) -> usize {
    let begins_with = if begins_with_components(kind) { settings.start_components } else { USUAL_COMPONENTS };
    begins_with.min(settings.max_components)
}

/// Bytes of a mixture with so many columns and components.
fn needed(kind: Kind, n_columns: usize, n_components: usize) -> u64 {
    let Matrices { each, once } = matrices(kind);
    let d = n_columns as f64;
    // Rounded by the cast, which stays at the largest number when there is no other way.
    (8.0 * d * d * (each * n_components as f64 + once)) as u64
}

/// Bytes of a model of features with so many columns.
fn needed_for_features(config: &FeatureConfig, n_columns: usize) -> u64 {
    let settings = &config.settings.online;
    let d = n_columns as f64;
    let n_features = settings.fab.max_features.min(n_columns) as f64;
    // Batch kinds keep every row, and how many come nobody knows: the rest of them is that of the stream.
    let rows = settings.buffer + 4 * settings.first_rows(n_columns).max(settings.batch_rows(n_columns));
    (8.0 * d * (rows as f64 + 8.0 * n_features.min(FEATURES_AT_ONCE))) as u64
}

/// Features that an estimate is for.
const FEATURES_AT_ONCE: f64 = 50.0;

/// The most columns that fit.
fn most_columns(limit: u64, needed: impl Fn(usize) -> u64) -> usize {
    let (mut fits, mut too_many) = (0, 1);
    while needed(too_many) <= limit {
        (fits, too_many) = (too_many, 2 * too_many);
    }
    while too_many - fits > 1 {
        let middle = fits + (too_many - fits) / 2;
        if needed(middle) <= limit {
            fits = middle;
        } else {
            too_many = middle;
        }
    }
    fits
}

impl Config {
    /// Bytes that a model of this configuration needs, about: within a factor of two where it comes to hold as many components
    /// as it begins with, or 50 where no setting says how many.
    pub fn memory_needed(&self) -> u64 {
        needed(self.kind, self.columns.len(), components(self.kind, &self.settings))
    }

    /// Refuses more columns than fit, before anything is made of them.
    pub(super) fn check_memory(&self) -> Result<(), ConfigError> {
        let (needed_bytes, limit) = (self.memory_needed(), self.memory_limit);
        if needed_bytes <= limit {
            return Ok(());
        }
        let n_components = components(self.kind, &self.settings);
        let features = FeatureConfig::new(FeatureKind::OnlineFab, Vec::new());
        let needs_less = needed_for_features(&features, self.columns.len());
        Err(ConfigError::NoMemory {
            kind: self.kind.name().into(),
            n_columns: self.columns.len(),
            n_components: Some(n_components),
            needed: needed_bytes,
            limit,
            fits: most_columns(limit, |d| needed(self.kind, d, n_components)),
            alternative: (needs_less < needed_bytes).then_some((FeatureKind::OnlineFab.name(), needs_less)),
        })
    }

    /// Refuses a file with more columns than any machine could hold one component of.
    pub(super) fn check_sane(&self) -> Result<(), String> {
        match needed(self.kind, self.columns.len(), 1) <= ABSURD {
            true => Ok(()),
            false => Err(format!("no machine has the memory for {} columns", self.columns.len())),
        }
    }
}

impl FeatureConfig {
    /// Bytes that a model of this configuration needs, about. Batch kinds need as much again as their rows take.
    pub fn memory_needed(&self) -> u64 {
        needed_for_features(self, self.columns.len())
    }

    pub(super) fn check_memory(&self) -> Result<(), ConfigError> {
        let (needed, limit) = (self.memory_needed(), self.memory_limit);
        if needed <= limit {
            return Ok(());
        }
        Err(ConfigError::NoMemory {
            kind: self.kind.name().into(),
            n_columns: self.columns.len(),
            n_components: None,
            needed,
            limit,
            fits: most_columns(limit, |d| needed_for_features(self, d)),
            alternative: None,
        })
    }
}

/// What files leave out: a limit belongs to whoever runs a model, not to the model.
pub(super) fn default_memory() -> u64 {
    DEFAULT_MEMORY
}

/// Bytes as people write them: a number, and KB, MB, GB, TB or nothing after it.
pub fn parse_bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 1.0,
        "K" | "KB" => 1e3,
        "M" | "MB" => 1e6,
        "G" | "GB" => 1e9,
        "T" | "TB" => 1e12,
        _ => return None,
    };
    let bytes = digits.trim().parse::<f64>().ok()? * unit;
    (1.0..=1e18).contains(&bytes).then_some(bytes as u64)
}

/// The same for people to read.
pub(super) fn told_bytes(bytes: u64) -> String {
    let (size, unit) = match bytes {
        0..1_000_000 => (1e3, "KB"),
        1_000_000..1_000_000_000 => (1e6, "MB"),
        1_000_000_000..1_000_000_000_000 => (1e9, "GB"),
        _ => (1e12, "TB"),
    };
    let value = bytes as f64 / size;
    // Two digits are all that an estimate has.
    if value < 10.0 { format!("{} {unit}", (10.0 * value).round() / 10.0) } else { format!("{value:.0} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;

    fn config(kind: Kind, n_columns: usize) -> Config {
        Config::new(kind, (0..n_columns).map(|j| format!("x{j}")).collect())
    }

    #[test]
    fn bytes_are_read_as_people_write_them() {
        for (text, bytes) in [("8GB", 8_000_000_000), (" 1.5 gb", 1_500_000_000), ("750M", 750_000_000), ("4096", 4096)]
        {
            assert_eq!(parse_bytes(text), Some(bytes), "{text}");
        }
        for text in ["", "GB", "8 XB", "-1GB", "0", "1e30GB", "NaN", "8GB8"] {
            assert_eq!(parse_bytes(text), None, "{text}");
        }
        assert_eq!([2_000_000_000, 163_200_000_000, 45_000].map(told_bytes), ["2 GB", "163 GB", "45 KB"]);
    }

    #[test]
    fn too_many_columns_are_refused_in_one_sentence_that_says_what_fits() {
        let error = Model::new(config(Kind::GmmOfab, 20_000)).unwrap_err();
        assert_eq!(error.code(), "no-memory");
        let ConfigError::NoMemory { fits, needed, limit, .. } = error.clone() else { panic!("{error}") };
        assert!(needed > limit && limit == DEFAULT_MEMORY && (500..5000).contains(&fits), "{error}");
        let said = error.to_string();
        let parts = [
            "gmm/ofab",
            "20000 columns",
            "50 components",
            "2 GB",
            &fits.to_string(),
            "--memory",
            "lfm/online-fab (about",
        ];
        assert!(parts.iter().all(|part| said.contains(part)) && !said.contains('\n'), "{said}");
        assert!(Model::new(config(Kind::GmmOfab, fits)).is_ok());
        assert!(Model::new(config(Kind::GmmOfab, fits + 1)).is_err());
        let roomy = Config { memory_limit: u64::MAX, ..config(Kind::GmmOfab, fits + 1) };
        assert!(Model::new(roomy).is_ok());
        assert!(Model::new(config(Kind::GmmOfab, 1_000_000)).is_err());
    }

    #[test]
    fn fewer_components_leave_room_for_more_columns() {
        let mut few = config(Kind::GmmOfab, 3000);
        assert!(few.check_memory().is_err());
        few.settings.start_components = 2;
        few.check_memory().unwrap();
    }

    #[test]
    fn the_limit_is_no_part_of_the_file() {
        let modest = Model::new(config(Kind::GmmDp, 3)).unwrap();
        let lavish = Model::new(Config { memory_limit: 1 << 40, ..config(Kind::GmmDp, 3) }).unwrap();
        assert_eq!(modest.save(), lavish.save());
        assert_eq!(Model::load(&lavish.save()).unwrap().config().memory_limit, DEFAULT_MEMORY);
    }
}
