//! A guard around decoders that panic on damaged files.
//!
//! The Arrow and Parquet readers check most of what they read, but some lengths in a damaged file still reach an
//! assertion. Such a file is the user's misfortune and not a mistake of this program, so that it becomes an error like
//! any other, and the panic's own report is kept off the screen.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Whether this thread is inside a guarded decoder, whose panics are reported as errors.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

static QUIET_HOOK: Once = Once::new();

/// The decoder stopped at damage that it does not describe.
pub(crate) struct Damaged;

/// Runs a step of a decoder; what it leaves behind after [`Damaged`] must not be used again.
pub(crate) fn guarded<T>(decode: impl FnOnce() -> T) -> Result<T, Damaged> {
    QUIET_HOOK.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_GUARDED.get() {
                report(info);
            }
        }));
    });
    IS_GUARDED.set(true);
    let decoded = panic::catch_unwind(AssertUnwindSafe(decode));
    IS_GUARDED.set(false);
    decoded.map_err(|_| Damaged)
}
