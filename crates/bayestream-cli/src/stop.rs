//! SIGINT, SIGTERM and SIGHUP as a wish to stop, so that the state can be saved first.

use crate::error::Failure;
use bayestream::interrupt::Interrupt;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
#[cfg(unix)]
use {signal_hook::consts::SIGHUP, std::fs};

/// Remembers the signal that asked the process to stop.
#[derive(Clone, Debug)]
pub struct StopSignal(Arc<AtomicUsize>);

impl StopSignal {
    /// Listens from now on. A second signal ends the process at once, for a person who cannot wait.
    pub fn listen() -> Result<StopSignal, Failure> {
        let seen = Arc::new(AtomicUsize::new(0));
        let asked = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM].into_iter().chain(hang_up()) {
            // The order matters: the shutdown must be armed only by the first signal.
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&asked))
                .and_then(|_| flag::register(signal, Arc::clone(&asked)))
                .and_then(|_| flag::register_usize(signal, Arc::clone(&seen), signal as usize))
                .map_err(|error| Failure::Failed(format!("cannot listen for signals: {error}")))?;
        }
        Ok(StopSignal(seen))
    }

    /// For long work of the library, which listens to no signal itself.
    pub fn interrupt(&self) -> Interrupt {
        let signal = self.clone();
        Interrupt::when(move || signal.received().is_some())
    }

    /// The signal, once there was one.
    pub fn received(&self) -> Option<i32> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            signal => i32::try_from(signal).ok(),
        }
    }
}

/// SIGHUP, unless whoever started the process wants it to outlive the terminal (`nohup`). Linux says so; elsewhere it is
/// not known, and a process that was told to live on must not stop: there the signal is left alone.
#[cfg(unix)]
fn hang_up() -> Option<i32> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    let ignored = u64::from_str_radix(ignored.trim(), 16).ok()?;
    (ignored & 1 << (SIGHUP - 1) == 0).then_some(SIGHUP)
}

#[cfg(not(unix))]
fn hang_up() -> Option<i32> {
    None
}

/// The signal's name, for messages.
pub fn name(signal: i32) -> &'static str {
    match signal {
        #[cfg(unix)]
        SIGHUP => "hung up",
        SIGTERM => "terminated",
        _ => "interrupted",
    }
}

/// The options that make a repeated command go on where it was stopped.
pub fn how_to_go_on(option: &str, model: &str, inputs: &[String]) -> String {
    match inputs.iter().any(|input| input == "-") {
        true => format!("{option} {model} and an input that begins with the next row (or --skip-seen)"),
        false => format!("{option} {model} --skip-seen"),
    }
}
