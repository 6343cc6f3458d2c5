//! Many drives over years: when they fail, how they are repaired, and when data are lost.
//!
//! A [`FleetSettings`] says where pieces of data are and what happens to drives. A [`FleetMachine`] plays it by events: failures of drives, bursts, repairs.
//! Its cost grows with events, not with drives or time. [`crude`] plays whole fleets and counts. What never happens in such runs is found by
//! [`splitting`] (paths that come nearer to a loss are continued many times) and by [`biasing`] (failures are made frequent, and each path
//! is weighed by how much more frequent they were): two methods that share nothing but the machine.
//!
//! Architecture Invariant: a machine without a clock, file, thread or environment. Times are hours as `f64`; all chance comes from one seed.
//! Drives are not simulated here: their rates come from closed forms, field studies, or results of runs.

pub mod biasing;
mod code;
pub mod crude;
mod event;
mod fleet;
mod hazard;
mod machine;
mod one_group;
mod overlap;
mod placement;
mod plan;
mod segments;
pub mod splitting;
mod statistics;

pub use code::GroupCode;
pub use fleet::Fleet;
pub use hazard::AgeHazard;
pub use machine::{FleetMachine, FleetTally, GroupLoss, LossCause};
pub use placement::{DriveChoice, GroupPlacement};
pub use plan::{
    Elsewhere, FailureBurst, FailureDomain, FleetError, FleetSettings, NeighbourFailure, PieceOrder,
    RebuildOverlap, RepairPolicy, RepairTimes, SharedBandwidth,
};
pub use statistics::{IntervalEstimate, RareLosses};
