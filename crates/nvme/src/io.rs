//! The NVM command set: commands of I/O queues (NVM Command Set Specification 1.0).

use crate::bytes::{u16_at, u32_at, u64_at};
use crate::entry::SubmissionEntry;
use crate::facts::{ALL_NAMESPACES, LONGEST_TRANSFER, NamespaceFacts, SubsystemFacts};
use crate::identify::{COPY_RANGES, copy_blocks};
use crate::placement;
use crate::placement_identifiers;
use crate::plan::{CommandPlan, PlanEnd, PlannedOp, PlannedRequest};
use crate::queue::DataTransfer;
use crate::status::NvmeStatus;
use crate::{zone_reports, zones};

const FLUSH: u8 = 0x00;
const WRITE: u8 = 0x01;
const READ: u8 = 0x02;
const COMPARE: u8 = 0x05;
const WRITE_ZEROES: u8 = 0x08;
const DATASET_MANAGEMENT: u8 = 0x09;
const VERIFY: u8 = 0x0C;
const COPY: u8 = 0x19;

const ZONE_SEND: u8 = 0x79;
const ZONE_RECEIVE: u8 = 0x7A;
const ZONE_APPEND: u8 = 0x7D;

const MANAGEMENT_RECEIVE: u8 = 0x12;
const MANAGEMENT_SEND: u8 = 0x1D;

/// Supported opcodes, and whether the command changes data.
const OPCODES: [(u8, bool); 8] = [
    (FLUSH, false),
    (WRITE, true),
    (READ, false),
    (COMPARE, false),
    (WRITE_ZEROES, true),
    (DATASET_MANAGEMENT, true),
    (VERIFY, false),
    (COPY, true),
];

/// Those of flexible data placement.
const PLACEMENT_OPCODES: [(u8, bool); 2] = [(MANAGEMENT_RECEIVE, false), (MANAGEMENT_SEND, false)];

/// Opcodes of namespaces with zones. Blocks of a zone are neither zeroed, deallocated nor copied to by themselves.
const ZONED_OPCODES: [(u8, bool); 8] = [
    (FLUSH, false),
    (WRITE, true),
    (READ, false),
    (COMPARE, false),
    (VERIFY, false),
    (ZONE_SEND, true),
    (ZONE_RECEIVE, false),
    (ZONE_APPEND, true),
];

/// Opcodes that a subsystem supports, and whether the command changes data.
pub(crate) fn opcodes(facts: &SubsystemFacts) -> impl Iterator<Item = (u8, bool)> + use<> {
    let own: &[(u8, bool)] = if facts.has_zones() { &ZONED_OPCODES } else { &OPCODES };
    let further: &[(u8, bool)] = if facts.placement.is_some() { &PLACEMENT_OPCODES } else { &[] };
    own.iter().chain(further).copied()
}

/// True if dwords 10 and 11 of a command are its first block.
pub(crate) fn names_block(opcode: u8) -> bool {
    matches!(
        opcode,
        WRITE | READ | COMPARE | WRITE_ZEROES | VERIFY | COPY | ZONE_SEND | ZONE_RECEIVE | ZONE_APPEND
    )
}

/// Lengths of ranges of Dataset Management and of Copy, in bytes.
const RANGE_BYTES: u32 = 16;
const COPY_RANGE_BYTES: u32 = 32;

/// Bits of dword 12.
const LIMITED_RETRY: u32 = 1 << 31;
const FORCED_UNIT_ACCESS: u32 = 1 << 30;
const DEALLOCATE: u32 = 1 << 25;
/// First bit of the type of directive, which has the same place in Write and in Copy; its value is in the upper half of dword 13 and of dword 14.
const DIRECTIVE_TYPE: u32 = 20;
/// Bit of dword 11 of Dataset Management: deallocate. The other attributes are hints.
const ATTRIBUTE_DEALLOCATE: u32 = 1 << 2;

/// Longest read of a Verify at a time, in bytes.
const VERIFY_STEP: u64 = 1 << 20;

/// A range of blocks that lies within the namespace, in bytes of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NamespaceRange {
    offset: u64,
    length: u64,
}

