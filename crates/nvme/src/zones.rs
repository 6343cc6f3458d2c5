//! Zones (Zoned Namespace Command Set 1.1): what is asked of the device, and the commands Zone Append and Zone Management Send.

use crate::entry::SubmissionEntry;
use crate::facts::{NamespaceFacts, ZoneFacts};
use crate::plan::{CommandPlan, PlanEnd, PlannedOp, PlannedRequest};
use crate::status::NvmeStatus;

/// States of a zone, with the codes that reports have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum WireZoneState {
    /// Nothing is written.
    Empty = 0x1,
    /// Opened by a write.
    ImplicitlyOpen = 0x2,
    /// Opened by a command.
    ExplicitlyOpen = 0x3,
    /// Partly written, not open.
    Closed = 0x4,
    /// Can be read only, for good.
    ReadOnly = 0xD,
    /// Takes no more writes until it is reset.
    Full = 0xE,
    /// Can be neither read nor written.
    Offline = 0xF,
}

/// A set of states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneStates(u16);

impl ZoneStates {
    /// All states.
    pub const ALL: Self = Self(u16::MAX);

    /// The set of these.
    pub(crate) fn of(states: &[WireZoneState]) -> Self {
        Self(states.iter().fold(0, |set, &state| set | 1 << state as u8))
    }

    /// True if `state` is among them.
    pub fn has(self, state: WireZoneState) -> bool {
        self.0 & 1 << state as u8 != 0
    }
}

/// Actions of Zone Management Send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneSendAction {
    /// Closes an open zone.
    Close,
    /// Makes a zone full.
    Finish,
    /// Opens a zone explicitly.
    Open,
    /// Makes a zone empty.
    Reset,
    /// Gives up a zone that is read-only.
    Offline,
    /// Opens an empty zone with a random write area.
    OpenRandom,
    /// Commits the blocks of a random write area up to the one at the address.
    Commit,
}

impl ZoneSendAction {
    /// The action of a code (ZSA), for a zone with a random write area or not, where there are such areas. Extensions of descriptors are not supported.
    fn of(code: u8, is_random: bool, has_areas: bool) -> Option<Self> {
        Some(match code {
            3 if is_random && has_areas => Self::OpenRandom,
            _ if is_random => return None,
            COMMIT if has_areas => Self::Commit,
            1 => Self::Close,
            2 => Self::Finish,
            3 => Self::Open,
            4 => Self::Reset,
            5 => Self::Offline,
            _ => return None,
        })
    }

    /// States of the zones on which Select All has the action carried out.
    fn calling(self) -> ZoneStates {
        use WireZoneState::{Closed, ExplicitlyOpen, Full, ImplicitlyOpen, ReadOnly};
        match self {
            Self::Close => ZoneStates::of(&[ImplicitlyOpen, ExplicitlyOpen]),
            Self::Finish => ZoneStates::of(&[ImplicitlyOpen, ExplicitlyOpen, Closed]),
            Self::Open => ZoneStates::of(&[Closed]),
            Self::Reset => ZoneStates::of(&[ImplicitlyOpen, ExplicitlyOpen, Closed, Full]),
            Self::Offline => ZoneStates::of(&[ReadOnly]),
            Self::OpenRandom | Self::Commit => ZoneStates::of(&[]),
        }
    }
}

/// A question for zones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneListRequest {
    /// States of those that are listed.
    pub states: ZoneStates,
    /// Most zones to list: the first.
    pub most: u32,
}

/// Zones that begin in a range.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ZoneReports {
    /// Number of zones of the states that were asked for, whether listed or not.
    pub count: u64,
    /// The first of them, in order of address.
    pub zones: Vec<ZoneReport>,
}

/// A zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneReport {
    /// Its first byte.
    pub offset: u64,
    /// Its state.
    pub state: WireZoneState,
    /// The byte at which the next write goes; absent where the state has no valid write pointer.
    pub write_pointer: Option<u64>,
    /// True if it has a random write area.
    pub has_area: bool,
}

/// Reasons for which a zone does not allow a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneRefusal {
    /// The address is not the first of a zone.
    InvalidField,
    /// A write beyond the capacity of a zone, or a read from one zone into the next.
    Boundary,
    /// A write to a full zone.
    Full,
    /// A write to a zone that can be read only.
    ReadOnly,
    /// A zone that is offline.
    Offline,
    /// A write elsewhere than at the write pointer.
    InvalidWrite,
    /// Too many active zones.
    TooManyActive,
    /// Too many open zones.
    TooManyOpen,
    /// The state does not allow the action.
    InvalidTransition,
    /// A random write area that the zone cannot have, or an append to a zone that has one.
    InvalidOperation,
    /// No random write area is left.
    NoRandomWriteArea,
}

impl ZoneRefusal {
    /// The status of a command that is refused so.
    pub(crate) fn status(self) -> NvmeStatus {
        match self {
            Self::InvalidField => NvmeStatus::INVALID_FIELD,
            Self::Boundary => NvmeStatus::ZONE_BOUNDARY,
            Self::Full => NvmeStatus::ZONE_FULL,
            Self::ReadOnly => NvmeStatus::ZONE_READ_ONLY,
            Self::Offline => NvmeStatus::ZONE_OFFLINE,
            Self::InvalidWrite => NvmeStatus::ZONE_INVALID_WRITE,
            Self::TooManyActive => NvmeStatus::TOO_MANY_ACTIVE,
            Self::TooManyOpen => NvmeStatus::TOO_MANY_OPEN,
            Self::InvalidTransition => NvmeStatus::INVALID_ZONE_TRANSITION,
            Self::InvalidOperation => NvmeStatus::INVALID_ZONE_OPERATION,
            Self::NoRandomWriteArea => NvmeStatus::NO_RANDOM_WRITE_AREA,
        }
    }
}

