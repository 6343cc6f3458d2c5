//! The RAID level of an array.

use outlast_units::JsonSchema;
use serde::{Deserialize, Serialize};

/// RAID levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Striping, no redundancy.
    Raid0,
    /// Every member holds everything.
    Raid1,
    /// Striped copies.
    Raid10,
    /// One parity chunk in each stripe, all on the last member.
    Raid4,
    /// One parity chunk in each stripe, rotating.
    Raid5,
    /// Two parity chunks in each stripe.
    Raid6,
    /// `parities` parity chunks in each stripe, from a maximum-distance-separable code.
    Code,
}

impl Level {
    /// The level as it is written in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Raid0 => "raid0",
            Self::Raid1 => "raid1",
            Self::Raid10 => "raid10",
            Self::Raid4 => "raid4",
            Self::Raid5 => "raid5",
            Self::Raid6 => "raid6",
            Self::Code => "code",
        }
    }
}
