//! Commands of the Zoned Namespace Command Set, byte by byte as the specification has them.

use super::WireCommand;

/// A zone as a report describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReportedZone {
    /// State, as its code.
    pub(crate) state: u8,
    pub(crate) capacity: u64,
    pub(crate) start: u64,
    pub(crate) write_pointer: u64,
    /// ZRWA Valid.
    pub(crate) has_area: bool,
}

impl WireCommand {
    /// Zone Append of blocks of 4096 bytes to the zone that begins at `zone`.
    pub(crate) fn append(zone: u64, data: Vec<u8>) -> Self {
        Self::range(0x7D, zone, data.len() as u64 / 4096, 0).with_data(data)
    }

    /// Write of blocks of 4096 bytes.
    pub(crate) fn write_long(lba: u64, data: Vec<u8>) -> Self {
        Self::range(0x01, lba, data.len() as u64 / 4096, 0).with_data(data)
    }

    /// Read of blocks of 4096 bytes.
    pub(crate) fn read_long(lba: u64, blocks: u64) -> Self {
        Self::range(0x02, lba, blocks, 0).returning(blocks as usize * 4096)
    }

    /// Zone Management Send: an action by its code.
    pub(crate) fn zone_action(zone: u64, action: u32) -> Self {
        Self::new(0x79, 1, [zone as u32, (zone >> 32) as u32, 0, action, 0, 0])
    }

    /// The action on all zones whose state calls for it.
    pub(crate) fn all_zones(action: u32) -> Self {
        Self::zone_action(0, action | 1 << 8)
    }

    /// Zone Management Receive: zones of the reporting option from that of block `lba` on.
    pub(crate) fn report_zones(lba: u64, option: u32, is_partial: bool, bytes: u32) -> Self {
        let flags = option << 8 | u32::from(is_partial) << 16;
        Self::new(0x7A, 1, [lba as u32, (lba >> 32) as u32, bytes / 4 - 1, flags, 0, 0])
            .returning(bytes as usize)
    }
}

/// The number of zones that a report names, and the zones that it describes.
pub(crate) fn reported(page: &[u8]) -> (u64, Vec<ReportedZone>) {
    let long = |at: usize| u64::from_le_bytes(page[at..at + 8].try_into().unwrap());
    let zone = |at: usize| {
        assert_eq!(page[at], 2, "Sequential Write Required");
        ReportedZone {
            state: page[at + 1] >> 4,
            capacity: long(at + 8),
            start: long(at + 16),
            write_pointer: long(at + 24),
            has_area: page[at + 2] & 1 << 3 != 0,
        }
    };
    let places = (64..).step_by(64).take_while(|at| at + 64 <= page.len());
    (long(0), places.filter(|&at| page[at] != 0).map(zone).collect())
}
