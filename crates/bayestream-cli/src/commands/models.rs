//! `models`: every kind there is.

use super::inspect::setting_value;
use crate::error::Failure;
use crate::terminal;
use bayestream::model::{
    DOCUMENT_KINDS, DocumentKind, DocumentSettings, FEATURE_KINDS, FeatureKind, FeatureSettings, KINDS, KindInfo,
    LINEAR_KINDS, LinearChoices, LinearKind, Settings,
};
use bayestream::text::TextSetting;
use clap::Args;
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;

/// Kinds to begin with, in this order; the others are there to compare with.
const TO_USE: [&str; 8] = [
    "gmm/ofab",
    "mppca/ofab",
    "gmm/dp",
    "lfm/online-fab",
    "topics/mm-hdp",
    "topics/medlda-gibbs",
    "classify/pa",
    "classify/bayespa-gibbs",
];

/// Arguments of `models`.
#[derive(Args)]
pub struct ModelsArgs {
    /// Print as one JSON document.
    #[arg(long)]
    json: bool,
    /// List the settings of each kind too.
    #[arg(long)]
    settings: bool,
}

#[derive(Serialize)]
struct Document {
    models: Vec<KindEntry>,
}

#[derive(Serialize)]
struct KindEntry {
    name: &'static str,
    alias: Option<&'static str>,
    /// Whether to begin with it; the others are there to compare with.
    #[serde(rename = "use")]
    is_to_use: bool,
    streaming: bool,
    /// `rows`, `documents` or `labels`: labelled rows or documents.
    reads: &'static str,
    summary: &'static str,
    settings: Vec<SettingEntry>,
}

#[derive(Serialize)]
struct SettingEntry {
    name: &'static str,
    default: Value,
    takes: &'static str,
    help: &'static str,
}

/// Lists the kinds.
pub fn run(args: ModelsArgs) -> Result<(), Failure> {
    let unlabelled = KINDS.iter().map(of_rows).chain(DOCUMENT_KINDS.iter().map(of_documents));
    let labelled = LINEAR_KINDS.iter().map(of_labels);
    let mut models: Vec<KindEntry> = unlabelled.chain(labelled).chain(FEATURE_KINDS.iter().map(of_features)).collect();
    models.sort_by_key(|kind| TO_USE.iter().position(|name| *name == kind.name).unwrap_or(TO_USE.len()));
    if args.json {
        return terminal::print_json(&Document { models });
    }
    let width = |cell: fn(&KindEntry) -> &'static str| models.iter().map(|kind| cell(kind).len()).max().unwrap_or(0);
    let (name_width, alias_width) = (width(|kind| kind.name), width(|kind| kind.alias.unwrap_or("")));
    let mut out = "to use\n".to_string();
    for (at, kind) in models.iter().enumerate() {
        if at > 0 && models[at - 1].is_to_use && !kind.is_to_use {
            out += "\nto compare with: other methods of the papers, and the same by all rows at once\n";
        }
        let (name, alias, summary) = (kind.name, kind.alias.unwrap_or(""), kind.summary);
        let _ = writeln!(out, "{name:name_width$}  {alias:alias_width$}  {summary}");
        if args.settings {
            out += &settings_table(&kind.settings);
        }
    }
    terminal::print(&out)
}

fn of_rows(kind: &KindInfo) -> KindEntry {
    let defaults = Settings::default().list(kind.kind);
    let infos = Settings::of_kind(kind.kind).map(|info| (info.takes, info.help));
    entry(kind, "rows", infos.zip(defaults))
}

fn of_documents(kind: &KindInfo<DocumentKind>) -> KindEntry {
    let defaults = DocumentSettings::of(kind.kind).list(kind.kind);
    let infos = DocumentSettings::of_kind(kind.kind).map(|info| (info.takes, info.help));
    let of_text = TextSetting::all().iter().map(|setting| (setting.takes, setting.help));
    entry(kind, "documents", infos.chain(of_text).zip(defaults))
}

fn of_labels(kind: &KindInfo<LinearKind>) -> KindEntry {
    let defaults = LinearChoices::new().all(kind.kind);
    let infos = LinearChoices::of_kind(kind.kind).map(|info| (info.takes, info.help));
    let of_text = TextSetting::all().iter().map(|setting| (setting.takes, setting.help));
    entry(kind, "labels", infos.chain(of_text).zip(defaults))
}

fn of_features(kind: &KindInfo<FeatureKind>) -> KindEntry {
    let defaults = FeatureSettings::default().list(kind.kind);
    let infos = FeatureSettings::of_kind(kind.kind).map(|info| (info.takes, info.help));
    entry(kind, "rows", infos.zip(defaults))
}

fn entry<K>(
    kind: &KindInfo<K>,
    reads: &'static str,
    settings: impl Iterator<Item = ((&'static str, &'static str), (&'static str, String))>,
) -> KindEntry {
    let setting = |((takes, help), (name, value)): ((&'static str, &'static str), (&'static str, String))| {
        SettingEntry { name, default: setting_value(&value), takes, help }
    };
    KindEntry {
        name: kind.name,
        alias: kind.alias,
        is_to_use: TO_USE.contains(&kind.name),
        streaming: kind.streaming,
        reads,
        summary: kind.summary,
        settings: settings.map(setting).collect(),
    }
}

fn settings_table(settings: &[SettingEntry]) -> String {
    let mut out = String::new();
    for setting in settings {
        let default = match &setting.default {
            Value::String(word) => word.clone(),
            number => number.to_string(),
        };
        let _ = writeln!(out, "    {}={default}  {} ({})", setting.name, setting.help, setting.takes);
    }
    out
}
