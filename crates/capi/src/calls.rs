//! The functions of `outlast.h` on an open device.

use crate::failure::{CallFailure, last_message};
use crate::handle::{CCompletion, CStatistics, DeviceHandle, code, on_device};
use crate::requests::HostRequest;
use outlast_device::Op;
use outlast_units::Nanos;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

/// Version of the interface, `OUTLAST_ABI` of the header.
const ABI: u32 = 1;
/// Set in the flags of a request: forced unit access, `OUTLAST_FUA`.
const FUA: u32 = 1;
/// No event: `OUTLAST_NEVER`.
const NEVER: u64 = u64::MAX;

/// The version of the interface that this library has.
#[unsafe(no_mangle)]
pub extern "C" fn outlast_abi() -> u32 {
    ABI
}

/// The message of the last failed call on this thread, good until its next call; empty before the first.
#[unsafe(no_mangle)]
pub extern "C" fn outlast_message() -> *const c_char {
    last_message(CStr::as_ptr)
}

/// Bytes that requests may address; 0 of no device.
///
/// # Safety
/// As for [`on_device`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outlast_capacity(device: *mut DeviceHandle) -> u64 {
    // SAFETY: this function's own contract.
    unsafe { on_device(device, |handle| Ok(handle.host.capacity())) }.unwrap_or(0)
}

/// The time reached, in nanoseconds; 0 of no device.
///
/// # Safety
/// As for [`on_device`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outlast_now(device: *mut DeviceHandle) -> u64 {
    // SAFETY: this function's own contract.
    unsafe { on_device(device, |handle| Ok(handle.host.now().0)) }.unwrap_or(0)
}

/// The next time at which something happens in the device, in nanoseconds; `OUTLAST_NEVER` while it is idle.
///
/// # Safety
/// As for [`on_device`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outlast_next_event(device: *mut DeviceHandle) -> u64 {
    let next = |handle: &mut DeviceHandle| Ok(handle.host.next_event().map_or(NEVER, |at| at.0));
    // SAFETY: this function's own contract.
    unsafe { on_device(device, next) }.unwrap_or(NEVER)
}

/// Submits a request now; `data` are the contents of a write, or null.
///
/// # Safety
/// As for [`on_device`]; `data` is null or points to `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outlast_submit(
    device: *mut DeviceHandle,
    op: u32,
    flags: u32,
    offset: u64,
    length: u64,
    tag: u64,
    data: *const c_void,
) -> c_int {
    let submit = |handle: &mut DeviceHandle| {
        let known = [Op::Read, Op::Write, Op::Trim, Op::Flush];
        let Some(&op) = known.get(op as usize) else {
            return Err(CallFailure::argument(format!("op = {op}: must be OUTLAST_READ to OUTLAST_FLUSH")));
        };
        if flags & !FUA != 0 {
            return Err(CallFailure::argument(format!("flags = {flags:#x}: only OUTLAST_FUA is known")));
        }
        let data = (!data.is_null() && isize::try_from(length).is_ok()).then(|| {
            // SAFETY: not null, and by this function's contract `length` bytes, which are no more than a slice may have.
            unsafe { std::slice::from_raw_parts(data.cast::<u8>(), length as usize) }
        });
        handle.host.submit(&HostRequest { op, offset, length, name: tag, fua: flags & FUA != 0, data })
    };
    // SAFETY: this function's own contract.
    code(unsafe { on_device(device, submit) })
}

/// Lets everything happen until `until`, in nanoseconds, which is the time then.
///
/// # Safety
/// As for [`on_device`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outlast_advance(device: *mut DeviceHandle, until: u64) -> c_int {
    // SAFETY: this function's own contract.
    code(unsafe { on_device(device, |handle| handle.host.advance(Nanos(until))) })
}

/// As [`outlast_advance`], but stops at the first completion.
///
/// # Safety
/// As for [`on_device`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outlast_advance_to_completion(device: *mut DeviceHandle, limit: u64) -> c_int {
    // SAFETY: this function's own contract.
    code(unsafe { on_device(device, |handle| handle.host.advance_to_completion(Nanos(limit))) })
}

/// Takes up to `room` completions, the oldest first, and returns how many; their contents are good until the next such call.
///
/// # Safety
/// As for [`on_device`]; `to` points to room for as many, or `room` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outlast_completions(
    device: *mut DeviceHandle,
    to: *mut CCompletion,
    room: usize,
) -> usize {
    let take = |handle: &mut DeviceHandle| {
        handle.given.clear();
        while !to.is_null() && handle.given.len() < room {
            let Some(ended) = handle.host.take() else { break };
            let seen = CCompletion {
                tag: ended.name,
                submitted: ended.submitted.0,
                completed: ended.at.0,
                // The bytes of a vector stay where they are when it moves.
                data: if ended.data.is_empty() { ptr::null() } else { ended.data.as_ptr().cast() },
                length: ended.data.len() as u64,
                outcome: ended.outcome.kind().into(),
                reserved: 0,
            };
            // SAFETY: by this function's contract there is room for `room` of them, and fewer have been written.
            unsafe { to.add(handle.given.len()).write(seen) };
            handle.given.push(ended);
        }
        Ok(handle.given.len())
    };
    // SAFETY: this function's own contract.
    unsafe { on_device(device, take) }.unwrap_or(0)
}

/// Writes the first `size` bytes of the statistics to `to`: a caller with an older header gets the fields that it knows.
///
/// # Safety
/// As for [`on_device`]; `to` points to `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outlast_statistics(
    device: *mut DeviceHandle,
    to: *mut CStatistics,
    size: usize,
) -> c_int {
    let write = |handle: &mut DeviceHandle| {
        if to.is_null() {
            return Err(CallFailure::argument("statistics: must not be null"));
        }
        let totals = handle.host.totals();
        let all = CStatistics {
            requests: totals.requests,
            failed: totals.failed,
            read_bytes: totals.read_bytes,
            written_bytes: totals.written_bytes,
            programmed_bytes: totals.programmed_bytes,
            erased_blocks: totals.erased_blocks,
            in_flight: handle.host.in_flight() as u64,
            mean_cycles: totals.mean_cycles,
        };
        let known = size.min(size_of::<CStatistics>());
        // SAFETY: `to` has `size` bytes by this function's contract, `all` has at least `known`; the two do not overlap.
        unsafe { ptr::copy_nonoverlapping((&raw const all).cast::<u8>(), to.cast::<u8>(), known) };
        Ok(())
    };
    // SAFETY: this function's own contract.
    code(unsafe { on_device(device, write) })
}
