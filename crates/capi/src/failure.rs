//! Failures of calls: a code, and a message kept for the thread that called.

use std::cell::RefCell;
use std::ffi::{CStr, CString};

/// Code of a call, `OUTLAST_OK` to `OUTLAST_BUG` of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum CallStatus {
    /// Done.
    Ok = 0,
    /// An argument is outside its range; nothing was done.
    BadArgument = 1,
    /// The scenario cannot be read, is wrong, or makes no device.
    BadScenario = 2,
    /// As many requests are in flight as there can be.
    Full = 3,
    /// A defect of this library. The device takes no more calls but `outlast_free`.
    Bug = 4,
}

/// A failed call: its code and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFailure {
    /// Code, never [`CallStatus::Ok`].
    pub status: CallStatus,
    /// Reason in a line.
    pub message: String,
}

impl CallFailure {
    pub(crate) fn new(status: CallStatus, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    pub(crate) fn argument(message: impl Into<String>) -> Self {
        Self::new(CallStatus::BadArgument, message)
    }
}

thread_local! {
    /// Message of the last failure on this thread.
    static LAST: RefCell<CString> = RefCell::new(CString::default());
}

/// Keeps the message of `failure` for [`last_message`], and gives its code. A thread that ends has no message any more when destructors of its
/// own are called.
pub(crate) fn keep(failure: &CallFailure) -> CallStatus {
    let message = failure.message.replace(['\n', '\0'], " ");
    let _ = LAST.try_with(|last| last.replace(CString::new(message).unwrap_or_default()));
    failure.status
}

/// Calls `read` with the message of the last failure on this thread; empty before the first, and while the thread ends.
pub(crate) fn last_message<T>(read: impl Fn(&CStr) -> T) -> T {
    LAST.try_with(|message| read(&message.borrow())).unwrap_or_else(|_| read(c""))
}
