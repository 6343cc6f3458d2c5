//! What is told about a recovery.

use outlast_decisions::RepairWay;
use outlast_units::{Bytes, Nanos};
use serde::Serialize;

/// One recovery from the failure of a die in a member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, outlast_persist::Persist)]
pub struct MemberRepair {
    /// The member's column.
    pub member: usize,
    /// The die that failed; dies that failed before the end may be recovered with it.
    pub die: u16,
    /// How. While code of the user's has put off to say so: what the settings say.
    pub way: RepairWay,
    /// When the member told of it.
    pub noticed_at: Nanos,
    /// When recovery began; absent while it waits.
    pub started_at: Option<Nanos>,
    /// When it ended.
    pub finished_at: Option<Nanos>,
    /// True if it ended early, because the member left or is replaced instead.
    pub abandoned: bool,
    /// Questions about failed sectors that the member answered.
    pub queries: u64,
    /// Time of these questions, from each one's beginning to its end: Reparo's Identifier. Overlapping ones count each.
    pub identify: Nanos,
    /// The rest of the time from `started_at` to `finished_at`; zero until then.
    pub recover: Nanos,
    /// Sectors that the member told it has lost.
    pub failed_sectors: u64,
    /// Sectors that it can read and wants written again.
    pub fake_sectors: u64,
    /// Read from the other members.
    pub bytes_read_from_peers: Bytes,
    /// Read from the member itself, or from the one that it replaces.
    pub bytes_read_from_member: Bytes,
    /// Written to the member, or to the one in its place.
    pub bytes_written: Bytes,
    /// Sectors of the array's data that nothing could bring back.
    pub lost_sectors: u64,
    /// Times that it was taken up again after a loss of power.
    pub resumed: u32,
}

impl MemberRepair {
    /// The largest of what is counted.
    pub(crate) fn largest(&self) -> u64 {
        let bytes = [self.bytes_read_from_peers, self.bytes_read_from_member, self.bytes_written];
        let sectors = [self.queries, self.failed_sectors, self.fake_sectors, self.lost_sectors];
        bytes.into_iter().map(|bytes| bytes.0).chain(sectors).fold(0, u64::max)
    }

    /// Of die `die` of member `member`, told at `at`, and not begun.
    pub(crate) fn new(member: usize, die: u16, way: RepairWay, at: Nanos) -> Self {
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
