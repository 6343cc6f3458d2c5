//! Firmware: cores, channel and die scheduling, write buffer, host commands, SMART.

mod config;

pub use config::{ControllerConfig, SsdConfig, WriteCache};
