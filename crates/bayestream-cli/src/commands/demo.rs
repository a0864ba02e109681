//! `demo`: the main job on a generated stream, of rows or of documents.

use crate::demo;
use crate::error::Failure;
use clap::{Args, ValueEnum};

/// Arguments of `demo`.
#[derive(Args)]
pub struct DemoArgs {
    /// What to show: a stream of sensor readings, or one of messages.
    #[arg(value_enum, default_value_t)]
    what: What,
    /// Folder to write to; made when absent.
    #[arg(long, value_name = "DIR", default_value = "bayestream-demo")]
    out: String,
    /// Seed of the stream and of the learner.
    #[arg(long, value_name = "N", default_value_t = 7)]
    seed: u64,
}

/// What a demonstration is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum What {
    /// Sensor readings with drift and planted outliers.
    #[default]
    Sensors,
    /// Messages with a topic that appears midway.
    Topics,
}

/// Runs the demonstration.
pub fn run(args: DemoArgs) -> Result<(), Failure> {
    match args.what {
        What::Sensors => demo::run(&args.out, args.seed),
        What::Topics => demo::topics::run(&args.out, args.seed),
    }
}
