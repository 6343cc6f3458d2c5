//! What a host can ask and what it gets back.

use crate::zones::{ZoneAction, ZoneError};
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
    /// Write sectors at the write pointer of the zone that begins at the address; the result is the first sector written (`NVMe`: Zone Append).
    #[serde(skip)]
    Append,
    /// Change the state of the zone that begins at the address, by [`Command::zone_action`] (`NVMe`: Zone Management Send).
    #[serde(skip)]
    ManageZone,
}

impl Op {
    /// True if the command brings data that is stored.
    #[inline]
    pub const fn writes(self) -> bool {
        matches!(self, Self::Write | Self::Append)
    }
}

/// The placement identifier of a write command, `NVMe`'s directive-specific value: a stream of the streams directive or of SCSI stream
/// control, a placement handle of flexible data placement. Writes with one identifier share superblocks. 0 is the default.
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
pub struct PlacementId(pub u16);

/// A namespace of a device, as `NVMe` numbers them: the first is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, outlast_persist::Persist)]
pub struct NamespaceId(pub u32);

impl NamespaceId {
    /// The namespace of a device that has one.
    pub const FIRST: Self = Self(1);
}

impl Default for NamespaceId {
    fn default() -> Self {
        Self::FIRST
    }
}

/// Which submission queue of the host a command comes through. Hosts have many (`NVMe`: one for each processor); a device that knows of
/// one only ignores it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, outlast_persist::Persist)]
pub struct QueueId(pub u8);

/// The caller's name for a command in flight. Small and dense: devices may index arrays by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, outlast_persist::Persist)]
pub struct Tag(pub u32);

impl outlast_units::Idx for Tag {
    #[inline]
    fn from_index(index: usize) -> Self {
        Self(outlast_units::to_count(index))
    }

    #[inline]
    fn to_index(self) -> usize {
        self.0 as usize
    }
}

/// One command of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub struct Command {
    /// First sector. Ignored by [`Op::Flush`].
    pub lba: Lba,
    /// Number of sectors; zero only for [`Op::Flush`].
    pub sectors: u32,
    /// Namespace whose sectors these are. A device of one namespace refuses any but [`NamespaceId::FIRST`].
    pub namespace: NamespaceId,
    /// Placement identifier of a write; zero elsewhere.
    pub placement: PlacementId,
    /// What to do.
    pub op: Op,
    /// Forced unit access: a write completes only when it is on flash.
    pub fua: bool,
    /// Limited retry, bit LR of `NVMe`'s Read: the device makes few attempts and then ends a read in [`Outcome::MediumError`], instead of applying
    /// all means to recover the data.
    pub limited_retry: bool,
    /// The submission queue through which it comes.
    pub queue: QueueId,
    /// Action of [`Op::ManageZone`]; ignored elsewhere.
    pub zone_action: ZoneAction,
}

impl Command {
    /// Make every write acknowledged before it survive a loss of power.
    pub const FLUSH: Self = Self::new(Op::Flush, Lba(0), 0);

    /// Changes the state of the zone that begins at `lba`.
    #[must_use]
    pub const fn manage_zone(action: ZoneAction, lba: Lba) -> Self {
        Self { zone_action: action, ..Self::new(Op::ManageZone, lba, 0) }
    }

    /// A command to the first namespace through queue 0, without placement identifier, forced unit access or limited retry.
    #[inline]
    #[must_use]
    pub const fn new(op: Op, lba: Lba, sectors: u32) -> Self {
        Self {
            lba,
            sectors,
            namespace: NamespaceId::FIRST,
            placement: PlacementId(0),
            op,
            fua: false,
            limited_retry: false,
            queue: QueueId(0),
            zone_action: ZoneAction::Open,
        }
    }
}

// Commands are kept and copied for every request in flight: three words, with 1 byte to spare.
const _: () = assert!(size_of::<Command>() == 24);

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
    /// The device has no such namespace; nothing was done.
    InvalidNamespace,
    /// The zone does not allow the command; nothing was done.
    Zone(ZoneError),
    /// A command to zones, of a device that has none; nothing was done.
    InvalidOpcode,
}

impl Outcome {
    /// Number of kinds.
    pub const KINDS: usize = 8;

    /// Number of its kind, from 0, which is that of [`Outcome::Ok`]. All refusals by zones are of one kind.
    #[inline]
    pub const fn kind(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::OutOfRange => 1,
            Self::ReadOnly => 2,
            Self::MediumError => 3,
            Self::Aborted => 4,
            Self::InvalidNamespace => 5,
            Self::Zone(_) => 6,
            Self::InvalidOpcode => 7,
        }
    }
}

/// The value that a command returns beside its data, `NVMe`'s dwords 0 and 1 of a completion: the first sector that a zone append has
/// written, for one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, outlast_persist::Persist)]
pub struct CommandResult(pub u64);

impl CommandResult {
    /// The result of commands that return no value.
    pub const NONE: Self = Self(0);
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
    /// The value that the command returns.
    pub result: CommandResult,
}

impl Completion {
    /// A completion without a result.
    #[inline]
    #[must_use]
    pub const fn new(at: Nanos, tag: Tag, outcome: Outcome) -> Self {
        Self { at, tag, outcome, result: CommandResult::NONE }
    }
}

const _: () = assert!(size_of::<Completion>() == 24);

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