/// Data that a command moves.
pub(crate) fn transfer(entry: &SubmissionEntry, facts: &SubsystemFacts) -> Result<DataTransfer, NvmeStatus> {
    let ranges = (entry.dword(10) & 0xFF) + 1;
    let count = || {
        let blocks = u64::from(entry.dword(12) as u16) + 1;
        let bytes = blocks * u64::from(facts.namespace(entry.namespace())?.block_bytes);
        if bytes <= LONGEST_TRANSFER { Ok(bytes as u32) } else { Err(NvmeStatus::INVALID_FIELD) }
    };
    if !opcodes(facts).any(|(known, _)| known == entry.opcode()) {
        return Err(NvmeStatus::INVALID_OPCODE);
    }
    Ok(match entry.opcode() {
        WRITE | COMPARE | ZONE_APPEND => DataTransfer::FromHost(count()?),
        READ => DataTransfer::ToHost(count()?),
        DATASET_MANAGEMENT => DataTransfer::FromHost(ranges * RANGE_BYTES),
        COPY if copy_ranges(entry) > COPY_RANGES => return Err(NvmeStatus::SIZE_LIMIT),
        COPY => DataTransfer::FromHost(copy_ranges(entry) * COPY_RANGE_BYTES),
        FLUSH | WRITE_ZEROES | VERIFY | ZONE_SEND => DataTransfer::None,
        ZONE_RECEIVE => DataTransfer::ToHost(zone_reports::report_room(entry)?),
        MANAGEMENT_RECEIVE => DataTransfer::ToHost(placement::status_room(entry)?),
        MANAGEMENT_SEND => DataTransfer::FromHost(placement::update_bytes(entry)),
        _ => return Err(NvmeStatus::INVALID_OPCODE),
    })
}

/// Bytes that a command holds beside the data that it moves.
pub(crate) fn extra_cost(opcode: u8, moved: u32) -> u64 {
    match opcode {
        COMPARE => moved.into(),
        VERIFY => VERIFY_STEP,
        ZONE_RECEIVE => zone_reports::report_cost(moved),
        ZONE_SEND => zones::list_cost(zones::LISTED_AT_ONCE),
        COPY => 2 * LONGEST_TRANSFER,
        _ => 0,
    }
}

/// Number of source ranges of a Copy.
fn copy_ranges(entry: &SubmissionEntry) -> u32 {
    (entry.dword(12) & 0xFF) + 1
}

/// What a command asks of the device. With `has_cache` clear, writes are on flash when they complete.
pub(crate) fn plan(
    entry: &SubmissionEntry,
    data: &[u8],
    subsystem: &SubsystemFacts,
    has_cache: bool,
) -> Result<CommandPlan, NvmeStatus> {
    let opcode = entry.opcode();
    let (_, changes_data) =
        opcodes(subsystem).find(|&(known, _)| known == opcode).ok_or(NvmeStatus::INVALID_OPCODE)?;
    if (opcode, entry.namespace()) == (FLUSH, ALL_NAMESPACES) {
        return Ok(flush(subsystem.is_writable()));
    }
    let facts = subsystem.namespace(entry.namespace())?;
    if changes_data && !facts.is_writable {
        return Err(NvmeStatus::WRITE_PROTECTED);
    }
    let flags = entry.dword(12);
    let has_fua = flags & FORCED_UNIT_ACCESS != 0;
    let fua = has_fua || !has_cache;
    let range = || range_of(facts, entry.two_dwords(10), u64::from(flags as u16) + 1);
    let request = |NamespaceRange { offset, length }, op| PlannedRequest { offset, length, op };
    let read = PlannedOp::Read { limited_retry: flags & LIMITED_RETRY != 0 };
    match opcode {
        FLUSH => Ok(flush(facts.is_writable)),
        WRITE => {
            let identifier = identifier_of(entry, facts, entry.dword(13))?;
            let op = PlannedOp::Write { fua, identifier };
            Ok(CommandPlan::new([request(range()?, op)], PlanEnd::Nothing, 0))
        }
        MANAGEMENT_RECEIVE => placement::plan_status(entry),
        MANAGEMENT_SEND => placement::plan_update(entry, data, facts),
        READ => {
            let range = range()?;
            // Forced unit access of a read: what a buffer holds is on flash before it is returned.
            let flush = (has_fua && facts.is_writable).then_some(PlannedRequest::whole(PlannedOp::Flush));
            let requests = flush.into_iter().chain([request(range, read)]);
            Ok(CommandPlan::new(requests, PlanEnd::Return, range.length))
        }
        COMPARE => {
            let range = range()?;
            Ok(CommandPlan::new([request(range, read)], PlanEnd::Compare, range.length))
        }
        WRITE_ZEROES => {
            let may_deallocate = flags & DEALLOCATE != 0;
            let op = PlannedOp::WriteZeroes { fua, may_deallocate };
            Ok(CommandPlan::new([request(range()?, op)], PlanEnd::Nothing, 0))
        }
        VERIFY => {
            let NamespaceRange { offset, length } = range()?;
            let end = offset + length;
            let steps = (offset..end).step_by(VERIFY_STEP as usize);
            let requests = steps
                .map(|at| request(NamespaceRange { offset: at, length: VERIFY_STEP.min(end - at) }, read));
            Ok(CommandPlan::new(requests, PlanEnd::Nothing, VERIFY_STEP.min(length)))
        }
        ZONE_APPEND => zones::plan_append(entry, facts, fua),
        ZONE_SEND => zones::plan_action(entry, facts),
        ZONE_RECEIVE => zone_reports::plan_report(entry, facts),
        DATASET_MANAGEMENT => deallocation(entry, data, facts),
        COPY => copy(entry, data, facts, fua),
        _ => Err(NvmeStatus::INVALID_OPCODE),
    }
}

