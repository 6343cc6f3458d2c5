//! What one thread at a time uses.

use crate::errors::DeviceError;
use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

/// A value that one thread at a time uses; others wait. A call on it may call the user's functions, and these may call it again: that is
/// refused, since it would wait for itself.
pub(crate) struct ThreadLock<T> {
    user: Mutex<Option<ThreadId>>,
    own: Mutex<T>,
}

/// Says at its end that no thread uses the value.
struct Leave<'a>(&'a Mutex<Option<ThreadId>>);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        *locked(self.0) = None;
    }
}

impl<T> ThreadLock<T> {
    pub(crate) fn new(own: T) -> Self {
        Self { user: Mutex::new(None), own: Mutex::new(own) }
    }

    /// Calls `work` with the value, when no other thread uses it.
    ///
    /// # Errors
    /// Those of `work`; a call in the middle of another of this thread.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut T) -> PyResult<R>) -> PyResult<R> {
        let this = thread::current().id();
        if *locked(&self.user) == Some(this) {
            return Err(DeviceError::new_err(
                "a call is under way, and the function that it called cannot use the same simulation or drive",
            ));
        }
        let mut own = locked(&self.own);
        *locked(&self.user) = Some(this);
        let _leave = Leave(&self.user);
        work(&mut own)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
