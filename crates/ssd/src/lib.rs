//! Firmware: flash cores, write buffer, host commands, reading and its ladder, health, repair, SMART.

mod apart;
mod assemble;
mod core;
mod counters;
mod drive;
mod events;
mod health;
mod host;
mod inspect;
mod ledger;
mod livelock;
mod op;
mod placement;
mod places;
mod read;
mod repair;
mod settle;
mod shutdowns;
mod size;
mod ssd;
mod untimed;

pub use crate::core::Victim;
pub use apart::CoreShare;
pub use counters::{Counters, PowerCuts};
pub use drive::{Mounts, RedundancyView};
pub use health::{Change, Decision, Reason, RedundancyLoss};
pub use inspect::{BufferView, Busy, DieState, DieView, RberLevels, SuperblockCounts};
pub use outlast_flash::PerArrayWork;
pub use read::{Corrections, ExactTails};
pub use repair::{RepairRecord, adjustment, fair_shares};
pub use ssd::Ssd;
