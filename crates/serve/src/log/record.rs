//! Records of the log: an input and its time as bytes.
//!
//! | bytes | what |
//! |---|---|
//! | 4 | length of what follows the checksum: 36 and the payload |
//! | 4 | CRC-32C of the [`RecordPlace`], the length, and what follows |
//! | 8 | time in nanoseconds |
//! | 1 | kind |
//! | 1 | operation of a command; 0 cut, 1 off, 2 on for power; member of a member read; 0 nothing, 1 shorn, 2 torn for a tear |
//! | 2 | placement identifier of a write, or of a handle to be updated; action on a zone, by its place in the list of all |
//! | 4 | tag of a command or of a member read; member to be replaced; bytes of a torn run; share of a shorn unit, numerator in the upper 16 bits |
//! | 8 | first sector |
//! | 4 | sectors |
//! | 4 | namespace of a command |
//! | 4 | flags: 1 forced unit access, or force; 2 limited retry |
//! | | the bytes of a write or an append; a fault as JSON; the text of a mark |
//!
//! Numbers are little-endian. A checksum covers the place of its record, so that a record is valid nowhere else: neither one of another image, nor
//! one that a client has stored as data.

use super::RecordPlace;
use crate::input::{DeviceInput, PowerChange};
use outlast_device::{Command, NamespaceId, Op, PlacementId, QueueId, Tag, ZoneAction};
use outlast_media::{FaultSpec, ShornShare, UnitTear};
use outlast_units::{Lba, Nanos, SECTOR_BYTES};

/// Bytes before the payload.
pub(super) const RECORD_HEADER: usize = 44;
/// Offset of the payload in a record.
pub(crate) const PAYLOAD_OFFSET: u64 = RECORD_HEADER as u64;
/// Bytes of length and checksum.
pub(super) const RECORD_PREFIX: usize = 8;
/// Longest payload in bytes, twice the longest write that clients may send.
pub const MAX_PAYLOAD: usize = 64 << 20;

/// Operations of commands.
const OPS: [Op; 7] = [Op::Read, Op::Write, Op::Trim, Op::Flush, Op::LbaStatus, Op::Append, Op::ManageZone];

const FORCE_FLAG: u32 = 1;
const LIMITED_RETRY_FLAG: u32 = 2;

/// An input with its time, read from a log.
#[derive(Clone, Debug, PartialEq)]
pub struct LogRecord<'a> {
    /// Simulated time of the input.
    pub at: Nanos,
    content: DecodedInput<'a>,
}

#[derive(Clone, Debug, PartialEq)]
enum DecodedInput<'a> {
    Input(DeviceInput<'a>),
    Fault(Box<FaultSpec>),
}

impl LogRecord<'_> {
    /// The input.
    pub fn input(&self) -> DeviceInput<'_> {
        match &self.content {
            DecodedInput::Input(input) => *input,
            DecodedInput::Fault(fault) => DeviceInput::Fault(fault),
        }
    }
}

/// Fields of a record beside the payload.
#[derive(Clone, Copy, Default)]
struct RecordFields {
    kind: u8,
    detail: u8,
    placement: u16,
    tag: u32,
    lba: u64,
    sectors: u32,
    namespace: u32,
    flags: u32,
}

