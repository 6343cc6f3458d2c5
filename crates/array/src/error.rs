//! Errors and events of an array.

use crate::ids::ColumnIndex;
use outlast_units::{Bytes, Nanos};
use serde::Serialize;
use thiserror::Error;

/// The reason why an array refuses a request.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ArrayError {
    /// There is no such column.
    #[error("member = {member}: must be below {members}, the number of members")]
    NoSuchMember {
        /// The column asked for.
        member: usize,
        /// Columns there are.
        members: usize,
    },
    /// The device there is gone already.
    #[error("member = {member}: there is no device in its place")]
    Absent {
        /// The column asked for.
        member: usize,
    },
    /// Data would be lost.
    #[error(
        "member = {member}: holds the only copy of some data; replacing it loses that (force does it anyway)"
    )]
    OnlyCopy {
        /// The column asked for.
        member: usize,
    },
    /// The new device cannot hold what the others do.
    #[error("capacity = {capacity}: the new device must have at least {needed}, as every member has")]
    TooSmall {
        /// Capacity of the new device.
        capacity: Bytes,
        /// Bytes that every member uses.
        needed: Bytes,
    },
    /// The factory made a device that cannot work.
    #[error("the new device cannot be used: {reason}")]
    Unusable {
        /// The error, in words.
        reason: String,
    },
    /// A share of the link's bandwidth is set, and the device reports no link.
    #[error(
        "array.repair.share: the new device has no device.controller.link, so there is no bandwidth to take a share of"
    )]
    NoLink,
    /// Power came back with a member missing and parity in doubt.
    #[error(
        "{groups} groups may be inconsistent and a member is missing: its data there may be wrong (force starts the array anyway)"
    )]
    DirtyDegraded {
        /// Groups whose parity cannot be trusted.
        groups: u64,
    },
}

/// Steps of a repair: notices of a member about a die, and what the array does about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, outlast_persist::Persist)]
#[serde(rename_all = "kebab-case")]
pub enum RepairStep {
    /// The member reported that the die has failed.
    DieFailed,
    /// The member reported that the die will fail, and moves its data away by itself.
    DieFailing,
    /// The member reported that the die has failed, and that it cannot compensate for another one.
    LastRepair,
    /// The member reported that the die has failed, and that it cannot compensate for it.
    BeyondRepair,
    /// Recovery waits: for a spare, or until the array can do without the member.
    Waits,
    /// Recovery has begun.
    Started,
    /// Recovery is done; what could not be recovered is counted in [`MemberRepair`](crate::MemberRepair).
    Done,
    /// Recovery has ended early: the member has left, or is replaced instead.
    Abandoned,
}

impl RepairStep {
    /// The step in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::DieFailed => "die failed",
            Self::DieFailing => "die failing",
            Self::LastRepair => "die failed, the last that can be made good",
            Self::BeyondRepair => "die failed beyond repair",
            Self::Waits => "repair waits",
            Self::Started => "repair started",
            Self::Done => "repaired",
            Self::Abandoned => "repair abandoned",
        }
    }
}

/// Something that happened to an array.
#[derive(Clone, Debug, PartialEq, Serialize, outlast_persist::Persist)]
pub struct ArrayEvent {
    /// Time of the event.
    pub at: Nanos,
    /// Kind, with details.
    pub kind: ArrayEventKind,
}

/// The kinds of [`ArrayEvent`]s.
#[derive(Clone, Debug, PartialEq, Serialize, outlast_persist::Persist)]
#[serde(rename_all = "kebab-case", tag = "what")]
pub enum ArrayEventKind {
    /// A member is gone; `failed`: data of the array is gone with it.
    MemberFailed {
        /// Its column.
        member: ColumnIndex,
        /// True if more members are missing than redundancy makes good.
        failed: bool,
    },
    /// A member was replaced because of its age, or on demand.
    Replaced {
        /// Its column.
        member: ColumnIndex,
        /// The ages of all devices at that moment, the old one's included; absent where none was there.
        ages: Vec<Option<f64>>,
    },
    /// A device was put in the place of a missing member, which is being rebuilt on it.
    RebuildStarted {
        /// Its column.
        member: ColumnIndex,
    },
    /// A member is complete again.
    Rebuilt {
        /// Its column.
        member: ColumnIndex,
    },
    /// Parity began to move.
    ShiftStarted {
        /// Parity chunks to move, per period of the placement.
        parity_moves: u32,
        /// Stripes of the period.
        period: u32,
    },
    /// All parity has been moved.
    ShiftDone,
    /// Parity matches the data again after a loss of power.
    Resynced,
    /// A die of a member has failed, or its data is being recovered.
    Repair {
        /// Its column.
        member: ColumnIndex,
        /// The die.
        die: u16,
        /// The step of the repair.
        step: RepairStep,
    },
    /// A scrub has compared every sector.
    Scrubbed {
        /// Sectors of redundancy that did not match the data.
        mismatches: u64,
    },
    /// Power failed, and is back except after [`ArrayEventKind::NotStarted`].
    PowerFailed {
        /// Host commands that ended with it.
        aborted: u64,
    },
    /// The array stays off: parity is in doubt and a member is missing.
    NotStarted {
        /// Groups whose parity cannot be trusted.
        groups: u64,
    },
    /// A member refuses writes and the array cannot do without it, so that the array refuses writes, too.
    ReadOnly {
        /// Its column.
        member: ColumnIndex,
    },
}
