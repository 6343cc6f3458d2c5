//! Settings of a drive with zones (`NVMe` Zoned Namespace Command Set): their size, how many may be written at once, and what their commands cost.

mod checks;

use outlast_units::{Bytes, JsonSchema, Nanos};
use serde::{Deserialize, Serialize};

/// Zones (`NVMe` ZNS): parts of the drive that are written from their start on and reset as a whole. A zone is one or several superblocks of each flash
/// core, and each zone that is partly written has a write stream of its own, so that nothing need ever be collected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZonesConfig {
    /// Number of zones; 1 to 2^24. Their superblocks, those that are open, and those held back for moves must fit into the flash.
    pub count: u32,
    /// Superblocks of each flash core in a zone; 1 to 4096. Their data is the capacity of the zone. Default: 1.
    #[serde(default = "one")]
    pub superblocks: u32,
    /// From the start of one zone to that of the next; at least the capacity. Hosts such as Linux want a power of two. Absent: the capacity, rounded
    /// up to a power of two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// Most zones that are partly written or open (`NVMe`: Maximum Active Resources); 1 to 128, each with a write stream and its open superblock.
    /// Several namespaces have equal shares of this, of `max_open` and of `random_write.zones`. Default: 14.
    #[serde(default = "fourteen")]
    pub max_active: u32,
    /// Most zones that are open at once (`NVMe`: Maximum Open Resources); at most `max_active`. Absent: `max_active`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_open: Option<u32>,
    /// What a finish does with the rest of the zone. Default: written.
    #[serde(default)]
    pub finish: FinishCost,
    /// Time that a finish takes beside what it writes, of a zone that is partly written; at most 1 s. Default: 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub finish_time: Nanos,
    /// Time that a reset takes beside the erasure of what is written; at most 1 s. Default: 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reset_time: Nanos,
    /// Time that a reset takes longer of a zone that is partly written and was not finished; at most 1 s. Default: 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reset_time_partial: Nanos,
    /// Time for which the reset of a zone that the host has written wholly keeps its dies busy; of another by the share written. At most 1 s. Absent: the
    /// time of a block erase for each of its superblocks with data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erase_time: Option<Nanos>,
    /// Zone random write areas (`NVMe`: ZRWA): zones that are opened with one take writes behind their write pointer in any order, and again, and only what
    /// is committed is written to flash. Absent: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random_write: Option<RandomWriteConfig>,
}

/// Zone random write areas: memory of the controller that survives a loss of power, so that they need a protected write buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomWriteConfig {
    /// Size of an area (`NVMe`: ZRWASZ); a multiple of the granularity, at most the capacity of a zone and 65,535 mapping units. A write that ends up to as much
    /// behind the area commits what lies in front of it.
    pub size: Bytes,
    /// Step by which the write pointer moves (`NVMe`: ZRWAFG); a multiple of the mapping unit. Absent: the mapping unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub granularity: Option<Bytes>,
    /// Most zones that have an area at once (`NVMe`: NUMZRWA); 1 to `max_active`. Absent: `max_active`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zones: Option<u32>,
}

/// What a finish does with the rest of a zone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FinishCost {
    /// Writes it, as fast as the drive writes anything: wear and time, as measured on drives.
    #[default]
    Written,
    /// Leaves it as it is: no block is programmed further.
    Free,
}

fn one() -> u32 {
    1
}

fn fourteen() -> u32 {
    14
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(time: &Nanos) -> bool {
    *time == Nanos::ZERO
}
