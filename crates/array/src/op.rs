//! What is under way: host commands, operations on one group, commands to members.

use crate::layout::Rows;
use outlast_device::{Command, Outcome, StreamId, Tag};
use outlast_units::slab::NIL;

/// A command of the host.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct Host {
    pub(crate) command: Command,
    pub(crate) tag: Tag,
    /// Parts not yet done.
    pub(crate) left: u32,
    pub(crate) outcome: Outcome,
    /// What is to be written, or has been read; empty where bytes are not kept.
    pub(crate) data: Vec<u8>,
}

/// What an operation does with its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub(crate) enum OpKind {
    /// Host data that cannot simply be read.
    Read,
    /// Host data and its redundancy.
    Write,
    /// Deallocates rows of every member.
    Trim,
    /// Rebuilds what is missing and moves what lies elsewhere than it should.
    Transform,
    /// Reads everything and compares; `repair` rewrites redundancy that differs, `resync` where it may (bytes not kept).
    Verify { repair: bool, resync: bool },
    /// Computes rows of a member that has lost them, and writes them back. `repair` and `range` say for whom; `copy`: the member itself
    /// is read, too.
    Repair { repair: u32, range: u32, copy: bool },
    /// Carries out a record that outlived a loss of power.
    Replay,
}

impl OpKind {
    /// Whether what it reads and writes may count for the recovery of a member.
    #[inline]
    pub(crate) fn recovers(self) -> bool {
        matches!(self, Self::Transform | Self::Repair { .. })
    }

    /// Whether it is the array's own work rather than the host's.
    #[inline]
    pub(crate) fn is_own_work(self) -> bool {
        self.recovers() || matches!(self, Self::Verify { .. })
    }
}

/// How the redundancy of a write is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub(crate) enum Method {
    /// Nothing but what is written is needed.
    Full,
    /// Old data and old parity: read-modify-write.
    Delta,
    /// All data that is not written: reconstruct-write.
    Complete,
    /// Any `k` chunks, from which the missing ones are computed.
    Decode,
}

/// An operation on rows of one group, under a lock.
///
/// It goes through: wait for the lock; mark the region (bitmap); *gather* what must be known, window by window (one window, unless
/// sectors cannot be read: then halves, so that one bad sector costs no other); write the record (log); *commit*, that is, write.
#[derive(Clone, Debug, outlast_persist::Persist)]
#[allow(clippy::struct_excessive_bools, reason = "independent facts, not a state in disguise")]
pub(crate) struct Op {
    pub(crate) kind: OpKind,
    pub(crate) group: u64,
    /// The host command that this is a part of.
    pub(crate) host: u32,
    pub(crate) lock: u32,
    /// Rows that take part.
    pub(crate) rows: Rows,
    /// Rows that the host reads or writes.
    pub(crate) overlay: Rows,
    /// Rows being gathered.
    pub(crate) window: Rows,
    /// Data roles that the host reads or writes; of a repair, the one role (of any kind) that is computed.
    pub(crate) roles: u64,
    /// Of the window: roles that have been read, that could not be, and that are lost for good.
    pub(crate) have: u64,
    pub(crate) failed: u64,
    pub(crate) lost: u64,
    /// Roles to be written.
    pub(crate) write_set: u64,
    pub(crate) method: Method,
    /// Whether the group moves to the shift's target placement.
    pub(crate) moves: bool,
    /// Whether redundancy fits what was read in every window so far, once all is written.
    pub(crate) fits: bool,
    /// Whether the whole chunk is locked.
    pub(crate) whole: bool,
    pub(crate) fua: bool,
    pub(crate) committing: bool,
    /// Whether a region of the bitmap is held.
    pub(crate) marked: bool,
    pub(crate) stream: StreamId,
    /// Member commands under way.
    pub(crate) left: u32,
    /// The background pass that this belongs to; 0: none.
    pub(crate) epoch: u32,
    /// Bytes of log space held on each member.
    pub(crate) log_bytes: u64,
    /// Content by role, over `rows`; empty where bytes are not kept.
    pub(crate) cells: Vec<Vec<u8>>,
    /// Runs of single roles to be rewritten besides.
    pub(crate) repairs: Vec<(u8, Rows)>,
    pub(crate) record: Option<Box<Record>>,
}

