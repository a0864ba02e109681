//! The `bayestream` command: arguments are parsed here and in `args`, planned and run in `commands`.

mod ahead;
mod args;
mod changes;
mod checkpoint;
mod commands;
mod compare;
mod demo;
mod documents;
mod error;
mod features;
mod feed;
mod files;
mod imputing;
mod linear;
mod model_file;
mod named_numbers;
mod picture_file;
mod pictures;
mod progress;
mod row_model;
mod score_pictures;
mod score_record;
mod scores;
mod silence;
mod stop;
mod terminal;
mod training;
mod watching;

use clap::Parser;
use commands::Command;
use std::process::ExitCode;

/// Bayesian models that keep learning while data streams by, and find their own size.
///
/// Start with `bayestream demo`; then `bayestream fit data.csv -o model.bay` and `bayestream inspect model.bay`.
#[derive(Parser)]
#[command(name = "bayestream", version, propagate_version = true, max_term_width = 110)]
struct Cli {
    /// No progress bar, no notes: errors only.
    #[arg(long, short = 'q', global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    terminal::set_quiet(cli.quiet);
    match cli.command.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let text = failure.to_string();
            if !text.is_empty() {
                terminal::complain(&text);
            }
            failure.exit_code()
        }
    }
}
