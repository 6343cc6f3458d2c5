//! Get LBA Status: which blocks are potentially unrecoverable (NVM Command Set; Base Specification 1.4, section 5.27).

use crate::bytes::put;
use crate::device::LostRange;
use crate::entry::SubmissionEntry;
use crate::facts::{LONGEST_TRANSFER, NamespaceFacts, SubsystemFacts};
use crate::status::NvmeStatus;

/// Kinds of request: with a scan of the media, or of what the device keeps track of. A device knows all that it has lost, so both are the same.
const SCAN: u8 = 0x10;
const TRACKED: u8 = 0x11;

/// Length of the head and of each descriptor, in bytes.
const HEAD_BYTES: usize = 8;
const DESCRIPTOR_BYTES: usize = 16;

/// Conditions in which the list ends.
const MORE_THAN_ROOM: u8 = 1;
const COMPLETE: u8 = 2;

/// A Get LBA Status command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LbaStatusRequest {
    /// First block.
    pub(crate) first: u64,
    pub(crate) blocks: u64,
    /// Bytes to return.
    pub(crate) room: usize,
}

impl LbaStatusRequest {
    /// Bytes that a command asks for.
    pub(crate) fn room(entry: &SubmissionEntry) -> Result<usize, NvmeStatus> {
        let bytes = (u64::from(entry.dword(12)) + 1) * 4;
        if (HEAD_BYTES as u64..=LONGEST_TRANSFER).contains(&bytes) {
            Ok(bytes as usize)
        } else {
            Err(NvmeStatus::INVALID_FIELD)
        }
    }

    pub(crate) fn read(entry: &SubmissionEntry, facts: &NamespaceFacts) -> Result<Self, NvmeStatus> {
        let (first, room) = (entry.two_dwords(10), Self::room(entry)?);
        let (range, kind) = (u64::from(entry.dword(13) as u16), (entry.dword(13) >> 24) as u8);
        if !matches!(kind, SCAN | TRACKED) {
            return Err(NvmeStatus::INVALID_FIELD);
        }
        if first >= facts.blocks || range > facts.blocks - first {
            return Err(NvmeStatus::LBA_OUT_OF_RANGE);
        }
        // A range of 0 is everything up to the end.
        let blocks = if range == 0 { facts.blocks - first } else { range };
        Ok(Self { first, blocks, room })
    }
}

/// Descriptors that have room in so many bytes.
fn places(room: usize) -> usize {
    (room - HEAD_BYTES) / DESCRIPTOR_BYTES
}

/// True if the list of `ranges` has no room in so many bytes, whatever comes behind them.
pub(crate) fn is_more_than(ranges: &[LostRange], room: usize, facts: &NamespaceFacts) -> bool {
    ranges.len() > places(room) && blocks_of(ranges, facts).len() > places(room)
}

/// The list of `ranges` of a namespace, as many as have room.
pub(crate) fn list(ranges: &[LostRange], room: usize, facts: &NamespaceFacts) -> Vec<u8> {
    let mut page = vec![0; room];
    let places = places(room);
    let pieces = blocks_of(ranges, facts).into_iter().flat_map(pieces_of);
    let mut count = 0;
    let mut condition = COMPLETE;
    for (first, blocks) in pieces {
        if count == places {
            condition = MORE_THAN_ROOM;
            break;
        }
        let at = HEAD_BYTES + count * DESCRIPTOR_BYTES;
        put(&mut page, at, &first.to_le_bytes());
        put(&mut page, at + 8, &blocks.to_le_bytes());
        count += 1;
    }
    put(&mut page, 0, &(count as u32).to_le_bytes());
    page[4] = condition;
    page
}

/// Ranges of a namespace as first blocks and ends, in order; those that meet in a block, or touch, are one.
pub(crate) fn blocks_of(ranges: &[LostRange], facts: &NamespaceFacts) -> Vec<(u64, u64)> {
    let block = u64::from(facts.block_bytes);
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for range in ranges {
        let offset = range.offset - facts.offset;
        let (first, end) = (offset / block, (offset + range.length).div_ceil(block));
        match joined.last_mut() {
            Some(last) if first <= last.1 => last.1 = last.1.max(end),
            _ => joined.push((first, end)),
        }
    }
    joined
}

