//! What is to be compared: kinds with settings.

use crate::args::{parse_setting, reads_documents, reads_features, reads_labels};
use crate::error::Failure;
use bayestream::model::{AnyKind, Config, ConfigError, KINDS, Kind, Settings};
use std::str::FromStr;

/// A kind and the settings of its own: `KIND` or `KIND:NAME=VALUE,NAME=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    kind: Kind,
    settings: Vec<(String, String)>,
}

impl FromStr for Entry {
    type Err = String;

    fn from_str(text: &str) -> Result<Entry, String> {
        let (kind, settings) = text.split_once(':').map_or((text, None), |(kind, rest)| (kind, Some(rest)));
        let kind = match kind.trim().parse().map_err(|error: ConfigError| error.to_string())? {
            AnyKind::Rows(kind) => kind,
            AnyKind::Documents(kind) => return Err(in_words(reads_documents(kind))),
            AnyKind::Linear(kind) => return Err(in_words(reads_labels(kind))),
            AnyKind::Features(kind) => return Err(in_words(reads_features(kind))),
        };
        let settings =
            settings.into_iter().flat_map(|list| list.split(',')).map(parse_setting).collect::<Result<_, _>>();
        Ok(Entry { kind, settings: settings? })
    }
}

/// A failure's text alone: whoever reads arguments says himself that it is an error.
fn in_words(failure: Failure) -> String {
    match failure {
        Failure::Usage(text) | Failure::Failed(text) => text,
        other => other.to_string(),
    }
}

impl Entry {
    /// Every kind that learns in one pass.
    pub fn streaming_kinds() -> Vec<Entry> {
        let kinds = KINDS.iter().filter(|info| info.streaming);
        kinds.map(|info| Entry { kind: info.kind, settings: Vec::new() }).collect()
    }

    fn name(&self) -> String {
        let settings: Vec<String> = self.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        match settings.is_empty() {
            true => self.kind.to_string(),
            false => format!("{}:{}", self.kind, settings.join(",")),
        }
    }
}

/// The names and configurations of entries, without their columns. Those of `common` are for all of them; an entry's
/// own come after and win.
pub fn configs(entries: &[Entry], common: &[(String, String)], seed: u64) -> Result<Vec<(String, Config)>, Failure> {
    let mut configs: Vec<(String, Config)> = Vec::new();
    for entry in entries {
        let mut settings = Settings::default();
        for (name, value) in common {
            let hint = "--set is for all kinds: give a setting to one of them by -m KIND:NAME=VALUE";
            settings.set(entry.kind, name, value).map_err(|error| Failure::from(error).and(hint))?;
        }
        for (name, value) in &entry.settings {
            settings.set(entry.kind, name, value)?;
        }
        let config = Config { settings, seed, ..Config::new(entry.kind, Vec::new()) };
        if let Some((name, _)) = configs.iter().find(|(_, other)| *other == config) {
            return Err(Failure::Usage(format!(
                "{} is there twice ({name} is the same): give one of them other settings, as in {}:delta=0.01",
                entry.name(),
                entry.kind
            )));
        }
        configs.push((entry.name(), config));
    }
    Ok(configs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(texts: &[&str]) -> Vec<Entry> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn own_settings_win_over_common_ones() {
        let common = [("delta".to_string(), "0.25".to_string())];
        let configs = configs(&entries(&["gmm", "mppca:delta=0.125,memory=900"]), &common, 7).unwrap();
        let told: Vec<(&str, Option<f64>, Option<f64>, u64)> =
            configs.iter().map(|(name, c)| (name.as_str(), c.settings.delta, c.settings.memory, c.seed)).collect();
        let second = ("mppca/ofab:delta=0.125,memory=900", Some(0.125), Some(900.0), 7);
        assert_eq!(told, [("gmm/ofab", Some(0.25), None, 7), second]);
    }

    #[test]
    fn entries_must_differ_and_exist() {
        assert!("gmm/ofba".parse::<Entry>().unwrap_err().contains("did you mean `gmm/ofab`"));
        assert!("gmm:delta".parse::<Entry>().unwrap_err().contains("NAME=VALUE"));
        let refused = |texts: &[&str]| configs(&entries(texts), &[], 0).unwrap_err().to_string();
        assert!(refused(&["gmm", "mppca", "gmm/ofab"]).contains("twice"));
        assert!(refused(&["gmm:detla=0.1"]).contains("did you mean `delta`"));
        assert!(configs(&entries(&["gmm", "gmm:delta=0.125"]), &[], 0).is_ok());
        assert!(Entry::streaming_kinds().iter().all(|entry| entry.kind.info().streaming));
    }
}
