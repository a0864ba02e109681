//! Groups of arguments that several commands share.

use crate::error::Failure;
use bayestream::model::{
    AnyKind, Config, ConfigError, DocumentConfig, DocumentKind, DocumentModel, FeatureChoice, FeatureConfig,
    FeatureKind, FeatureModel, Kind, LinearConfig, LinearKind, LinearModel, Model, Settings, parse_bytes,
};
use bayestream_io::{DocumentOptions, Format, OnError, ReadOptions};
use clap::{Args, ValueEnum};

/// Which kind of model to begin, and how it is set.
#[derive(Args, Debug)]
pub struct KindArgs {
    /// What to learn: a kind or its alias; `bayestream models` lists them [default: gmm].
    #[arg(short = 'm', long = "kind", value_name = "KIND")]
    pub kind: Option<AnyKind>,
    /// Change one setting of the kind; may be given again.
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parse_setting)]
    pub settings: Vec<(String, String)>,
    /// Seed of every random choice [default: 0].
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Number of this learner among those of one stream, for models to be merged [default: 0].
    #[arg(long, value_name = "N")]
    pub shard: Option<u32>,
    /// Memory that a new model may need, as in 8GB: more columns than fit are refused at once (how long a model remembers
    /// is the setting `memory`) [default: 2GB].
    #[arg(long, value_name = "SIZE", value_parser = parse_memory)]
    pub memory: Option<u64>,
}

impl KindArgs {
    /// The configuration without its columns. Fails here, before any row is read, on a setting that does not exist.
    pub fn config(&self) -> Result<Config, Failure> {
        self.config_from(Settings::default())
    }

    /// The same with other settings for what `--set` leaves alone.
    pub fn config_from(&self, settings: Settings) -> Result<Config, Failure> {
        let kind = match self.kind {
            Some(AnyKind::Rows(kind)) => kind,
            Some(AnyKind::Documents(kind)) => return Err(reads_documents(kind)),
            Some(AnyKind::Linear(kind)) => return Err(reads_labels(kind)),
            Some(AnyKind::Features(kind)) => return Err(reads_features(kind)),
            None => Kind::GmmOfab,
        };
        let mut config = Config { settings, ..Config::new(kind, Vec::new()) };
        for (name, value) in &self.settings {
            config.settings.set(config.kind, name, value)?;
        }
        config.seed = self.seed.unwrap_or(0);
        config.shard = self.shard.unwrap_or(0);
        config.memory_limit = self.memory.unwrap_or(config.memory_limit);
        Ok(config)
    }

    /// The configuration of a model of documents, before any is read.
    pub fn document_config(&self, kind: DocumentKind) -> Result<DocumentConfig, Failure> {
        let mut config = DocumentConfig::new(kind);
        for (name, value) in &self.settings {
            config.settings.set(kind, name, value)?;
        }
        config.seed = self.seed.unwrap_or(0);
        config.shard = self.shard.unwrap_or(0);
        Ok(config)
    }

    /// The configuration of a model of labelled rows: it learns from words when a column of text is named or when
    /// `features=words` is set, and otherwise from columns of numbers.
    pub fn linear_config(&self, kind: LinearKind, text: &TextArgs) -> Result<LinearConfig, Failure> {
        let mut config = LinearConfig::new(kind, Vec::new());
        for (name, value) in &self.settings {
            config.settings.set(kind, name, value)?;
        }
        if !text.text_column.is_empty() {
            if self.settings.iter().any(|(name, value)| name == "features" && value == "numbers") {
                return Err(Failure::Usage(
                    "--text-column is for words, and features=numbers is set: leave one out".into(),
                ));
            }
            config.settings.features = FeatureChoice::Words;
        }
        config.seed = self.seed.unwrap_or(0);
        config.shard = self.shard.unwrap_or(0);
        Ok(config)
    }

    /// The configuration of a model of features, without its columns.
    pub fn feature_config(&self, kind: FeatureKind) -> Result<FeatureConfig, Failure> {
        let mut config = FeatureConfig::new(kind, Vec::new());
        config.memory_limit = self.memory.unwrap_or(config.memory_limit);
        for (name, value) in &self.settings {
            config.settings.set(kind, name, value)?;
        }
        config.seed = self.seed.unwrap_or(0);
        config.shard = self.shard.unwrap_or(0);
        Ok(config)
    }

    /// Refuses what differs from a model of labelled rows that has begun.
    pub fn check_continues_linear(&self, model: &LinearModel) -> Result<(), Failure> {
        let has = model.config();
        let same = self.keeps(&has.settings, |settings, name, value| settings.set(has.kind, name, value))?;
        self.check_same(AnyKind::Linear(has.kind), has.kind.name(), same, has.seed, has.shard)
    }

    /// Refuses what differs from a model of documents that has begun.
    pub fn check_continues_documents(&self, model: &DocumentModel) -> Result<(), Failure> {
        let has = model.config();
        let same = self.keeps(&has.settings, |settings, name, value| settings.set(has.kind, name, value))?;
        self.check_same(AnyKind::Documents(has.kind), has.kind.name(), same, has.seed, has.shard)
    }

