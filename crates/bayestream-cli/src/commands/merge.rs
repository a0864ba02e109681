//! `merge`: models of disjoint parts of one stream, combined.

use crate::error::Failure;
use crate::model_file::{self, AnyModel};
use crate::terminal::{self, counted};
use bayestream::model::{DocumentModel, LinearModel, Model};
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
    let (mut models, mut of_documents, mut linear) = (Vec::new(), Vec::new(), Vec::new());
    for path in &args.models {
        match model_file::load_any(path)? {
            AnyModel::Rows(model) => models.push(*model),
            AnyModel::Documents(model) => of_documents.push(*model),
            AnyModel::Linear(model) => linear.push(*model),
        }
    }
    match (models.is_empty(), of_documents.is_empty(), linear.is_empty()) {
        (false, true, true) => merge_rows(&args, &models),
        (true, false, true) => merge_documents(&args, &of_documents),
        (true, true, false) => merge_linear(&args, &linear),
        _ => Err(Failure::Failed(
            "models of rows, of documents and of labelled rows cannot be merged with each other".into(),
        )),
    }
}

fn merge_linear(args: &MergeArgs, models: &[LinearModel]) -> Result<(), Failure> {
    let merged = LinearModel::merge(models)?;
    model_file::save(&args.output, &merged)?;
    terminal::note(format!(
        "{}: {} models of {} merged: {}",
        args.output,
        models.len(),
        counted(merged.n_seen(), "row"),
        counted(merged.labels().len() as u64, "label")
    ));
    Ok(())
}

fn merge_documents(args: &MergeArgs, models: &[DocumentModel]) -> Result<(), Failure> {
    let merged = DocumentModel::merge(models)?;
    model_file::save(&args.output, &merged)?;
    terminal::note(format!(
        "{}: {} models of {} merged: {}",
        args.output,
        models.len(),
        counted(merged.n_seen(), "document"),
        counted(merged.snapshot().k_realized() as u64, "topic")
    ));
    Ok(())
}

fn merge_rows(args: &MergeArgs, models: &[Model]) -> Result<(), Failure> {
    let merged = Model::merge(models)?;
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
