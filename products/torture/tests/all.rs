//! The tests of this crate, as one program: it is built and linked in a fraction of the time of one for each file.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

#[path = "support/classes.rs"]
mod classes;
#[path = "support/recorded.rs"]
mod recorded;
#[path = "../../../crates/ssd/tests/support/mod.rs"]
mod ssd_support;
mod support;

mod contract;
mod drive;
mod drive_arrays;
mod drive_worse;
mod export;
mod log_writes;
mod promise;
mod qemu;