/// Appends the record of an input at time `at`, to be written at `place`.
pub(super) fn encode(buffer: &mut Vec<u8>, place: &RecordPlace, at: Nanos, input: &DeviceInput<'_>) {
    let text;
    let (fields, payload): (RecordFields, &[u8]) = match *input {
        DeviceInput::Command { tag, command, data } => (command_fields(tag, &command), data),
        DeviceInput::ReadMember { tag, member, lba, sectors } => (
            RecordFields {
                kind: 8,
                detail: member,
                tag: tag.0,
                lba: lba.0,
                sectors,
                ..RecordFields::default()
            },
            &[],
        ),
        DeviceInput::Fault(fault) => {
            text = serde_json::to_vec(fault).unwrap_or_default();
            (RecordFields { kind: 2, ..RecordFields::default() }, &text)
        }
        DeviceInput::Power(power) => {
            let (detail, force) = match power {
                PowerChange::Cut { force } => (0, force),
                PowerChange::Off => (1, false),
                PowerChange::On { force } => (2, force),
            };
            (
                RecordFields {
                    kind: 3,
                    detail,
                    flags: u32::from(force) * FORCE_FLAG,
                    ..RecordFields::default()
                },
                &[],
            )
        }
        DeviceInput::Tear(tear) => {
            let (detail, tag) = match tear {
                UnitTear::Nothing => (0, 0),
                UnitTear::Shorn(share) => (1, u32::from(share.parts().0) << 16 | u32::from(share.parts().1)),
                UnitTear::Torn { run } => (2, run),
            };
            (RecordFields { kind: 9, detail, tag, ..RecordFields::default() }, &[])
        }
        DeviceInput::Replace { member, force } => {
            let flags = u32::from(force) * FORCE_FLAG;
            (RecordFields { kind: 4, flags, tag: member.into(), ..RecordFields::default() }, &[])
        }
        DeviceInput::UpdateHandle(identifier) => (handle_fields(identifier), &[]),
        DeviceInput::Repair => (RecordFields { kind: 5, ..RecordFields::default() }, &[]),
        DeviceInput::Mark(text) => (RecordFields { kind: 6, ..RecordFields::default() }, text.as_bytes()),
        DeviceInput::Advance => (RecordFields { kind: 7, ..RecordFields::default() }, &[]),
    };
    let start = buffer.len();
    let len = (RECORD_HEADER - RECORD_PREFIX + payload.len()) as u32;
    buffer.extend_from_slice(&len.to_le_bytes());
    // Room for the checksum, which covers everything that follows.
    buffer.extend_from_slice(&[0; 4]);
    buffer.extend_from_slice(&at.0.to_le_bytes());
    buffer.extend_from_slice(&[fields.kind, fields.detail]);
    buffer.extend_from_slice(&fields.placement.to_le_bytes());
    buffer.extend_from_slice(&fields.tag.to_le_bytes());
    buffer.extend_from_slice(&fields.lba.to_le_bytes());
    buffer.extend_from_slice(&fields.sectors.to_le_bytes());
    buffer.extend_from_slice(&fields.namespace.to_le_bytes());
    buffer.extend_from_slice(&fields.flags.to_le_bytes());
    buffer.extend_from_slice(payload);
    let sum = checksum(place, len, &buffer[start + RECORD_PREFIX..]);
    buffer[start + 4..start + RECORD_PREFIX].copy_from_slice(&sum.to_le_bytes());
}

fn handle_fields(PlacementId(placement): PlacementId) -> RecordFields {
    RecordFields { kind: 10, placement, ..RecordFields::default() }
}

fn command_fields(tag: Tag, command: &Command) -> RecordFields {
    debug_assert_eq!(
        command.queue,
        QueueId(0),
        "the log keeps no queue: commands of clients come through the first"
    );
    RecordFields {
        kind: 1,
        detail: command.op as u8,
        placement: if command.op == Op::ManageZone {
            command.zone_action as u16
        } else {
            command.placement.0
        },
        tag: tag.0,
        lba: command.lba.0,
        sectors: command.sectors,
        namespace: command.namespace.0,
        flags: u32::from(command.fua) * FORCE_FLAG + u32::from(command.limited_retry) * LIMITED_RETRY_FLAG,
    }
}

/// Checksum of a record at `place`.
pub(super) fn checksum(place: &RecordPlace, len: u32, body: &[u8]) -> u32 {
    // The place is part of it, so that a record of another image, segment or offset never passes for this one.
    let sum = crc32c::crc32c(&place.to_bytes());
    crc32c::crc32c_append(crc32c::crc32c_append(sum, &len.to_le_bytes()), body)
}

