//! What the array does when a member tells of a failed die: the `[array.repair]` section.

use outlast_decisions::RepairWay;
use outlast_media::{ConfigError, at_most_a_second};
use outlast_units::{ByteRate, Bytes, JsonSchema, Nanos, SECTOR_BYTES};
use serde::{Deserialize, Serialize};

/// Recovery of a member with a failed die. It begins when the member reports the failure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RepairConfig {
    /// What is recovered, and where to. Default: `die`, which moves least.
    pub way: RepairWay,
    /// Bytes of a member's address space that one query for failed sectors covers. Default: 64 MiB, Reparo's example (section 4.2).
    pub range: Bytes,
    /// Ranges in progress at once: 1 is Reparo's strict sequence, in which the next range is queried when the last one has been recovered;
    /// with more, ranges are queried while others are being recovered. At most 64.
    pub queries: u16,
    /// Part of the bandwidth of a member's link that recovery may use, whichever way it goes. It takes the place of
    /// `background.min_rate` and `background.max_rate`, whether the host is active or not. Absent: those hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Time of the host's processor for each run of failed sectors: to read the others' rows, to compute, to write back; one run after
    /// another. With `share` the processor, too, may be used for that part of the time only. Default: 0.
    pub run_cost: Nanos,
    /// What comes first.
    pub order: RepairOrder,
    /// What is done with sectors that are to be written again though they can be read.
    pub fakes: FakeWay,
}

/// What is recovered first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RepairOrder {
    /// By address, range by range.
    #[default]
    Address,
    /// All ranges are queried first; the rows that the most members lack are then recovered first. For `die` only.
    Exposure,
}

impl RepairOrder {
    /// All.
    pub const ALL: [Self; 2] = [Self::Address, Self::Exposure];
}

/// What is done with sectors that are to be written again though they can be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FakeWay {
    /// They are computed from the other members, as those that cannot be read (Reparo, section 5.2.3).
    #[default]
    Reconstruct,
    /// They are read from the member itself.
    Copy,
}

impl Default for RepairConfig {
    fn default() -> Self {
        Self {
            way: RepairWay::default(),
            range: Bytes::mib(64),
            queries: 1,
            share: None,
            run_cost: Nanos::ZERO,
            order: RepairOrder::default(),
            fakes: FakeWay::default(),
        }
    }
}

impl RepairConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        if self.range < Bytes::kib(64)
            || !self.range.0.is_multiple_of(SECTOR_BYTES)
            || self.range > Bytes::gib(1024)
        {
            let limit = "must be a multiple of 512 bytes, from 64KiB to 1TiB";
            return Err(ConfigError::new("array.repair.range", self.range, limit));
        }
        if self.queries == 0 || self.queries > 64 {
            return Err(ConfigError::new("array.repair.queries", self.queries, "must be between 1 and 64"));
        }
        at_most_a_second("array.repair.run_cost", self.run_cost)?;
        if let Some(share) = self.share
            && !(share > 0.0 && share <= 1.0)
        {
            return Err(ConfigError::new("array.repair.share", share, "must be above 0 and at most 1"));
        }
        if self.order == RepairOrder::Exposure && self.way != RepairWay::Die {
            let limit = format!("must be address for array.repair.way = {}", self.way.name());
            return Err(ConfigError::new("array.repair.order", "exposure", limit));
        }
        Ok(())
    }

    /// From the beginning of one run to that of the next, at least.
    pub fn run_time(&self) -> Nanos {
        self.share.map_or(self.run_cost, |share| Nanos((self.run_cost.0 as f64 / share) as u64))
    }

    /// What recovery may use of a link, in whole bytes per second, at least one.
    pub fn rate_of(&self, link: Option<ByteRate>) -> Option<ByteRate> {
        let bytes_per_s = link?.bytes_per_s() as f64 * self.share?;
        ByteRate::new((bytes_per_s as u64).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_settings_are_refused_by_name_value_and_limit() {
        let refuse =
            |text: &str| toml::from_str::<RepairConfig>(text).unwrap().validate().unwrap_err().to_string();
        assert!(refuse("range = 100").starts_with("array.repair.range = 100B: must be a multiple of 512"));
        assert_eq!(refuse("queries = 0"), "array.repair.queries = 0: must be between 1 and 64");
        assert_eq!(refuse("share = 1.5"), "array.repair.share = 1.5: must be above 0 and at most 1");
        let order = refuse("way = \"assist\"\norder = \"exposure\"");
        assert_eq!(order, "array.repair.order = exposure: must be address for array.repair.way = assist");
        assert!(toml::from_str::<RepairConfig>("way = \"prayer\"").is_err());
        let config: RepairConfig = toml::from_str("share = 0.1").unwrap();
        config.validate().unwrap();
        assert_eq!(config.rate_of(ByteRate::new(1_200)), ByteRate::new(120));
        let config = RepairConfig { run_cost: Nanos::micros(3), ..config };
        assert_eq!(config.run_time(), Nanos::micros(30));
    }
}
