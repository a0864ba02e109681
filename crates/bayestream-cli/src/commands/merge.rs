//! `merge`: models of disjoint parts of one stream, combined.

use crate::error::Failure;
use crate::model_file;
use crate::terminal::{self, counted};
use bayestream::model::Model;
use clap::Args;

/// Arguments of `merge`.
#[derive(Args)]
pub struct MergeArgs {
    /// Model files of one kind, with the same columns and settings; their order does not matter.
    #[arg(required = true, num_args = 2.., value_name = "MODEL")]
    models: Vec<String>,
    /// The model file to write.
    #[arg(short = 'o', long, value_name = "MODEL")]
    output: String,
}

/// Merges models.
pub fn run(args: MergeArgs) -> Result<(), Failure> {
    model_file::check_writable(&args.output)?;
    let models = args.models.iter().map(|path| model_file::load(path)).collect::<Result<Vec<Model>, Failure>>()?;
    let merged = Model::merge(&models)?;
    model_file::save(&args.output, &merged)?;
    terminal::note(format!(
        "{}: {} models of {} merged: {}",
        args.output,
        models.len(),
        counted(merged.n_seen(), "row"),
        counted(merged.snapshot().k_realized() as u64, "component")
    ));
    Ok(())
}
