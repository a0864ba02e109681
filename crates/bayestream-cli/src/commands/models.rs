//! `models`: every kind there is.

use super::inspect::setting_value;
use crate::error::Failure;
use crate::terminal;
use bayestream::model::{KINDS, KindInfo, Settings};
use clap::Args;
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;

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
    streaming: bool,
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
    if args.json {
        return terminal::print_json(&Document { models: KINDS.iter().map(kind_entry).collect() });
    }
    let rows: Vec<[&str; 3]> = KINDS.iter().map(|kind| [kind.name, kind.alias.unwrap_or(""), kind.summary]).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let (name_width, alias_width) = (width(0), width(1));
    let mut out = String::new();
    for (row, kind) in rows.iter().zip(&KINDS) {
        let [name, alias, summary] = row;
        let _ = writeln!(out, "{name:name_width$}  {alias:alias_width$}  {summary}");
        if args.settings {
            out += &settings_table(kind);
        }
    }
    terminal::print(&out)
}

fn settings_of(kind: &KindInfo) -> Vec<SettingEntry> {
    let defaults = Settings::default().list(kind.kind);
    Settings::of_kind(kind.kind)
        .zip(defaults)
        .map(|(info, (_, value))| SettingEntry {
            name: info.name,
            default: setting_value(&value),
            takes: info.takes,
            help: info.help,
        })
        .collect()
}

fn kind_entry(kind: &KindInfo) -> KindEntry {
    KindEntry {
        name: kind.name,
        alias: kind.alias,
        streaming: kind.streaming,
        summary: kind.summary,
        settings: settings_of(kind),
    }
}

fn settings_table(kind: &KindInfo) -> String {
    let mut out = String::new();
    for setting in settings_of(kind) {
        let default = match &setting.default {
            Value::String(word) => word.clone(),
            number => number.to_string(),
        };
        let _ = writeln!(out, "    {}={default}  {} ({})", setting.name, setting.help, setting.takes);
    }
    out
}
