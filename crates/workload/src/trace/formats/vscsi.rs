//! `CloudPhysics` vscsiStats, binary little-endian. Record layouts as in libCacheSim's vscsi.h:
//! version 1 (32 bytes): sn u32, len u32 (bytes), nSG u32, cmd u16, ver u16, lbn u64, ts u64 (microseconds);
//! version 2 (40 bytes): cmd u16, ver u16, sn u32, len u32, nSG u32, lbn u64, ts u64, rt u64. The upper byte of `ver` is
//! the version.

use super::context::{DecodeContext, ParsedLine, TraceRecord};
use super::vscsi_version::VscsiVersion;
use crate::trace::fields::{self, FieldFault, fault};
use outlast_device::Op;

/// Records whose version bytes are compared: in other data that many bytes are not the same by chance.
const MARKED: usize = 16;

/// The version that the first records have in common, up to [`MARKED`] of them.
pub(crate) fn detect_version(start: &[u8]) -> Option<VscsiVersion> {
    let has_mark = |version: VscsiVersion, mark: u8| {
        let mut records = start.chunks_exact(version.record_bytes()).take(MARKED).peekable();
        records.peek().is_some() && records.all(|record| record[version.ver_at() + 1] == mark)
    };
    if has_mark(VscsiVersion::Two, 2) {
        Some(VscsiVersion::Two)
    } else {
        has_mark(VscsiVersion::One, 1).then_some(VscsiVersion::One)
    }
}

/// `N` bytes of a record from offset `at`; zeros if it is shorter.
fn field<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut value = [0; N];
    if let Some(part) = bytes.get(at..at + N) {
        value.copy_from_slice(part);
    }
    value
}

/// Decodes one record. Commands other than reads and writes are skipped, as are transfers of no bytes, which SCSI allows.
pub(super) fn record(context: &mut DecodeContext, bytes: &[u8]) -> Result<ParsedLine, Box<FieldFault>> {
    let version = context.vscsi;
    let (cmd, len, lbn, ts) = match version {
        VscsiVersion::One => (12, 4, 16, 24),
        VscsiVersion::Two => (0, 8, 16, 24),
    };
    let mark = bytes.get(version.ver_at() + 1).copied().unwrap_or(0);
    let expected = match version {
        VscsiVersion::One => 1,
        VscsiVersion::Two => 2,
    };
    if mark != expected {
        return Err(fault(
            "ver",
            mark.to_string().as_bytes(),
            format!("version {expected} as in the first record"),
        ));
    }
    let op = match u16::from_le_bytes(field(bytes, cmd)) {
        // READ and WRITE of 6, 10, 12 and 16 bytes (SCSI Block Commands).
        0x08 | 0x28 | 0xa8 | 0x88 => Op::Read,
        0x0a | 0x2a | 0xaa | 0x8a => Op::Write,
        _ => return Ok(ParsedLine::Skip),
    };
    let len = u32::from_le_bytes(field(bytes, len));
    if len == 0 {
        return Ok(ParsedLine::Skip);
    }
    let lbn = u64::from_le_bytes(field(bytes, lbn));
    let ts = u64::from_le_bytes(field(bytes, ts));
    let text = || lbn.to_string();
    let offset =
        lbn.checked_mul(512).ok_or_else(|| fault("lbn", text().as_bytes(), "an end below 2^64 bytes"))?;
    let range = fields::bytes(offset, u64::from(len), b"", b"");
    // The numbers become text only for a message, because formatting them for every record costs more than decoding it.
    let range = range
        .or_else(|_| fields::bytes(offset, u64::from(len), text().as_bytes(), len.to_string().as_bytes()));
    let (lba, sectors, rounded) = range?;
    context.rounded += u64::from(rounded);
    let time =
        ts.checked_mul(1000).ok_or_else(|| fault("ts", ts.to_string().as_bytes(), "below 2^64 / 1000 us"))?;
    let device = context.devices.id(b"0")?;
    Ok(ParsedLine::One(TraceRecord { time, device, lba, sectors, op, fua: false, ..TraceRecord::PLAIN }))
}
