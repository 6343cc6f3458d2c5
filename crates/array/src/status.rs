//! Types of the status and the figures of an array.

use crate::op::WriteMethod;
use crate::passes::PassKind;
use outlast_units::{Bytes, Nanos};
use serde::Serialize;
use std::fmt;

outlast_units::counters! {
    /// Figures of an array since its beginning.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, outlast_persist::Persist)]
    pub struct ArrayCounters {
        /// Host reads ended.
        pub reads: u64,
        /// Host writes ended.
        pub writes: u64,
        /// Sectors of those reads.
        pub sectors_read: u64,
        /// Sectors of those that did not fail.
        pub sectors_written: u64,
        /// Host commands that ended with a medium error.
        pub medium_errors: u64,
        /// Reads sent to members, for any purpose.
        pub member_reads: u64,
        /// Writes sent to members, records included.
        pub member_writes: u64,
        /// Writes of records among them.
        pub log_writes: u64,
        /// Group writes that needed no reading.
        pub full_writes: u64,
        /// Group writes from old data and old parity.
        pub delta_writes: u64,
        /// Group writes from the data that is not written (reconstruct-write).
        pub complete_writes: u64,
        /// Group writes for which missing data had to be computed first.
        pub decoded_writes: u64,
        /// Windows of host reads that were computed from redundancy.
        pub degraded_reads: u64,
        /// Reads that a member could not do.
        pub read_errors: u64,
        /// Sectors rewritten because they could not be read, or because redundancy did not match.
        pub sectors_repaired: u64,
        /// Sectors of host data that became lost.
        pub sectors_lost: u64,
        /// Sectors of redundancy that a scrub found not to match the data.
        pub mismatches: u64,
        /// The same, found by a resynchronisation.
        pub sectors_resynced: u64,
        /// Groups in which a resynchronisation rewrote redundancy that did not match the data.
        pub groups_resynced: u64,
        /// Sectors of members read to rebuild others, or to move parity meanwhile.
        pub rebuild_sectors_read: u64,
        /// Sectors of members written by that.
        pub rebuild_sectors_written: u64,
        /// Members thrown out by thresholds.
        pub ejected: u32,
        /// Losses of power of the whole array.
        pub power_cuts: u64,
        /// Records carried out after a loss of power.
        pub records_replayed: u64,
        /// Groups whose data came to depend on parity that a loss of power had left wrong: the write hole.
        pub write_holes: u64,
    }
}

impl ArrayCounters {
    /// All figures, for comparisons.
    fn all(&self) -> Vec<u64> {
        let sectors = [self.sectors_read, self.sectors_written, self.sectors_repaired, self.sectors_lost];
        let host = [self.reads, self.writes, self.medium_errors, self.degraded_reads, self.mismatches];
        let members = [self.member_reads, self.member_writes, self.log_writes, self.read_errors];
        let groups = [self.full_writes, self.delta_writes, self.complete_writes, self.decoded_writes];
        let rebuilt = [self.rebuild_sectors_read, self.rebuild_sectors_written, self.ejected.into()];
        let doubt = [self.sectors_resynced, self.groups_resynced, self.power_cuts, self.records_replayed];
        [&sectors[..], &host, &members, &groups, &rebuilt, &doubt, &[self.write_holes]].concat()
    }

    /// The largest figure.
    pub(crate) fn largest(&self) -> u64 {
        self.all().into_iter().fold(0, u64::max)
    }

    /// True if none is larger than that of `other`, as those counted before are.
    #[must_use]
    pub fn is_within(&self, other: &Self) -> bool {
        self.all().iter().zip(other.all()).all(|(&figure, other)| figure <= other)
    }

    /// Counts a group write by its method.
    pub(crate) fn count_write(&mut self, method: WriteMethod) {
        let count = match method {
            WriteMethod::Full => &mut self.full_writes,
            WriteMethod::Delta => &mut self.delta_writes,
            WriteMethod::Complete => &mut self.complete_writes,
            WriteMethod::Decode => &mut self.decoded_writes,
        };
        *count += 1;
    }
}

/// Health of the array as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArrayHealth {
    /// Every member is present and complete.
    Clean,
    /// Members are missing or being rebuilt, or a die of one has failed and is not yet recovered; redundancy still covers it.
    Degraded,
    /// More is missing than redundancy covers, or the array did not start after a loss of power.
    Failed,
}

/// The condition of the array that host commands meet; of several that hold, the last one in [`ArrayCondition::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArrayCondition {
    /// Every member is there and complete, and redundancy fits.
    Healthy,
    /// A resynchronisation runs after a loss of power.
    Resyncing,
    /// Members are missing or lack the data of a failed die, and no recovery is under way.
    Degraded,
    /// Members are being rebuilt or repaired, or parity moves.
    Rebuilding,
    /// More is missing than redundancy covers.
    Failed,
}

