//! The tests of this crate, as one program, with a host written from the specification (`initiator/`) and a device in memory (`memory.rs`).

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod initiator;

mod admin;
mod bounds;
mod differential;
mod edges;
mod hostile;
mod memory;
mod queues;
mod splits;
