//! Firmware: cores, channel and die scheduling, write buffer, host commands, SMART.

mod changes;
mod classes;
mod config;
mod core;
mod counters;
mod cover;
mod die;
mod encoding;
mod events;
mod faulting;
mod figures;
mod flash;
mod host;
mod housekeeping;
mod ladder;
mod op;
mod power;
mod read;
mod relocation;
mod repair;
mod scrub;
mod sensing;
mod ssd;
mod untimed;

pub use changes::Change;
pub use config::{
    ChangeConfig, ControllerConfig, Identifier, Migration, PredictConfig, Rebuild, ReliabilityConfig,
    RepairConfig, RepairScheme, ScrubConfig, SsdConfig, WriteCache,
};
pub use counters::Counters;
pub use figures::RberLevels;
pub use power::PowerCuts;
pub use read::{Corrections, ExactTails};
pub use repair::{RepairRecord, adjustment, fair_shares};
pub use scrub::{Decision, Reason};
pub use ssd::Ssd;
