//! Reads across zones as sequences of commands of a device, which reads within one zone at a time.

use outlast_device::{Command, Op};
use outlast_units::{Lba, SECTOR_BYTES};

/// A read that goes on in the next zone, cut into one command for each.
#[derive(Clone, Debug)]
pub(crate) struct ZoneReads {
    /// Remaining range, in bytes of the device.
    at: u64,
    end: u64,
    zone_bytes: u64,
    limited_retry: bool,
    /// Bytes that the commands have read so far.
    data: Vec<u8>,
}

impl ZoneReads {
    /// A read of the bytes from `offset` on; `None` if it lies in one zone.
    pub(crate) fn new(offset: u64, length: u64, zone_bytes: u64, limited_retry: bool) -> Option<Self> {
        let is_long = offset % zone_bytes + length > zone_bytes;
        let reads = || Self { at: offset, end: offset + length, zone_bytes, limited_retry, data: Vec::new() };
        is_long.then(reads)
    }

    /// Next command.
    pub(crate) fn next(&mut self) -> Option<Command> {
        let end = self.end.min((self.at / self.zone_bytes + 1) * self.zone_bytes);
        let length = end.checked_sub(self.at).filter(|&length| length > 0)?;
        let (lba, sectors) = (Lba(self.at / SECTOR_BYTES), (length / SECTOR_BYTES) as u32);
        self.at = end;
        Some(Command { limited_retry: self.limited_retry, ..Command::new(Op::Read, lba, sectors) })
    }

    /// Adds what a command has read.
    pub(crate) fn add(&mut self, data: &[u8]) {
        self.data.extend_from_slice(data);
    }

    /// All that has been read.
    pub(crate) fn into_data(self) -> Vec<u8> {
        self.data
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First sector and number of sectors of each command.
    fn pieces(offset: u64, length: u64) -> Vec<(u64, u32)> {
        let mut reads = ZoneReads::new(offset, length, 4096, false);
        let next = || reads.as_mut()?.next().map(|command| (command.lba.0, command.sectors));
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn each_piece_lies_in_one_zone_and_together_they_are_the_range() {
        assert_eq!(pieces(4096 - 512, 1024), [(7, 1), (8, 1)]);
        assert_eq!(pieces(512, 3 * 4096), [(1, 7), (8, 8), (16, 8), (24, 1)]);
        assert_eq!(pieces(0, 2 * 4096), [(0, 8), (8, 8)]);
        assert_eq!(pieces(4096, 4096), [], "a whole zone is none");
        assert_eq!(pieces(4096 + 512, 3584), [], "up to the end of one");
    }
}