    /// Refuses what differs from a model of features that has begun.
    pub fn check_continues_features(&self, model: &FeatureModel) -> Result<(), Failure> {
        let has = model.config();
        let same = self.keeps(&has.settings, |settings, name, value| settings.set(has.kind, name, value))?;
        self.check_same(AnyKind::Features(has.kind), has.kind.name(), same, has.seed, has.shard)
    }

    /// Refuses what differs from a model that has begun; the same again is fine, so that a command can be repeated.
    pub fn check_continues(&self, model: &Model) -> Result<(), Failure> {
        let has = model.config();
        let same = self.keeps(&has.settings, |settings, name, value| settings.set(has.kind, name, value))?;
        self.check_same(AnyKind::Rows(has.kind), has.kind.name(), same, has.seed, has.shard)
    }

    /// True when `--set` leaves these settings as they are.
    fn keeps<S: Clone + PartialEq>(
        &self,
        settings: &S,
        set: impl Fn(&mut S, &str, &str) -> Result<(), ConfigError>,
    ) -> Result<bool, Failure> {
        let mut asked = settings.clone();
        for (name, value) in &self.settings {
            set(&mut asked, name, value)?;
        }
        Ok(asked == *settings)
    }

    fn check_same(&self, kind: AnyKind, name: &str, settings: bool, seed: u64, shard: u32) -> Result<(), Failure> {
        if self.kind.is_some_and(|asked| asked != kind) {
            return Err(Failure::Usage(format!("the model to continue is of kind {name}: leave -m out")));
        }
        let differs = [
            ("--set", !settings),
            ("--seed", self.seed.is_some_and(|asked| asked != seed)),
            ("--shard", self.shard.is_some_and(|asked| asked != shard)),
        ];
        match differs.iter().find(|(_, differs)| *differs) {
            Some((what, _)) => {
                Err(Failure::Usage(format!("{what} is fixed when a model begins: leave it out to continue this one")))
            }
            None => Ok(()),
        }
    }
}

/// What a command that takes rows says to a kind that takes documents.
pub fn reads_documents(kind: DocumentKind) -> Failure {
    Failure::Usage(format!(
        "{kind} learns from documents: `fit`, `score`, `inspect`, `plot` and `merge` take it, this command does not"
    ))
}

/// What a command that takes rows without labels says to a kind that needs them.
pub fn reads_labels(kind: LinearKind) -> Failure {
    Failure::Usage(format!(
        "{kind} learns from labelled rows: `fit`, `score`, `inspect` and `merge` take it, this command does not"
    ))
}

/// What a command of mixtures alone says to a kind of features.
pub fn reads_features(kind: FeatureKind) -> Failure {
    Failure::Usage(format!(
        "{kind} learns rows as sums of features: `fit`, `score`, `impute`, `inspect`, `sample` and `plot` take it, this \
         command does not"
    ))
}

/// A size in bytes.
pub fn parse_memory(text: &str) -> Result<u64, String> {
    parse_bytes(text).ok_or_else(|| "expected a size, as in 8GB, 500MB or 1.5GB".to_string())
}

/// `NAME=VALUE` as a pair.
pub fn parse_setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_string(), value.trim().to_string())),
        _ => Err("expected NAME=VALUE, as in delta=0.01 (`bayestream models --settings` lists the names)".to_string()),
    }
}

/// What to do with a row that cannot be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OnErrorArg {
    /// Stop and name the cell.
    #[default]
    Fail,
    /// Leave the row out, and report how many were.
    Skip,
}

/// How to read rows.
#[derive(Args, Debug)]
pub struct ReadArgs {
    /// Format of the input: csv, ndjson, parquet, arrow, or text for one document a line [default: by extension, else by
    /// the first bytes].
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<Format>,
    /// The columns to use, separated by commas [default: all].
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub columns: Option<Vec<String>>,
    /// Columns to leave out, separated by commas.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub drop: Vec<String>,
    /// A column with labels, or with numbers, which kinds of `classify` learn to tell; others leave it alone.
    #[arg(long, value_name = "NAME")]
    pub label_column: Option<String>,
    /// A column that names the rows: not learnt from, repeated beside scores.
    #[arg(long, value_name = "NAME")]
    pub id_column: Option<String>,
    /// A column of weights: a row of weight 2 counts as two rows.
    #[arg(long, value_name = "NAME")]
    pub weight_column: Option<String>,
    /// What to do with a row that cannot be used.
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    pub on_error: OnErrorArg,
    /// Take a last line that was cut (it has no line feed, and the row ends early) for an error instead of leaving it out.
    #[arg(long)]
    pub strict: bool,
}

impl ReadArgs {
    /// Whether unusable rows are left out.
    pub fn skips(&self) -> bool {
        self.on_error == OnErrorArg::Skip
    }

