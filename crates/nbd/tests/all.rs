//! The tests of this crate, as one program: it is built and linked in a fraction of the time of one for each file.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod support;

mod bounds;
mod flow;
mod interop;
mod negotiate;
mod replies;
mod sessions;
mod splits;
mod transmit;
