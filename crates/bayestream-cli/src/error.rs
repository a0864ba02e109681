//! The one way in which a command ends badly, and its exit code.

use bayestream::model::{ConfigError, MergeError};
use bayestream_io::{InputError, OutputError};
use bayestream_plot::PlotError;
use std::fmt;
use std::process::ExitCode;

/// Why a command stopped before its end.
#[derive(Debug)]
pub enum Failure {
    /// The command line asks for something that does not exist: exit code 2.
    Usage(String),
    /// The work could not be done: exit code 1.
    Failed(String),
    /// Whoever read our output has gone: a quiet end, exit code 0.
    ClosedPipe,
    /// A signal asked us to stop, and the state is saved: exit code 128 + signal.
    Stopped {
        /// The signal's number.
        signal: i32,
        /// What was kept, and how to go on.
        message: String,
    },
}

impl Failure {
    /// The exit code that other programs read.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Usage(_) => ExitCode::from(2),
            Failure::Failed(_) => ExitCode::from(1),
            Failure::ClosedPipe => ExitCode::SUCCESS,
            Failure::Stopped { signal, .. } => ExitCode::from(u8::try_from(128 + signal).unwrap_or(1)),
        }
    }

    /// The same failure with a sentence added to what it says.
    pub fn and(self, sentence: impl fmt::Display) -> Failure {
        match self {
            Failure::Usage(text) => Failure::Usage(format!("{text}\n  {sentence}")),
            Failure::Failed(text) => Failure::Failed(format!("{text}\n  {sentence}")),
            quiet => quiet,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Usage(text) | Failure::Failed(text) => write!(f, "error: {text}"),
            Failure::Stopped { message, .. } => f.write_str(message),
            Failure::ClosedPipe => Ok(()),
        }
    }
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Failure {
        match error {
            InputError::ColumnClaimedTwice { .. } => Failure::Usage(error.to_string()),
            _ => Failure::Failed(error.to_string()),
        }
    }
}

impl From<OutputError> for Failure {
    fn from(error: OutputError) -> Failure {
        match error {
            OutputError::ClosedPipe => Failure::ClosedPipe,
            OutputError::UnknownFormat { .. } => Failure::Usage(error.to_string()),
            _ => Failure::Failed(error.to_string()),
        }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Failure {
        match error {
            ConfigError::BadColumns { .. } | ConfigError::NoMemory { .. } => Failure::Failed(error.to_string()),
            _ => Failure::Usage(error.to_string()),
        }
    }
}

impl From<MergeError> for Failure {
    fn from(error: MergeError) -> Failure {
        Failure::Failed(error.to_string())
    }
}

impl From<PlotError> for Failure {
    fn from(error: PlotError) -> Failure {
        Failure::Failed(error.to_string())
    }
}