impl Op {
    pub(crate) fn new(kind: OpKind, group: u64, rows: Rows) -> Self {
        Self {
            kind,
            group,
            host: NIL,
            lock: NIL,
            rows,
            overlay: rows,
            window: rows,
            roles: 0,
            have: 0,
            failed: 0,
            lost: 0,
            write_set: 0,
            method: Method::Full,
            moves: false,
            fits: true,
            whole: false,
            fua: false,
            committing: false,
            marked: false,
            stream: StreamId(0),
            left: 0,
            epoch: 0,
            log_bytes: 0,
            cells: Vec::new(),
            repairs: Vec::new(),
            record: None,
        }
    }

    /// Whether the host's data covers every row of the window.
    pub(crate) fn is_overlaid(&self) -> bool {
        self.overlay.first <= self.window.first && self.window.end <= self.overlay.end
    }

    /// Whether redundancy of the rows fits once the operation has written, whatever it was before: it is computed from data that was read
    /// or is new, in one window, or every role is looked at.
    pub(crate) fn leaves_redundancy_right(&self) -> bool {
        match self.kind {
            OpKind::Verify { .. } | OpKind::Transform => self.fits,
            OpKind::Trim => true,
            OpKind::Write => {
                matches!(self.method, Method::Full | Method::Complete) && self.window.first == self.rows.first
            }
            OpKind::Read | OpKind::Repair { .. } | OpKind::Replay => false,
        }
    }

    /// Whether redundancy of the window fits once the operation has written. A rebuild takes what it can read as it is, parity included: only
    /// where no more than the `data` chunks that define a stripe were read, and all others of `there` follow from them, does it fit. What
    /// was given up is zeroes, for which all redundancy is computed anew.
    pub(crate) fn makes_window_fit(&self, data: usize, there: u64, repaired: u64) -> bool {
        let follows =
            self.have.count_ones() as usize <= data && there & !(self.have | self.write_set | repaired) == 0;
        match self.kind {
            OpKind::Verify { repair, .. } => repair || self.lost != 0,
            OpKind::Transform => follows || self.lost != 0,
            _ => false,
        }
    }

    /// Roles whose content is known in this window.
    pub(crate) fn known(&self) -> u64 {
        self.have | self.lost
    }
}

/// What outlives a loss of power so that an operation can be finished.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct Record {
    pub(crate) group: u64,
    pub(crate) rows: Rows,
    pub(crate) content: Content,
}

#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) enum Content {
    /// For each parity, the sum over the data roles that are not in `written`; and new data of roles whose member is missing.
    Partial { written: u64, sums: Vec<Vec<u8>>, extra: u64, cells: Vec<Vec<u8>> },
    /// New content of the roles in `set`; `moves`: at their places in the shift's target.
    Cells { set: u64, cells: Vec<Vec<u8>>, moves: bool },
    /// The rows are deallocated.
    Trim,
}

/// Why a command went to a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub(crate) enum SubKind {
    /// Host data, for host command `owner`.
    DirectRead,
    DirectWrite,
    DirectTrim,
    Flush,
    /// For operation `owner`.
    Read,
    Write,
    Log,
    /// For the bitmap.
    Bitmap,
    /// A flush before the members are marked clean.
    Clean,
    /// For repair `owner`: a question about range `group`, and the flush at its end.
    Status,
    RepairFlush,
    /// A read that others than the array have asked for: tag `owner`, first sector `group`.
    Aside,
}

impl SubKind {
    /// Whether it is a part of a host command rather than of an operation or of the array's own work.
    pub(crate) fn is_for_host(self) -> bool {
        matches!(self, Self::DirectRead | Self::DirectWrite | Self::DirectTrim | Self::Flush)
    }
}

/// A command to a member.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub(crate) struct Sub {
    pub(crate) live: bool,
    pub(crate) kind: SubKind,
    /// A column, or that many columns further its donor.
    pub(crate) column: u8,
    pub(crate) role: u8,
    pub(crate) owner: u32,
    pub(crate) group: u64,
    pub(crate) rows: Rows,
}
