//! Opening and freeing.

use crate::failure::CallFailure;
use crate::handle::{DeviceHandle, code, guarded, text_at};
use crate::virtual_host::VirtualHost;
use outlast_engine::{ScenarioLayer, split_override};
use std::ffi::{c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::ptr;

/// Opens a layer with `count` settings at `settings` and writes the handle to `device`.
///
/// # Safety
/// `settings` points to `count` strings, or `count` is 0; `device` is null or can be written.
unsafe fn open(
    layer: impl FnOnce() -> Result<ScenarioLayer, CallFailure>,
    settings: *const *const c_char,
    count: usize,
    device: *mut *mut DeviceHandle,
) -> c_int {
    if device.is_null() {
        return code(Err(CallFailure::argument("device: must not be null")));
    }
    // SAFETY: not null, and by the contract it can be written.
    unsafe { device.write(ptr::null_mut()) };
    let opened = guarded(|| {
        if settings.is_null() && count != 0 {
            return Err(CallFailure::argument("settings: must not be null"));
        }
        let mut overrides = Vec::with_capacity(count.min(1024));
        for index in 0..count {
            // SAFETY: by the contract there are `count` pointers, and `index` is below; each is null or a string.
            let text = unsafe { text_at("settings", *settings.add(index)) }?;
            let split = split_override(&text);
            overrides.push(split.map_err(|error| CallFailure::argument(error.to_string()))?);
        }
        VirtualHost::open(layer()?, &overrides)
    });
    let outcome = opened.map(|host| {
        let handle = Box::new(DeviceHandle { host, given: Vec::new(), is_broken: false });
        // SAFETY: as above.
        unsafe { device.write(Box::into_raw(handle)) };
    });
    code(outcome)
}

/// Opens the drive or array of a scenario file, or of a preset's name, and prepares it.
///
/// # Safety
/// `path` is a string; `settings` points to `count` strings, or `count` is 0; `device` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outlast_open_file(
    path: *const c_char,
    settings: *const *const c_char,
    count: usize,
    device: *mut *mut DeviceHandle,
) -> c_int {
    let layer = || {
        // SAFETY: `path` is a string by this function's own contract.
        let path = unsafe { text_at("path", path) }?;
        let is_preset = outlast_engine::presets().iter().any(|preset| preset.name == path);
        let of_file = !is_preset || PathBuf::from(&path).is_file();
        Ok(if of_file { ScenarioLayer::File(path.into()) } else { ScenarioLayer::Preset(path) })
    };
    // SAFETY: this function's own contract.
    unsafe { open(layer, settings, count, device) }
}

/// Opens the drive or array of a scenario in TOML, and prepares it.
///
/// # Safety
/// `toml` is a string; `settings` points to `count` strings, or `count` is 0; `device` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outlast_open_text(
    toml: *const c_char,
    settings: *const *const c_char,
    count: usize,
    device: *mut *mut DeviceHandle,
) -> c_int {
    let layer = || {
        // SAFETY: `toml` is a string by this function's own contract.
        let text = unsafe { text_at("toml", toml) }?;
        Ok(ScenarioLayer::Toml { name: "scenario".to_owned(), text, folder: PathBuf::new() })
    };
    // SAFETY: this function's own contract.
    unsafe { open(layer, settings, count, device) }
}

/// Frees a device; null is nothing.
///
/// # Safety
/// `device` is null, or came from `outlast_open_*` and was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn outlast_free(device: *mut DeviceHandle) {
    if !device.is_null() {
        // SAFETY: by the contract it is a box that `open` made into a pointer, and this is the only time that it becomes one again.
        let handle = unsafe { Box::from_raw(device) };
        // A half-changed device may panic while it is taken apart.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(handle)));
    }
}
