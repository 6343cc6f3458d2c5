//! Fabrics commands: Connect and properties (`NVMe` over Fabrics; Base Specification 2.0, section 6).

use crate::bytes::{text_at, u16_at};
use crate::entry::SubmissionEntry;
use crate::facts::QUEUE_ENTRIES;
use crate::status::NvmeStatus;

/// Opcode of all fabrics commands.
pub(crate) const FABRICS: u8 = 0x7F;
/// Types of fabrics commands.
pub(crate) const PROPERTY_SET: u8 = 0x00;
pub(crate) const CONNECT: u8 = 0x01;
pub(crate) const PROPERTY_GET: u8 = 0x04;
/// Length of the data of Connect, in bytes.
pub(crate) const CONNECT_BYTES: usize = 1024;

/// A Connect command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConnectRequest {
    pub(crate) queue: u16,
    /// Entries of the submission queue.
    pub(crate) entries: u16,
    /// Set if the host does without flow control of the submission queue.
    pub(crate) without_flow_control: bool,
    /// Keep-alive time-out, in milliseconds.
    pub(crate) keep_alive: u32,
    pub(crate) host_id: [u8; 16],
    pub(crate) controller: u16,
    pub(crate) subsystem: String,
    pub(crate) host: String,
}

/// A refused Connect: status, and the offset of the wrong field with bit 16 set if it is one of the data.
pub(crate) type RefusedConnect = (NvmeStatus, u64);

/// Offsets of fields of the command and its data.
pub(crate) const QUEUE_ID: u64 = 42;
const QUEUE_SIZE: u64 = 44;
const IN_DATA: u64 = 1 << 16;
pub(crate) const HOST_ID: u64 = IN_DATA;
pub(crate) const CONTROLLER_ID: u64 = IN_DATA | 16;
pub(crate) const SUBSYSTEM_NAME: u64 = IN_DATA | 256;
pub(crate) const HOST_NAME: u64 = IN_DATA | 512;

/// Refusal for the field at `offset`.
pub(crate) fn wrong(offset: u64) -> RefusedConnect {
    (NvmeStatus::CONNECT_PARAMETERS, offset)
}

impl ConnectRequest {
    /// Reads a Connect command.
    pub(crate) fn read(entry: &SubmissionEntry, data: &[u8]) -> Result<Self, RefusedConnect> {
        if entry.word_at(40) != 0 {
            return Err((NvmeStatus::CONNECT_FORMAT, 0));
        }
        if data.len() != CONNECT_BYTES {
            return Err((NvmeStatus::SGL_LENGTH_INVALID, 0));
        }
        let (queue, size) = (entry.word_at(QUEUE_ID as usize), entry.word_at(QUEUE_SIZE as usize));
        // The size is one less than the number of entries, of which there are two at least.
        if size == 0 || size >= QUEUE_ENTRIES {
            return Err(wrong(QUEUE_SIZE));
        }
        let mut host_id = [0; 16];
        host_id.copy_from_slice(&data[..16]);
        let subsystem = text_at(data, 256, 256).ok_or_else(|| wrong(SUBSYSTEM_NAME))?;
        let host = text_at(data, 512, 256).filter(|host| !host.is_empty()).ok_or_else(|| wrong(HOST_NAME))?;
        Ok(Self {
            queue,
            entries: size + 1,
            without_flow_control: entry.word_at(46) & (1 << 2) != 0,
            keep_alive: entry.dword(12),
            host_id,
            controller: u16_at(data, 16),
            subsystem: subsystem.to_owned(),
            host: host.to_owned(),
        })
    }
}
