//! `merge`: models of disjoint parts of one stream, combined.

use crate::error::Failure;
use crate::files::Files;
use crate::model_file::{self, AnyModel, Stored};
use crate::terminal::{self, counted};
use bayestream::model::{DocumentModel, FeatureModel, LinearModel, Model};
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
    /// Replace the file at -o even if it is no model.
    #[arg(long)]
    force: bool,
}

/// Merges models.
pub fn run(args: MergeArgs) -> Result<(), Failure> {
    Files::default().reads("MODEL", &args.models).writes("-o", [&args.output]).check()?;
    model_file::check_writable(&args.output, args.force)?;
    let (mut models, mut of_documents, mut linear, mut features) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for path in &args.models {
        match model_file::load_any(path)? {
            AnyModel::Rows(model) => models.push(*model),
            AnyModel::Documents(model) => of_documents.push(*model),
            AnyModel::Linear(model) => linear.push(*model),
            AnyModel::Features(model) => features.push(*model),
        }
    }
    match (models.is_empty(), of_documents.is_empty(), linear.is_empty(), features.is_empty()) {
        (false, true, true, true) => {
            let merged = Model::merge(&models)?;
            let snapshot = merged.snapshot();
            let n_clusters = snapshot.clusters().len();
            let has = terminal::told_parts(snapshot.k_realized(), "component", Some(n_clusters));
            finish(&args, &merged, counted(merged.n_seen(), "row"), has)
        }
        (true, false, true, true) => {
            let merged = DocumentModel::merge(&of_documents)?;
            let has = counted(merged.snapshot().k_realized() as u64, "topic");
            finish(&args, &merged, counted(merged.n_seen(), "document"), has)
        }
        (true, true, false, true) => {
            let merged = LinearModel::merge(&linear)?;
            finish(&args, &merged, counted(merged.n_seen(), "row"), counted(merged.labels().len() as u64, "label"))
        }
        (true, true, true, false) => {
            let merged = FeatureModel::merge(&features)?;
            let has = counted(merged.snapshot().k_realized() as u64, "feature");
            finish(&args, &merged, counted(merged.n_seen(), "row"), has)
        }
        _ => Err(Failure::Failed(
            "models of rows, of documents, of labelled rows and of features cannot be merged with each other".into(),
        )),
    }
}

/// Writes the merged model, and says what it is of.
fn finish(args: &MergeArgs, merged: &impl Stored, seen: String, has: String) -> Result<(), Failure> {
    model_file::save(&args.output, merged)?;
    terminal::note(format!("{}: {} models of {seen} merged: {has}", args.output, args.models.len()));
    Ok(())
}
