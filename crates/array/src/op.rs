//! Work under way: host commands, operations on one group.

use crate::ids::{GroupIndex, HostCommandId, LockId, PassEpoch, RangeIndex, RepairId};
use crate::layout::RowRange;
use crate::roles::roles;
use outlast_device::{Command, Outcome, PlacementId, Tag};

/// A host command under way.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct HostCommand {
    pub(crate) command: Command,
    pub(crate) tag: Tag,
    /// Parts not yet done.
    pub(crate) left: u32,
    pub(crate) outcome: Outcome,
    /// Data to be written, or read so far; empty if bytes are not kept, and where the operation that writes all of it has taken it.
    pub(crate) data: Vec<u8>,
}

/// The kinds of operations on a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub(crate) enum GroupOpKind {
    /// Reads host data under a lock: it has to be computed, or parity moves.
    Read,
    /// Writes host data and its redundancy.
    Write,
    /// Deallocates rows of every member.
    Trim,
    /// Rebuilds missing chunks, and moves chunks to their places in the shift's target.
    Transform,
    /// Reads everything and compares; `repair` rewrites redundancy that differs, `resync` where it may (bytes not kept).
    Verify { repair: bool, resync: bool },
    /// Computes rows of a member that has lost them, and writes them back. `repair` and `range` say for whom; `copy`: the member itself
    /// is read, too.
    Repair { repair: RepairId, range: RangeIndex, copy: bool },
    /// Carries out a record that outlived a loss of power.
    Replay,
}

impl GroupOpKind {
    /// True if its reads and writes may count for the recovery of a member.
    #[inline]
    pub(crate) fn recovers(self) -> bool {
        matches!(self, Self::Transform | Self::Repair { .. })
    }

    /// True for work that the array does for itself, not for the host.
    #[inline]
    pub(crate) fn is_background_work(self) -> bool {
        self.recovers() || matches!(self, Self::Verify { .. })
    }
}

/// How the redundancy of a write is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub(crate) enum WriteMethod {
    /// No reads: every data chunk is written.
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
/// Phases: wait for the lock; mark the region (bitmap); *gather* the chunks that must be known, window by window (one window, unless
/// sectors cannot be read: then halves, so that one bad sector costs no other); write the record (log); *commit*, that is, write.
#[derive(Clone, Debug, outlast_persist::Persist)]
#[allow(clippy::struct_excessive_bools, reason = "independent facts, not a state in disguise")]
pub(crate) struct GroupOp {
    pub(crate) kind: GroupOpKind,
    pub(crate) group: GroupIndex,
    /// The host command that this is a part of; `None`: the operation is for no host, or has answered it.
    pub(crate) host: Option<HostCommandId>,
    /// Its lock, once it has asked for one.
    pub(crate) lock: Option<LockId>,
    /// Rows that take part.
    pub(crate) rows: RowRange,
    /// Rows that the host reads or writes.
    pub(crate) overlay: RowRange,
    /// Rows being gathered.
    pub(crate) window: RowRange,
    /// Data roles that the host reads or writes; of a repair, the one role (of any kind) that is computed.
    pub(crate) roles: u64,
    /// Roles of the window that have been read.
    pub(crate) have: u64,
    /// Roles of the window that could not be read.
    pub(crate) failed: u64,
    /// Roles among `failed` that a member gave up after limited retry: another read may yet have them, so that they are not rewritten.
    pub(crate) limited: u64,
    /// Roles of the window that are lost for good: zeroes from here on.
    pub(crate) lost: u64,
    /// Roles to be written.
    pub(crate) write_set: u64,
    pub(crate) method: WriteMethod,
    /// The group moves to the shift's target placement.
    pub(crate) moves: bool,
    /// In every window so far, redundancy matches the data once all is written.
    pub(crate) fits: bool,
    /// The lock covers the whole chunk.
    pub(crate) whole: bool,
    pub(crate) fua: bool,
    pub(crate) committing: bool,
    /// The operation counts as a writer of its region of the bitmap.
    pub(crate) marked: bool,
    pub(crate) placement: PlacementId,
    /// Member commands under way.
    pub(crate) left: u32,
    /// The background pass that this belongs to.
    pub(crate) epoch: Option<PassEpoch>,
    /// Bytes of log space held on each member.
    pub(crate) log_bytes: u64,
    /// Content by role, over `rows`; none where bytes are not kept. A role of which nothing has been read or computed has an empty cell.
    pub(crate) cells: Vec<Vec<u8>>,
    /// Runs of single roles to be rewritten besides.
    pub(crate) repairs: Vec<(u8, RowRange)>,
    pub(crate) record: Option<Box<GroupRecord>>,
}

