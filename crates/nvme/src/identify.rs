//! Data structures of Identify (Base Specification 1.4, section 5.15; NVM Command Set).

use crate::bytes::{put, put_text};
use crate::facts::{
    ERROR_ENTRIES, EVENT_REQUESTS, IN_CAPSULE_BYTES, KEEP_ALIVE_UNITS, LONGEST_TRANSFER, MDTS,
    NamespaceFacts, QUEUE_ENTRIES, SubsystemFacts, VERSION,
};
use crate::placement::ENDURANCE_GROUP;
use crate::zone_reports;

/// Length of every structure of Identify, in bytes.
pub(crate) const IDENTIFY_BYTES: usize = 4096;

/// Most ranges of a Copy.
pub(crate) const COPY_RANGES: u32 = 128;

/// Command sets that namespaces have (CSI): the NVM command set, or that of zones.
pub(crate) const NVM_COMMAND_SET: u32 = 0x00;
pub(crate) const ZONED_COMMAND_SET: u32 = 0x02;

/// Length of a description of an LBA format in Identify Namespace, in bytes.
pub(crate) const LBA_FORMAT_BYTES: usize = 4;

/// Bytes of a block in each LBA format, by its number.
const LBA_FORMATS: [u32; 2] = [512, 4096];

/// Controller types.
const IO_CONTROLLER: u8 = 1;
const DISCOVERY_CONTROLLER: u8 = 2;

/// Optional commands: Compare, Dataset Management, Write Zeroes, Verify, Copy.
const OPTIONAL_COMMANDS: u16 = 1 << 0 | 1 << 2 | 1 << 3 | 1 << 7 | 1 << 8;
/// Optional commands of namespaces that take no writes, and of those with zones.
const OPTIONAL_READING: u16 = 1 << 0 | 1 << 7;
/// Optional administration commands: Get LBA Status.
const OPTIONAL_ADMINISTRATION: u16 = 1 << 9;
/// Further ones with flexible data placement: directives.
const DIRECTIVES: u16 = 1 << 5;
/// Attributes of a controller: hosts have identifiers of 128 bits, as all have over fabrics.
const ATTRIBUTES: u32 = 1 << 0;
/// Further ones with flexible data placement: endurance groups, and itself.
const PLACEMENT_ATTRIBUTES: u32 = 1 << 4 | 1 << 19;
/// Log pages: effects, and offsets into pages.
const LOG_ATTRIBUTES: u8 = 1 << 1 | 1 << 2;

fn page() -> Vec<u8> {
    vec![0; IDENTIFY_BYTES]
}

/// Fields that controllers of both types have.
fn common(controller: u16, kind: u8, nqn: &str) -> Vec<u8> {
    let mut page = page();
    page[77] = MDTS;
    put(&mut page, 78, &controller.to_le_bytes());
    put(&mut page, 80, &VERSION.to_le_bytes());
    page[111] = kind;
    page[259] = EVENT_REQUESTS as u8 - 1;
    page[262] = ERROR_ENTRIES as u8 - 1;
    put(&mut page, 320, &KEEP_ALIVE_UNITS.to_le_bytes());
    put(&mut page, 514, &QUEUE_ENTRIES.to_le_bytes());
    // SGLs without limits of alignment, longer than the data if need be, offsets into the capsule, and data by the transport.
    put(&mut page, 536, &(1_u32 | 1 << 18 | 1 << 20 | 1 << 21).to_le_bytes());
    put(&mut page, 768, nqn.as_bytes());
    // Lengths of capsules in units of 16 bytes: a command of 64 bytes and its data, a completion.
    put(&mut page, 1792, &((64 + IN_CAPSULE_BYTES) / 16).to_le_bytes());
    put(&mut page, 1796, &1_u32.to_le_bytes());
    // One SGL descriptor in a capsule.
    page[1803] = 1;
    page
}

/// A controller of I/O queues.
pub(crate) fn io_controller(controller: u16, facts: &SubsystemFacts) -> Vec<u8> {
    let mut page = common(controller, IO_CONTROLLER, &facts.nqn);
    put_text(&mut page, 4, 20, &facts.serial);
    put_text(&mut page, 24, 40, &facts.model);
    put_text(&mut page, 64, 8, &facts.firmware);
    // More than one controller, for several hosts.
    page[76] = 1 << 1;
    put(&mut page, 280, &facts.capacity.to_le_bytes());
    put(&mut page, 296, &facts.unallocated().to_le_bytes());
    let (mut attributes, mut administration) = (ATTRIBUTES, OPTIONAL_ADMINISTRATION);
    if facts.placement.is_some() {
        attributes |= PLACEMENT_ATTRIBUTES;
        administration |= DIRECTIVES;
        put(&mut page, 340, &ENDURANCE_GROUP.to_le_bytes());
    }
    put(&mut page, 96, &attributes.to_le_bytes());
    put(&mut page, 256, &administration.to_le_bytes());
    // Aborts at a time, less one; they all find that the command goes on.
    page[258] = 3;
    // One firmware slot, which is not written.
    page[260] = 1 | 1 << 1;
    page[261] = LOG_ATTRIBUTES;
    // Sizes of queue entries: 64 and 16 bytes, no others.
    page[512] = 0x66;
    page[513] = 0x44;
    put(&mut page, 516, &facts.last_namespace().to_le_bytes());
    let has_all = facts.is_writable() && !facts.has_zones();
    let optional = if has_all { OPTIONAL_COMMANDS } else { OPTIONAL_READING };
    put(&mut page, 520, &optional.to_le_bytes());
    // A volatile write cache, and flushes of all namespaces.
    page[525] = 1 | 3 << 1;
    // Copy with source ranges of format 0.
    put(&mut page, 534, &u16::from(has_all).to_le_bytes());
    page
}

