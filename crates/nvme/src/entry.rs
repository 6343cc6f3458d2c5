//! Entries of submission and completion queues.

use crate::bytes::{put, u16_at, u32_at, u64_at};
use crate::status::NvmeStatus;

/// Length of a submission queue entry, in bytes.
pub const SUBMISSION_BYTES: usize = 64;
/// Length of a completion queue entry, in bytes.
pub const COMPLETION_BYTES: usize = 16;

/// A submission queue entry: a command without its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubmissionEntry([u8; SUBMISSION_BYTES]);

impl SubmissionEntry {
    /// An entry of these bytes.
    pub fn new(bytes: [u8; SUBMISSION_BYTES]) -> Self {
        Self(bytes)
    }

    /// Opcode.
    pub fn opcode(&self) -> u8 {
        self.0[0]
    }

    /// Bits FUSE: not 0 for a part of a fused operation.
    pub(crate) fn fuse(&self) -> u8 {
        self.0[1] & 3
    }

    /// Bits PSDT: how data is described; 1 and 2 are SGLs.
    pub(crate) fn data_pointer_kind(&self) -> u8 {
        self.0[1] >> 6
    }

    /// Identifier of the command, chosen by the host.
    pub fn command_id(&self) -> u16 {
        u16_at(&self.0, 2)
    }

    /// Namespace; 0 or all ones where a command concerns none or all.
    pub(crate) fn namespace(&self) -> u32 {
        u32_at(&self.0, 4)
    }

    /// Type of a fabrics command.
    pub(crate) fn fabrics_type(&self) -> u8 {
        self.0[4]
    }

    /// Address or offset in the first SGL descriptor.
    pub fn sgl_address(&self) -> u64 {
        u64_at(&self.0, 24)
    }

    /// Length of data in the first SGL descriptor, in bytes.
    pub fn sgl_length(&self) -> u32 {
        u32_at(&self.0, 32)
    }

    /// Type and subtype of the first SGL descriptor.
    pub fn sgl_type(&self) -> u8 {
        self.0[39]
    }

    /// Command dword `number`, 10 to 15.
    pub(crate) fn dword(&self, number: usize) -> u32 {
        u32_at(&self.0, number * 4)
    }

    /// Command dwords `number` and the next as one number.
    pub(crate) fn two_dwords(&self, number: usize) -> u64 {
        u64_at(&self.0, number * 4)
    }

    /// The 16-bit number at byte `at`, for fabrics commands, whose fields are no dwords.
    pub(crate) fn word_at(&self, at: usize) -> u16 {
        u16_at(&self.0, at)
    }
}

/// A completion without what belongs to the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandEnd {
    /// The completion queue entry.
    pub completion: [u8; COMPLETION_BYTES],
    /// Data for the host; empty if the command returns none or has failed.
    pub data: Vec<u8>,
}

/// Bytes of a completion queue entry.
pub(crate) fn completion(
    result: u64,
    head: u16,
    queue: u16,
    command_id: u16,
    status: NvmeStatus,
) -> [u8; COMPLETION_BYTES] {
    let mut entry = [0; COMPLETION_BYTES];
    put(&mut entry, 0, &result.to_le_bytes());
    put(&mut entry, 8, &head.to_le_bytes());
    put(&mut entry, 10, &queue.to_le_bytes());
    put(&mut entry, 12, &command_id.to_le_bytes());
    put(&mut entry, 14, &status.field().to_le_bytes());
    entry
}