/// Zones that Select All asks for at a time: what is held for the list is bounded.
pub(crate) const LISTED_AT_ONCE: u32 = 256;

/// Bit of dword 13: the action concerns all zones whose state calls for it.
const SELECT_ALL: u32 = 1 << 8;
/// Code of the action Commit ZRWA.
const COMMIT: u8 = 0x11;
/// Bit of dword 13: a random write area is allocated (ZRWAA).
const RANDOM_WRITE_AREA: u32 = 1 << 9;

/// Checks that `blocks` blocks from `first` on lie in one zone: there are no reads across.
pub(crate) fn check_range(facts: &NamespaceFacts, first: u64, blocks: u64) -> Result<(), NvmeStatus> {
    match facts.zones {
        Some(zones) if first % zones.size + blocks > zones.size => Err(NvmeStatus::ZONE_BOUNDARY),
        _ => Ok(()),
    }
}

/// The byte of the device at which the zone begins whose first block dwords 10 and 11 name.
fn zone_at(entry: &SubmissionEntry, facts: &NamespaceFacts, zones: ZoneFacts) -> Result<u64, NvmeStatus> {
    let first = entry.two_dwords(10);
    if first >= facts.blocks {
        return Err(NvmeStatus::LBA_OUT_OF_RANGE);
    }
    if !first.is_multiple_of(zones.size) {
        return Err(NvmeStatus::INVALID_FIELD);
    }
    Ok(facts.offset + first * u64::from(facts.block_bytes))
}

/// Zone Append.
pub(crate) fn plan_append(
    entry: &SubmissionEntry,
    facts: &NamespaceFacts,
    fua: bool,
) -> Result<CommandPlan, NvmeStatus> {
    let zones = facts.zones.ok_or(NvmeStatus::INVALID_OPCODE)?;
    let offset = zone_at(entry, facts, zones)?;
    let blocks = u64::from(entry.dword(12) as u16) + 1;
    // More than a zone holds: the request would reach beyond it, whatever is written.
    if blocks > zones.capacity {
        return Err(NvmeStatus::ZONE_BOUNDARY);
    }
    let length = blocks * u64::from(facts.block_bytes);
    let request = PlannedRequest { offset, length, op: PlannedOp::Append { fua } };
    Ok(CommandPlan::new([request], PlanEnd::ReturnPlace, 0))
}

/// Zone Management Send.
pub(crate) fn plan_action(
    entry: &SubmissionEntry,
    facts: &NamespaceFacts,
) -> Result<CommandPlan, NvmeStatus> {
    let zones = facts.zones.ok_or(NvmeStatus::INVALID_OPCODE)?;
    let flags = entry.dword(13);
    let is_random = flags & RANDOM_WRITE_AREA != 0;
    let action = ZoneSendAction::of(flags as u8, is_random, zones.random.is_some());
    let action = action.ok_or(NvmeStatus::INVALID_FIELD)?;
    if flags & SELECT_ALL != 0 {
        if matches!(action, ZoneSendAction::OpenRandom | ZoneSendAction::Commit) {
            return Err(NvmeStatus::INVALID_FIELD);
        }
        let first = listing(action, facts, facts.offset);
        return Ok(CommandPlan::new([first], PlanEnd::ManageZones(action), list_cost(LISTED_AT_ONCE)));
    }
    let offset = match action {
        // The address is that of the last block.
        ZoneSendAction::Commit if entry.two_dwords(10) < facts.blocks => {
            facts.offset + entry.two_dwords(10) * u64::from(facts.block_bytes)
        }
        _ => zone_at(entry, facts, zones)?,
    };
    let request = PlannedRequest { offset, length: 0, op: PlannedOp::ManageZone(action) };
    Ok(CommandPlan::new([request], PlanEnd::Nothing, 0))
}

/// Bytes held for a list of so many zones.
pub(crate) fn list_cost(most: u32) -> u64 {
    u64::from(most) * size_of::<ZoneReport>() as u64
}

/// Question for the zones from byte `from` of the device on whose state calls for `action`.
pub(crate) fn listing(action: ZoneSendAction, facts: &NamespaceFacts, from: u64) -> PlannedRequest {
    let request = ZoneListRequest { states: action.calling(), most: LISTED_AT_ONCE };
    let length = facts.offset + facts.bytes() - from;
    PlannedRequest { offset: from, length, op: PlannedOp::ListZones(request) }
}

/// Requests for `action` on the listed zones of a namespace, and for the next list if there are more.
pub(crate) fn actions(
    action: ZoneSendAction,
    list: &ZoneReports,
    facts: &NamespaceFacts,
) -> Vec<PlannedRequest> {
    let zone_bytes = facts.zones.map_or(0, |zones| zones.size * u64::from(facts.block_bytes));
    let request = |zone: &ZoneReport| PlannedRequest {
        offset: zone.offset,
        length: 0,
        op: PlannedOp::ManageZone(action),
    };
    let mut requests: Vec<PlannedRequest> = list.zones.iter().map(request).collect();
    let has_more = list.count > list.zones.len() as u64;
    let next = list.zones.last().filter(|_| has_more).map(|last| last.offset + zone_bytes);
    requests.extend(next.map(|from| listing(action, facts, from)));
    requests
}
