//! What a controller tells of its subsystem, its namespaces and its limits.

use crate::placement::PlacementFacts;
use crate::status::NvmeStatus;

/// Name of the discovery service, the same in every target.
pub const DISCOVERY_NQN: &str = "nqn.2014-08.org.nvmexpress.discovery";

/// Longest transfer of data, as the power of two of 4096 bytes that Identify names (MDTS): 1 MiB.
pub(crate) const MDTS: u8 = 8;
/// Longest transfer of data, in bytes.
pub const LONGEST_TRANSFER: u64 = 4096 << MDTS;
/// Most entries of a queue.
pub const QUEUE_ENTRIES: u16 = 128;
/// Most I/O queues of a controller.
pub const IO_QUEUES: u16 = 16;
/// Data that a capsule may carry, in bytes: what the TCP transport sets for the admin queue, here the same for I/O queues.
pub const IN_CAPSULE_BYTES: u32 = 8192;
/// Asynchronous event requests that a controller keeps.
pub(crate) const EVENT_REQUESTS: usize = 4;
/// Entries of the error log.
pub(crate) const ERROR_ENTRIES: usize = 16;
/// Granularity of keep-alive times, in units of 100 ms.
pub(crate) const KEEP_ALIVE_UNITS: u16 = 10;
/// Version of the Base Specification: 1.4.
pub(crate) const VERSION: u32 = 0x0001_0400;
/// All namespaces.
pub(crate) const ALL_NAMESPACES: u32 = u32::MAX;

/// A subsystem: a device with its namespaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubsystemFacts {
    /// `NVMe` Qualified Name, at most 223 bytes.
    pub nqn: String,
    /// Serial number, at most 20 characters.
    pub serial: String,
    /// Model, at most 40 characters.
    pub model: String,
    /// Firmware revision, at most 8 characters.
    pub firmware: String,
    /// Bytes of the device, which its namespaces share.
    pub capacity: u64,
    /// Namespaces, numbered from 1 in this order: ranges of the device that do not overlap; at least one.
    pub namespaces: Vec<NamespaceFacts>,
    /// Flexible data placement, if the device has it.
    pub placement: Option<PlacementFacts>,
}

impl SubsystemFacts {
    /// Highest number of a namespace.
    pub(crate) fn last_namespace(&self) -> u32 {
        self.namespaces.len() as u32
    }

    /// The namespace of this number.
    pub(crate) fn namespace(&self, number: u32) -> Result<&NamespaceFacts, NvmeStatus> {
        let place = (number as usize).checked_sub(1);
        place.and_then(|place| self.namespaces.get(place)).ok_or(NvmeStatus::INVALID_NAMESPACE)
    }

    /// Bytes of the device that belong to no namespace.
    pub(crate) fn unallocated(&self) -> u64 {
        let taken: u64 = self.namespaces.iter().map(NamespaceFacts::bytes).sum();
        self.capacity.saturating_sub(taken)
    }

    /// True if namespaces have zones: all have, or none.
    pub(crate) fn has_zones(&self) -> bool {
        self.namespaces.iter().any(|namespace| namespace.zones.is_some())
    }

    /// True if some namespace takes writes.
    pub(crate) fn is_writable(&self) -> bool {
        self.namespaces.iter().any(|namespace| namespace.is_writable)
    }
}

/// A namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamespaceFacts {
    /// First byte of the device that belongs to it.
    pub offset: u64,
    /// Size, in logical blocks; with zones that of their addresses, of which not all can be written.
    pub blocks: u64,
    /// Bytes of a logical block: a power of two, 512 at least.
    pub block_bytes: u32,
    /// Blocks whose aligned multiples need no read-modify-write.
    pub preferred_blocks: u16,
    /// True if the namespace takes writes.
    pub is_writable: bool,
    /// Identifier that no other namespace has (NGUID).
    pub guid: [u8; 16],
    /// Placement identifier of the device for each of the namespace's placement handles in each reclaim group: first the first handle in all groups. Empty
    /// without flexible data placement.
    pub identifiers: Vec<u16>,
    /// Reclaim groups; 1 without flexible data placement.
    pub reclaim_groups: u16,
    /// Zones, if the namespace is one of the Zoned Namespace Command Set: it is divided into them from its first block to its last.
    pub zones: Option<ZoneFacts>,
}

/// Zones of a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneFacts {
    /// Blocks from the start of one zone to that of the next.
    pub size: u64,
    /// Blocks of a zone that can be written; at most its size.
    pub capacity: u64,
    /// Most zones that may be active at once; at least 1.
    pub most_active: u32,
    /// Most zones that may be open at once; at least 1.
    pub most_open: u32,
    /// Random write areas, if zones can have them.
    pub random: Option<RandomAreaFacts>,
}

/// Random write areas of the zones of a namespace (ZRWA).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomAreaFacts {
    /// Blocks of an area.
    pub size: u16,
    /// Blocks by whose multiples the write pointer moves.
    pub granularity: u16,
    /// Most zones that have one at once; at least 1.
    pub zones: u32,
}

impl NamespaceFacts {
    /// Blocks that can be written.
    pub(crate) fn writable_blocks(&self) -> u64 {
        self.zones.map_or(self.blocks, |zones| self.blocks / zones.size * zones.capacity)
    }

    /// Size, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.blocks * u64::from(self.block_bytes)
    }
}

/// Longest `NVMe` Qualified Name, in bytes.
pub const NQN_BYTES: usize = 223;

/// A port of the target, as the discovery service tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortFacts {
    /// Transport type (3: TCP) and address family (1: IPv4, 2: IPv6) of the discovery log.
    pub transport: (u8, u8),
    /// Address, as text.
    pub address: String,
    /// Service identifier: the port number, as text.
    pub service: String,
}
