//! An `NVMe` controller without transport, clock or device: commands and their data in, completions and requests to the device out.
//!
//! An [`NvmeTarget`] has the controllers of all hosts. Each connection of a transport has a [`HostQueue`], which Connect makes an admin queue with a
//! controller, or one of its I/O queues. The transport asks [`HostQueue::transfer`] for the data that a command moves, brings it, and calls
//! [`HostQueue::begin`]; [`HostQueue::poll`] gives requests to the device, [`HostQueue::answer`] takes its answers, and [`HostQueue::take_end`]
//! gives completions. Time limits are the caller's: [`HostQueue::silence_limit`].
//!
//! What is there follows the Base Specification 1.4, the NVM Command Set and `NVMe` over Fabrics: Identify, features, the logs of errors, health, firmware
//! slots, changed namespaces, effects and discovery, asynchronous events of health, Keep Alive, Get LBA Status; Flush, Write, Read, Compare, Write Zeroes,
//! Dataset Management, Verify and Copy; for devices with flexible data placement (TP4146) its logs, features, directive and I/O Management; for devices with zones
//! the Zoned Namespace Command Set 1.1: Zone Management Send and Receive, Zone Append. Everything else is refused, and not advertised. Abort finds that the
//! command goes on.
//!
//! Another transport, such as `PCIe`, would bring its own queues in memory and its registers, and use the same calls.
//!
//! Architecture invariant: this crate knows no device, socket, clock, file or thread.

mod admin;
mod bytes;
mod device;
mod directives;
mod entry;
mod events;
mod fabrics;
mod facts;
mod features;
mod identify;
mod io;
mod lba_status;
mod log_pages;
mod placement;
mod placement_event;
mod placement_events;
mod placement_features;
mod placement_identifiers;
mod plan;
mod properties;
mod queue;
mod status;
mod target;
mod zone_reports;
mod zones;

pub use device::{
    DeviceAnswer, DeviceFailure, DeviceOp, DeviceRequest, HEALTH_BYTES, HealthLogPage, LostRange,
    PlacementReport,
};
pub use entry::{COMPLETION_BYTES, CommandEnd, SUBMISSION_BYTES, SubmissionEntry};
pub use facts::{
    DISCOVERY_NQN, IN_CAPSULE_BYTES, IO_QUEUES, LONGEST_TRANSFER, NQN_BYTES, NamespaceFacts, PortFacts,
    QUEUE_ENTRIES, RandomAreaFacts, SubsystemFacts, ZoneFacts,
};
pub use placement::{ConfigurationFacts, HandleKind, PlacementFacts, UNKNOWN_IDENTIFIER};
pub use queue::{DataTransfer, HostQueue, QueueEvent};
pub use status::NvmeStatus;
pub use target::{NvmeTarget, TargetOffer};
pub use zones::{
    WireZoneState, ZoneListRequest, ZoneRefusal, ZoneReport, ZoneReports, ZoneSendAction, ZoneStates,
};

/// Firmware revision of controllers: the version of this crate.
pub const FIRMWARE: &str = env!("CARGO_PKG_VERSION");