/// The placement identifier of a command, and the action of one to a zone, which have the same field; `None` for an action that there is none of.
fn placement_of(op: Op, field: u16) -> Option<(PlacementId, ZoneAction)> {
    if op == Op::ManageZone {
        let action = ZoneAction::ALL.get(usize::from(field))?;
        return Some((PlacementId(0), *action));
    }
    Some((PlacementId(field), ZoneAction::Open))
}

/// Decodes a record from its bytes after the checksum; `None` if they are no record, whatever the checksum says.
pub(super) fn decode(body: &[u8]) -> Option<LogRecord<'_>> {
    let (fixed, payload) = body.split_first_chunk::<{ RECORD_HEADER - RECORD_PREFIX }>()?;
    let (at, remaining) = fixed.split_first_chunk::<8>()?;
    let &[kind, detail, ref remaining @ ..] = remaining else { return None };
    let (placement, remaining) = remaining.split_first_chunk::<2>()?;
    let (tag, remaining) = remaining.split_first_chunk::<4>()?;
    let (lba, remaining) = remaining.split_first_chunk::<8>()?;
    let (sectors, remaining) = remaining.split_first_chunk::<4>()?;
    let (namespace, flags) = remaining.split_first_chunk::<4>()?;
    let (sectors, flags) = (u32::from_le_bytes(*sectors), u32::from_le_bytes(flags.try_into().ok()?));
    let (tag, force) = (u32::from_le_bytes(*tag), flags & FORCE_FLAG != 0);
    // No version writes other flags.
    let known = if kind == 1 { FORCE_FLAG | LIMITED_RETRY_FLAG } else { FORCE_FLAG };
    if flags & !known != 0 {
        return None;
    }
    let input = match kind {
        1 => {
            let op = OPS.into_iter().find(|&op| op as u8 == detail)?;
            let needed = if op.writes() { u64::from(sectors) * SECTOR_BYTES } else { 0 };
            if payload.len() as u64 != needed {
                return None;
            }
            let lba = Lba(u64::from_le_bytes(*lba));
            let (placement, zone_action) = placement_of(op, u16::from_le_bytes(*placement))?;
            let command = Command {
                namespace: NamespaceId(u32::from_le_bytes(*namespace)),
                placement,
                zone_action,
                fua: force,
                limited_retry: flags & LIMITED_RETRY_FLAG != 0,
                ..Command::new(op, lba, sectors)
            };
            DeviceInput::Command { tag: Tag(tag), command, data: payload }
        }
        2 => {
            let fault = serde_json::from_slice(payload).ok()?;
            let at = Nanos(u64::from_le_bytes(*at));
            return Some(LogRecord { at, content: DecodedInput::Fault(Box::new(fault)) });
        }
        6 => DeviceInput::Mark(std::str::from_utf8(payload).ok()?),
        // Kinds without a payload.
        3 | 4 | 5 | 7..=10 if !payload.is_empty() => return None,
        3 => DeviceInput::Power(match detail {
            0 => PowerChange::Cut { force },
            1 => PowerChange::Off,
            2 => PowerChange::On { force },
            _ => return None,
        }),
        4 => DeviceInput::Replace { member: tag.try_into().ok()?, force },
        5 => DeviceInput::Repair,
        10 => DeviceInput::UpdateHandle(PlacementId(u16::from_le_bytes(*placement))),
        7 => DeviceInput::Advance,
        8 => {
            let lba = Lba(u64::from_le_bytes(*lba));
            DeviceInput::ReadMember { tag: Tag(tag), member: detail, lba, sectors }
        }
        9 => DeviceInput::Tear(match detail {
            0 => UnitTear::Nothing,
            1 => UnitTear::Shorn(ShornShare::new((tag >> 16) as u16, tag as u16)?),
            2 if tag != 0 && u64::from(tag).is_multiple_of(SECTOR_BYTES) => UnitTear::Torn { run: tag },
            _ => return None,
        }),
        _ => return None,
    };
    Some(LogRecord { at: Nanos(u64::from_le_bytes(*at)), content: DecodedInput::Input(input) })
}
