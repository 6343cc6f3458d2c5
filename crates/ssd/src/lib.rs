//! Firmware: cores, channel and die scheduling, write buffer, host commands, SMART.

mod config;
mod core;
mod counters;
mod die;
mod events;
mod flash;
mod host;
mod op;
mod relocation;
mod slab;
mod ssd;
mod untimed;

pub use config::{ControllerConfig, SsdConfig, WriteCache};
pub use counters::Counters;
pub use ssd::Ssd;
