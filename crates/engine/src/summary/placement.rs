//! Section `placement` of the result: reclaim unit handles, and the statistics and events of flexible data placement.

use crate::facts::RunFacts;
use outlast_settings::placement::HandleIsolation;
use outlast_ssd::{GroupFigures, HandleFigures, PlacementEvents, PlacementStatistics, PlacementView};
use serde::Serialize;

/// Flexible data placement.
#[derive(Clone, Debug, Serialize)]
pub struct PlacementFigures {
    /// Reclaim unit handles of the enabled configuration, in order; in an array summed over its drives.
    pub handles: Vec<HandleSummary>,
    /// Reclaim groups, in order; in an array summed over its drives. Absent where there is one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupSummary>,
    /// Statistics over the drive's life, preconditioning included, as its log page has them.
    pub statistics: PlacementStatistics,
    /// Events over the drive's life, by type.
    pub events: PlacementEvents,
}

/// A reclaim group.
#[derive(Clone, Debug, Serialize)]
pub struct GroupSummary {
    /// Its number.
    pub group: u16,
    /// Bytes that the host wrote and the group took, in whole mapping units.
    pub host_bytes: u64,
    /// Bytes that it wrote, for whatever cause.
    pub media_bytes: u64,
    /// `media_bytes` over `host_bytes`; absent where the host wrote nothing.
    pub write_amplification: Option<f64>,
    /// Bytes that the host wrote to it and that went to another group, as it had no room.
    pub elsewhere_bytes: u64,
    /// Bytes of the host's data in it at the end.
    pub valid_bytes: u64,
    /// Bytes of the host's data that it can hold, more than its share of the capacity.
    pub most_bytes: u64,
    /// Its free superblocks at the end.
    pub free_superblocks: u64,
}

/// A reclaim unit handle.
#[derive(Clone, Debug, Serialize)]
pub struct HandleSummary {
    /// Its number in the configuration.
    pub handle: u16,
    /// Placement identifier by which the host names it, of several reclaim groups in the first; absent if the namespace may not use it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement_identifier: Option<u16>,
    /// How far its data stays apart.
    pub isolation: HandleIsolation,
    /// Bytes that the host wrote through it, in whole mapping units.
    pub host_bytes: u64,
    /// Bytes of it that the drive moved.
    pub moved_bytes: u64,
    /// `host_bytes` and `moved_bytes`; padding, parity and pages of the mapping table are nobody's.
    pub media_bytes: u64,
    /// `media_bytes` over `host_bytes`; absent where the host wrote nothing.
    pub write_amplification: Option<f64>,
    /// Reclaim units that it has begun: superblocks of each flash core.
    pub reclaim_units: u64,
    /// Bytes of its valid data at the end.
    pub valid_bytes: u64,
    /// Bytes of these in superblocks that also hold valid data of other handles: what collection has mixed.
    pub mixed_bytes: u64,
    /// Bytes that still fit into the reclaim units that it refers to at the end.
    pub remaining_bytes: u64,
}

/// Handles of the drives; `None` without flexible data placement.
pub(crate) fn placement(facts: &RunFacts<'_>) -> Option<PlacementFigures> {
    let config = facts.ssd.config();
    let own = config.placement.as_ref()?;
    let (list, unit) = (own.handle_list(), config.ftl.mapping_unit.0);
    let each = (0u16..).zip(own.handles()).zip(&facts.measured.handles);
    let summary = |((handle, &isolation), figures): ((u16, &HandleIsolation), &HandleFigures)| {
        let (host, moved) = (figures.counts.host_units * unit, figures.counts.moved_units * unit);
        let identifier = (0u16..).zip(&list).find(|&(_, &listed)| listed == handle);
        HandleSummary {
            handle,
            placement_identifier: identifier.map(|(identifier, _)| identifier * own.reclaim_groups()),
            isolation,
            host_bytes: host,
            moved_bytes: moved,
            media_bytes: host + moved,
            write_amplification: (host != 0).then(|| (host + moved) as f64 / host as f64),
            reclaim_units: figures.counts.reclaim_units,
            valid_bytes: figures.contents.valid * unit,
            mixed_bytes: figures.contents.mixed * unit,
            remaining_bytes: figures.remaining_units * unit,
        }
    };
    Some(PlacementFigures {
        handles: each.map(summary).collect(),
        groups: (0u16..).zip(&facts.measured.groups).map(|own| group_summary(own, unit)).collect(),
        statistics: facts.ssd.all().iter().map(|ssd| PlacementView::of(ssd).statistics()).sum(),
        events: facts.ssd.all().iter().map(|ssd| PlacementView::of(ssd).events()).sum(),
    })
}

/// Figures of group `group`, in bytes of units of `unit` bytes.
fn group_summary((group, figures): (u16, &GroupFigures), unit: u64) -> GroupSummary {
    let (host, media) = (figures.host_units * unit, figures.written_units * unit);
    GroupSummary {
        group,
        host_bytes: host,
        media_bytes: media,
        write_amplification: (host != 0).then(|| media as f64 / host as f64),
        elsewhere_bytes: figures.elsewhere_units * unit,
        valid_bytes: figures.held_units * unit,
        most_bytes: figures.most_units * unit,
        free_superblocks: figures.free_superblocks,
    }
}
