//! Flexible data placement (TP4146): its log pages, the status of placement handles, and the identifiers of writes. There is one endurance group. A
//! placement identifier is the number of a placement handle, and of several reclaim groups that of one in its upper bits (RGIF of them).

use crate::bytes::{put, u16_at};
use crate::device::{HealthLogPage, PlacementReport};
use crate::entry::SubmissionEntry;
use crate::facts::{LONGEST_TRANSFER, NamespaceFacts, SubsystemFacts};
use crate::log_pages::LogRequest;
use crate::placement_identifiers::{group_bits, known, value_at};
use crate::plan::{CommandPlan, PlanEnd, PlannedOp, PlannedRequest};
use crate::status::NvmeStatus;

/// The endurance group that all namespaces are of.
pub(crate) const ENDURANCE_GROUP: u16 = 1;

/// Type of the Data Placement directive.
pub(crate) const DIRECTIVE: u32 = 2;

/// Log pages.
pub(crate) const ENDURANCE_GROUP_LOG: u8 = 0x09;
pub(crate) const CONFIGURATIONS: u8 = 0x20;
pub(crate) const HANDLE_USAGE: u8 = 0x21;
pub(crate) const STATISTICS: u8 = 0x22;
pub(crate) const EVENTS: u8 = 0x23;

/// The operation of I/O Management Receive and Send: status of handles, update of handles.
const HANDLE_OPERATION: u32 = 1;
/// Lengths of the list of handle status: its head, and each descriptor.
const STATUS_HEAD: usize = 16;
const STATUS_BYTES: usize = 32;

/// Handles of a configuration by their isolation (RUHT).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandleKind {
    /// Data is kept apart as it is written.
    InitiallyIsolated = 1,
    /// Data is kept apart for ever.
    PersistentlyIsolated = 2,
}

/// A configuration of flexible data placement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigurationFacts {
    /// Reclaim unit handles.
    pub handles: Vec<HandleKind>,
    /// Reclaim groups, in each of which every handle has a reclaim unit; at least 1.
    pub reclaim_groups: u16,
    /// Nominal bytes of a reclaim unit.
    pub reclaim_unit_bytes: u64,
    /// Time limit of a reclaim unit, in seconds; 0 without.
    pub time_limit_s: u32,
}

/// Flexible data placement of a subsystem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacementFacts {
    /// Configurations; at least one.
    pub configurations: Vec<ConfigurationFacts>,
    /// Number of the configuration that is enabled.
    pub enabled: u16,
    /// Reclaim unit handle of each placement identifier of the device.
    pub handles: Vec<u16>,
}

/// An identifier that its namespace does not have: the device notes an event, and writes through the handle of another identifier, named by the other bits.
pub const UNKNOWN_IDENTIFIER: u16 = 1 << 15;

impl PlacementFacts {
    /// Value of the feature Flexible Data Placement: enabled, and the number of the configuration.
    pub(crate) fn feature(&self) -> u32 {
        1 | u32::from(self.enabled) << 8
    }

    fn configuration(&self) -> Option<&ConfigurationFacts> {
        self.configurations.get(usize::from(self.enabled))
    }

    fn handle_count(&self) -> usize {
        self.configuration().map_or(0, |own| own.handles.len())
    }