impl ArrayCondition {
    /// Every condition, the graver ones last.
    pub const ALL: [Self; 5] =
        [Self::Healthy, Self::Resyncing, Self::Degraded, Self::Rebuilding, Self::Failed];
}

/// One member.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MemberStatus {
    /// True if a device is there.
    pub present: bool,
    /// True if all of it can be read.
    pub in_sync: bool,
    /// Share of all groups that its device has, whether a rebuild of it goes on or not; 0 if no device is there.
    #[serde(skip)]
    pub filled_share: f64,
    /// Age by the array's measure.
    pub age: Option<f64>,
    /// Share of the parity chunks, in percent.
    pub parity_percent: Option<f64>,
    /// Read errors not yet forgotten.
    pub read_errors: u32,
    /// Sectors that could not be written.
    pub bad_sectors: u64,
    /// Commands under way.
    pub in_flight: u32,
    /// Progress of the recovery of data that it has lost with a die.
    pub repair: Option<PassProgress>,
}

/// A pass over the array.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PassProgress {
    /// Kind of the pass.
    pub kind: PassKind,
    /// Bytes of each member done.
    pub done: Bytes,
    /// Bytes of each member in all.
    pub total: Bytes,
    /// Bytes of a member per second, over the last half a minute as md takes it; of a repair since it began.
    pub bytes_per_s: f64,
    /// Time left at that speed; absent where nothing has been done in that time.
    pub left: Option<Nanos>,
}

impl PassProgress {
    /// `worked` bytes have been done in `elapsed`.
    pub(crate) fn new(kind: PassKind, done: Bytes, total: Bytes, worked: u64, elapsed: Nanos) -> Self {
        let elapsed = elapsed.as_secs_f64();
        let bytes_per_s = if elapsed > 0.0 { worked as f64 / elapsed } else { 0.0 };
        // Infinite or NaN at a speed of 0: then there is no estimate.
        let seconds = (total.0 - done.0) as f64 / bytes_per_s;
        #[allow(clippy::cast_possible_truncation, reason = "saturates at the largest time")]
        let left = seconds.is_finite().then_some(Nanos((seconds * 1e9) as u64));
        Self { kind, done, total, bytes_per_s, left }
    }
}

/// See [`Array::status`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArrayStatus {
    /// Level, as in scenarios.
    pub level: &'static str,
    /// Health of the data.
    pub state: ArrayHealth,
    /// True if writes are refused.
    pub read_only: bool,
    /// The members, by column.
    pub members: Vec<MemberStatus>,
    /// Devices standing by.
    pub spares: usize,
    /// Progress of background work.
    pub progress: Option<PassProgress>,
    /// Stripes whose parity is still to move.
    pub stripes_to_move: u64,
    /// Age of the oldest member less that of the youngest.
    pub age_differential: f64,
    /// Lost sectors of host data.
    pub lost_sectors: u64,
    /// Marked regions of the bitmap.
    pub marked_regions: u64,
    /// Remarks on how the devices fit together, for the user.
    pub notices: Vec<String>,
}

impl fmt::Display for ArrayStatus {
    /// One line in the style of `/proc/mdstat`: `raid5 [5/4] [UUU_U] recovery = 12.6% finish=3.2min speed=98304K/sec`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let up = self.members.iter().filter(|member| member.in_sync).count();
        write!(f, "{} [{}/{up}] [", self.level, self.members.len())?;
        for member in &self.members {
            f.write_str(if member.in_sync { "U" } else { "_" })?;
        }
        f.write_str("]")?;
        if self.spares > 0 {
            write!(f, " spares={}", self.spares)?;
        }
        if self.read_only {
            f.write_str(" (read-only)")?;
        }
        if let Some(progress) = &self.progress {
            let name = match progress.kind {
                PassKind::Rebuild => "recovery",
                PassKind::Resync => "resync",
                PassKind::Shift => "reshape",
                PassKind::Scrub => "check",
                PassKind::Repair => "repair",
            };
            let percent = progress.done.0 as f64 * 100.0 / progress.total.0.max(1) as f64;
            write!(f, " {name} = {percent:.1}%")?;
            if let Some(left) = progress.left {
                write!(f, " finish={:.1}min", left.as_secs_f64() / 60.0)?;
            }
            write!(f, " speed={:.0}K/sec", progress.bytes_per_s / 1024.0)?;
        }
        if self.lost_sectors > 0 {
            write!(f, " lost={} sectors", self.lost_sectors)?;
        }
        Ok(())
    }
}
