//! What a controller tells of its subsystem, its namespace and its limits.

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
/// The only namespace.
pub(crate) const NAMESPACE: u32 = 1;
/// All namespaces.
pub(crate) const ALL_NAMESPACES: u32 = u32::MAX;

/// A subsystem of one namespace.
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
    /// The namespace.
    pub namespace: NamespaceFacts,
}

/// A namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamespaceFacts {
    /// Capacity, in logical blocks.
    pub blocks: u64,
    /// Bytes of a logical block: a power of two, 512 at least.
    pub block_bytes: u32,
    /// Blocks whose aligned multiples need no read-modify-write.
    pub preferred_blocks: u16,
    /// True if the namespace takes writes.
    pub is_writable: bool,
    /// Identifier that no other namespace has (NGUID).
    pub guid: [u8; 16],
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
