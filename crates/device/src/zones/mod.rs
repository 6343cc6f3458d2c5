//! Zones (`NVMe` Zoned Namespace Command Set, revision 1.1): what a host may do with a zone, what it is told, and the machine of their states.

mod random_write;
mod resources;
mod table;

pub use resources::share_of;
pub use table::ZoneTable;

use outlast_units::{JsonSchema, Lba};
use serde::{Deserialize, Serialize};

outlast_units::index_type! {
    /// A zone, numbered from 0 in order of address.
    pub struct ZoneId(u32);
}

/// State of a zone. Of a zone that is open or closed the drive keeps resources: it is *active*.
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
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum ZoneState {
    /// Empty: no data, and no resources taken.
    Empty = 0,
    /// Opened by a write.
    ImplicitlyOpen = 1,
    /// Opened by a command.
    ExplicitlyOpen = 2,
    /// Partly written, not open.
    Closed = 3,
    /// Takes no more writes until it is reset.
    Full = 4,
    /// Can be read only, for good.
    ReadOnly = 5,
    /// Can be neither read nor written.
    Offline = 6,
}

impl ZoneState {
    /// All states, in order of their numbers.
    pub const ALL: [Self; 7] = [
        Self::Empty,
        Self::ImplicitlyOpen,
        Self::ExplicitlyOpen,
        Self::Closed,
        Self::Full,
        Self::ReadOnly,
        Self::Offline,
    ];

    /// True if the zone takes a part of the open resources.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::ImplicitlyOpen | Self::ExplicitlyOpen)
    }

    /// True if the zone takes a part of the active resources.
    pub const fn is_active(self) -> bool {
        self.is_open() || matches!(self, Self::Closed)
    }

    /// Name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::ImplicitlyOpen => "implicitly-open",
            Self::ExplicitlyOpen => "explicitly-open",
            Self::Closed => "closed",
            Self::Full => "full",
            Self::ReadOnly => "read-only",
            Self::Offline => "offline",
        }
    }
}

/// An action of the command Zone Management Send.
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
pub enum ZoneAction {
    /// Opens a zone explicitly: it stays open until it is closed, full or reset.
    Open,
    /// Closes an open zone.
    Close,
    /// Makes a zone full, whatever is written of it.
    Finish,
    /// Makes a zone empty.
    Reset,
    /// Gives up a zone that is read-only.
    Offline,
    /// Opens an empty zone explicitly, with a random write area (`NVMe`: Open Zone with ZRWAA).
    OpenRandom,
    /// Commits the blocks from the write pointer to the one at the address, which lie in the random write area (`NVMe`: Commit ZRWA).
    Commit,
}

impl ZoneAction {
    /// All actions.
    pub const ALL: [Self; 7] =
        [Self::Open, Self::Close, Self::Finish, Self::Reset, Self::Offline, Self::OpenRandom, Self::Commit];
}

/// Why a command to a zone was refused, by the names of the specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, outlast_persist::Persist)]
pub enum ZoneError {
    /// Invalid Field in Command: an append or an action whose address is not the first of a zone.
    InvalidField,
    /// Zone Boundary Error: a write beyond the capacity of a zone, or a read from one zone into the next.
    BoundaryError,
    /// Zone Is Full: a write to a full zone.
    IsFull,
    /// Zone Is Read Only: a write to a zone that can be read only.
    IsReadOnly,
    /// Zone Is Offline: a read or a write of a zone that is offline.
    IsOffline,
    /// Zone Invalid Write: a write elsewhere than at the write pointer, or of a part of a logical block.
    InvalidWrite,
    /// Too Many Active Zones: the command would make one zone more active than may be.
    TooManyActive,
    /// Too Many Open Zones: the command would open one zone more than may be, and none can be closed for it.
    TooManyOpen,
    /// Invalid Zone State Transition: an action that the state of the zone does not allow.
    InvalidTransition,
    /// Invalid Zone Operation Request: an append to a zone with a random write area, an area for a zone that is not empty, or one of a device without areas.
    InvalidOperation,
    /// ZRWA Resources Unavailable: as many zones have a random write area as may.
    NoRandomWriteArea,
}

impl ZoneError {
    /// All errors.
    pub const ALL: [Self; 11] = [
        Self::InvalidField,
        Self::BoundaryError,
        Self::IsFull,
        Self::IsReadOnly,
        Self::IsOffline,
        Self::InvalidWrite,
        Self::TooManyActive,
        Self::TooManyOpen,
        Self::InvalidTransition,
        Self::InvalidOperation,
        Self::NoRandomWriteArea,
    ];

    /// Name in the specification.
    pub const fn name(self) -> &'static str {
        match self {
            Self::InvalidField => "Invalid Field in Command",
            Self::BoundaryError => "Zone Boundary Error",
            Self::IsFull => "Zone Is Full",
            Self::IsReadOnly => "Zone Is Read Only",
            Self::IsOffline => "Zone Is Offline",
            Self::InvalidWrite => "Zone Invalid Write",
            Self::TooManyActive => "Too Many Active Zones",
            Self::TooManyOpen => "Too Many Open Zones",
            Self::InvalidTransition => "Invalid Zone State Transition",
            Self::InvalidOperation => "Invalid Zone Operation Request",
            Self::NoRandomWriteArea => "ZRWA Resources Unavailable",
        }
    }
}

/// How the addresses of a device are divided into zones: all of one size, of which the first part can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub struct ZoneLayout {
    /// Number of zones, at least 1.
    pub zones: u32,
    /// Sectors from the start of one zone to that of the next.
    pub size: u64,
    /// Sectors of a zone that can be written; at most its size.
    pub capacity: u64,
    /// Sectors of a logical block, in which writes are counted.
    pub block: u32,
}

impl ZoneLayout {
    /// Sectors that the host addresses.
    pub const fn sectors(&self) -> u64 {
        self.size * self.zones as u64
    }

    /// The zone of sector `lba`, and the place in it. The sector is within the device.
    #[inline]
    pub const fn place(&self, lba: Lba) -> (ZoneId, u64) {
        let zone = lba.0 / self.size;
        #[allow(clippy::cast_possible_truncation, reason = "a device has at most 2^32 zones")]
        (ZoneId(zone as u32), lba.0 - zone * self.size)
    }

    /// First sector of a zone.
    #[inline]
    pub const fn start(&self, zone: ZoneId) -> Lba {
        Lba(self.size * zone.0 as u64)
    }
}

/// How many zones may be open and active at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub struct ZoneLimits {
    /// Most open zones (`NVMe`: Maximum Open Resources).
    pub open: u32,
    /// Most active zones (`NVMe`: Maximum Active Resources).
    pub active: u32,
}

/// Random write areas of a device (`NVMe`: ZRWA): in a zone that has one, blocks of a window behind the write pointer may be written in any order, and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub struct RandomWriteAreas {
    /// Sectors of an area; as many behind it are its implicit commit region.
    pub size: u64,
    /// Sectors by whose multiples the write pointer moves.
    pub granularity: u64,
    /// Most zones that have an area at once.
    pub zones: u32,
}

/// Description of a zone, as the command Zone Management Receive gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneDescriptor {
    /// The zone.
    pub zone: ZoneId,
    /// Its state.
    pub state: ZoneState,
    /// Its first sector.
    pub start: Lba,
    /// Sectors that can be written.
    pub capacity: u64,
    /// The sector at which the next write goes; absent where the state has no valid write pointer.
    pub write_pointer: Option<Lba>,
    /// True if it has a random write area (`NVMe`: ZRWA Valid).
    pub has_area: bool,
}
