//! Where data is: mapping, streams, superblocks, relocation, wear levelling. Knows no clock.

mod config;

pub use config::{Allocation, AllocationLevel, FtlConfig, GcConfig, VictimPolicy, WearLeveling};
