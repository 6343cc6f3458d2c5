//! Records of recoveries, for the user.

use crate::ids::ColumnIndex;
use outlast_decisions::RepairWay;
use outlast_units::{Bytes, Nanos};
use serde::Serialize;

/// One recovery from the failure of a die in a member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, outlast_persist::Persist)]
pub struct MemberRepair {
    /// The member's column.
    pub member: ColumnIndex,
    /// The die that failed; dies that failed before the end may be recovered with it.
    pub die: u16,
    /// Method. While a user policy defers the decision: the method of the settings.
    pub way: RepairWay,
    /// Time at which the member reported the failure.
    pub noticed_at: Nanos,
    /// Time at which recovery began; absent while it waits.
    pub started_at: Option<Nanos>,
    /// Time at which it ended.
    pub finished_at: Option<Nanos>,
    /// True if it ended early, because the member left or is replaced instead.
    pub abandoned: bool,
    /// Queries about failed sectors that the member has answered.
    pub queries: u64,
    /// Sum of the times of these queries (Reparo's Identifier); overlapping ones count each.
    pub identify: Nanos,
    /// Time from `started_at` to `finished_at` without `identify`; zero until then.
    pub recover: Nanos,
    /// Sectors that the member has reported as lost.
    pub failed_sectors: u64,
    /// Sectors that it can read and asks to be written again.
    pub fake_sectors: u64,
    /// Bytes read from the other members.
    pub bytes_read_from_peers: Bytes,
    /// Bytes read from the member itself, or from its donor.
    pub bytes_read_from_member: Bytes,
    /// Bytes written to the member, or to its replacement.
    pub bytes_written: Bytes,
    /// Sectors of the array's data that nothing could bring back.
    pub lost_sectors: u64,
    /// Times that it was restarted after a loss of power.
    pub resumed: u32,
}

impl MemberRepair {
    /// The largest count.
    pub(crate) fn largest(&self) -> u64 {
        let bytes = [self.bytes_read_from_peers, self.bytes_read_from_member, self.bytes_written];
        let sectors = [self.queries, self.failed_sectors, self.fake_sectors, self.lost_sectors];
        bytes.into_iter().map(|bytes| bytes.0).chain(sectors).fold(0, u64::max)
    }

    /// The record of a recovery from the failure of die `die` of member `member`, reported at `at`, that has not begun.
    pub(crate) fn new(member: ColumnIndex, die: u16, way: RepairWay, at: Nanos) -> Self {
        Self {
            member,
            die,
            way,
            noticed_at: at,
            started_at: None,
            finished_at: None,
            abandoned: false,
            queries: 0,
            identify: Nanos::ZERO,
            recover: Nanos::ZERO,
            failed_sectors: 0,
            fake_sectors: 0,
            bytes_read_from_peers: Bytes(0),
            bytes_read_from_member: Bytes(0),
            bytes_written: Bytes(0),
            lost_sectors: 0,
            resumed: 0,
        }
    }
}
