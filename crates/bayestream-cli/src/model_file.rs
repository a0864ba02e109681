//! Models in files: read, checked, written whole.

use crate::error::Failure;
use crate::terminal::{self, counted};
use bayestream::model::{AnyKind, DocumentModel, FeatureModel, FormatError, LinearModel, Model, read_header};
use bayestream_io::{read_file, write_atomic};
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;
use std::{env, process};

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

/// A model that has learnt enough to be used, or why not.
pub fn learnt(path: &str, model: Model) -> Result<Model, Failure> {
    if model.snapshot().k_realized() > 0 {
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
    let bytes = model.bytes();
    if path == "-" {
        let mut out = io::stdout().lock();
        return out.write_all(&bytes).and_then(|()| out.flush()).map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
            _ => Failure::Failed(format!("standard output: cannot be written: {error}")),
        });
    }
    Ok(write_atomic(path, &bytes)?)
}

/// Saves the result of a long run; when its file cannot be written, what was learnt is kept in a folder that can be.
pub fn save_or_rescue(path: &str, model: &impl Stored) -> Result<(), Failure> {
    save(path, model).map_err(|failure| {
        let rescue = env::temp_dir().join(format!("bayestream-rescued-{}.bay", process::id()));
        match write_atomic(&rescue, &model.bytes()) {
            Ok(()) => failure.and(format!("the model was saved as {} instead", rescue.display())),
            Err(_) => failure,
        }
    })
}

/// Finds out before the work, not after it, that a file cannot be written.
pub fn check_writable(path: &str) -> Result<(), Failure> {
    if path == "-" {
        return Ok(());
    }
    let path = Path::new(path);
    let probe = match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        // A device or a pipe is not touched before there is something to write.
        Ok(metadata) if !metadata.is_file() => Ok(()),
        Ok(_) => OpenOptions::new().append(true).open(path).map(drop),
        Err(_) => {
            let name = format!(".bayestream-{}-probe.tmp", process::id());
            let probe = path.with_file_name(name);
            OpenOptions::new().write(true).create_new(true).open(&probe).and_then(|_| fs::remove_file(&probe))
        }
    };
    probe.map_err(|error| {
        let why = match error.kind() {
            io::ErrorKind::NotFound => "the folder does not exist; create it first".to_string(),
            io::ErrorKind::IsADirectory => "it is a folder; name a file in it".to_string(),
            io::ErrorKind::PermissionDenied => "no permission; choose another folder".to_string(),
            _ => format!("{error}; check the path and the disk"),
        };
        Failure::Failed(format!("{}: cannot be written: {why}", path.display()))
    })
}

/// A file that keeps the state along the way.
pub struct Checkpoint {
    path: String,
    every: u64,
    rows_since: u64,
    was_saved: bool,
}

impl Checkpoint {
    /// A checkpoint that has not been written yet.
    pub fn new(path: &str, every: u64) -> Result<Checkpoint, Failure> {
        check_writable(path)?;
        Ok(Checkpoint { path: path.to_string(), every, rows_since: 0, was_saved: false })
    }

    /// What is left of a run that failed: where the last checkpoint is, after what was learnt.
    pub fn left_after(checkpoint: Option<&Checkpoint>, learnt: String) -> String {
        match checkpoint.filter(|checkpoint| checkpoint.was_saved) {
            Some(Checkpoint { path, .. }) => {
                format!("{learnt}; the last checkpoint is in {path} (continue with --resume --skip-seen)")
            }
            None => learnt,
        }
    }

    /// The file's path.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Counts rows learnt and saves when it is time. A full disk must not end a live stream: the old checkpoint stays,
    /// and the next attempt comes after as many rows again.
    pub fn advance(&mut self, n_rows: usize, model: &impl Stored) {
        self.rows_since += n_rows as u64;
        if self.rows_since < self.every {
            return;
        }
        if let Err(failure) = self.save(model) {
            terminal::complain(format!("warning: the checkpoint was not saved, learning goes on: {failure}"));
        }
    }

    /// Saves now.
    pub fn save(&mut self, model: &impl Stored) -> Result<(), Failure> {
        self.rows_since = 0;
        save(&self.path, model)?;
        self.was_saved = true;
        Ok(())
    }
}
