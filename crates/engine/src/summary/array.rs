//! Section `array` of the result.

use crate::by_state::LatencyByState;
use crate::data_loss::DataLoss;
use outlast_array::ArrayHealth;
use serde::Serialize;

/// State, repairs, traffic and wear of an array.
#[derive(Clone, Debug, Serialize)]
pub struct ArraySummary {
    /// RAID level, as in scenarios.
    pub level: &'static str,
    /// Members, spares not counted.
    pub members: u16,
    /// Spares that are still unused.
    pub spares_left: u64,
    /// Bytes of a chunk.
    pub chunk_bytes: u64,
    /// State at the end.
    pub state: ArrayHealth,
    /// True if it refuses writes.
    pub read_only: bool,
    /// Seconds in each state; their sum is the simulated time.
    pub time_s: StateTimes,
    /// Seconds during which members were missing or incomplete, but no data.
    pub degraded_s: f64,
    /// All rebuilds together; absent where there was none.
    pub rebuild: Option<RebuildSummary>,
    /// Rebuilds begun.
    pub rebuilds: u64,
    /// Losses of power of the whole array.
    pub power_cuts: u64,
    /// Stripes that were made consistent after a loss of power, from records or by resynchronising.
    pub write_hole_repairs: u64,
    /// Stripes whose data came to depend on parity that a loss of power had left wrong.
    pub write_holes: u64,
    /// Sectors of redundancy that scrubs found inconsistent.
    pub mismatches: u64,
    /// Scrubs that came to their end.
    pub scrubs: u64,
    /// Members thrown out by thresholds.
    pub ejected: u64,
    /// Reads that failed on a member.
    pub read_errors: u64,
    /// Sectors rewritten because they were unreadable, or because redundancy was inconsistent.
    pub sectors_repaired: u64,
    /// Host reads of which at least a part was computed from redundancy.
    pub degraded_reads: u64,
    /// Bytes of the host's data that the array gave up and that have not been written since; without those on members that are missing.
    pub lost_bytes: u64,
    /// Sectors that members cannot write, at the end.
    pub bad_sectors: u64,
    /// Writes of stripes, by method of computing redundancy.
    pub writes: ArrayWrites,
    /// Commands to members.
    pub member_commands: ArrayAmplification,
    /// Age of the oldest member less that of the youngest: percent of the rating, or cycles where drives have none.
    pub age_differential: f64,
    /// Stripes whose parity is still to move.
    pub stripes_to_move: u64,
    /// Wear by member, at the end.
    pub wear: Vec<DriveWear>,
    /// Probability of losing data within a year, and what it follows from.
    pub data_loss: Option<DataLoss>,
    /// Probability that a rebuild at the end would lose data; absent where flash does not err, and where members are missing.
    pub data_loss_after_failures: Option<DataLossAfterFailures>,
    /// Latencies by the state of the array.
    pub latency_us_by_state: LatencyByState,
    /// The array in a line, as Linux shows it.
    pub status: String,
}

/// Seconds in each state; their sum is the simulated time.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct StateTimes {
    pub clean: f64,
    pub degraded: f64,
    pub failed: f64,
}

/// Rebuilding, from the start of the first rebuild to the end of the last.
#[derive(Clone, Debug, Serialize)]
pub struct RebuildSummary {
    /// The member rebuilt first.
    pub member: u64,
    /// Start of the first, in seconds from the start of the run.
    pub started_s: f64,
    /// End of the last, likewise; absent while one is under way, and where none has ended.
    pub finished_s: Option<f64>,
    /// Bytes read from members.
    pub bytes_read: u64,
    /// Bytes written to members, those of moved parity included.
    pub bytes_written: u64,
    /// `bytes_written` per second.
    pub rate_mib_s: f64,
    /// Share done of the one under way, or of the last one if none has ended: what its drive has of it, 0 if that has left; else 1.
    pub done: f64,
    /// Seconds left, by the speed of the last half minute, or of a repair in place by its speed so far; absent if it is over, or nothing was
    /// done in that time.
    pub left_s: Option<f64>,
}

/// Writes of stripes, or of parts of one, by method.
#[derive(Clone, Debug, Serialize)]
pub struct ArrayWrites {
    /// Whole stripes, without reading.
    pub full: u64,
    /// Read-modify-write, from old data and old parity.
    pub delta: u64,
    /// Reconstruct-write, from the remaining data of the stripe.
    pub complete: u64,
    /// Writes for which missing data had to be computed first.
    pub decoded: u64,
    /// `full` over all; absent where nothing was written.
    pub full_stripe_share: Option<f64>,
}

/// Commands to members, from the beginning of the measurement on.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct ArrayAmplification {
    pub reads: u64,
    pub writes: u64,
    /// Records against the write hole, which `writes` includes.
    pub log_writes: u64,
}

/// State and wear of one member.
#[derive(Clone, Debug, Serialize)]
pub struct DriveWear {
    /// Column in the array.
    pub device: u64,
    /// True if a drive is present.
    pub present: bool,
    /// True if its data is complete.
    pub in_sync: bool,
    /// Mean P/E cycles of blocks in use.
    pub mean_pe: Option<f64>,
    /// Most P/E cycles of a block.
    pub max_pe: Option<u64>,
    /// Percent of the rated cycles.
    pub percentage_used: Option<u64>,
    /// Percent of all parity that it holds; absent for mirrors.
    pub parity_percent: Option<f64>,
    /// Bytes that the array wrote to it, from the beginning of the measurement on.
    pub bytes_written: u64,
    /// Pages that it programmed since then.
    pub programs: u64,
    /// Bytes programmed over `bytes_written`.
    pub write_amplification: Option<f64>,
    /// Mean raw bit error rate of blocks that hold data.
    pub rber: Option<f64>,
    /// Common logarithm of the uncorrectable bit error rate after ECC at `rber`, before re-reads and the drive's own parity.
    pub log10_uber: Option<f64>,
    /// Read errors that still count towards its ejection.
    pub read_errors: u64,
    /// Sectors that it cannot write.
    pub bad_sectors: u64,
}

/// Probabilities that some bit of the surviving members is unreadable after failures that use up all redundancy.
#[derive(Clone, Debug, Serialize)]
pub struct DataLossAfterFailures {
    /// Members that fail.
    pub failures: u64,
    /// Probability if the oldest fail.
    pub oldest: f64,
    /// Probability if any fail, each set being equally likely.
    pub any: f64,
}
