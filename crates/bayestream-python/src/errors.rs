//! The library's errors as the exceptions that Python users expect: what is wrong with data, settings or files is a
//! `ValueError`, with the library's own message.

use bayestream::data::DataError;
use bayestream::interrupt::Interrupted;
use bayestream::model::{ConfigError, FormatError, LinearError, MergeError};
use bayestream::text::TextError;
use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};

/// An error of the library that has become an exception.
pub struct Raised(pub PyErr);

macro_rules! raised {
    ($($error:ident),+) => {
        $(impl From<$error> for Raised {
            fn from(error: $error) -> Raised {
                Raised(PyValueError::new_err(error.to_string()))
            }
        })+
    };
}

raised!(DataError, ConfigError, FormatError, LinearError, MergeError, TextError);

impl From<Interrupted> for Raised {
    fn from(_: Interrupted) -> Raised {
        Raised(PyKeyboardInterrupt::new_err(()))
    }
}

impl From<PyErr> for Raised {
    fn from(error: PyErr) -> Raised {
        Raised(error)
    }
}

impl From<Raised> for PyErr {
    fn from(raised: Raised) -> PyErr {
        raised.0
    }
}

/// What a method returns.
pub type Outcome<T> = Result<T, Raised>;