    /// The log of configurations.
    fn configurations(&self, namespaces: u32) -> Vec<u8> {
        let mut page = vec![0; 16];
        put(&mut page, 0, &(self.configurations.len() as u16 - 1).to_le_bytes());
        for own in &self.configurations {
            let ConfigurationFacts { handles, reclaim_groups, reclaim_unit_bytes, time_limit_s } = own;
            let mut one = vec![0; (64 + handles.len() * 4).next_multiple_of(8)];
            let length = one.len() as u16;
            put(&mut one, 0, &length.to_le_bytes());
            // Valid, a volatile write cache, and the bits that reclaim group identifiers take.
            one[2] = 1 << 7 | 1 << 4 | group_bits(*reclaim_groups) as u8;
            // Bytes behind the handles, which fill up the length.
            one[3] = (one.len() - 64 - handles.len() * 4) as u8;
            put(&mut one, 4, &u32::from(*reclaim_groups).to_le_bytes());
            put(&mut one, 8, &(handles.len() as u16).to_le_bytes());
            put(&mut one, 10, &(handles.len() as u16 - 1).to_le_bytes());
            put(&mut one, 12, &namespaces.to_le_bytes());
            put(&mut one, 16, &reclaim_unit_bytes.to_le_bytes());
            put(&mut one, 24, &time_limit_s.to_le_bytes());
            for (place, &kind) in one[64..].chunks_exact_mut(4).zip(handles) {
                place[0] = kind as u8;
            }
            page.extend(one);
        }
        let length = page.len() as u32;
        put(&mut page, 4, &length.to_le_bytes());
        page
    }

    /// The log of the usage of handles: those in the list of some namespace are specified by the host.
    fn usage(&self, facts: &SubsystemFacts) -> Vec<u8> {
        let mut page = vec![0; 8 + self.handle_count() * 8];
        put(&mut page, 0, &(self.handle_count() as u16).to_le_bytes());
        let used = facts.namespaces.iter().flat_map(|namespace| &namespace.identifiers);
        for handle in used.filter_map(|&identifier| self.handles.get(usize::from(identifier))) {
            page[8 + usize::from(*handle) * 8] = 1;
        }
        page
    }
}

/// A log page of the endurance group, or what it asks of the device.
pub(crate) fn log_page(
    request: LogRequest,
    facts: &SubsystemFacts,
) -> Result<Result<Vec<u8>, CommandPlan>, NvmeStatus> {
    let placement = facts.placement.as_ref().ok_or(NvmeStatus::INVALID_LOG_PAGE)?;
    if request.specific != ENDURANCE_GROUP {
        return Err(NvmeStatus::INVALID_FIELD);
    }
    let report = PlannedRequest::whole(PlannedOp::Placement);
    let cost = request.length as u64;
    Ok(match request.page {
        CONFIGURATIONS => Ok(placement.configurations(facts.last_namespace())),
        HANDLE_USAGE => Ok(placement.usage(facts)),
        STATISTICS => Err(CommandPlan::new([report], PlanEnd::PlacementStatistics(request), cost)),
        EVENTS => Err(CommandPlan::new([report], PlanEnd::PlacementEvents(request), cost)),
        ENDURANCE_GROUP_LOG => {
            let requests = [PlannedRequest::whole(PlannedOp::Health(HealthLogPage::Smart)), report];
            Err(CommandPlan::new(requests, PlanEnd::EnduranceGroup(request), cost))
        }
        _ => return Err(NvmeStatus::INVALID_LOG_PAGE),
    })
}

/// The log of statistics.
pub(crate) fn statistics(report: &PlacementReport) -> Vec<u8> {
    let mut page = vec![0; 64];
    let counts = [report.host_bytes_written, report.media_bytes_written, report.media_bytes_erased];
    for (place, count) in page.chunks_exact_mut(16).zip(counts) {
        put(place, 0, &count.to_le_bytes());
    }
    page
}

/// The log of the endurance group. What the health log has in thousands of 512 bytes is here in thousands of millions of bytes, rounded up.
pub(crate) fn endurance_group(
    health: &[u8; 512],
    report: &PlacementReport,
    facts: &SubsystemFacts,
) -> Vec<u8> {
    let mut page = vec![0; 512];
    // The warnings that both logs have are at the same bits: spare, reliability, read-only.
    page[0] = health[0] & (1 << 0 | 1 << 2 | 1 << 3);
    page[3..6].copy_from_slice(&health[3..6]);
    let billions = |bytes: u64| bytes.div_ceil(1_000_000_000).to_le_bytes();
    let units = |at: usize| crate::bytes::u64_at(health, at).saturating_mul(512_000);
    put(&mut page, 48, &billions(units(32)));
    put(&mut page, 64, &billions(units(48)));
    put(&mut page, 80, &billions(report.media_bytes_written));
    // Read and write commands, media errors, entries of error logs.
    for (to, from) in [(96, 64), (112, 80), (128, 160), (144, 176)] {
        put(&mut page, to, &health[from..from + 16]);
    }
    put(&mut page, 160, &facts.capacity.to_le_bytes());
    put(&mut page, 176, &facts.unallocated().to_le_bytes());
    page
}

