//! Firmware: flash cores, write buffer, host commands, reading and its ladder, health, repair, SMART.

mod apart;
mod assemble;
mod config;
mod core;
mod counters;
mod failed_programs;
mod figures;
mod health;
mod health_log;
mod host;
mod ledger;
mod livelock;
mod measures;
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
mod utilisation;
mod views;
mod whole;
mod wiring;

pub use apart::CoreShare;
pub use config::{
    Arbitration, ChangeConfig, Class, CodewordsChecked, CommandCosts, ControllerConfig, DataSheet,
    DecodeTimes, FlushPolicy, HostLatency, Identifier, Migration, MountConfig, PredictConfig, QueuesConfig,
    Rebuild, ReliabilityConfig, RepairConfig, RepairScheme, ScrubConfig, ScrubUnit, SsdConfig, Trims,
    Weights, WriteCache, is_chip_file,
};
pub use counters::{Counters, PowerCuts};
pub use figures::RberLevels;
pub use health::{Change, Decision, Reason, RedundancyLoss};
pub use outlast_flash::Worked;
pub use read::{Corrections, ExactTails};
pub use repair::{RepairRecord, adjustment, fair_shares};
pub use ssd::Ssd;
pub use utilisation::{Busy, Victim};
pub use views::{BufferView, DieState, DieView, SuperblockCounts};
pub use whole::{Mounts, RedundancyView};
