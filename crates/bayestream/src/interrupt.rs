//! A wish to stop that long work can ask for.
//!
//! The library listens to no signal and holds no global state: whoever runs it says how to find out whether to stop. Work
//! that takes long asks once in a while, makes haste to its end once the answer was yes, and throws away what it had.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Says whether to stop. Copies share what they know; [`Interrupt::default`] never says yes.
#[derive(Clone, Default)]
pub struct Interrupt(Option<Arc<Asked>>);

struct Asked {
    /// Once yes, always yes: work that was cut short in one place must not go on in another as if nothing had happened.
    raised: AtomicBool,
    ask: Box<dyn Fn() -> bool + Send + Sync>,
}

impl Interrupt {
    /// One that says yes from the first time on that `ask` does. It is asked often, from any thread, and should be quick.
    pub fn when(ask: impl Fn() -> bool + Send + Sync + 'static) -> Interrupt {
        Interrupt(Some(Arc::new(Asked { raised: AtomicBool::new(false), ask: Box::new(ask) })))
    }

    /// True when it can ever say yes.
    pub fn is_armed(&self) -> bool {
        self.0.is_some()
    }

    /// True when to stop.
    pub fn is_raised(&self) -> bool {
        let Some(asked) = &self.0 else { return false };
        if asked.raised.load(Ordering::Relaxed) {
            return true;
        }
        let raised = (asked.ask)();
        if raised {
            asked.raised.store(true, Ordering::Relaxed);
        }
        raised
    }

    /// What was made, unless it was cut short.
    pub(crate) fn unless_raised<T>(&self, made: T) -> Result<T, Interrupted> {
        if self.is_raised() { Err(Interrupted) } else { Ok(made) }
    }
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_raised = self.0.as_ref().map(|asked| asked.raised.load(Ordering::Relaxed));
        f.debug_tuple("Interrupt").field(&is_raised).finish()
    }
}

/// Long work was stopped by an [`Interrupt`]; the model is as it was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

impl Interrupted {
    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        "interrupted"
    }
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted: the model is as it was before")
    }
}

impl std::error::Error for Interrupted {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn once_raised_it_stays_raised_and_asks_no_more() {
        let n_asked = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&n_asked);
        let interrupt = Interrupt::when(move || counted.fetch_add(1, Ordering::Relaxed) == 2);
        let copy = interrupt.clone();
        assert_eq!([interrupt.is_raised(), copy.is_raised()], [false, false]);
        assert_eq!(interrupt.unless_raised(7), Err(Interrupted));
        assert!(copy.is_raised() && interrupt.is_raised());
        assert_eq!(n_asked.load(Ordering::Relaxed), 3);
        assert!(!Interrupt::default().is_raised());
    }
}