/// Bytes that I/O Management Receive asks for.
pub(crate) fn status_room(entry: &SubmissionEntry) -> Result<u32, NvmeStatus> {
    let bytes = (u64::from(entry.dword(11)) + 1) * 4;
    if bytes > LONGEST_TRANSFER { Err(NvmeStatus::INVALID_FIELD) } else { Ok(bytes as u32) }
}

/// Bytes that I/O Management Send brings: two for each identifier.
pub(crate) fn update_bytes(entry: &SubmissionEntry) -> u32 {
    ((entry.dword(10) >> 16) + 1) * 2
}

fn check_operation(entry: &SubmissionEntry) -> Result<(), NvmeStatus> {
    if entry.dword(10) & 0xFF == HANDLE_OPERATION { Ok(()) } else { Err(NvmeStatus::INVALID_FIELD) }
}

/// I/O Management Receive: the status of the namespace's handles.
pub(crate) fn plan_status(entry: &SubmissionEntry) -> Result<CommandPlan, NvmeStatus> {
    check_operation(entry)?;
    let room = status_room(entry)? as usize;
    Ok(CommandPlan::new(
        [PlannedRequest::whole(PlannedOp::Placement)],
        PlanEnd::HandleStatus { room },
        room as u64,
    ))
}

/// I/O Management Send: handles are to refer to empty reclaim units.
pub(crate) fn plan_update(
    entry: &SubmissionEntry,
    data: &[u8],
    facts: &NamespaceFacts,
) -> Result<CommandPlan, NvmeStatus> {
    check_operation(entry)?;
    let asked: Vec<u16> = data.chunks_exact(2).map(|place| u16_at(place, 0)).collect();
    // All are known before the first is updated.
    let known = asked
        .iter()
        .map(|&value| known(facts, value))
        .collect::<Option<Vec<u16>>>()
        .ok_or(NvmeStatus::INVALID_FIELD)?;
    let update = |identifier| PlannedRequest::whole(PlannedOp::UpdateHandle(identifier));
    Ok(CommandPlan::new(known.into_iter().map(update), PlanEnd::Nothing, 0))
}

/// The status of a namespace's handles, each in every reclaim group.
pub(crate) fn handle_status(
    report: &PlacementReport,
    (facts, placement): (&NamespaceFacts, &PlacementFacts),
    room: usize,
) -> Vec<u8> {
    let mut page = vec![0; STATUS_HEAD + facts.identifiers.len() * STATUS_BYTES];
    put(&mut page, 14, &(facts.identifiers.len() as u16).to_le_bytes());
    let each = page[STATUS_HEAD..].chunks_exact_mut(STATUS_BYTES).zip(&facts.identifiers).enumerate();
    let groups = usize::from(facts.reclaim_groups.max(1));
    let empty = placement.configuration().map_or(0, |own| own.reclaim_unit_bytes);
    for (at, (place, &identifier)) in each {
        let handle = placement.handles.get(usize::from(identifier)).copied().unwrap_or(0);
        let of_handle = usize::from(handle) * groups + at % groups;
        // A handle whose reclaim unit is full, or not begun, refers to an empty one.
        let remaining = report.remaining_bytes.get(of_handle).copied().filter(|&bytes| bytes > 0);
        let remaining = remaining.unwrap_or(empty);
        put(place, 0, &value_at(facts, at).to_le_bytes());
        put(place, 2, &handle.to_le_bytes());
        let time = report.remaining_s.get(of_handle).copied().unwrap_or(0);
        put(place, 4, &time.to_le_bytes());
        put(place, 8, &(remaining / u64::from(facts.block_bytes)).to_le_bytes());
    }
    page.resize(room, 0);
    page
}
