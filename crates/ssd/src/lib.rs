//! Firmware: flash cores, write buffer, host commands, reading and its ladder, health, repair, SMART.

mod apart;
mod assemble;
mod device;
mod drive;
mod health;
mod heat;
mod host;
mod inspect;
mod livelock;
mod placement;
mod settle;
mod shutdowns;
mod slc_cache;
mod space;
mod ssd;
mod totals;
mod untimed;

pub use apart::CoreShare;
pub use drive::{DriveRedundancy, Mounts};
pub use health::{Change, Scheduled};
pub use heat::{EnergyByPart, HeatFigures, PowerFigures, Temperatures};
pub use inspect::{
    BufferView, Busy, DieState, DieView, GroupFigures, HandleFigures, MapState, PlacementEvents,
    PlacementStatistics, PlacementView, RberLevels, SuperblockCounts, SuperblockMap, sum_by_handle,
};
pub use outlast_controller::{
    Corrections, Counters, Decision, ExactTails, PredictionCounts, Reason, RedundancyLoss, RepairRecord,
    Victim,
};
pub use outlast_flash::PerArrayWork;
pub use space::{adjustment, fair_shares};
pub use ssd::Ssd;
pub use totals::PowerCuts;