impl GroupOp {
    #[inline]
    pub(crate) fn new(kind: GroupOpKind, group: GroupIndex, rows: RowRange) -> Self {
        Self {
            kind,
            group,
            host: None,
            lock: None,
            rows,
            overlay: rows,
            window: rows,
            roles: 0,
            have: 0,
            failed: 0,
            limited: 0,
            lost: 0,
            write_set: 0,
            method: WriteMethod::Full,
            moves: false,
            fits: true,
            whole: false,
            fua: false,
            committing: false,
            marked: false,
            placement: PlacementId(0),
            left: 0,
            epoch: None,
            log_bytes: 0,
            cells: Vec::new(),
            repairs: Vec::new(),
            record: None,
        }
    }

    /// Makes a new operation of one that has ended, in its place.
    #[inline]
    pub(crate) fn renew(&mut self, kind: GroupOpKind, group: GroupIndex, rows: RowRange) {
        // Field by field, so that nothing is dropped or moved; every field is named.
        #[rustfmt::skip]
        let Self {
            kind, group, rows, cells, repairs, record, overlay, window, host, lock, roles, have, failed,
            limited, lost, write_set, method, moves, fits, whole, fua, committing, marked, placement, left, epoch, log_bytes,
        } = Self::new(kind, group, rows);
        (self.kind, self.group, self.rows) = (kind, group, rows);
        (self.overlay, self.window, self.host, self.lock) = (overlay, window, host, lock);
        (self.roles, self.have, self.failed, self.limited) = (roles, have, failed, limited);
        (self.lost, self.write_set, self.method, self.moves) = (lost, write_set, method, moves);
        (self.fits, self.whole, self.fua, self.committing) = (fits, whole, fua, committing);
        (self.marked, self.placement, self.left, self.epoch) = (marked, placement, left, epoch);
        self.log_bytes = log_bytes;
        self.repairs.clear();
        debug_assert!(
            self.cells == cells && self.record.is_none(),
            "an operation that has ended holds nothing"
        );
        debug_assert!(record.is_none() && repairs.is_empty(), "nor does a new one");
    }

    /// The host command of a read that has not answered yet, a write or a trim.
    #[inline]
    pub(crate) fn host_command(&self) -> HostCommandId {
        self.host.expect("host data is read and written for a host command")
    }

    /// True if the host's data covers every row of the window.
    pub(crate) fn is_overlaid(&self) -> bool {
        self.overlay.first <= self.window.first && self.window.end <= self.overlay.end
    }

    /// True if redundancy of the rows matches the data once the operation has written, whatever it was before: it is computed from data
    /// that was read or is new, in one window, or every role is compared.
    pub(crate) fn leaves_redundancy_right(&self) -> bool {
        match self.kind {
            GroupOpKind::Verify { .. } | GroupOpKind::Transform => self.fits,
            GroupOpKind::Trim => true,
            // A read-modify-write carries an old mismatch over into the new parity. A window that does not begin with the first row is
            // not the only one: `method` is then that of the last window alone.
            GroupOpKind::Write => {
                matches!(self.method, WriteMethod::Full | WriteMethod::Complete)
                    && self.window.first == self.rows.first
            }
            GroupOpKind::Read | GroupOpKind::Repair { .. } | GroupOpKind::Replay => false,
        }
    }

