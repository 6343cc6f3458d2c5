//! Arrays of devices: RAID in its common forms, and Diff-RAID.
//!
//! An [`Array`] is a [`Device`](outlast_device::Device) made of devices: drives, plain devices, or arrays again. It knows their
//! interface and nothing of what is behind it. [`placement`] says where parity lies, as data; [`coarse`]
//! runs whole lifetimes from the same placements without a single command.

#![cfg_attr(not(test), deny(clippy::cast_possible_truncation))]

mod accounts;
mod bitmap;
pub mod coarse;
mod deadlines;
mod doubt;
mod error;
mod hints;
mod ids;
mod layout;
mod locks;
mod log;
mod machine;
mod member_command;
mod members;
mod op;
mod parity;
mod passes;
pub mod placement;
mod plain;
mod ranges;
mod repairs;
mod roles;
mod spare_cells;
mod status;

pub use error::{ArrayError, ArrayEvent, ArrayEventKind, RepairStep};

pub use ids::ColumnIndex;
pub use layout::capacity_over;
pub use machine::Array;
pub use outlast_device::PowerCycle;
pub use passes::PassKind;
pub use plain::{PlainDevice, PlainFailure};
pub use ranges::RangeSet;
pub use repairs::MemberRepair;
pub use status::{ArrayCondition, ArrayCounters, ArrayHealth, ArrayStatus, MemberStatus, PassProgress};
