//! Firmware: cores, channel and die scheduling, write buffer, host commands, SMART.

mod chances;
mod changes;
mod classes;
mod config;
mod core;
mod counters;
mod cover;
mod encoding;
mod faulting;
mod figures;
mod flash;
mod host;
mod housekeeping;
mod ladder;
mod op;
mod power;
mod reliability;
mod repair;
mod scrub;
mod sensing;
mod ssd;
mod untimed;
mod whole;

pub use changes::Change;
pub use config::{
    ChangeConfig, ControllerConfig, Identifier, Migration, PredictConfig, Rebuild, ReliabilityConfig,
    RepairConfig, RepairScheme, ScrubConfig, SsdConfig, WriteCache,
};
pub use counters::Counters;
pub use figures::RberLevels;
pub use power::PowerCuts;
pub use reliability::{Corrections, ExactTails};
pub use repair::{RepairRecord, adjustment, fair_shares};
pub use scrub::{Decision, Reason};
pub use ssd::Ssd;
