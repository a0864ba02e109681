//! What can go wrong in a reproduction.

use bayestream::data::DataError;
use bayestream::model::ConfigError;
use bayestream::text::TextError;
use std::fmt;
use std::path::PathBuf;

/// An experiment that could not be run.
#[derive(Debug)]
pub enum ReproduceError {
    /// No experiment or paper has this name.
    UnknownExperiment {
        /// What was asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// The experiment needs data that must be downloaded, and no folder was named.
    NoDataFolder {
        /// The experiment.
        experiment: String,
        /// The file it needs, within the data folder.
        file: String,
    },
    /// A data file is not where it should be.
    MissingData {
        /// The experiment.
        experiment: String,
        /// The folder that was searched.
        folder: PathBuf,
        /// The file, within the folder.
        file: String,
    },
    /// A data file is not what it should be.
    BadData {
        /// The file.
        file: PathBuf,
        /// Where in it and what.
        reason: String,
    },
    /// A file could not be read or written.
    Io {
        /// What was tried, and on what.
        doing: String,
        /// The system's answer.
        source: std::io::Error,
    },
    /// A model refused its settings.
    Config(ConfigError),
    /// A model refused its rows.
    Rows(DataError),
    /// Text or its settings were refused.
    Text(TextError),
}

impl ReproduceError {
    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            ReproduceError::UnknownExperiment { .. } => "unknown-experiment",
            ReproduceError::NoDataFolder { .. } => "no-data-folder",
            ReproduceError::MissingData { .. } => "missing-data",
            ReproduceError::BadData { .. } => "bad-data",
            ReproduceError::Io { .. } => "io",
            ReproduceError::Config(error) => error.code(),
            ReproduceError::Rows(error) => error.code(),
            ReproduceError::Text(error) => error.code(),
        }
    }

    pub(crate) fn io(doing: impl Into<String>) -> impl FnOnce(std::io::Error) -> ReproduceError {
        let doing = doing.into();
        move |source| ReproduceError::Io { doing, source }
    }
}

impl fmt::Display for ReproduceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReproduceError::UnknownExperiment { name, known } => {
                write!(f, "there is no experiment `{name}`; there are: {}", known.join(", "))
            }
            ReproduceError::NoDataFolder { experiment, file } => {
                write!(f, "{experiment} needs {file}; name the folder it is in with --data DIR")
            }
            ReproduceError::MissingData { experiment, folder, file } => {
                write!(
                    f,
                    "{experiment} needs {file}, which is not in {}; put it there or name another folder with --data DIR",
                    folder.display()
                )
            }
            ReproduceError::BadData { file, reason } => write!(f, "{}: {reason}", file.display()),
            ReproduceError::Io { doing, source } => write!(f, "cannot {doing}: {source}"),
            ReproduceError::Config(error) => write!(f, "{error}"),
            ReproduceError::Rows(error) => write!(f, "{error}"),
            ReproduceError::Text(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for ReproduceError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ReproduceError::Io { source, .. } => Some(source),
            ReproduceError::Config(error) => Some(error),
            ReproduceError::Rows(error) => Some(error),
            ReproduceError::Text(error) => Some(error),
            _ => None,
        }
    }
}

impl From<ConfigError> for ReproduceError {
    fn from(error: ConfigError) -> Self {
        ReproduceError::Config(error)
    }
}

impl From<DataError> for ReproduceError {
    fn from(error: DataError) -> Self {
        ReproduceError::Rows(error)
    }
}

impl From<TextError> for ReproduceError {
    fn from(error: TextError) -> Self {
        ReproduceError::Text(error)
    }
}
