//! What is recorded today: bcc's `biosnoop`, and the tracepoint `block_rq_issue` as `perf script` or ftrace print it.

use super::blkparse::parse_rwbs;
use super::context::{DecodeContext, ParsedLine, TraceRecord};
use super::split::LineWords;
use crate::trace::fields::{self, FieldFault, fault, whole};
use outlast_device::Op;

/// The name of the tracepoint, as its lines end the word before its fields.
const EVENT: &[u8] = b"block_rq_issue:";
/// Most words of a line that are looked at.
const MOST_WORDS: usize = 32;

/// True if `line` is the header of biosnoop: `TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)`, with further columns in some versions.
pub(crate) fn is_biosnoop_header(line: &[u8]) -> bool {
    let words: Vec<&[u8]> = LineWords::of(line).take(MOST_WORDS).collect();
    words.starts_with(&[b"TIME(s)", b"COMM", b"PID", b"DISK", b"T", b"SECTOR", b"BYTES"])
}

/// True if `line` is an event of `block_rq_issue`.
pub(crate) fn is_block_rq(line: &[u8]) -> bool {
    LineWords::of(line).any(|word| word.ends_with(EVENT))
}

/// Decodes a line of biosnoop: `0.000238 lab001 5689 sdb R 387920 4096 0.20`. The name of a process may have blanks, so columns are counted
/// from the letter of the operation on; a line without a disk is a request of no medium.
/// Format: `biosnoop.py` of github.com/iovisor/bcc.
pub(super) fn biosnoop(
    context: &mut DecodeContext,
    line: &[u8],
    number: u64,
) -> Result<ParsedLine, Box<FieldFault>> {
    if number == 1 && is_biosnoop_header(line) {
        return Ok(ParsedLine::Skip);
    }
    let words: Vec<&[u8]> = LineWords::of(line).take(MOST_WORDS).collect();
    // Behind the letter stand the sector, the bytes, and one or two latencies.
    let is_op = |index: usize| matches!(words[index], b"R" | b"W" | b"D" | b"F" | b"N");
    let is_number = |index: usize| words.get(index).is_some_and(|word| word.iter().all(u8::is_ascii_digit));
    let found =
        (3..words.len()).rev().find(|&index| is_op(index) && is_number(index + 1) && is_number(index + 2));
    let Some(at) = found else {
        return Err(fault("line", line, "TIME COMM PID DISK T SECTOR BYTES LAT"));
    };
    let (disk, sector, bytes) = (words[at - 1], words[at + 1], words[at + 2]);
    let op = match words[at] {
        b"R" => Op::Read,
        b"W" => Op::Write,
        b"D" => Op::Trim,
        _ => return Ok(ParsedLine::Skip),
    };
    // Without a disk, the column before the letter is the process's number.
    let is_empty = disk.iter().all(u8::is_ascii_digit) || bytes == b"0" || sector == b"18446744073709551615";
    if is_empty {
        return Ok(ParsedLine::Skip);
    }
    let time = fields::time(words[0], context.unit)?;
    let start = whole("SECTOR", sector)?.checked_mul(512);
    let start = start.ok_or_else(|| fault("SECTOR", sector, "an end below 2^64 bytes"))?;
    let (lba, sectors, is_rounded) = fields::bytes(start, whole("BYTES", bytes)?, sector, bytes)?;
    context.rounded += u64::from(is_rounded);
    let device = context.devices.id(disk)?;
    Ok(ParsedLine::One(TraceRecord { time, device, lba, sectors, op, fua: false, ..TraceRecord::PLAIN }))
}

