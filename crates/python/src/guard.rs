//! Panics stay on this side: they become an `InternalError` with the place and the message.

use crate::errors::InternalError;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};

thread_local! {
    /// `Some` while a guarded call runs on this thread; then the last panic's message and place.
    static CAUGHT: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Makes panics of guarded calls silent; others are reported as before.
pub(crate) fn install() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let guarded = CAUGHT.with_borrow_mut(|caught| match caught {
            Some(text) => {
                let place =
                    info.location().map_or_else(String::new, |at| format!(" ({}:{})", at.file(), at.line()));
                let message = info.payload_as_str().unwrap_or("no message").replace('\n', " ");
                *text = format!("{message}{place}");
                true
            }
            None => false,
        });
        if !guarded {
            before(info);
        }
    }));
}

/// Calls `work` without the interpreter lock; a panic in it becomes an `InternalError`.
pub(crate) fn unlocked<T: Send>(py: Python<'_>, work: impl FnOnce() -> PyResult<T> + Send) -> PyResult<T> {
    py.detach(|| guarded(work))
}

/// Calls `work`; a panic in it becomes an `InternalError`.
pub(crate) fn guarded<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    CAUGHT.set(Some(String::new()));
    let outcome = panic::catch_unwind(AssertUnwindSafe(work));
    let caught = CAUGHT.take();
    outcome.unwrap_or_else(|_| Err(InternalError::new_err(caught.unwrap_or_default())))
}
