//! Zone Management Receive, and what Identify tells of zones (Zoned Namespace Command Set 1.1).

use crate::bytes::put;
use crate::entry::SubmissionEntry;
use crate::facts::{LONGEST_TRANSFER, NamespaceFacts};
use crate::identify::{IDENTIFY_BYTES, LBA_FORMAT_BYTES};
use crate::plan::{CommandPlan, PlanEnd, PlannedOp, PlannedRequest};
use crate::status::NvmeStatus;
use crate::zones::{WireZoneState, ZoneListRequest, ZoneReports, ZoneStates, list_cost};

/// Length of the head of a report, and of each descriptor, in bytes.
const HEAD_BYTES: usize = 64;
const DESCRIPTOR_BYTES: usize = 64;

/// The action Report Zones. Extended reports have extensions of descriptors, of which there are none.
const REPORT_ZONES: u8 = 0;
/// The type of all zones: Sequential Write Required.
const SEQUENTIAL_WRITE_REQUIRED: u8 = 2;
/// Bit of the attributes of a zone: it has a random write area.
const ZRWA_VALID: u8 = 1 << 3;
/// Bit of dword 13: the number of zones is that of the descriptors returned.
const PARTIAL: u32 = 1 << 16;

/// A report that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReportRequest {
    /// Bytes to return.
    room: usize,
    is_partial: bool,
}

/// Bytes that Zone Management Receive asks for.
pub(crate) fn report_room(entry: &SubmissionEntry) -> Result<u32, NvmeStatus> {
    let bytes = (u64::from(entry.dword(12)) + 1) * 4;
    if bytes > LONGEST_TRANSFER { Err(NvmeStatus::INVALID_FIELD) } else { Ok(bytes as u32) }
}

/// Bytes held for a report beside what is returned.
pub(crate) fn report_cost(room: u32) -> u64 {
    list_cost(descriptors(room as usize))
}

/// Descriptors for which there is room.
fn descriptors(room: usize) -> u32 {
    (room.saturating_sub(HEAD_BYTES) / DESCRIPTOR_BYTES) as u32
}

/// States of the zones that a reporting option lists.
fn states_of(option: u8) -> Option<ZoneStates> {
    let one = |state| Some(ZoneStates::of(&[state]));
    match option {
        0 => Some(ZoneStates::ALL),
        1 => one(WireZoneState::Empty),
        2 => one(WireZoneState::ImplicitlyOpen),
        3 => one(WireZoneState::ExplicitlyOpen),
        4 => one(WireZoneState::Closed),
        5 => one(WireZoneState::Full),
        6 => one(WireZoneState::ReadOnly),
        7 => one(WireZoneState::Offline),
        _ => None,
    }
}

/// Zone Management Receive.
pub(crate) fn plan_report(
    entry: &SubmissionEntry,
    facts: &NamespaceFacts,
) -> Result<CommandPlan, NvmeStatus> {
    let zones = facts.zones.ok_or(NvmeStatus::INVALID_OPCODE)?;
    let (first, flags) = (entry.two_dwords(10), entry.dword(13));
    let (action, option) = (flags as u8, (flags >> 8) as u8);
    let room = report_room(entry)? as usize;
    if action != REPORT_ZONES {
        return Err(NvmeStatus::INVALID_FIELD);
    }
    let states = states_of(option).ok_or(NvmeStatus::INVALID_FIELD)?;
    if first >= facts.blocks {
        return Err(NvmeStatus::LBA_OUT_OF_RANGE);
    }
    // From the zone that has the block on.
    let offset = facts.offset + first / zones.size * zones.size * u64::from(facts.block_bytes);
    let length = facts.offset + facts.bytes() - offset;
    let op = PlannedOp::ListZones(ZoneListRequest { states, most: descriptors(room) });
    let end = PlanEnd::ReportZones(ReportRequest { room, is_partial: flags & PARTIAL != 0 });
    let cost = room as u64 + report_cost(room as u32);
    Ok(CommandPlan::new([PlannedRequest { offset, length, op }], end, cost))
}

/// The report of zones of a namespace.
pub(crate) fn report(request: ReportRequest, list: &ZoneReports, facts: &NamespaceFacts) -> Vec<u8> {
    let (block, capacity) = (u64::from(facts.block_bytes), facts.zones.map_or(0, |zones| zones.capacity));
    let block_of = |offset: u64| (offset - facts.offset) / block;
    let mut page = vec![0; HEAD_BYTES + list.zones.len() * DESCRIPTOR_BYTES];
    let count = if request.is_partial { list.zones.len() as u64 } else { list.count };
    put(&mut page, 0, &count.to_le_bytes());
    for (place, zone) in page[HEAD_BYTES..].chunks_exact_mut(DESCRIPTOR_BYTES).zip(&list.zones) {
        place[0] = SEQUENTIAL_WRITE_REQUIRED;
        place[1] = (zone.state as u8) << 4;
        place[2] = if zone.has_area { ZRWA_VALID } else { 0 };
        put(place, 8, &capacity.to_le_bytes());
        put(place, 16, &block_of(zone.offset).to_le_bytes());
        // All ones where the state has no valid write pointer.
        put(place, 24, &zone.write_pointer.map_or(u64::MAX, block_of).to_le_bytes());
    }
    page.resize(request.room, 0);
    page
}

/// Identify Namespace of the command set: limits, less one, and the size of zones, in each format.
pub(crate) fn namespace(facts: &NamespaceFacts) -> Vec<u8> {
    let mut page = vec![0; IDENTIFY_BYTES];
    let Some(zones) = facts.zones else { return page };
    // Neither the zones nor the capacity of one change by themselves (ZOC), and no read goes from one zone into the next (OZCS).
    put(&mut page, 4, &(zones.most_active - 1).to_le_bytes());
    put(&mut page, 8, &(zones.most_open - 1).to_le_bytes());
    if let Some(areas) = zones.random {
        // OZCS: areas are supported. ZRWACAP: they are committed by a command, too.
        page[2] |= 1 << 1;
        put(&mut page, 44, &(areas.zones - 1).to_le_bytes());
        put(&mut page, 48, &areas.granularity.to_le_bytes());
        put(&mut page, 50, &areas.size.to_le_bytes());
        page[52] = 1;
    }
    // The size of zones is one of blocks of the format that the namespace has; there is one format.
    put(&mut page, 2816, &zones.size.to_le_bytes());
    page
}

/// Identify Controller of the command set: appends may be as long as any transfer (ZASL 0).
pub(crate) fn controller() -> Vec<u8> {
    vec![0; IDENTIFY_BYTES]
}

/// Numbers of the only LBA format of a namespace with zones, for Identify Namespace.
pub(crate) fn put_format(page: &mut [u8], facts: &NamespaceFacts) {
    page[25] = 0;
    page[26] = 0;
    page[128..128 + LBA_FORMAT_BYTES].copy_from_slice(&[0, 0, facts.block_bytes.trailing_zeros() as u8, 0]);
}
