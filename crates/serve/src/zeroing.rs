//! Trims and zeroes as sequences of commands of a device.

use outlast_device::{Command, Op};
use outlast_units::{Lba, SECTOR_BYTES};

/// Longest trim. A device splits a trim into units at once, which would hold up other clients of the loop.
const TRIM_BYTES: u64 = 64 << 20;
/// Longest write of zeroes, in bytes.
const WRITE_BYTES: u64 = 1 << 20;

/// Data of writes of zeroes.
pub(crate) static ZEROES: [u8; WRITE_BYTES as usize] = [0; WRITE_BYTES as usize];

/// A range to be trimmed or zeroed, which is cut into commands one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RangeZeroing {
    /// Remaining range, in bytes of the device.
    at: u64,
    end: u64,
    /// Range of whole units that are trimmed. Empty if everything is written.
    trimmed: (u64, u64),
    /// True to write zeroes beside the whole units, false to leave these parts alone.
    writes: bool,
    fua: bool,
}

impl RangeZeroing {
    /// A trim of the whole units in a range: a device cannot forget a part of a unit.
    pub(crate) fn trim(offset: u64, length: u64, unit: u64, fua: bool) -> Self {
        let (first, end) = whole_units(offset, length, unit);
        Self { at: first, end, trimmed: (first, end), writes: false, fua }
    }

    /// Zeroes for a range. Whole units are trimmed if `may_punch`, since they then read as zeroes; the rest is written.
    pub(crate) fn zero(offset: u64, length: u64, unit: u64, may_punch: bool, fua: bool) -> Self {
        let end = offset + length;
        let (first, last) = whole_units(offset, length, unit);
        let trimmed = if may_punch { (first, last) } else { (end, end) };
        Self { at: offset, end, trimmed, writes: true, fua }
    }

    /// True if a part of the range is written.
    pub(crate) fn has_writes(&self) -> bool {
        self.writes && self.trimmed != (self.at, self.end)
    }

    /// True if no command remains.
    pub(crate) fn is_empty(&self) -> bool {
        self.at >= self.end
    }

    /// Next command, with its data.
    pub(crate) fn next(&mut self) -> Option<(Command, &'static [u8])> {
        if self.is_empty() {
            return None;
        }
        // In order: zeroes before the whole units, trims of them, zeroes behind them.
        let (first, last) = self.trimmed;
        let is_trim = first <= self.at && self.at < last;
        let limit = if is_trim {
            last.min(self.at + TRIM_BYTES)
        } else {
            let before = if self.at < first { first } else { self.end };
            before.min(self.end).min(self.at + WRITE_BYTES)
        };
        let length = limit - self.at;
        let op = if is_trim { Op::Trim } else { Op::Write };
        let sectors = (length / SECTOR_BYTES) as u32;
        let command = Command { fua: self.fua, ..Command::new(op, Lba(self.at / SECTOR_BYTES), sectors) };
        self.at = limit;
        Some((command, if is_trim { &[] } else { &ZEROES[..length as usize] }))
    }
}

/// Whole units within a range; an empty range if there are none.
fn whole_units(offset: u64, length: u64, unit: u64) -> (u64, u64) {
    let first = offset.next_multiple_of(unit);
    // Rounded inwards on both sides.
    let end = (offset + length) / unit * unit;
    (first.min(end), end)
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: u64 = 4096;

    /// Operation, first byte and length of each command.
    fn pieces(mut zeroing: RangeZeroing) -> Vec<(Op, u64, u64)> {
        let mut pieces = Vec::new();
        while let Some((command, data)) = zeroing.next() {
            let length = u64::from(command.sectors) * SECTOR_BYTES;
            assert_eq!(data.len() as u64, if command.op == Op::Write { length } else { 0 });
            pieces.push((command.op, command.lba.0 * SECTOR_BYTES, length));
        }
        pieces
    }

    #[test]
    fn only_whole_units_are_trimmed() {
        assert_eq!(pieces(RangeZeroing::trim(512, 4 * UNIT, UNIT, false)), [(Op::Trim, UNIT, 3 * UNIT)]);
        assert_eq!(pieces(RangeZeroing::trim(UNIT, UNIT, UNIT, false)), [(Op::Trim, UNIT, UNIT)]);
        for (offset, length) in [(512, 4096), (512, 512), (4096 + 512, 3584)] {
            assert_eq!(pieces(RangeZeroing::trim(offset, length, UNIT, false)), [], "{offset} {length}");
        }
    }

    #[test]
    fn zeroes_are_trims_between_writes() {
        let zeroing = RangeZeroing::zero(512, 4 * UNIT, UNIT, true, false);
        assert!(zeroing.has_writes());
        let ends = [(Op::Write, 512, 3584), (Op::Trim, UNIT, 3 * UNIT), (Op::Write, 4 * UNIT, 512)];
        assert_eq!(pieces(zeroing), ends);
        let whole = RangeZeroing::zero(UNIT, 2 * UNIT, UNIT, true, false);
        assert!(!whole.has_writes());
        assert_eq!(pieces(whole), [(Op::Trim, UNIT, 2 * UNIT)]);
        let within = RangeZeroing::zero(UNIT + 512, 1024, UNIT, true, false);
        assert!(within.has_writes());
        assert_eq!(pieces(within), [(Op::Write, UNIT + 512, 1024)]);
        let across = RangeZeroing::zero(512, UNIT, UNIT, true, false);
        assert_eq!(pieces(across), [(Op::Write, 512, 3584), (Op::Write, UNIT, 512)]);
    }

    #[test]
    fn long_ranges_come_in_pieces_that_cover_them() {
        for (may_punch, step) in [(false, WRITE_BYTES), (true, TRIM_BYTES)] {
            let length = 3 * step + UNIT;
            let pieces = pieces(RangeZeroing::zero(UNIT, length, UNIT, may_punch, true));
            assert_eq!(pieces.len(), 4);
            let mut at = UNIT;
            for (op, offset, length) in pieces {
                assert_eq!((op == Op::Trim, offset), (may_punch, at));
                assert!(length <= step);
                at += length;
            }
            assert_eq!(at, UNIT + length);
        }
    }
}
