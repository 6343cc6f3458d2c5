//! `CloudPhysics` vscsiStats, binary little-endian. Record layouts as in libCacheSim's vscsi.h:
//! version 1 (32 bytes): sn u32, len u32 (bytes), nSG u32, cmd u16, ver u16, lbn u64, ts u64 (microseconds);
//! version 2 (40 bytes): cmd u16, ver u16, sn u32, len u32, nSG u32, lbn u64, ts u64, rt u64. The upper byte of `ver` is
//! the version.

use super::context::{Context, Parsed, Record};
use super::version::Version;
use crate::trace::fields::{self, Fault, fault};
use outlast_device::Op;

/// Records whose marks tell the version: that a byte of each of them is the same by chance does not happen.
const MARKED: usize = 16;

/// The version whose mark the first records bear, as many of them as there are.
pub(crate) fn version(start: &[u8]) -> Option<Version> {
    let bears = |version: Version, mark: u8| {
        let mut records = start.chunks_exact(version.record_bytes()).take(MARKED).peekable();
        records.peek().is_some() && records.all(|record| record[version.ver_at() + 1] == mark)
    };
    if bears(Version::Two, 2) { Some(Version::Two) } else { bears(Version::One, 1).then_some(Version::One) }
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut field = [0; N];
    if let Some(part) = bytes.get(at..at + N) {
        field.copy_from_slice(part);
    }
    field
}

/// Decodes one record. Commands other than reads and writes are skipped, as are transfers of no bytes, which SCSI allows.
pub(super) fn record(context: &mut Context, bytes: &[u8]) -> Result<Parsed, Box<Fault>> {
    let version = context.vscsi;
    let (cmd, len, lbn, ts) = match version {
        Version::One => (12, 4, 16, 24),
        Version::Two => (0, 8, 16, 24),
    };
    let mark = bytes.get(version.ver_at() + 1).copied().unwrap_or(0);
    let expected = match version {
        Version::One => 1,
        Version::Two => 2,
    };
    if mark != expected {
        return Err(fault(
            "ver",
            mark.to_string().as_bytes(),
            format!("version {expected} as in the first record"),
        ));
    }
    let op = match u16::from_le_bytes(number(bytes, cmd)) {
        // READ and WRITE of 6, 10, 12 and 16 bytes (SCSI Block Commands).
        0x08 | 0x28 | 0xa8 | 0x88 => Op::Read,
        0x0a | 0x2a | 0xaa | 0x8a => Op::Write,
        _ => return Ok(Parsed::Skip),
    };
    let len = u32::from_le_bytes(number(bytes, len));
    if len == 0 {
        return Ok(Parsed::Skip);
    }
    let lbn = u64::from_le_bytes(number(bytes, lbn));
    let ts = u64::from_le_bytes(number(bytes, ts));
    let text = || lbn.to_string();
    let offset =
        lbn.checked_mul(512).ok_or_else(|| fault("lbn", text().as_bytes(), "an end below 2^64 bytes"))?;
    let range = fields::bytes(offset, u64::from(len), b"", b"");
    // The numbers are made text only for a message.
    let range = range
        .or_else(|_| fields::bytes(offset, u64::from(len), text().as_bytes(), len.to_string().as_bytes()));
    let (lba, sectors, rounded) = range?;
    context.rounded += u64::from(rounded);
    let time =
        ts.checked_mul(1000).ok_or_else(|| fault("ts", ts.to_string().as_bytes(), "below 2^64 / 1000 us"))?;
    let device = context.devices.id(b"0")?;
    Ok(Parsed::One(Record { time, device, lba, sectors, op, fua: false }))
}
