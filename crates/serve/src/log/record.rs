//! One record: an input and its time as bytes.
//!
//! | bytes | what |
//! |---|---|
//! | 4 | length of what follows the checksum: 28 and the payload |
//! | 4 | CRC-32C of the [`Place`], the length, and what follows |
//! | 8 | time in nanoseconds |
//! | 1 | kind |
//! | 1 | of a command the operation, of power what it does, of the read of a member the member, of what power leaves whether it is shorn or torn |
//! | 1 | stream hint of a write |
//! | 1 | flags: 1 forced unit access, or force |
//! | 4 | tag of a command or of the read of a member, or member, or bytes of a run that is torn, or how much of a unit is shorn: parts in the upper 16 bits, in the lower how many make the whole |
//! | 8 | first sector |
//! | 4 | sectors |
//! | | the bytes of a write; a fault as JSON; the text of a mark |
//!
//! Numbers are little-endian. A checksum covers the place of its record, so that no record counts that is elsewhere: neither one of another
//! image, nor one that a client has stored as its data.

use super::Place;
use crate::input::{Input, Power};
use outlast_device::{Command, Op, QueueId, StreamId, Tag};
use outlast_media::{FaultSpec, Share, Tear};
use outlast_units::{Lba, Nanos, SECTOR_BYTES};

/// Bytes before the payload.
pub(super) const HEADER: usize = 36;
/// Where in a record its payload begins.
pub(crate) const PAYLOAD: u64 = HEADER as u64;
/// Bytes of length and checksum.
pub(super) const PREFIX: usize = 8;
/// Bytes of a payload at most: the longest write that a client may send is 32 MiB.
pub const LONGEST: usize = 64 << 20;

const FLAG: u8 = 1;

/// An input with its time, read from a log.
#[derive(Clone, Debug, PartialEq)]
pub struct Record<'a> {
    /// When the input came.
    pub at: Nanos,
    kept: Kept<'a>,
}

#[derive(Clone, Debug, PartialEq)]
enum Kept<'a> {
    Input(Input<'a>),
    Fault(Box<FaultSpec>),
}

impl Record<'_> {
    /// The input.
    pub fn input(&self) -> Input<'_> {
        match &self.kept {
            Kept::Input(input) => *input,
            Kept::Fault(fault) => Input::Fault(fault),
        }
    }
}

/// The fields of a record that are not the payload.
#[derive(Clone, Copy, Default)]
struct Fields {
    kind: u8,
    what: u8,
    stream: u8,
    flags: u8,
    tag: u32,
    lba: u64,
    sectors: u32,
}

/// Appends the record of `input` at `at`, which will lie at `place`.
pub(super) fn encode(buffer: &mut Vec<u8>, place: &Place, at: Nanos, input: &Input<'_>) {
    let text;
    let (fields, payload): (Fields, &[u8]) = match *input {
        Input::Command { tag, command, data } => (of_command(tag, &command), data),
        Input::ReadMember { tag, member, lba, sectors } => {
            (Fields { kind: 8, what: member, tag: tag.0, lba: lba.0, sectors, ..Fields::default() }, &[])
        }
        Input::Fault(fault) => {
            text = serde_json::to_vec(fault).unwrap_or_default();
            (Fields { kind: 2, ..Fields::default() }, &text)
        }
        Input::Power(power) => {
            let (what, force) = match power {
                Power::Cut { force } => (0, force),
                Power::Off => (1, false),
                Power::On { force } => (2, force),
            };
            (Fields { kind: 3, what, flags: u8::from(force) * FLAG, ..Fields::default() }, &[])
        }
        Input::Tear(tear) => {
            let (what, tag) = match tear {
                Tear::Nothing => (0, 0),
                Tear::Shorn(share) => (1, u32::from(share.parts().0) << 16 | u32::from(share.parts().1)),
                Tear::Torn { run } => (2, run),
            };
            (Fields { kind: 9, what, tag, ..Fields::default() }, &[])
        }
        Input::Replace { member, force } => {
            let flags = u8::from(force) * FLAG;
            (Fields { kind: 4, flags, tag: member.into(), ..Fields::default() }, &[])
        }
        Input::Repair => (Fields { kind: 5, ..Fields::default() }, &[]),
        Input::Mark(text) => (Fields { kind: 6, ..Fields::default() }, text.as_bytes()),
        Input::Advance => (Fields { kind: 7, ..Fields::default() }, &[]),
    };
    let start = buffer.len();
    let len = (HEADER - PREFIX + payload.len()) as u32;
    buffer.extend_from_slice(&len.to_le_bytes());
    buffer.extend_from_slice(&[0; 4]);
    buffer.extend_from_slice(&at.0.to_le_bytes());
    buffer.extend_from_slice(&[fields.kind, fields.what, fields.stream, fields.flags]);
    buffer.extend_from_slice(&fields.tag.to_le_bytes());
    buffer.extend_from_slice(&fields.lba.to_le_bytes());
    buffer.extend_from_slice(&fields.sectors.to_le_bytes());
    buffer.extend_from_slice(payload);
    let sum = checksum(place, len, &buffer[start + PREFIX..]);
    buffer[start + 4..start + PREFIX].copy_from_slice(&sum.to_le_bytes());
}

