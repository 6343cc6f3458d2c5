//! Greedy, as a shared library in Rust: `rustc -O --crate-type cdylib greedy.rs -o greedy.so`.

use std::ffi::c_void;

/// `outlast_view` of `outlast_policy.h`.
#[repr(C)]
pub struct View {
    abi: u32,
    superblocks: u32,
    valid: *const u32,
    sealed_at: *const u64,
    order: *const u64,
    erases: *const u32,
    state: *const u8,
    stream: *const u8,
    clock: u64,
    units: u32,
    choices: u32,
    lots: *mut c_void,
    below: extern "C" fn(*mut c_void, u64) -> u64,
}

/// The superblock with the fewest valid units, the first of equals.
///
/// # Safety
/// `view` is one that Outlast gives.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn choose(view: *const View) -> i64 {
    // SAFETY: the view and its columns are good for the length of the call.
    let (view, valid) =
        unsafe { (&*view, std::slice::from_raw_parts((*view).valid, (*view).superblocks as usize)) };
    // Those that are no candidates have more than a superblock has units.
    let least = valid.iter().zip(0i64..).filter(|&(&valid, _)| valid < view.units).min();
    least.map_or(-1, |(_, superblock)| superblock)
}
