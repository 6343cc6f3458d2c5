//! The tests of this crate, as one program: it is built and linked in a fraction of the time of one for each file.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

mod support;

mod accounting;
mod array_power;
mod array_risk;
mod arrays;
mod bandwidth;
mod between_steps;
mod both_clocks;
mod complaints;
mod counters;
mod determinism;
mod failed_array;
mod horizon;
mod hot_places;
mod job_ends;
mod latency_causes;
mod namespaces;
mod over_time;
mod pacing;
mod placement;
mod priorities;
mod queueing;
mod queues;
mod random_settings;
mod refusals;
mod repairs;
mod shared_core;
mod snapshots;
mod standstill;
mod starvation;
mod steady;
mod steps;
mod threads;
mod wear;
mod without_building;
mod write_amplification;
mod zones;
