//! What a host can ask and what it gets back.

use outlast_units::{ByteRate, Bytes, JsonSchema, Lba, Nanos};
use serde::{Deserialize, Serialize};

/// The kinds of command.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
    outlast_persist::Persist,
)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Op {
    /// Read sectors.
    Read,
    /// Write sectors.
    Write,
    /// Deallocate sectors (ATA TRIM, SCSI UNMAP, `NVMe` Deallocate): later reads return zeroes until written again. Of a mapping unit (in an
    /// array with parity, of a stripe) that the command covers in part, the device may leave the sectors as they are.
    Trim,
    /// Make every write acknowledged before it survive a loss of power.
    Flush,
    /// Ask which sectors are to be written again after a failure within the device; no data moves. The answer is had with
    /// `Device::take_lba_status`. Not a part of workloads.
    #[serde(skip)]
    LbaStatus,
}

/// The stream hint of a write command (`NVMe` directives, SCSI stream control): writes with one hint share superblocks.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
    outlast_persist::Persist,
)]
#[serde(transparent)]
pub struct StreamId(pub u8);

/// Which submission queue of the host a command comes through. Hosts have many (`NVMe`: one for each processor); a device that knows of
/// one only ignores it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, outlast_persist::Persist)]
pub struct QueueId(pub u8);

/// The caller's name for a command in flight. Small and dense: devices may index arrays by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, outlast_persist::Persist)]
pub struct Tag(pub u32);

/// One command of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub struct Command {
    /// First sector. Ignored by [`Op::Flush`].
    pub lba: Lba,
    /// Number of sectors; zero only for [`Op::Flush`].
    pub sectors: u32,
    /// What to do.
    pub op: Op,
    /// Stream hint of a write; zero elsewhere.
    pub stream: StreamId,
    /// Forced unit access: a write completes only when it is on flash.
    pub fua: bool,
    /// The submission queue through which it comes.
    pub queue: QueueId,
}

impl Command {
    /// Make every write acknowledged before it survive a loss of power.
    pub const FLUSH: Self = Self::new(Op::Flush, Lba(0), 0);

    /// A command through queue 0, without stream hint or forced unit access.
    #[inline]
    #[must_use]
    pub const fn new(op: Op, lba: Lba, sectors: u32) -> Self {
        Self { lba, sectors, op, stream: StreamId(0), fua: false, queue: QueueId(0) }
    }
}

// Commands are kept and copied for every request in flight: all of one is two words.
const _: () = assert!(size_of::<Command>() == 16);

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub enum Outcome {
    /// Done.
    Ok,
    /// Some sector lies beyond the capacity; nothing was done.
    OutOfRange,
    /// The device has become read-only: too few good blocks are left to accept writes.
    ReadOnly,
    /// Some sector's data could not be read, by no means that the device knows: nothing of it is returned as if it were
    /// good. Of a write: old data that had to be kept could not be read, and nothing of that unit was written.
    MediumError,
    /// The device lost its power before the command was done. Of a write or a trim, each unit may or may not have been changed.
    Aborted,
}

/// One command that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub struct Completion {
    /// When.
    pub at: Nanos,
    /// Which command.
    pub tag: Tag,
    /// How.
    pub outcome: Outcome,
}

/// What a device is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// A short name of the model.
    pub model: String,
    /// Capacity that the host sees.
    pub capacity: Bytes,
    /// The unit in which the device maps; writes aligned to it need no read-modify-write.
    pub optimal_io: Bytes,
    /// Bandwidth of its host link in each direction, where it has one.
    pub link: Option<ByteRate>,
}