/// The device's placement identifier for what a command writes, whose directive has its value in the upper half of `dword`.
fn identifier_of(entry: &SubmissionEntry, facts: &NamespaceFacts, dword: u32) -> Result<u16, NvmeStatus> {
    placement_identifiers::identifier_of(facts, entry.dword(12) >> DIRECTIVE_TYPE & 0xF, (dword >> 16) as u16)
}

/// The placement identifier that a command carries and its namespace does not have, if so.
pub(crate) fn unknown_identifier(entry: &SubmissionEntry, facts: &NamespaceFacts) -> Option<u16> {
    let dword = match entry.opcode() {
        WRITE => entry.dword(13),
        COPY => entry.dword(14),
        _ => return None,
    };
    let value = (dword >> 16) as u16;
    (identifier_of(entry, facts, dword).ok()? & placement::UNKNOWN_IDENTIFIER != 0).then_some(value)
}

/// Placement identifiers of the namespace whose handles a command updates.
pub(crate) fn updated_identifiers<'a>(
    entry: &SubmissionEntry,
    data: &'a [u8],
) -> impl Iterator<Item = u16> + use<'a> {
    let data = if entry.opcode() == MANAGEMENT_SEND { data } else { &[] };
    data.chunks_exact(2).map(|place| u16_at(place, 0))
}

/// A flush, which is one of the whole device: its buffer knows no namespaces. What takes no writes has nothing to flush.
fn flush(is_writable: bool) -> CommandPlan {
    let request = is_writable.then_some(PlannedRequest::whole(PlannedOp::Flush));
    CommandPlan::new(request, PlanEnd::Nothing, 0)
}

fn range_of(facts: &NamespaceFacts, first: u64, blocks: u64) -> Result<NamespaceRange, NvmeStatus> {
    if first >= facts.blocks || blocks > facts.blocks - first {
        return Err(NvmeStatus::LBA_OUT_OF_RANGE);
    }
    zones::check_range(facts, first, blocks)?;
    let block = u64::from(facts.block_bytes);
    Ok(NamespaceRange { offset: facts.offset + first * block, length: blocks * block })
}

fn deallocation(
    entry: &SubmissionEntry,
    data: &[u8],
    facts: &NamespaceFacts,
) -> Result<CommandPlan, NvmeStatus> {
    let mut requests = Vec::new();
    for range in data.chunks_exact(RANGE_BYTES as usize) {
        let (blocks, first) = (u64::from(u32_at(range, 4)), u64_at(range, 8));
        // An empty range may lie at the end, too.
        if blocks == 0 && first <= facts.blocks {
            continue;
        }
        let NamespaceRange { offset, length } = range_of(facts, first, blocks)?;
        requests.push(PlannedRequest { offset, length, op: PlannedOp::Deallocate });
    }
    if entry.dword(11) & ATTRIBUTE_DEALLOCATE == 0 {
        requests.clear();
    }
    Ok(CommandPlan::new(requests, PlanEnd::Nothing, 0))
}

/// Copy with source ranges of format 0: all are read, then written in one piece.
fn copy(
    entry: &SubmissionEntry,
    data: &[u8],
    facts: &NamespaceFacts,
    fua: bool,
) -> Result<CommandPlan, NvmeStatus> {
    let format = entry.dword(12) >> 8 & 0xF;
    if format != 0 {
        return Err(NvmeStatus::INVALID_FIELD);
    }
    let identifier = identifier_of(entry, facts, entry.dword(14))?;
    let mut requests = Vec::new();
    let mut blocks = 0;
    for range in data.chunks_exact(COPY_RANGE_BYTES as usize) {
        let count = u64::from(u16_at(range, 16)) + 1;
        blocks += count;
        if blocks > u64::from(copy_blocks(facts)) {
            return Err(NvmeStatus::SIZE_LIMIT);
        }
        let NamespaceRange { offset, length } = range_of(facts, u64_at(range, 8), count)?;
        requests.push(PlannedRequest { offset, length, op: PlannedOp::Read { limited_retry: false } });
    }
    let target = range_of(facts, entry.two_dwords(10), blocks)?;
    let end = PlanEnd::CopyTo { offset: target.offset, fua, identifier };
    Ok(CommandPlan::new(requests, end, 2 * target.length))
}
