//! Firmware: flash cores, write buffer, host commands, reading and its ladder, health, repair, SMART.

mod config;
mod core;
mod counters;
mod failed_programs;
mod figures;
mod health;
mod host;
mod op;
mod placement;
mod power;
mod read;
mod repair;
mod settle;
mod ssd;
mod untimed;
mod whole;
mod wiring;

pub use config::{
    ChangeConfig, ControllerConfig, Identifier, Migration, PredictConfig, Rebuild, ReliabilityConfig,
    RepairConfig, RepairScheme, ScrubConfig, SsdConfig, WriteCache,
};
pub use counters::Counters;
pub use figures::RberLevels;
pub use health::{Change, Decision, Reason};
pub use power::PowerCuts;
pub use read::{Corrections, ExactTails};
pub use repair::{RepairRecord, adjustment, fair_shares};
pub use ssd::Ssd;
