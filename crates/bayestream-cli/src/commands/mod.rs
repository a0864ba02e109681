//! One file per command: its arguments, its plan, its run.

mod compare;
mod demo;
mod fit;
mod generate;
mod impute;
mod inspect;
mod merge;
mod models;
mod plot;
mod reproduce;
mod sample;
mod score;
mod watch;

pub use fit::{FitArgs, Interrupted, stopped, stopped_before, stopped_while_fitting};
pub use inspect::{
    EventEntry, LogScoreEntry, event_entry, event_lines, listed, setting_lines, setting_value, told_log_score,
};
pub use score::ScoreArgs;

use crate::error::Failure;
use clap::Subcommand;

/// Every command.
#[derive(Subcommand)]
pub enum Command {
    /// Learn a generated stream, of sensors or of messages, and write a report with pictures.
    Demo(demo::DemoArgs),
    /// Learn a model from files or a pipe.
    Fit(fit::FitArgs),
    /// Score each row, then learn from it; scores on standard output.
    Watch(watch::WatchArgs),
    /// Learn several kinds from the same rows, side by side.
    Compare(compare::CompareArgs),
    /// Score rows against a model that stays as it is.
    Score(score::ScoreArgs),
    /// Fill missing cells by a model that stays as it is.
    Impute(impute::ImputeArgs),
    /// Show what a model has learnt.
    Inspect(inspect::InspectArgs),
    /// Combine models of disjoint parts of one stream.
    Merge(merge::MergeArgs),
    /// Draw rows from a model.
    Sample(sample::SampleArgs),
    /// Draw a model, with data if given, as SVG, PNG or HTML.
    Plot(plot::PlotArgs),
    /// Make the papers' synthetic data, with the true model beside it.
    Generate(generate::GenerateArgs),
    /// Run a paper's experiment again.
    Reproduce(reproduce::ReproduceArgs),
    /// List every kind of model.
    Models(models::ModelsArgs),
}

impl Command {
    /// Runs the command to its end.
    pub fn run(self) -> Result<(), Failure> {
        match self {
            Command::Demo(args) => demo::run(args),
            Command::Fit(args) => fit::run(args),
            Command::Watch(args) => watch::run(args),
            Command::Compare(args) => compare::run(args),
            Command::Score(args) => score::run(args),
            Command::Impute(args) => impute::run(args),
            Command::Inspect(args) => inspect::run(args),
            Command::Merge(args) => merge::run(args),
            Command::Sample(args) => sample::run(args),
            Command::Plot(args) => plot::run(args),
            Command::Generate(args) => generate::run(args),
            Command::Reproduce(args) => reproduce::run(args),
            Command::Models(args) => models::run(args),
        }
    }
}
