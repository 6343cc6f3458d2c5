//! libCacheSim's `oracleGeneral`, binary little-endian, 24 bytes a record: `clock_time` u32 (seconds), `obj_id` u64, `obj_size` u32 (bytes),
//! `next_access_vtime` i64 (number of the next request for the same object, -1 or 2^63 - 1 if there is none).
//! Layout: libCacheSim's oracleGeneralBin.h.
//!
//! A cache's trace does not tell reads from writes: all are reads. Made of a block trace, `obj_id` is the sector.

use super::context::{DecodeContext, ParsedLine, TraceRecord};
use crate::trace::fields::{self, FieldFault, fault};
use outlast_device::Op;

/// Bytes of a record.
pub(crate) const RECORD_BYTES: usize = 24;
/// Fewest records by which the format is recognised: each has 63 bits of `next_access_vtime` that must fit.
const FEWEST: usize = 4;
/// Bytes that no host asks for at once.
const HUGE: u32 = 256 << 20;

/// The fields of a record.
struct CacheRequest {
    time: u32,
    object: u64,
    size: u32,
    next: i64,
}

impl CacheRequest {
    /// `None` if `bytes` are fewer than a record.
    fn of(bytes: &[u8]) -> Option<Self> {
        let (time, rest) = bytes.split_first_chunk()?;
        let (object, rest) = rest.split_first_chunk()?;
        let (size, rest) = rest.split_first_chunk()?;
        let (next, _) = rest.split_first_chunk()?;
        Some(Self {
            time: u32::from_le_bytes(*time),
            object: u64::from_le_bytes(*object),
            size: u32::from_le_bytes(*size),
            next: i64::from_le_bytes(*next),
        })
    }
}

/// True if the first records can only be of this format: times ascend, sizes are possible, and each next access lies ahead.
pub(crate) fn is_oracle_general(start: &[u8]) -> bool {
    let requests: Vec<CacheRequest> = start.chunks_exact(RECORD_BYTES).filter_map(CacheRequest::of).collect();
    requests.len() >= FEWEST
        && requests.is_sorted_by_key(|request| request.time)
        && requests.iter().any(|request| request.size > 0)
        && (0i64..).zip(&requests).all(|(index, CacheRequest { size, next, .. })| {
            *size < HUGE && (matches!(*next, -1 | i64::MAX) || (*next > index && *next < 1 << 48))
        })
}

/// Decodes one record. Requests for nothing are skipped.
pub(super) fn record(context: &mut DecodeContext, bytes: &[u8]) -> Result<ParsedLine, Box<FieldFault>> {
    let short = || fault("record", bytes.len().to_string().as_bytes(), format!("{RECORD_BYTES} bytes"));
    let CacheRequest { time, object, size, .. } = CacheRequest::of(bytes).ok_or_else(short)?;
    if size == 0 {
        return Ok(ParsedLine::Skip);
    }
    let text = object.to_string();
    let end = || fault("obj_id", text.as_bytes(), "a sector that ends below 2^64 bytes, as of a block trace");
    let start = object.checked_mul(512).ok_or_else(end)?;
    let (lba, sectors, rounded) =
        fields::bytes(start, u64::from(size), text.as_bytes(), size.to_string().as_bytes())?;
    context.rounded += u64::from(rounded);
    let device = context.devices.id(b"0")?;
    let time = u64::from(time) * context.unit;
    Ok(ParsedLine::One(TraceRecord {
        time,
        device,
        lba,
        sectors,
        op: Op::Read,
        fua: false,
        ..TraceRecord::PLAIN
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::TraceFormat;

    fn bytes(time: u32, object: u64, size: u32, next: i64) -> Vec<u8> {
        [&time.to_le_bytes()[..], &object.to_le_bytes(), &size.to_le_bytes(), &next.to_le_bytes()].concat()
    }

    #[test]
    fn only_plausible_records_are_recognised() {
        let good =
            [bytes(5, 9, 512, -1), bytes(5, 8, 6656, 3), bytes(6, 7, 512, i64::MAX), bytes(6, 8, 1, 9)];
        assert!(is_oracle_general(&good.concat()));
        assert!(!is_oracle_general(&good[..3].concat()), "too few");
        for bad in [bytes(4, 1, 1, -1), bytes(7, 1, HUGE, -1), bytes(7, 1, 1, 2), bytes(7, 1, 1, -2)] {
            assert!(!is_oracle_general(&[good.concat(), bad].concat()));
        }
        assert!(!is_oracle_general(&[0; 240]), "next accesses lie ahead");
        assert!(!is_oracle_general(&[0xff; 240]));
    }

    #[test]
    fn records_are_reads_of_sectors() {
        let mut context =
            DecodeContext { unit: 1_000_000_000, ..DecodeContext::new(TraceFormat::OracleGeneral) };
        let read = TraceRecord {
            time: 5_000_000_000,
            device: 0,
            lba: 9,
            sectors: 13,
            op: Op::Read,
            fua: false,
            ..TraceRecord::PLAIN
        };
        assert_eq!(record(&mut context, &bytes(5, 9, 6656, -1)), Ok(ParsedLine::One(read)));
        assert_eq!(record(&mut context, &bytes(5, 9, 0, -1)), Ok(ParsedLine::Skip));
        assert_eq!(record(&mut context, &bytes(5, u64::MAX, 1, -1)).unwrap_err().field, "obj_id");
        assert!(record(&mut context, &[0; 23]).is_err());
    }
}
