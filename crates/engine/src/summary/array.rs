//! An array of drives.

use crate::by_state::LatencyByState;
use crate::data_loss::DataLoss;
use outlast_array::ArrayHealth;
use serde::Serialize;

/// An array of drives.
#[derive(Clone, Debug, Serialize)]
pub struct ArraySummary {
    /// RAID level, as in scenarios.
    pub level: &'static str,
    /// Members, spares not counted.
    pub members: u16,
    /// Spares that still stand by.
    pub spares_left: u64,
    /// Bytes of a chunk.
    pub chunk_bytes: u64,
    /// At the end.
    pub state: ArrayHealth,
    /// Whether it refuses writes.
    pub read_only: bool,
    /// How long it was in each state, in seconds.
    pub time_s: StateTimes,
    /// Seconds during which members were missing or incomplete and redundancy made that good.
    pub degraded_s: f64,
    /// All rebuilding; absent where there was none.
    pub rebuild: Option<RebuildSummary>,
    /// Rebuilds begun.
    pub rebuilds: u64,
    /// Losses of power of the whole array.
    pub power_cuts: u64,
    /// Stripes that were made consistent after a loss of power, from records or by resynchronising.
    pub write_hole_repairs: u64,
    /// Stripes whose data came to depend on parity that a loss of power had left wrong.
    pub write_holes: u64,
    /// Sectors of redundancy that scrubs found not to fit.
    pub mismatches: u64,
    /// Scrubs that came to their end.
    pub scrubs: u64,
    /// Members thrown out by thresholds.
    pub ejected: u64,
    /// Reads that a member could not do.
    pub read_errors: u64,
    /// Sectors rewritten because they could not be read, or because redundancy did not fit.
    pub sectors_repaired: u64,
    /// Host reads that were computed from redundancy, in parts.
    pub degraded_reads: u64,
    /// Bytes of the host that nothing can bring back and that have not been written since.
    pub lost_bytes: u64,
    /// Sectors that members could not write, now.
    pub bad_sectors: u64,
    /// Writes of stripes, by how their redundancy was computed.
    pub writes: ArrayWrites,
    /// Commands to members.
    pub member_commands: ArrayAmplification,
    /// Age of the oldest member less that of the youngest: percent of the rating, or cycles where drives have none.
    pub age_differential: f64,
    /// Stripes whose parity is still to move.
    pub stripes_to_move: u64,
    /// Member by member, at the end.
    pub wear: Vec<DriveWear>,
    /// How likely it is to lose data within a year.
    pub data_loss: Option<DataLoss>,
    /// The probability that a rebuild at the end would lose data; absent where flash does not err, and where members are missing.
    pub data_loss_after_failures: Option<DataLossAfterFailures>,
    /// Latencies by the state of the array.
    pub latency_us_by_state: LatencyByState,
    /// The array in a line, as Linux shows it.
    pub status: String,
}

/// Seconds in each state.
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
    /// Seconds from the start of the run.
    pub started_s: f64,
    /// The same; absent while it goes on.
    pub finished_s: Option<f64>,
    /// Bytes read from members.
    pub bytes_read: u64,
    /// Bytes written to members, those of moved parity included.
    pub bytes_written: u64,
    /// `bytes_written` per second.
    pub rate_mib_s: f64,
    /// How much of it is done, 0 to 1.
    pub done: f64,
    /// Seconds left at the speed of the last half a minute, of a repair in place at that so far; absent where it is over, and where nothing was done in that time.
    pub left_s: Option<f64>,
}

/// Writes of stripes, or of parts of one, by method.
#[derive(Clone, Debug, Serialize)]
pub struct ArrayWrites {
    /// Without reading anything.
    pub full: u64,
    /// From old data and old parity.
    pub delta: u64,
    /// From the rest of the stripe.
    pub complete: u64,
    /// With missing data computed first.
    pub decoded: u64,
    /// `full` over all; absent where nothing was written.
    pub full_stripe_share: Option<f64>,
}

/// Commands to members while measured, and after.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct ArrayAmplification {
    pub reads: u64,
    pub writes: u64,
    /// Records against the write hole, among `writes`.
    pub log_writes: u64,
}

/// One member.
#[derive(Clone, Debug, Serialize)]
pub struct DriveWear {
    /// Its place in the array.
    pub device: u64,
    /// Whether a drive is there.
    pub present: bool,
    /// Whether it is complete.
    pub in_sync: bool,
    /// Mean P/E cycles of its blocks.
    pub mean_pe: Option<f64>,
    /// Most P/E cycles of a block.
    pub max_pe: Option<u64>,
    /// Percent of the rated cycles.
    pub percentage_used: Option<u64>,
    /// Share of all parity that it holds; absent for mirrors.
    pub parity_percent: Option<f64>,
    /// Bytes that the array wrote to it while measured, and after.
    pub bytes_written: u64,
    /// Pages that it programmed in that time.
    pub programs: u64,
    /// Bytes programmed over `bytes_written`.
    pub write_amplification: Option<f64>,
    /// Mean raw bit error rate of blocks that hold data.
    pub rber: Option<f64>,
    /// Common logarithm of the uncorrectable bit error rate after ECC at `rber`, before re-reads and the drive's own parity.
    pub log10_uber: Option<f64>,
    /// Read errors not yet forgotten.
    pub read_errors: u64,
    /// Sectors that it could not write.
    pub bad_sectors: u64,
}

/// Probabilities that some bit of the survivors cannot be read after failures that use up all redundancy.
#[derive(Clone, Debug, Serialize)]
pub struct DataLossAfterFailures {
    /// Members that fail.
    pub failures: u64,
    /// When the oldest fail.
    pub oldest: f64,
    /// When any fail, each set equally likely.
    pub any: f64,
}
