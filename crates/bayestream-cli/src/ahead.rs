//! Things read on a thread of their own, so that reading and learning overlap and a wish to stop is heard while a pipe
//! is silent.

use crate::error::Failure;
use crate::stop::StopSignal;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

/// Batches read ahead of the learner.
const READ_AHEAD: usize = 4;
/// How long a wish to stop may wait while nothing arrives.
const PATIENCE: Duration = Duration::from_millis(50);

/// What comes next.
pub enum Next<T> {
    /// One more.
    One(T),
    /// All is read.
    End,
    /// A signal asks to stop.
    Stop(i32),
}

/// The receiving end.
pub struct Ahead<T> {
    items: Receiver<Result<Option<T>, Failure>>,
    stop: Option<StopSignal>,
}

impl<T: Send + 'static> Ahead<T> {
    /// Reads on until `read` says that there is nothing more, or fails.
    pub fn start(
        stop: Option<StopSignal>,
        mut read: impl FnMut() -> Result<Option<T>, Failure> + Send + 'static,
    ) -> Ahead<T> {
        let (send, items) = sync_channel(READ_AHEAD);
        thread::spawn(move || {
            loop {
                let item = read();
                let goes_on = matches!(item, Ok(Some(_)));
                // Nobody listens any more when the command has ended early.
                if send.send(item).is_err() || !goes_on {
                    return;
                }
            }
        });
        Ahead { items, stop }
    }

    /// Waits for what comes next.
    pub fn next(&mut self) -> Result<Next<T>, Failure> {
        loop {
            if let Some(signal) = self.stop.as_ref().and_then(StopSignal::received) {
                return Ok(Next::Stop(signal));
            }
            match self.items.recv_timeout(PATIENCE) {
                Ok(Ok(Some(item))) => return Ok(Next::One(item)),
                Ok(Ok(None)) => return Ok(Next::End),
                Ok(Err(failure)) => return Err(failure),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::Failed("the reader ended without a word: please report this input".into()));
                }
            }
        }
    }
}
