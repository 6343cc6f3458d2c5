//! The tests of this crate, as one program: it is built and linked in a fraction of the time of one for each file.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod support;

mod acknowledged;
mod ageing;
mod chunk_order;
mod die_repair;
mod doubt;
mod drives;
mod extents;
mod forged;
mod fork;
mod given_up;
mod latency_causes;
mod limited_retry;
mod md;
mod md_pace;
mod member_reads;
mod members;
mod namespaces;
mod normal;
mod policy_failures;
mod policy_order;
mod policy_pace;
mod policy_repair;
mod repair;
mod repair_torture;
mod snapshot;
mod striped;
mod time_left;
mod torture;
mod torture_drives;