/// Decodes an event: `fio 1234 [001] 12.345678: block:block_rq_issue: 259,0 WS 4096 () 123 + 8 [fio]`; lines of other events and of the
/// stack are skipped.
/// Format: `include/trace/events/block.h` of Linux.
pub(super) fn block_rq(context: &mut DecodeContext, line: &[u8]) -> Result<ParsedLine, Box<FieldFault>> {
    let mut words = LineWords::of(line);
    let mut before: &[u8] = &[];
    loop {
        match words.next() {
            None => return Ok(ParsedLine::Skip),
            Some(word) if word.ends_with(EVENT) => break,
            Some(word) => before = word,
        }
    }
    let time = fields::time(before.strip_suffix(b":").unwrap_or(before), context.unit)?;
    let missing = || fault("line", line, "device, rwbs, bytes, (command), sector + sectors");
    let (device, rwbs) = (words.next().ok_or_else(missing)?, words.next().ok_or_else(missing)?);
    let flags = parse_rwbs(rwbs)?;
    let rest: Vec<&[u8]> = words.take(MOST_WORDS).collect();
    let plus = rest.iter().rposition(|&word| word == b"+");
    let range = plus.filter(|&at| at > 0).and_then(|at| Some((rest[at - 1], *rest.get(at + 1)?)));
    let device = context.devices.id(device)?;
    let flush =
        TraceRecord { time, device, lba: 0, sectors: 0, op: Op::Flush, fua: false, ..TraceRecord::PLAIN };
    let is_empty = range.is_none_or(|(_, size)| size == b"0");
    match (flags.op, range) {
        (Some(Op::Flush), _) => Ok(ParsedLine::One(flush)),
        _ if is_empty && flags.preflush => Ok(ParsedLine::One(flush)),
        (None, _) => Ok(ParsedLine::Skip),
        _ if is_empty => Ok(ParsedLine::Skip),
        (Some(op), Some((address, size))) => {
            let (lba, sectors) =
                fields::sectors(whole("sector", address)?, whole("size", size)?, address, size)?;
            let record = TraceRecord {
                time,
                device,
                lba,
                sectors,
                op,
                fua: flags.fua && op == Op::Write,
                ..TraceRecord::PLAIN
            };
            Ok(if flags.preflush { ParsedLine::FlushThen(record) } else { ParsedLine::One(record) })
        }
        (Some(_), None) => Err(missing()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::TraceFormat;

    fn decode(format: TraceFormat, line: &str) -> Result<ParsedLine, Box<FieldFault>> {
        let mut context = DecodeContext { unit: 1_000_000_000, ..DecodeContext::new(format) };
        context.line(line.as_bytes(), 2)
    }

    fn one(time: u64, lba: u64, sectors: u32, op: Op) -> ParsedLine {
        ParsedLine::One(TraceRecord { time, device: 0, lba, sectors, op, fua: false, ..TraceRecord::PLAIN })
    }

    #[test]
    fn biosnoop_is_read_with_blanks_in_names_and_without_disks() {
        let decode = |line| decode(TraceFormat::Biosnoop, line);
        let read = one(238_000, 387_920, 8, Op::Read);
        assert_eq!(decode("0.000238    lab001         5689   sdb     R 387920     4096      0.20"), Ok(read));
        assert_eq!(decode("0.000238 Web Content 5689 sdb R 387920 4096 0.00 0.20"), Ok(read));
        assert_eq!(decode("0.5 ? 0  R 18446744073709551615 8 0.2"), Ok(ParsedLine::Skip));
        assert_eq!(decode("0.5 smartd 811 sda N 0 512 0.2"), Ok(ParsedLine::Skip));
        assert!(decode("0.5 smartd 811 sda").is_err());
        assert!(is_biosnoop_header(
            b"TIME(s)     COMM           PID    DISK      T SECTOR     BYTES  QUE(ms) LAT(ms)"
        ));
    }

    #[test]
    fn block_rq_is_read_from_perf_and_from_ftrace() {
        let decode = |line| decode(TraceFormat::BlockRq, line);
        let write = one(12_345_678_000, 123, 8, Op::Write);
        let perf = "fio 1234 [001]    12.345678: block:block_rq_issue: 259,0 WS 4096 () 123 + 8 [fio]";
        let ftrace = "  kworker/0:1H-99  [000] d..1.    12.345678: block_rq_issue: 8,0 W 4096 () 123 + 8 be,0,4 [kworker/0:1H]";
        assert_eq!(decode(perf), Ok(write));
        assert_eq!(decode(ftrace), Ok(write));
        assert_eq!(
            decode("  a-1 [0] d.. 1.5: block_rq_complete: 8,0 W () 123 + 8 [0]"),
            Ok(ParsedLine::Skip)
        );
        let flush = ParsedLine::One(TraceRecord {
            time: 1_500_000_000,
            device: 0,
            lba: 0,
            sectors: 0,
            op: Op::Flush,
            fua: false,
            ..TraceRecord::PLAIN
        });
        assert_eq!(decode("a-1 [0] d.. 1.5: block_rq_issue: 8,0 FF 0 () 0 + 0 [a]"), Ok(flush));
        assert_eq!(
            decode("a-1 [0] d.. 1.5: block_rq_issue: 8,0 N 96 (12 00 00) 0 + 0 [a]"),
            Ok(ParsedLine::Skip)
        );
        assert!(decode("a-1 [0] d.. 1.5: block_rq_issue: 8,0 X 0 () 0 + 0 [a]").is_err());
    }
}
