//! The way between the host and the drive's queue, and what a command costs the controller.

use super::ControllerConfig;
use outlast_media::{ConfigError, at_most_a_second};
use outlast_units::{JsonSchema, Nanos};
use serde::{Deserialize, Serialize};

/// A fixed time each way between the host and the drive's queue, beside the transfer of data: nothing contends for it and order is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HostLatency {
    /// From the submission until the drive has the command: the host's driver, the doorbell, the fetch of the entry. At most 1 s. Default: zero.
    pub submit: Nanos,
    /// From the drive's completion until the host knows of it: the entry, the interrupt or poll, the host's software. At most 1 s. Default: zero.
    pub complete: Nanos,
}

/// Time of the master core for reads and writes, in place of `master_cost`, which every other command takes; each at most 1 s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CommandCosts {
    /// For each read. Absent: `master_cost`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<Nanos>,
    /// For each write. Absent: `master_cost`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<Nanos>,
    /// For each zone append. Absent: as for each write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub append: Option<Nanos>,
}

impl HostLatency {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl CommandCosts {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl ControllerConfig {
    /// Checks the way to the host and the costs of commands.
    pub(super) fn check_host(&self) -> Result<(), ConfigError> {
        let HostLatency { submit, complete } = self.host_latency;
        let CommandCosts { read, write, append } = self.command_costs;
        let times = [
            ("host_latency.submit", Some(submit)),
            ("host_latency.complete", Some(complete)),
            ("command_costs.read", read),
            ("command_costs.write", write),
            ("command_costs.append", append),
        ];
        for (name, time) in times {
            if let Some(time) = time {
                at_most_a_second(&format!("device.controller.{name}"), time)?;
            }
        }
        Ok(())
    }
}