    /// True if redundancy of the window matches the data once the operation has written. A rebuild takes chunks as it reads them, parity
    /// included: the result is consistent only if no more than `data` chunks were read, which define the stripe, and all other roles in
    /// `present` are computed from them. Lost data is replaced by zeroes, for which all redundancy is computed anew.
    pub(crate) fn makes_window_fit(&self, data: usize, present: u64, repaired: u64) -> bool {
        let is_computed = self.have.count_ones() as usize <= data
            && present & !(self.have | self.write_set | repaired) == 0;
        match self.kind {
            GroupOpKind::Verify { repair, .. } => repair || self.lost != 0,
            GroupOpKind::Transform => is_computed || self.lost != 0,
            _ => false,
        }
    }

    /// Roles whose content in this window is known: read, or zeroes in place of lost data.
    pub(crate) fn known_roles(&self) -> u64 {
        self.have | self.lost
    }

    /// Puts `data`, which has been read of rows `rows` of role `role`, into its cell.
    pub(crate) fn put_cell(&mut self, role: usize, rows: RowRange, data: Vec<u8>) {
        if rows == self.rows && data.len() == rows.byte_length() {
            self.cells[role] = data;
        } else {
            self.fill_cells(1 << role);
            self.cells[role][rows.bytes(self.rows.first)].copy_from_slice(&data);
        }
    }

    /// Fills the cells of the roles in `set` that have no content yet with zeroes.
    pub(crate) fn fill_cells(&mut self, set: u64) {
        let bytes = self.rows.byte_length();
        for role in roles(set) {
            if self.cells[role].is_empty() {
                self.cells[role].resize(bytes, 0);
            }
        }
    }

    /// True if the redundancy of a write is computed at once from all data, when the new data is there; else it is summed up window by window.
    /// `data_set`: the data roles; `keeps_sums`: a record needs the sums without the new data.
    pub(crate) fn computes_at_once(&self, data_set: u64, keeps_sums: bool) -> bool {
        let is_one_window = self.window == self.rows && self.overlay == self.rows;
        let is_from_data = matches!(self.method, WriteMethod::Full | WriteMethod::Complete) && self.lost == 0;
        is_one_window && is_from_data && !keeps_sums && data_set & !(self.have | self.roles) == 0
    }

    /// Stores the sums of a partial record until the record is made.
    pub(crate) fn keep_sums(&mut self, sums: Vec<Vec<u8>>) {
        let content = RecordContent::Partial { written: self.roles, sums, extra: 0, cells: Vec::new() };
        self.record = Some(Box::new(GroupRecord { group: self.group, rows: self.rows, content }));
    }

    /// The content of a record that holds all new chunks; `roles`: the roles of a group.
    pub(crate) fn cells_content(&self, roles: usize) -> RecordContent {
        let keep = |role: usize| {
            if self.write_set >> role & 1 == 1 { self.cells[role].clone() } else { Vec::new() }
        };
        let cells = if self.cells.is_empty() { Vec::new() } else { (0..roles).map(keep).collect() };
        RecordContent::Cells { set: self.write_set, cells, moves: self.moves }
    }
}

/// The record of an operation, which survives a loss of power so that the operation can be finished.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct GroupRecord {
    pub(crate) group: GroupIndex,
    pub(crate) rows: RowRange,
    pub(crate) content: RecordContent,
}

/// The content of a record.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) enum RecordContent {
    /// For each parity, the sum over the data roles that are not in `written`; and new data of roles whose member is missing.
    Partial { written: u64, sums: Vec<Vec<u8>>, extra: u64, cells: Vec<Vec<u8>> },
    /// New content of the roles in `set`; `moves`: at their places in the shift's target.
    Cells { set: u64, cells: Vec<Vec<u8>>, moves: bool },
    /// The rows are deallocated.
    Trim,
}
