//! Consequences of what a flash core did that are not its own to carry out.

use crate::commands::HostRequestId;
use crate::op::Op;
use outlast_device::{Command, Tag};
use outlast_units::{CoreId, DieId};

/// A request of a flash core to the drive: it concerns other cores, or the host. The drive applies effects in their order as soon as the handler has
/// returned, before anything else that is due ([`Ssd::settle`](crate::ssd::Ssd)).
#[derive(Clone, Copy, Debug)]
pub enum Effect {
    /// The old data of a partly written unit is in the controller: the write goes on, at the core that the unit belongs to now.
    OldDataRead(Op),
    /// The data of a unit that another core is to hold is in the controller, or is lost.
    MoveRead {
        /// The read.
        op: Op,
        /// True if the data is lost.
        lost: bool,
    },
    /// A page of a core's mapping table has been read: the units that wait for it go on.
    MapRead(CoreId, u32),
    /// A die looks for work: relocation has come round to it.
    Wake(DieId),
    /// A page with a list of owners has been read, or could not be.
    ListRead(Op),
    /// A query of the host for units to be written again has ended: its answer takes what all cores know.
    StatusDone {
        /// Its number.
        request: HostRequestId,
        /// Range that it asks for.
        command: Command,
        /// The host's name for it.
        tag: Tag,
    },
    /// The drive has worn or failed a little more: changes of code that wait for this are made.
    StateChanged,
    /// Commands to a zone that waited go on, once nothing else is due.
    ZonesGoOn,
}
