//! Policies of a shared library: functions of the interface `include/outlast_policy.h`, in C or whatever can be called as C is.
//!
//! The library is code of the user's, and is trusted as such: what it does to the process is done. What it returns is checked like any
//! policy's choice.

use libloading::Library;
use outlast_decisions::{
    PolicyFactory, RandomDraws, SuperblockChoice, SuperblockColumns, SuperblockPolicy, SuperblockState,
};
use outlast_units::rng::SplitMix;
use outlast_units::{Stream, SuperblockId};
use std::ffi::c_void;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// The version of the interface that a view has.
const ABI: u32 = 1;

/// `outlast_view` of the header: the columns are the translation layer's own, not copies.
#[repr(C)]
struct CView {
    abi: u32,
    superblocks: u32,
    valid: *const u32,
    sealed_at: *const u64,
    order: *const u64,
    erases: *const u32,
    state: *const SuperblockState,
    stream: *const Stream,
    clock: u64,
    units: u32,
    choices: u32,
    lots: *mut c_void,
    below: extern "C" fn(*mut c_void, u64) -> u64,
}

type Choose = unsafe extern "C" fn(*const CView) -> i64;

/// A function of a loaded library.
#[derive(Clone)]
struct Shared {
    name: String,
    choose: Choose,
    /// Dropped last: the function is in it.
    _library: Arc<Library>,
}

/// Whether `file` is, by its name, a shared library.
pub fn is_library(file: &str) -> bool {
    Path::new(file)
        .extension()
        .is_some_and(|kind| ["so", "dylib", "dll"].iter().any(|known| kind.eq_ignore_ascii_case(known)))
}

/// The function `name` of the shared library `file`.
///
/// # Errors
/// Why it cannot be loaded, in a line.
pub fn load(file: &str, name: &str) -> Result<SuperblockPolicy, String> {
    // A bare name would be looked for where the system keeps its libraries.
    let path = std::path::absolute(file).map_err(|error| error.to_string())?;
    // SAFETY: the initialisers of a library that the user names run as the user's own code; the symbol has the type that the header gives it.
    let (choose, library) = unsafe {
        let library = Library::new(path).map_err(|error| in_a_line(&error))?;
        (*library.get::<Choose>(name).map_err(|error| in_a_line(&error))?, library)
    };
    let shared = Shared { name: format!("{file}:{name}"), choose, _library: Arc::new(library) };
    Ok(SuperblockPolicy::new(shared))
}

fn in_a_line(error: &libloading::Error) -> String {
    use std::error::Error;
    let text = match error.source() {
        Some(source) => source.to_string(),
        None => error.to_string(),
    };
    text.replace('\n', " ")
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Shared").field(&self.name).finish()
    }
}

impl PolicyFactory<dyn SuperblockChoice> for Shared {
    fn name(&self) -> &str {
        &self.name
    }

    fn make(&self) -> Result<Box<dyn SuperblockChoice>, String> {
        Ok(SuperblockChoice::fork(self))
    }
}

/// A number uniform in `0..bound`; 0 of a bound of 0.
extern "C" fn below(lots: *mut c_void, bound: u64) -> u64 {
    // SAFETY: `lots` is the generator that `choose` below borrows for the length of the call, in which the library may call this.
    let rng = unsafe { &mut *lots.cast::<SplitMix>() };
    rng.below(bound)
}

impl SuperblockChoice for Shared {
    fn choose(
        &mut self,
        view: &SuperblockColumns<'_>,
        draws: &mut RandomDraws<'_>,
    ) -> Result<Option<SuperblockId>, String> {
        let columns = [
            view.sealed_at.len(),
            view.sealed_order.len(),
            view.cycles.len(),
            view.states.len(),
            view.streams.len(),
        ];
        assert!(
            columns.iter().all(|&len| len == view.valid.len()),
            "every column has an entry for each superblock"
        );
        let seen = CView {
            abi: ABI,
            superblocks: view.superblocks(),
            valid: view.valid.as_ptr(),
            sealed_at: view.sealed_at.as_ptr(),
            order: view.sealed_order.as_ptr(),
            erases: view.cycles.as_ptr(),
            state: view.states.as_ptr(),
            stream: view.streams.as_ptr(),
            clock: view.clock,
            units: view.units,
            choices: draws.choices,
            lots: std::ptr::from_mut(draws.rng).cast(),
            below,
        };
        // SAFETY: the function has the type of the header, and every pointer is good for the length of the call.
        match unsafe { (self.choose)(&raw const seen) } {
            -1 => Ok(None),
            number => match u32::try_from(number) {
                Ok(number) => Ok(Some(SuperblockId(number))),
                Err(_) => {
                    Err(format!("returned {number}: must be the number of a superblock or OUTLAST_NONE"))
                }
            },
        }
    }

    fn fork(&self) -> Box<dyn SuperblockChoice> {
        Box::new(self.clone())
    }
}