    /// What becomes of a last line that was cut.
    pub fn on_unfinished(&self) -> OnError {
        if self.strict { OnError::Fail } else { OnError::Skip }
    }

    /// The reader's options.
    pub fn options(&self, batch_rows: usize) -> ReadOptions {
        ReadOptions {
            format: self.format,
            columns: self.columns.clone(),
            drop: self.drop.clone(),
            label_column: self.label_column.clone(),
            id_column: self.id_column.clone(),
            weight_column: self.weight_column.clone(),
            on_error: if self.skips() { OnError::Skip } else { OnError::Fail },
            on_unfinished: self.on_unfinished(),
            batch_rows,
        }
    }
}

/// How to read documents, beside what holds for rows too.
#[derive(Args, Debug)]
pub struct TextArgs {
    /// Documents: the columns with their text, separated by commas, or with tokens or terms [default: found by name].
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub text_column: Vec<String>,
    /// Documents: read bytes that are not UTF-8 as replacement characters instead of stopping.
    #[arg(long)]
    pub lossy: bool,
    /// Documents: the longest line that is read, in megabytes.
    #[arg(long, value_name = "MB", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..))]
    pub longest_line: u32,
}

impl TextArgs {
    /// The reader's options.
    pub fn options(&self, format: Option<Format>, on_error: OnErrorArg, batch_documents: usize) -> DocumentOptions {
        DocumentOptions {
            format,
            text_columns: self.text_column.clone(),
            on_error: if on_error == OnErrorArg::Skip { OnError::Skip } else { OnError::Fail },
            lossy: self.lossy,
            longest_line: (self.longest_line as usize) << 20,
            batch_documents,
            ..DocumentOptions::default()
        }
    }
}

/// Where a table goes.
#[derive(Args, Debug)]
pub struct TableArgs {
    /// File to write, `-` for standard output.
    #[arg(short = 'o', long, value_name = "OUT", default_value = "-")]
    pub output: String,
    /// Format to write: csv, ndjson, parquet or arrow [default: by extension, NDJSON on standard output].
    #[arg(long = "to", value_name = "FORMAT")]
    pub to: Option<Format>,
}

/// When a row is unusual enough to tell somebody.
#[derive(Args, Debug)]
pub struct AlarmArgs {
    /// Rows with a p-value of at most this raise an alarm: about this share of a stream that does not change.
    #[arg(long, value_name = "RATE", default_value_t = 0.001, value_parser = parse_alarm_rate)]
    pub alarm_rate: f64,
}

/// A share of rows, above 0 and at most 0.5.
fn parse_alarm_rate(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(rate) if rate > 0.0 && rate <= 0.5 => Ok(rate),
        _ => Err("expected a share of the rows above 0 and at most 0.5, as in 0.001 for one row in a thousand".into()),
    }
}

/// When to save the state along the way.
#[derive(Args, Debug)]
pub struct CheckpointArgs {
    /// Save the state to this file along the way, at the end and when interrupted.
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<String>,
    /// Rows between checkpoints.
    #[arg(long, value_name = "ROWS", default_value_t = 100_000, requires = "checkpoint",
          value_parser = clap::value_parser!(u64).range(1..))]
    pub every: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use proptest::prelude::*;

    #[derive(Parser)]
    struct Probe {
        #[command(flatten)]
        kind: KindArgs,
    }

    fn config_of(setting: &str) -> Result<Config, String> {
        let probe = Probe::try_parse_from(["probe", "--set", setting]).map_err(|e| e.to_string())?;
        probe.kind.config().map_err(|e| e.to_string())
    }

    #[test]
    fn settings_reach_the_configuration() {
        assert_eq!(config_of("delta=0.25").unwrap().settings.delta, Some(0.25));
        assert_eq!(config_of(" memory = 1234 ").unwrap().settings.memory, Some(1234.0));
        assert!(config_of("detla=0.25").unwrap_err().contains("did you mean `delta`"));
        assert!(config_of("delta").unwrap_err().contains("NAME=VALUE"));
        assert!(config_of("=3").unwrap_err().contains("NAME=VALUE"));
    }

    #[test]
    fn alarm_rates_are_shares_of_at_most_a_half() {
        assert_eq!(parse_alarm_rate(" 0.002 "), Ok(0.002));
        assert_eq!(parse_alarm_rate("0.5"), Ok(0.5));
        for refused in ["0", "-0.1", "0.51", "NaN", "inf", "1e-400", "often", ""] {
            assert!(parse_alarm_rate(refused).unwrap_err().contains("at most 0.5"), "{refused}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_set_panic(text in ".*") {
            let _ = config_of(&text);
        }

        #[test]
        fn known_settings_take_or_refuse_any_value(ix in 0..bayestream::model::SETTINGS.len(), value in ".*") {
            let name = bayestream::model::SETTINGS[ix].name;
            if let Err(message) = config_of(&format!("{name}={value}")) {
                prop_assert!(message.contains(name), "{}", message);
            }
        }
    }
}
