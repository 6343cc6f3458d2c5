//! fio job files: `[workload.fio]`.
//!
//! Jobs behave as in fio 3.33: the same requests, times, depths and ends. Keys that only concern
//! how fio itself works are accepted and ignored ([`key_lists::IGNORED`]); those that would change requests in ways that are not simulated
//! are refused by name ([`key_lists::REFUSED`]); every other key is an error. Reference: fio's HOWTO and its source, which the files of this
//! module name; the test against fio itself is `tests/test_fio_oracle.py`.
//!
//! A job is a state machine: it receives the time and the completions, and answers what it does next (`host.rs`). Jobs start and end as in fio; the run loop
//! keeps lists of those that are ready and those that sleep, and workloads of a single stream pay nothing for this. The random streams are fio's, so that fio
//! itself is the oracle (decisions 0022 and 0023). Hot addresses follow from the seed of the run alone, in every pass of preconditioning and in the measurement
//! (decision 0098).

mod data_placement;
mod engines;
mod fixed_latency;
mod flow;
mod idle;
mod job_log;
mod job_options;
mod job_plan;
mod job_space;
mod jobs;
mod key_lists;
mod keys;
mod law;
mod offsets;
mod parse;
mod plan;
mod rand;
mod random_map;
mod running_job;
mod shift_register;
mod spec;
mod values;
mod zbd;

pub use job_log::{JobLog, LoggedJob, LoggedRequest};
pub use jobs::FioJobs;
pub use spec::{FioSpec, job_variables, parse_job};
