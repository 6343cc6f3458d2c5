//! The device behind a handle of C, and how each call reaches it: pointers become references here, and panics failures.

use crate::failure::{CallFailure, CallStatus, keep};
use crate::requests::NamedCompletion;
use crate::virtual_host::VirtualHost;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// `outlast_device` of the header.
#[derive(Debug)]
pub struct DeviceHandle {
    pub(crate) host: VirtualHost,
    /// Completions given out last: their contents are good until the next call that gives some out.
    pub(crate) given: Vec<NamedCompletion>,
    /// True after a panic: its state may be half changed.
    pub(crate) is_broken: bool,
}

/// `outlast_completion` of the header.
#[derive(Debug)]
#[repr(C)]
#[allow(missing_docs, reason = "the header says it")]
pub struct CCompletion {
    pub tag: u64,
    pub submitted: u64,
    pub completed: u64,
    pub data: *const c_void,
    pub length: u64,
    pub outcome: u32,
    pub reserved: u32,
}

/// `outlast_statistics_t` of the header.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(missing_docs, reason = "the header says it")]
pub struct CStatistics {
    pub requests: u64,
    pub failed: u64,
    pub read_bytes: u64,
    pub written_bytes: u64,
    pub programmed_bytes: u64,
    pub erased_blocks: u64,
    pub in_flight: u64,
    pub mean_cycles: f64,
}

/// Runs `call`; a panic in it becomes a failure.
pub(crate) fn guarded<T>(call: impl FnOnce() -> Result<T, CallFailure>) -> Result<T, CallFailure> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Err(CallFailure::new(CallStatus::Bug, format!("a defect of Outlast: {text}")))
    })
}

/// The code of an outcome, with its message kept.
pub(crate) fn code(outcome: Result<(), CallFailure>) -> c_int {
    outcome.map_or_else(|failure| keep(&failure), |()| CallStatus::Ok) as c_int
}

/// Runs `call` on the device of `handle`, unless a call before broke it.
///
/// # Safety
/// `handle` is null, or came from `outlast_open_*` and was not freed; no other call uses it at the same time.
pub(crate) unsafe fn on_device<T>(
    handle: *mut DeviceHandle,
    call: impl FnOnce(&mut DeviceHandle) -> Result<T, CallFailure>,
) -> Result<T, CallFailure> {
    // SAFETY: by the contract above it is null or a live box that nobody else refers to during this call.
    let Some(handle) = (unsafe { handle.as_mut() }) else {
        return Err(CallFailure::argument("device: must not be null"));
    };
    if handle.is_broken {
        return Err(CallFailure::new(CallStatus::Bug, "a defect ended this device; free it"));
    }
    let outcome = guarded(|| call(handle));
    handle.is_broken = matches!(&outcome, Err(failure) if failure.status == CallStatus::Bug);
    outcome
}

/// The text at `text`.
///
/// # Safety
/// `text` is null or points to a string with a zero at its end.
pub(crate) unsafe fn text_at(name: &str, text: *const c_char) -> Result<String, CallFailure> {
    if text.is_null() {
        return Err(CallFailure::argument(format!("{name}: must not be null")));
    }
    // SAFETY: not null, and by the contract a string with a zero at its end.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map(str::to_owned).map_err(|_| CallFailure::argument(format!("{name}: not UTF-8")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::{outlast_advance, outlast_capacity};
    use crate::opening::outlast_free;
    use outlast_engine::ScenarioLayer;

    /// A panic stays on this side, and the device takes no further call.
    #[test]
    fn a_panic_is_a_code() {
        let layer = ScenarioLayer::Preset("serve-drive".to_owned());
        let host = VirtualHost::open(layer, &[]).expect("a preset");
        let device = Box::into_raw(Box::new(DeviceHandle { host, given: Vec::new(), is_broken: false }));
        // SAFETY: the handle is live until it is freed at the end.
        unsafe {
            let failed: Result<(), _> = on_device(device, |_| panic!("number {}", 7));
            let failure = failed.expect_err("a panic");
            assert_eq!(
                (failure.status, failure.message.as_str()),
                (CallStatus::Bug, "a defect of Outlast: number 7")
            );
            assert_eq!(outlast_advance(device, 1), CallStatus::Bug as c_int);
            assert_eq!(outlast_capacity(device), 0);
            outlast_free(device);
        }
    }
}
