//! The C interface: a drive or an array in virtual time, by the interface of `python/outlast/include/outlast.h`.
//!
//! `virtual_host.rs` is the caller's side in Rust: requests with names of the caller's (`requests.rs`), the time, what has completed.
//! `handle.rs`, `opening.rs` and `calls.rs` are its translation to C, and have all `unsafe`. No panic leaves them: it becomes the code
//! `OUTLAST_BUG`, and the device takes no more calls. A message for each failure is kept by thread (`failure.rs`).

mod calls;
mod failure;
mod handle;
mod opening;
mod requests;
mod virtual_host;

pub use calls::{
    outlast_abi, outlast_advance, outlast_advance_to_completion, outlast_capacity, outlast_completions,
    outlast_message, outlast_next_event, outlast_now, outlast_statistics, outlast_submit,
};
pub use failure::{CallFailure, CallStatus};
pub use handle::{CCompletion, CStatistics, DeviceHandle};
pub use opening::{outlast_free, outlast_open_file, outlast_open_text};
pub use requests::{HostRequest, HostTotals, NamedCompletion};
pub use virtual_host::VirtualHost;
