//! Settings of flexible data placement (`NVMe` TP4146): reclaim unit handles, how far they are isolated, and which the host may use.

mod checks;

use outlast_units::{JsonSchema, Nanos};
use serde::{Deserialize, Serialize};

/// Flexible data placement (`NVMe` TP4146): the host says with each write through which reclaim unit handle it goes, and to which reclaim group. A handle is
/// a write stream with an open superblock of its own in each flash core: its reclaim unit, or a part of it. A reclaim group is some of the flash cores, with
/// their dies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PlacementConfig {
    /// Configurations that the drive offers, numbered from 0 in this order; at least one.
    pub configurations: Vec<FdpConfiguration>,
    /// Number of the configuration that is enabled, below that of configurations. Default: 0.
    pub configuration: u16,
    /// Handles that the namespace may use, by number: a write with placement identifier i goes through the i-th of them, one with an identifier beyond
    /// them, or with none, through the first. Of G reclaim groups, identifier i is handle i / G of the list (rounded down) in group i mod G. At most 128, each
    /// once. Absent: all of the configuration, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub placement_handles: Vec<u16>,
}

/// First placement identifier that no drive has. One from here on stands for an identifier that the host's namespace does not have, of a write that goes
/// through the handle of the identifier in the other bits instead.
pub const UNKNOWN_IDENTIFIER: u16 = 1 << 15;

/// A configuration of flexible data placement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FdpConfiguration {
    /// Reclaim unit handles, numbered from 0 in this order, each by its isolation; 1 to 128.
    pub handles: Vec<HandleIsolation>,
    /// Reclaim groups (`NVMe`: NRG), numbered from 0: each has an equal share of the flash cores, first those of the first channels, and each handle has a
    /// reclaim unit in each group. Data stays in the group to which the host wrote it; where that has no room left, it goes to another. 1 to 64, a divisor of
    /// `controller.flash_cores`. Default: 1.
    #[serde(skip_serializing_if = "is_one")]
    pub reclaim_groups: u16,
    /// Superblocks of each flash core in a reclaim unit (`NVMe`: Reclaim Unit Nominal Size); 1 to the blocks of a plane. A handle fills them one after another,
    /// and an update leaves those that are left; collection takes them one by one. Default: 1.
    pub superblocks: u32,
    /// Time after which a handle leaves a reclaim unit that it has begun and not filled (`NVMe`: Estimated Reclaim Unit Time Limit); 1 ms to 100 days.
    /// Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<Nanos>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_one(count: &u16) -> bool {
    *count == 1
}

impl Default for FdpConfiguration {
    fn default() -> Self {
        Self { handles: Vec::new(), reclaim_groups: 1, superblocks: 1, time_limit: None }
    }
}

/// How far data that was written through a handle stays apart from that of others (`NVMe`: Reclaim Unit Handle Type).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HandleIsolation {
    /// As it is written. Collection moves it among the data of other handles that are initially isolated.
    InitiallyIsolated,
    /// For ever: what collection moves stays with data of its handle.
    PersistentlyIsolated,
}

impl HandleIsolation {
    /// Name in scenarios and results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::InitiallyIsolated => "initially-isolated",
            Self::PersistentlyIsolated => "persistently-isolated",
        }
    }
}

impl PlacementConfig {
    /// The handles of the enabled configuration.
    pub fn handles(&self) -> &[HandleIsolation] {
        self.configurations.get(usize::from(self.configuration)).map_or(&[], |own| &own.handles)
    }

    /// Reclaim groups of the enabled configuration.
    pub fn reclaim_groups(&self) -> u16 {
        self.configurations.get(usize::from(self.configuration)).map_or(1, |own| own.reclaim_groups)
    }

    /// Superblocks of each flash core in a reclaim unit of the enabled configuration.
    pub fn superblocks(&self) -> u32 {
        self.configurations.get(usize::from(self.configuration)).map_or(1, |own| own.superblocks)
    }

    /// The time limit of reclaim units of the enabled configuration.
    pub fn time_limit(&self) -> Option<Nanos> {
        self.configurations.get(usize::from(self.configuration))?.time_limit
    }

    /// The handle of each placement identifier that the host may use: each handle of the list in every reclaim group.
    pub fn identifiers(&self) -> Vec<u16> {
        let groups = usize::from(self.reclaim_groups());
        self.handle_list().into_iter().flat_map(|handle| std::iter::repeat_n(handle, groups)).collect()
    }

    /// The handles that the host may use, in its order. Once there are several namespaces, each has a list of its own.
    pub fn handle_list(&self) -> Vec<u16> {
        if self.placement_handles.is_empty() {
            (0u16..).zip(self.handles()).map(|(handle, _)| handle).collect()
        } else {
            self.placement_handles.clone()
        }
    }
}