/// A controller of the discovery service.
pub(crate) fn discovery_controller(controller: u16, nqn: &str, firmware: &str) -> Vec<u8> {
    let mut page = common(controller, DISCOVERY_CONTROLLER, nqn);
    put_text(&mut page, 4, 20, "");
    put_text(&mut page, 24, 40, "outlast discovery");
    put_text(&mut page, 64, 8, firmware);
    page[261] = 1 << 2;
    page
}

/// Limits of a Copy, in blocks: of one range and of all.
pub(crate) fn copy_blocks(facts: &NamespaceFacts) -> u32 {
    (LONGEST_TRANSFER / u64::from(facts.block_bytes)) as u32
}

/// A namespace.
pub(crate) fn namespace(facts: &NamespaceFacts) -> Vec<u8> {
    let mut page = page();
    put(&mut page, 0, &facts.blocks.to_le_bytes());
    // Capacity and what is in use of it: of zones what can be written.
    for at in [8, 16] {
        put(&mut page, at, &facts.writable_blocks().to_le_bytes());
    }
    // Preferred granularities are told (OPTPERF).
    page[24] = 1 << 4;
    // Several controllers may have it.
    page[30] = 1;
    // Deallocated blocks read as zeroes; Write Zeroes may deallocate.
    page[33] = 1 | u8::from(facts.zones.is_none()) << 3;
    let preferred = facts.preferred_blocks.max(1) - 1;
    // Granularity and alignment of writes and of deallocation, and the best length of a write, each less one.
    for at in [64, 66, 68, 70, 72] {
        put(&mut page, at, &preferred.to_le_bytes());
    }
    if facts.is_writable && facts.zones.is_none() {
        let longest = copy_blocks(facts);
        put(&mut page, 74, &(longest as u16).to_le_bytes());
        put(&mut page, 76, &longest.to_le_bytes());
        page[80] = (COPY_RANGES - 1) as u8;
    }
    page[99] = u8::from(!facts.is_writable);
    if !facts.identifiers.is_empty() {
        put(&mut page, 102, &ENDURANCE_GROUP.to_le_bytes());
    }
    put(&mut page, 104, &facts.guid);
    if facts.zones.is_some() {
        zone_reports::put_format(&mut page, facts);
        return page;
    }
    // The LBA formats: no metadata, blocks of a power of two. Which one it has is not the host's choice.
    page[25] = LBA_FORMATS.len() as u8 - 1;
    for (format, bytes) in page[128..].chunks_exact_mut(LBA_FORMAT_BYTES).zip(LBA_FORMATS) {
        format[2] = bytes.trailing_zeros() as u8;
    }
    page[26] = LBA_FORMATS.iter().position(|&bytes| bytes == facts.block_bytes).unwrap_or(0) as u8;
    page
}

/// Numbers of namespaces above `after`, in order, as many as a page has room for.
pub(crate) fn namespace_list(after: u32, last: u32) -> Vec<u8> {
    let mut page = page();
    for (place, number) in page.chunks_exact_mut(4).zip(after.saturating_add(1)..=last) {
        place.copy_from_slice(&number.to_le_bytes());
    }
    page
}

/// Identifiers of a namespace: NGUID and command set.
pub(crate) fn namespace_identifiers(facts: &NamespaceFacts) -> Vec<u8> {
    let mut page = page();
    put(&mut page, 0, &[2, 16, 0, 0]);
    put(&mut page, 4, &facts.guid);
    let set = if facts.zones.is_some() { ZONED_COMMAND_SET } else { NVM_COMMAND_SET };
    put(&mut page, 20, &[4, 1, 0, 0, set as u8]);
    page
}

/// Combinations of command sets: the only one has both.
pub(crate) fn command_sets() -> Vec<u8> {
    let mut page = page();
    page[0] = 1 << NVM_COMMAND_SET | 1 << ZONED_COMMAND_SET;
    page
}

/// Endurance groups: their number, then the only one.
pub(crate) fn endurance_groups(after: u32) -> Vec<u8> {
    let mut page = page();
    if after <= u32::from(ENDURANCE_GROUP) {
        put(&mut page, 0, &1_u16.to_le_bytes());
        put(&mut page, 2, &ENDURANCE_GROUP.to_le_bytes());
    }
    page
}

/// Limits of the NVM command set that stand in no other structure: there are none.
pub(crate) fn nvm_command_set() -> Vec<u8> {
    page()
}
