//! `demo`: the main job on a generated stream.

use crate::demo;
use crate::error::Failure;
use clap::Args;

/// Arguments of `demo`.
#[derive(Args)]
pub struct DemoArgs {
    /// Folder to write to; made when absent.
    #[arg(long, value_name = "DIR", default_value = "bayestream-demo")]
    out: String,
    /// Seed of the stream and of the learner.
    #[arg(long, value_name = "N", default_value_t = 7)]
    seed: u64,
}

/// Runs the demonstration.
pub fn run(args: DemoArgs) -> Result<(), Failure> {
    demo::run(&args.out, args.seed)
}
