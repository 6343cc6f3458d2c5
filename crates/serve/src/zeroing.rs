//! Trims and zeroes as commands of a device.

use outlast_device::{Command, Op};
use outlast_units::{Lba, SECTOR_BYTES};

/// The longest trim at a time: a device splits it into units at once, and the loop has other clients.
const TRIM_BYTES: u64 = 64 << 20;
/// The longest write of zeroes at a time.
const WRITE_BYTES: u64 = 1 << 20;

/// Zeroes to be written.
pub(crate) static ZEROES: [u8; WRITE_BYTES as usize] = [0; WRITE_BYTES as usize];

/// A range that is to be forgotten or zeroed, from which commands are cut off one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Zeroing {
    /// What is left, in bytes of the device.
    at: u64,
    end: u64,
    /// Whole units in it are trimmed: from here to there. Empty where all is to be written.
    trimmed: (u64, u64),
    /// Whether what lies beside whole units is written with zeroes, or left alone.
    writes: bool,
    fua: bool,
}

impl Zeroing {
    /// A trim: whole units only, as what a device keeps in one piece cannot be forgotten in part.
    pub(crate) fn trim(offset: u64, length: u64, unit: u64, fua: bool) -> Self {
        let (first, end) = whole_units(offset, length, unit);
        Self { at: first, end, trimmed: (first, end), writes: false, fua }
    }

    /// Zeroes: whole units are trimmed where that `may_punch`, which makes them read as zeroes; the rest is written.
    pub(crate) fn zero(offset: u64, length: u64, unit: u64, may_punch: bool, fua: bool) -> Self {
        let end = offset + length;
        let (first, last) = whole_units(offset, length, unit);
        let trimmed = if may_punch { (first, last) } else { (end, end) };
        Self { at: offset, end, trimmed, writes: true, fua }
    }

    /// Whether anything of it is written.
    pub(crate) fn has_writes(&self) -> bool {
        self.writes && self.trimmed != (self.at, self.end)
    }

    /// Whether nothing is left of it.
    pub(crate) fn is_empty(&self) -> bool {
        self.at >= self.end
    }

    /// The next command, with the bytes that it writes.
    pub(crate) fn next(&mut self) -> Option<(Command, &'static [u8])> {
        if self.is_empty() {
            return None;
        }
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

/// The whole units within a range; an empty range where there are none.
fn whole_units(offset: u64, length: u64, unit: u64) -> (u64, u64) {
    let first = offset.next_multiple_of(unit);
    let end = (offset + length) / unit * unit;
    (first.min(end), end)
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: u64 = 4096;

    /// Operation, first byte, bytes.
    fn pieces(mut zeroing: Zeroing) -> Vec<(Op, u64, u64)> {
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
        assert_eq!(pieces(Zeroing::trim(512, 4 * UNIT, UNIT, false)), [(Op::Trim, UNIT, 3 * UNIT)]);
        assert_eq!(pieces(Zeroing::trim(UNIT, UNIT, UNIT, false)), [(Op::Trim, UNIT, UNIT)]);
        for (offset, length) in [(512, 4096), (512, 512), (4096 + 512, 3584)] {
            assert_eq!(pieces(Zeroing::trim(offset, length, UNIT, false)), [], "{offset} {length}");
        }
    }

    #[test]
    fn zeroes_are_trims_between_writes() {
        let zeroing = Zeroing::zero(512, 4 * UNIT, UNIT, true, false);
        assert!(zeroing.has_writes());
        let ends = [(Op::Write, 512, 3584), (Op::Trim, UNIT, 3 * UNIT), (Op::Write, 4 * UNIT, 512)];
        assert_eq!(pieces(zeroing), ends);
        let whole = Zeroing::zero(UNIT, 2 * UNIT, UNIT, true, false);
        assert!(!whole.has_writes());
        assert_eq!(pieces(whole), [(Op::Trim, UNIT, 2 * UNIT)]);
        let within = Zeroing::zero(UNIT + 512, 1024, UNIT, true, false);
        assert!(within.has_writes());
        assert_eq!(pieces(within), [(Op::Write, UNIT + 512, 1024)]);
        let across = Zeroing::zero(512, UNIT, UNIT, true, false);
        assert_eq!(pieces(across), [(Op::Write, 512, 3584), (Op::Write, UNIT, 512)]);
    }

    #[test]
    fn long_ranges_come_in_pieces_that_cover_them() {
        for (may_punch, step) in [(false, WRITE_BYTES), (true, TRIM_BYTES)] {
            let length = 3 * step + UNIT;
            let pieces = pieces(Zeroing::zero(UNIT, length, UNIT, may_punch, true));
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
