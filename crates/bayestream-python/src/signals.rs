//! Ctrl-C while the library works: Python only notes a signal, and its handler runs when it is asked to.

use crate::errors::Outcome;
use bayestream::interrupt::Interrupt;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Milliseconds between two looks: taking hold of Python may mean to wait for another of its threads.
const PAUSE: u64 = 50;

/// Python's signals while it is let go.
pub struct Signals {
    interrupt: Interrupt,
    raised: Arc<Mutex<Option<PyErr>>>,
}

impl Signals {
    /// Listens from now on.
    pub fn listen() -> Signals {
        let raised = Arc::new(Mutex::new(None));
        let (begun, last, exception) = (Instant::now(), AtomicU64::new(0), Arc::clone(&raised));
        let interrupt = Interrupt::when(move || {
            let now = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
            if now < last.load(Ordering::Relaxed) + PAUSE {
                return false;
            }
            last.store(now, Ordering::Relaxed);
            let Err(error) = Python::attach(|py| py.check_signals()) else { return false };
            *exception.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            true
        });
        Signals { interrupt, raised }
    }

    /// For the library.
    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// What a handler raised, if one did: `KeyboardInterrupt`, as a rule.
    pub fn raise(self) -> Outcome<()> {
        match self.raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }
}
