//! Members that are carried lightly: latency and bandwidth, no flash.

use super::PlainConfig;
use outlast_media::{ConfigError, at_most_a_second};
use outlast_units::{ByteRate, Bytes, JsonSchema, Nanos};
use serde::{Deserialize, Serialize};

/// Members without simulated flash, with the capacity of the others: they execute one command after another, each with a latency and at a
/// rate. They take next to no memory and time, so that one drive of many terabytes can be studied within its array. They have no wear, no
/// collection and no errors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LightConfig {
    /// Which: counted from 0; spares follow the members. At least one member is not light.
    pub devices: Vec<u16>,
    /// Time of a read besides its transfer. Default: 0.
    #[serde(default)]
    pub read_latency: Nanos,
    /// Time of a write besides its transfer. Default: 0.
    #[serde(default)]
    pub write_latency: Nanos,
    /// Bandwidth, of reads and writes together. Absent: unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<ByteRate>,
}

impl LightConfig {
    /// The stand-in for a drive of `capacity`.
    pub fn device(&self, capacity: Bytes) -> PlainConfig {
        PlainConfig {
            read_latency: self.read_latency,
            write_latency: self.write_latency,
            read_rate: self.rate,
            write_rate: self.rate,
            ..PlainConfig::new(capacity)
        }
    }

    /// Checks which devices of an array there are; `differs`: whether a device has wear or a capacity of its own.
    pub(super) fn validate(
        &self,
        members: u16,
        spares: u16,
        differs: impl Fn(u16) -> bool,
    ) -> Result<(), ConfigError> {
        let all = members.saturating_add(spares);
        for (index, &device) in self.devices.iter().enumerate() {
            let refuse = |limit: String| {
                Err(ConfigError::new(&format!("array.light.devices[{index}]"), device, limit))
            };
            if device >= all {
                return refuse(format!("must be less than {all}, members and spares"));
            }
            if self.devices[..index].contains(&device) {
                return refuse("is given twice".to_owned());
            }
            if differs(device) {
                return refuse(
                    "has pe_cycles or a capacity of its own, which a light member has not".to_owned(),
                );
            }
        }
        if (0..members).all(|member| self.devices.contains(&member)) {
            let value = format!("{:?}", self.devices);
            return Err(ConfigError::new(
                "array.light.devices",
                value,
                "must leave one member that is a drive",
            ));
        }
        at_most_a_second("array.light.read_latency", self.read_latency)?;
        at_most_a_second("array.light.write_latency", self.write_latency)
    }
}
