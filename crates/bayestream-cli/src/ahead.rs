//! Things read on a thread of their own, so that reading and learning overlap and a wish to stop is heard while a pipe
//! is silent.

use crate::error::Failure;
use crate::stop::StopSignal;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

/// Batches read ahead of the learner.
const READ_AHEAD: usize = 4;
/// How long a wish to stop may wait while nothing arrives.
const PATIENCE: Duration = Duration::from_millis(50);

/// What comes next.
pub enum Next<T, E> {
    /// One more.
    One(T),
    /// All is read, and what there is to say of the whole.
    End(E),
    /// A signal asks to stop.
    Stop(i32),
}

/// The receiving end.
pub struct Ahead<T, E> {
    items: Receiver<Result<ControlFlow<E, T>, Failure>>,
    stop: Option<StopSignal>,
}

impl<T: Send + 'static, E: Send + 'static> Ahead<T, E> {
    /// Reads on until `read` breaks off at the end, or fails.
    pub fn start(
        stop: Option<StopSignal>,
        mut read: impl FnMut() -> Result<ControlFlow<E, T>, Failure> + Send + 'static,
    ) -> Ahead<T, E> {
        let (send, items) = sync_channel(READ_AHEAD);
        thread::spawn(move || {
            loop {
                let item = read();
                let goes_on = matches!(item, Ok(ControlFlow::Continue(_)));
                // Nobody listens any more when the command has ended early.
                if send.send(item).is_err() || !goes_on {
                    return;
                }
            }
        });
        Ahead { items, stop }
    }

    /// Waits for what comes next.
    pub fn next(&mut self) -> Result<Next<T, E>, Failure> {
        loop {
            if let Some(signal) = self.stop.as_ref().and_then(StopSignal::received) {
                return Ok(Next::Stop(signal));
            }
            match self.items.recv_timeout(PATIENCE) {
                Ok(Ok(ControlFlow::Continue(item))) => return Ok(Next::One(item)),
                Ok(Ok(ControlFlow::Break(end))) => return Ok(Next::End(end)),
                Ok(Err(failure)) => return Err(failure),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::Failed("the reader ended without a word: please report this input".into()));
                }
            }
        }
    }
}
