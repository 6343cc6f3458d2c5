//! Log pages that need no device, and the fields of Get Log Page.

use crate::bytes::{put, put_text};
use crate::entry::SubmissionEntry;
use crate::facts::{LONGEST_TRANSFER, PortFacts, SubsystemFacts};
use crate::status::NvmeStatus;
use crate::{admin, identify, io};

pub(crate) const ERRORS: u8 = 0x01;
pub(crate) const HEALTH: u8 = 0x02;
pub(crate) const FIRMWARE: u8 = 0x03;
pub(crate) const CHANGED_NAMESPACES: u8 = 0x04;
pub(crate) const EFFECTS: u8 = 0x05;
pub(crate) const LBA_STATUS: u8 = 0x0E;
pub(crate) const DISCOVERY: u8 = 0x70;
/// SMART / Health Information Extended, of the Open Compute Project.
pub(crate) const EXTENDED_HEALTH: u8 = 0xC0;

/// Length of an entry of the discovery log, and of its head, in bytes.
const DISCOVERY_BYTES: usize = 1024;

/// A Get Log Page command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogRequest {
    pub(crate) page: u8,
    /// Log specific parameter, in bits 6 to 0.
    pub(crate) parameter: u8,
    /// Log specific identifier.
    pub(crate) specific: u16,
    /// Set to keep events of the page's kind masked.
    pub(crate) retains_event: bool,
    pub(crate) offset: u64,
    pub(crate) length: usize,
    /// Command set identifier.
    pub(crate) command_set: u32,
}

impl LogRequest {
    pub(crate) fn read(entry: &SubmissionEntry) -> Result<Self, NvmeStatus> {
        let (low, high, last) = (entry.dword(10), entry.dword(11), entry.dword(14));
        let dwords = (u64::from(low >> 16) | u64::from(high & 0xFFFF) << 16) + 1;
        let offset = entry.two_dwords(12);
        // Offsets are bytes, not indices; longer transfers are none of this controller.
        let has_index = last & (1 << 23) != 0;
        if dwords * 4 > LONGEST_TRANSFER || has_index || offset & 3 != 0 {
            return Err(NvmeStatus::INVALID_FIELD);
        }
        let retains_event = low & (1 << 15) != 0;
        Ok(Self {
            page: low as u8,
            parameter: (low >> 8) as u8 & 0x7F,
            specific: (high >> 16) as u16,
            retains_event,
            offset,
            length: (dwords * 4) as usize,
            command_set: last >> 24,
        })
    }

    /// The part of a page that is asked for; zeroes behind its end.
    pub(crate) fn part(&self, page: &[u8]) -> Result<Vec<u8>, NvmeStatus> {
        let from = usize::try_from(self.offset).unwrap_or(usize::MAX);
        if from > page.len() {
            return Err(NvmeStatus::INVALID_FIELD);
        }
        let mut part = vec![0; self.length];
        let count = self.length.min(page.len() - from);
        part[..count].copy_from_slice(&page[from..from + count]);
        Ok(part)
    }
}

/// Firmware slots: the first is active.
pub(crate) fn firmware(revision: &str) -> Vec<u8> {
    let mut page = vec![0; 512];
    page[0] = 1;
    put_text(&mut page, 8, 8, revision);
    page
}

/// Effects of commands of a command set: which are supported, and which change data. Where namespaces have zones, the NVM command set has no I/O commands.
pub(crate) fn effects(facts: &SubsystemFacts, command_set: u32) -> Result<Vec<u8>, NvmeStatus> {
    const SUPPORTED: u32 = 1;
    const CHANGES_DATA: u32 = 1 << 1;
    let is_own = match (command_set, facts.has_zones()) {
        (identify::NVM_COMMAND_SET, has_zones) => !has_zones,
        (identify::ZONED_COMMAND_SET, true) => true,
        _ => return Err(NvmeStatus::INVALID_FIELD),
    };
    let mut page = vec![0; 4096];
    for opcode in admin::opcodes(facts) {
        put(&mut page, usize::from(opcode) * 4, &SUPPORTED.to_le_bytes());
    }
    for (opcode, changes_data) in io::opcodes(facts).filter(|_| is_own) {
        if facts.is_writable() || !changes_data {
            let effects = if changes_data { SUPPORTED | CHANGES_DATA } else { SUPPORTED };
            put(&mut page, 1024 + usize::from(opcode) * 4, &effects.to_le_bytes());
        }
    }
    Ok(page)
}

/// The discovery log: a head, then an entry for each subsystem.
pub(crate) fn discovery(subsystems: &[SubsystemFacts], port: &PortFacts, generation: u64) -> Vec<u8> {
    let mut page = vec![0; DISCOVERY_BYTES * (1 + subsystems.len())];
    put(&mut page, 0, &generation.to_le_bytes());
    put(&mut page, 8, &(subsystems.len() as u64).to_le_bytes());
    for (entry, facts) in page[DISCOVERY_BYTES..].chunks_exact_mut(DISCOVERY_BYTES).zip(subsystems) {
        let (transport, family) = port.transport;
        // Transport, family, an NVM subsystem; no secure channel is required, and hosts may do without flow control of submission queues.
        put(entry, 0, &[transport, family, 2, 2 | 1 << 2]);
        put(entry, 4, &1_u16.to_le_bytes());
        // Any controller; the least length of an admin queue that hosts may use.
        put(entry, 6, &u16::MAX.to_le_bytes());
        put(entry, 8, &32_u16.to_le_bytes());
        put_text(entry, 32, 32, &port.service);
        put(entry, 256, facts.nqn.as_bytes());
        put_text(entry, 512, 256, &port.address);
    }
    page
}
