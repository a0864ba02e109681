//! Models in files: read, checked, written whole.

use crate::error::Failure;
use crate::terminal::counted;
use bayestream::model::{AnyKind, DocumentModel, FeatureModel, FormatError, LinearModel, Model, read_header};
use bayestream_io::{read_file, write_atomic};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::{env, process};

/// Enough of a file to tell a model.
const LONGEST_MAGIC: u64 = 64;

/// A model of any sort.
pub enum AnyModel {
    /// Of rows.
    Rows(Box<Model>),
    /// Of documents.
    Documents(Box<DocumentModel>),
    /// Of labelled rows or documents.
    Linear(Box<LinearModel>),
    /// Of rows as sums of features.
    Features(Box<FeatureModel>),
}

/// What can be kept in a file.
pub trait Stored {
    /// The file's bytes.
    fn bytes(&self) -> Vec<u8>;
}

macro_rules! stored {
    ($($model:ident),+) => {
        $(impl Stored for $model {
            fn bytes(&self) -> Vec<u8> {
                self.save()
            }
        })+
    };
}

stored!(Model, DocumentModel, LinearModel, FeatureModel);

/// The model of rows in a file, or on standard input for `-`.
pub fn load(path: &str) -> Result<Model, Failure> {
    Model::load(&read(path)?).map_err(|error| Failure::Failed(format!("{}: {error}", named(path))))
}

/// The model in a file, whatever it learns from.
pub fn load_any(path: &str) -> Result<AnyModel, Failure> {
    let bytes = read(path)?;
    let wrong = |error| Failure::Failed(format!("{}: {error}", named(path)));
    match read_header(&bytes).map_err(wrong)?.kind.parse::<AnyKind>() {
        Ok(AnyKind::Documents(_)) => Ok(AnyModel::Documents(Box::new(DocumentModel::load(&bytes).map_err(wrong)?))),
        Ok(AnyKind::Linear(_)) => Ok(AnyModel::Linear(Box::new(LinearModel::load(&bytes).map_err(wrong)?))),
        Ok(AnyKind::Features(_)) => Ok(AnyModel::Features(Box::new(FeatureModel::load(&bytes).map_err(wrong)?))),
        _ => Ok(AnyModel::Rows(Box::new(Model::load(&bytes).map_err(wrong)?))),
    }
}

fn named(path: &str) -> &str {
    if path == "-" { "standard input" } else { path }
}

fn read(path: &str) -> Result<Vec<u8>, Failure> {
    Ok(match path {
        "-" => {
            let mut bytes = Vec::new();
            io::stdin()
                .read_to_end(&mut bytes)
                .map_err(|error| Failure::Failed(format!("standard input: cannot be read: {error}")))?;
            bytes
        }
        _ => read_file(path)?,
    })
}

/// What a command that fills or draws rows says to a model that has none.
pub fn has_no_rows(path: &str, kind: &str, reads: &'static str) -> Failure {
    let error = FormatError::OtherInput { kind: kind.to_string(), reads };
    Failure::Failed(format!("{}: {error}", named(path)))
}

/// A model ready to be used, or why not: the first model of few rows is made here, and batch kinds fit.
pub fn learnt(path: &str, model: Model) -> Result<Model, Failure> {
    let model = model.ready().into_owned();
    if model.k_implemented() > 0 {
        return Ok(model);
    }
    let n_seen = counted(model.n_seen(), "row");
    Err(Failure::Failed(format!("{path}: the model has no components yet ({n_seen} seen): learn from more rows first")))
}

/// The same of a model of features, after a batch kind has fitted what it has.
pub fn learnt_features(path: &str, mut model: FeatureModel) -> Result<FeatureModel, Failure> {
    model.finish();
    match model.n_seen() > 0 {
        true => Ok(model),
        false => Err(Failure::Failed(format!("{path}: the model has seen no rows yet: learn from some first"))),
    }
}

/// Writes a model whole, or not at all.
pub fn save(path: &str, model: &impl Stored) -> Result<(), Failure> {
    write(path, &model.bytes())
}

/// Writes a file's bytes whole, or not at all; `-` is standard output.
pub fn write(path: &str, bytes: &[u8]) -> Result<(), Failure> {
    if path == "-" {
        let mut out = io::stdout().lock();
        return out.write_all(bytes).and_then(|()| out.flush()).map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
            _ => Failure::Failed(format!("standard output: cannot be written: {error}")),
        });
    }
    Ok(write_atomic(path, bytes)?)
}

/// Saves the result of a long run; when its file cannot be written, what was learnt is kept in a folder that can be.
pub fn save_or_rescue(path: &str, model: &impl Stored) -> Result<(), Failure> {
    save(path, model).map_err(|failure| rescue(model, "model", failure).1)
}

/// Keeps a model whose own file cannot be written in the folder for temporary files. Returns its path there, if that went
/// well, and the failure that says so.
pub fn rescue(model: &impl Stored, what: &str, failure: Failure) -> (Option<PathBuf>, Failure) {
    let path = env::temp_dir().join(format!("bayestream-rescued-{}.bay", process::id()));
    match write_atomic(&path, &model.bytes()) {
        Ok(()) => {
            let said = failure.and(format!("the {what} was saved as {} instead", path.display()));
            (Some(path), said)
        }
        Err(_) => (None, failure),
    }
}

/// Finds out before the work, not after it, that a model cannot be written. A file that is no model is replaced only by
/// `force`: it may well be data.
pub fn check_writable(path: &str, force: bool) -> Result<(), Failure> {
    if path == "-" {
        return Ok(());
    }
    if !force && holds_something_else(Path::new(path)) {
        return Err(Failure::Usage(format!(
            "{path}: is no model and would be replaced by one: name another file, or pass --force"
        )));
    }
    Ok(bayestream_io::check_writable(path)?)
}

/// Whether there is a file that is neither empty nor a model, whole or damaged.
fn holds_something_else(path: &Path) -> bool {
    let mut first = Vec::new();
    let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    let mut read = || File::open(path)?.take(LONGEST_MAGIC).read_to_end(&mut first);
    is_file && read().is_ok() && !first.is_empty() && matches!(read_header(&first), Err(FormatError::NotAModel))
}
