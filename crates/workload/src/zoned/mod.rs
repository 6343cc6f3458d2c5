//! Zoned workloads: `[workload.zoned]`.

mod generator;
mod spec;

pub use spec::{ZoneCommand, ZoneResetPolicy, ZonedSpec};