fn of_command(tag: Tag, command: &Command) -> Fields {
    debug_assert_eq!(
        command.queue,
        QueueId(0),
        "the log keeps no queue: commands of clients come through the first"
    );
    Fields {
        kind: 1,
        what: command.op as u8,
        stream: command.stream.0,
        flags: u8::from(command.fua) * FLAG,
        tag: tag.0,
        lba: command.lba.0,
        sectors: command.sectors,
    }
}

/// The checksum of a record at `place`.
pub(super) fn checksum(place: &Place, len: u32, body: &[u8]) -> u32 {
    let sum = crc32c::crc32c(&place.to_bytes());
    crc32c::crc32c_append(crc32c::crc32c_append(sum, &len.to_le_bytes()), body)
}

/// The record whose bytes after the checksum are `body`; `None` where they are none, although the checksum says so.
pub(super) fn decode(body: &[u8]) -> Option<Record<'_>> {
    let (fixed, payload) = body.split_first_chunk::<{ HEADER - PREFIX }>()?;
    let (at, rest) = fixed.split_first_chunk::<8>()?;
    let &[kind, what, stream, flags, ref rest @ ..] = rest else { return None };
    let (tag, rest) = rest.split_first_chunk::<4>()?;
    let (lba, rest) = rest.split_first_chunk::<8>()?;
    let sectors = u32::from_le_bytes(rest.try_into().ok()?);
    let (tag, force) = (u32::from_le_bytes(*tag), flags == FLAG);
    if flags > FLAG {
        return None;
    }
    let input = match kind {
        1 => {
            let op = [Op::Read, Op::Write, Op::Trim, Op::Flush, Op::LbaStatus].into_iter();
            let op = op.into_iter().find(|&op| op as u8 == what)?;
            let needed = if op == Op::Write { u64::from(sectors) * SECTOR_BYTES } else { 0 };
            if payload.len() as u64 != needed {
                return None;
            }
            let lba = Lba(u64::from_le_bytes(*lba));
            let command = Command { stream: StreamId(stream), fua: force, ..Command::new(op, lba, sectors) };
            Input::Command { tag: Tag(tag), command, data: payload }
        }
        2 => {
            let fault = serde_json::from_slice(payload).ok()?;
            let at = Nanos(u64::from_le_bytes(*at));
            return Some(Record { at, kept: Kept::Fault(Box::new(fault)) });
        }
        6 => Input::Mark(std::str::from_utf8(payload).ok()?),
        3 | 4 | 5 | 7..=9 if !payload.is_empty() => return None,
        3 => Input::Power(match what {
            0 => Power::Cut { force },
            1 => Power::Off,
            2 => Power::On { force },
            _ => return None,
        }),
        4 => Input::Replace { member: tag.try_into().ok()?, force },
        5 => Input::Repair,
        7 => Input::Advance,
        8 => {
            let lba = Lba(u64::from_le_bytes(*lba));
            Input::ReadMember { tag: Tag(tag), member: what, lba, sectors }
        }
        9 => Input::Tear(match what {
            0 => Tear::Nothing,
            1 => Tear::Shorn(Share::new((tag >> 16) as u16, tag as u16)?),
            2 if tag != 0 && u64::from(tag).is_multiple_of(SECTOR_BYTES) => Tear::Torn { run: tag },
            _ => return None,
        }),
        _ => return None,
    };
    Some(Record { at: Nanos(u64::from_le_bytes(*at)), kept: Kept::Input(input) })
}