/// A range of blocks in pieces whose number of blocks fits its field.
pub(crate) fn pieces_of((first, end): (u64, u64)) -> impl Iterator<Item = (u64, u32)> {
    let step = u64::from(u32::MAX);
    (first..end).step_by(u32::MAX as usize).map(move |at| (at, (end - at).min(step) as u32))
}

/// Length of the head of the log of LBA status, and of the head of a namespace in it, in bytes.
const LOG_HEAD_BYTES: usize = 16;

/// The log of LBA status, as all hosts of a subsystem see it.
#[derive(Clone, Debug, Default)]
pub(crate) struct LbaStatusLog {
    /// Lost blocks by namespace, as the log had them last: first blocks and ends.
    lost: Vec<Vec<(u64, u64)>>,
    /// Number of changes of the contents so far; goes round.
    generation: u16,
}

impl LbaStatusLog {
    /// The log page, whose contents are now `ranges` of the device, in order of address.
    pub(crate) fn page(&mut self, ranges: &[LostRange], facts: &SubsystemFacts) -> Vec<u8> {
        let of = |namespace: &NamespaceFacts| {
            let own = namespace.offset..namespace.offset + namespace.bytes();
            let ranges: Vec<LostRange> =
                ranges.iter().filter(|range| own.contains(&range.offset)).copied().collect();
            blocks_of(&ranges, namespace)
        };
        let lost: Vec<_> = facts.namespaces.iter().map(of).collect();
        let is_change =
            if self.lost.is_empty() { lost.iter().any(|own| !own.is_empty()) } else { self.lost != lost };
        self.generation = self.generation.wrapping_add(is_change.into());
        self.lost = lost;
        let mut page = vec![0; LOG_HEAD_BYTES];
        let (mut namespaces, mut blocks) = (0_u32, 0_u64);
        for (number, own) in (1_u32..).zip(&self.lost).filter(|(_, own)| !own.is_empty()) {
            let mut element = vec![0; LOG_HEAD_BYTES];
            let mut count = 0_u32;
            for (first, length) in own.iter().copied().flat_map(pieces_of) {
                element.extend(first.to_le_bytes());
                element.extend(length.to_le_bytes());
                element.extend([0; 4]);
                count += 1;
                blocks += u64::from(length);
            }
            put(&mut element, 0, &number.to_le_bytes());
            put(&mut element, 4, &count.to_le_bytes());
            // The kind of Get LBA Status that is recommended.
            element[8] = TRACKED;
            page.extend(element);
            namespaces += 1;
        }
        let length = page.len() as u32;
        put(&mut page, 0, &length.to_le_bytes());
        put(&mut page, 4, &namespaces.to_le_bytes());
        put(&mut page, 8, &u32::try_from(blocks).unwrap_or(u32::MAX).to_le_bytes());
        put(&mut page, 14, &self.generation.to_le_bytes());
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_what_fits_and_says_whether_it_is_all() {
        let ranges = [LostRange { offset: 4096, length: 8192 }, LostRange { offset: 1 << 20, length: 512 }];
        let facts = |block_bytes, offset| NamespaceFacts {
            offset,
            blocks: 1 << 20,
            block_bytes,
            preferred_blocks: 1,
            is_writable: true,
            guid: [0; 16],
            identifiers: Vec::new(),
            reclaim_groups: 1,
            zones: None,
        };
        let page = list(&ranges, 40, &facts(512, 0));
        assert_eq!(page[..8], [2, 0, 0, 0, COMPLETE, 0, 0, 0]);
        assert_eq!((page[8], page[16]), (8, 16));
        assert_eq!((page[24..26].to_vec(), page[32]), (vec![0, 8], 1));
        let short = list(&ranges, 36, &facts(512, 0));
        assert_eq!(short[..8], [1, 0, 0, 0, MORE_THAN_ROOM, 0, 0, 0]);
        assert_eq!(list(&[], 8, &facts(512, 0)), [0, 0, 0, 0, COMPLETE, 0, 0, 0]);
        // Two sectors of one block of 4096 bytes, of a namespace that begins there, are one block.
        let near = [LostRange { offset: 8192, length: 512 }, LostRange { offset: 8192 + 2048, length: 512 }];
        let page = list(&near, 40, &facts(4096, 4096));
        assert_eq!((page[0], page[8], page[16]), (1, 1, 1));
    }
}
