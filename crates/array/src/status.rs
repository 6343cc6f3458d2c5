//! What an array tells about itself.

use crate::op::WriteMethod;
use crate::passes::PassKind;
use outlast_units::{Bytes, Nanos};
use serde::Serialize;
use std::fmt;

outlast_units::counters! {
    /// Figures since the beginning.
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
        /// Reads sent to members, for whatever cause.
        pub member_reads: u64,
        /// Writes sent to members, records included.
        pub member_writes: u64,
        /// Writes of records among them.
        pub log_writes: u64,
        /// Group writes that needed no reading.
        pub full_writes: u64,
        /// Group writes from old data and old parity.
        pub delta_writes: u64,
        /// Group writes from the rest of the data.
        pub complete_writes: u64,
        /// Group writes for which missing data had to be computed first.
        pub decoded_writes: u64,
        /// Windows of host reads that were computed from redundancy.
        pub degraded_reads: u64,
        /// Reads that a member could not do.
        pub read_errors: u64,
        /// Sectors rewritten because they could not be read, or because redundancy did not fit.
        pub sectors_repaired: u64,
        /// Sectors of host data that became lost.
        pub sectors_lost: u64,
        /// Sectors of redundancy that a scrub found not to fit.
        pub mismatches: u64,
        /// The same, found while resynchronising.
        pub sectors_resynced: u64,
        /// Groups in which a resynchronisation found redundancy that did not fit, and made it fit.
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
    /// Every figure.
    fn all(&self) -> Vec<u64> {
        let sectors = [self.sectors_read, self.sectors_written, self.sectors_repaired, self.sectors_lost];
        let host = [self.reads, self.writes, self.medium_errors, self.degraded_reads, self.mismatches];
        let members = [self.member_reads, self.member_writes, self.log_writes, self.read_errors];
        let groups = [self.full_writes, self.delta_writes, self.complete_writes, self.decoded_writes];
        let rebuilt = [self.rebuild_sectors_read, self.rebuild_sectors_written, self.ejected.into()];
        let doubt = [self.sectors_resynced, self.groups_resynced, self.power_cuts, self.records_replayed];
        [&sectors[..], &host, &members, &groups, &rebuilt, &doubt, &[self.write_holes]].concat()
    }

    /// The largest of all.
    pub(crate) fn largest(&self) -> u64 {
        self.all().into_iter().fold(0, u64::max)
    }

    /// True if none is larger than that of `other`, as those counted before are.
    #[must_use]
    pub fn is_within(&self, other: &Self) -> bool {
        self.all().iter().zip(other.all()).all(|(&own, other)| own <= other)
    }

    /// One more group is written, in this way.
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

/// The array as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArrayHealth {
    /// Every member is there and complete.
    Clean,
    /// Members are missing or being rebuilt, or a die of one has failed and is not yet made good; redundancy makes that good.
    Degraded,
    /// More is missing than redundancy makes good, or the array did not start after a loss of power.
    Failed,
}

/// What commands of the host meet. Of several the last one in [`ArrayCondition::ALL`] counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArrayCondition {
    /// Every member is there and complete, and redundancy fits.
    Healthy,
    /// Redundancy is made right after a loss of power.
    Resyncing,
    /// Members are missing or lack what was on a failed die, and nothing is done about it.
    Degraded,
    /// Members are being rebuilt or recover what they have lost with a die, or parity moves.
    Rebuilding,
    /// More is missing than redundancy makes good.
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
    /// How far the recovery of what it has lost with a die is.
    pub repair: Option<PassProgress>,
}

/// A pass over the array.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PassProgress {
    /// What it does.
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
        let seconds = (total.0 - done.0) as f64 / bytes_per_s;
        let left = seconds.is_finite().then_some(Nanos((seconds * 1e9) as u64));
        Self { kind, done, total, bytes_per_s, left }
    }
}

/// See [`Array::status`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArrayStatus {
    /// Level, as in scenarios.
    pub level: &'static str,
    /// Whether data is safe.
    pub state: ArrayHealth,
    /// True if writes are refused.
    pub read_only: bool,
    /// The members, by column.
    pub members: Vec<MemberStatus>,
    /// Devices standing by.
    pub spares: usize,
    /// What the array is doing for itself.
    pub progress: Option<PassProgress>,
    /// Stripes whose parity is still to move.
    pub stripes_to_move: u64,
    /// Age of the oldest member less that of the youngest.
    pub age_differential: f64,
    /// Sectors of host data that nothing can bring back.
    pub lost_sectors: u64,
    /// Marked regions of the bitmap.
    pub marked_regions: u64,
    /// How the devices fit, in words.
    pub notices: Vec<String>,
}

impl fmt::Display for ArrayStatus {
    /// As `/proc/mdstat` shows an array: `raid5 [5/4] [UUU_U] recovery = 12.6% finish=3.2min speed=98304K/sec`.
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
