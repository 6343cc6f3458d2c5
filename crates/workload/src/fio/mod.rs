//! fio job files: `[workload.fio]`.
//!
//! The subset that says which requests come and when. Keys that only concern how fio itself works are accepted and ignored
//! ([`values::IGNORED`]); every other key is an error. Reference: fio's HOWTO.

mod job;
mod keys;
mod parse;
mod plan;
mod run;
mod spec;
mod values;

pub use spec::{FioSpec, parse_job};
