//! `result.json`: what a run found. The schema's name changes whenever a key changes its meaning or goes away.

use crate::repair_report::RepairSummary;
use crate::scenario::Scenario;
use hdrhistogram::Histogram;
use outlast_array::State;
use outlast_device::Smart;
use serde::Serialize;

/// Name and version of the schema.
pub const SCHEMA: &str = "outlast-result/1";

/// The result of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Version of the program.
    pub version: &'static str,
    /// Name of the scenario.
    pub name: String,
    /// The one seed.
    pub seed: u64,
    /// Whether the run was stopped before its end.
    pub partial: bool,
    /// What the reader should know: guesses, things that were not reached.
    pub notes: Vec<String>,
    /// What the host asked and got.
    pub host: Host,
    /// Simulated time and what the run cost.
    pub time: Time,
    /// Commands and bytes per simulated second.
    pub throughput: Throughput,
    /// Latencies from submission (closed loop) or arrival (open loop) to completion, in microseconds.
    pub latency_us: LatencyByOp,
    /// Bytes programmed over bytes that the host wrote, by cause; absent where it wrote nothing.
    pub write_amplification: Option<WriteAmplification>,
    /// Pages read and programmed, blocks erased.
    pub flash: Flash,
    /// Garbage collection.
    pub gc: Gc,
    /// What errors did and what was done about them.
    pub reliability: Reliability,
    /// Parity in the drive; absent where there is none.
    pub protection: Option<Protection>,
    /// The array; absent for a drive by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<ArraySummary>,
    /// Dies that failed and were repaired, where drives do that; absent where none was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub repair: Vec<RepairSummary>,
    /// Wear over the drive's life, preconditioning included.
    pub wear: Wear,
    /// What the drive itself tells about its health, over its life.
    pub smart: Smart,
    /// Queues and utilisation.
    pub queue: Queue,
    /// Whether the drive, and the measurement, were steady.
    pub steady_state: SteadyState,
    /// What theory says, where it applies.
    pub closed_form: ClosedForm,
    /// The drive in figures.
    pub device: DeviceFacts,
    /// Memory.
    pub memory: Memory,
    /// The scenario, resolved.
    pub scenario: Scenario,
}

/// Commands completed while measured.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Host {
    pub reads: u64,
    pub writes: u64,
    pub trims: u64,
    pub flushes: u64,
    pub bytes_read: u64,
    pub bytes_written: u64,
    pub bytes_trimmed: u64,
    /// Commands that did not end well.
    pub errors: u64,
    /// Mapping units read that were never written: they cost no flash read and flatter throughput.
    pub unmapped_reads: u64,
    /// Mapping units read from the write buffer.
    pub buffer_hits: u64,
    /// Mapping units written only in part.
    pub partial_writes: u64,
    /// What each job got, in the order of the job file; absent for a host without jobs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<crate::jobs::JobFigures>,
}

/// Times, in seconds.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Time {
    pub simulated_s: f64,
    pub warm_up_s: f64,
    pub wall_s: f64,
    pub cpu_s: f64,
    pub precondition_cpu_s: f64,
    pub precondition_wall_s: f64,
}

/// Rates over simulated time.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Throughput {
    pub iops: f64,
    pub read_iops: f64,
    pub write_iops: f64,
    pub read_mib_s: f64,
    pub write_mib_s: f64,
    /// Commands simulated per second of processor time: how fast the simulator is, not the drive.
    pub requests_per_cpu_s: f64,
}

/// Latencies by kind of command; absent where there was none.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct LatencyByOp {
    pub read: Option<Latency>,
    pub write: Option<Latency>,
    pub trim: Option<Latency>,
    pub flush: Option<Latency>,
    pub by_stream: Vec<StreamLatency>,
}

/// Latencies of one stream.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct StreamLatency {
    pub stream: u8,
    pub read: Option<Latency>,
    pub write: Option<Latency>,
}

/// A distribution of latencies, in microseconds.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Latency {
    pub count: u64,
    pub mean: f64,
    pub min: f64,
    pub p50: f64,
    pub p90: f64,
    pub p95: f64,
    pub p99: f64,
    pub p99_9: f64,
    pub p99_99: f64,
    pub max: f64,
}

impl Latency {
    pub(crate) fn of(histogram: &Histogram<u64>) -> Option<Self> {
        let quantile = |q: f64| histogram.value_at_quantile(q) as f64 * 1e-3;
        (!histogram.is_empty()).then(|| Self {
            count: histogram.len(),
            mean: histogram.mean() * 1e-3,
            min: histogram.min() as f64 * 1e-3,
            p50: quantile(0.5),
            p90: quantile(0.9),
            p95: quantile(0.95),
            p99: quantile(0.99),
            p99_9: quantile(0.999),
            p99_99: quantile(0.9999),
            max: histogram.max() as f64 * 1e-3,
        })
    }
}

/// Bytes programmed per byte that the host wrote: `total` = 1 + the others, but for `parity`, which sums up four of them.
#[derive(Clone, Debug, Serialize)]
pub struct WriteAmplification {
    /// All causes.
    pub total: f64,
    /// Parity of full stripes, whoever wrote them.
    pub parity: f64,
    /// Valid data moved by garbage collection.
    pub gc: f64,
    /// Empty units programmed because a flush or FUA could not wait.
    pub padding: f64,
    /// Data moved by static wear levelling.
    pub wear_leveling: f64,
    /// Data moved by scrubbing.
    pub scrub: f64,
    /// Data written again because its program operation failed.
    pub rewritten: f64,
    /// Parity of stripes of host data.
    pub host_parity: f64,
    /// Parity of stripes that garbage collection wrote.
    pub gc_parity: f64,
    /// Parity of stripes that wear levelling wrote.
    pub wear_leveling_parity: f64,
    /// Parity of stripes that scrubbing wrote.
    pub scrub_parity: f64,
    /// Data moved to get another code, or to lie on other dies.
    pub reencode: f64,
    /// Data that another flash core took over after a die had failed.
    pub migrated: f64,
    /// Lists of what a neighbouring die holds.
    pub lists: f64,
    /// Parity of stripes that were not full.
    pub partial_parity: f64,
    /// The parts of mapping units that a partial write did not cover.
    pub partial_write: f64,
    /// What an array had its members write beside the host's own bytes: parity, copies, records, rebuilding. Zero for a drive by
    /// itself.
    pub array: f64,
    /// Units that each flash core wrote for each one of the host's; empty for one core and for arrays.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_core: Vec<f64>,
}

/// Flash operations.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Flash {
    pub reads: u64,
    pub programs: u64,
    pub erases: u64,
    pub multi_plane_programs: u64,
    pub suspends: u64,
    pub by_cause: FlashByCause,
}

/// Pages read by cause, and mapping units' worth of pages programmed by cause (a page that holds units of one cause only).
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct FlashByCause {
    pub host_reads: u64,
    pub rmw_reads: u64,
    pub gc_reads: u64,
    pub wear_leveling_reads: u64,
    pub scrub_reads: u64,
    pub patrol_reads: u64,
    pub rereads: u64,
    pub stripe_reads: u64,
    /// Programs, in pages; fractions where several units share a page.
    pub host_programs: f64,
    pub gc_programs: f64,
    pub padding_programs: f64,
    pub wear_leveling_programs: f64,
    pub scrub_programs: f64,
    pub rewritten_programs: f64,
    pub reencode_programs: f64,
    pub migrated_programs: f64,
    pub lists_programs: f64,
    pub parity_programs: f64,
    pub partial_parity_programs: f64,
}

/// Errors, what was done about them, and the exact probability that it would not have sufficed.
#[derive(Clone, Debug, Serialize)]
pub struct Reliability {
    /// Uncorrectable units expected over bits that the host read: the exact probabilities of all host reads, after ECC, re-reads and
    /// stripes. Absent where the flash never errs or nothing was read.
    pub uber_exact: Option<f64>,
    /// The same after each mechanism.
    pub exact: Option<Exact>,
    /// Units that host reads asked for and did not get, as sampled.
    pub uncorrectable_reads: u64,
    /// Pages re-read for each page read.
    pub rereads_per_read: f64,
    /// Units by what gave them, whoever read them.
    pub corrected_by: CorrectedBy,
    /// Commands that ended with a medium error.
    pub medium_errors: u64,
    /// Attempts to rebuild units from their stripe.
    pub stripe_recovery: StripeRecovery,
    /// Pages that scrubbing moved or patrol read.
    pub scrub_pages: u64,
    /// Superblocks that scrubbing moved, by reason.
    pub scrubbed: Scrubbed,
    /// Bytes whose only copy could not be read when it had to be moved.
    pub data_loss_bytes: u64,
    /// Bytes lost and not written or trimmed since, at the end.
    pub lost_bytes: u64,
    /// Program operations and erasures that failed.
    pub program_failures: u64,
    #[allow(missing_docs, reason = "said above")]
    pub erase_failures: u64,
    /// Faults that happened, scheduled or by chance, over the drive's life.
    pub faults: u64,
    /// Raw bit error rate over blocks with data, at the end.
    pub rber: Option<Rber>,
    /// The drive beside its twin without errors; absent unless asked for.
    pub twin: Option<Twin>,
}

/// Exact probabilities after each mechanism.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Exact {
    pub units_read: u64,
    pub after_ecc: Tail,
    pub after_rereads: Tail,
    pub after_stripe: Tail,
}

/// A mean probability of a host read's mapping unit not to be had.
#[derive(Clone, Debug, Serialize)]
pub struct Tail {
    /// For each unit.
    pub per_unit: f64,
    /// For each bit.
    pub uber: f64,
    /// The common logarithm of `uber`, which may be below what a number can hold; absent for zero.
    pub log10_uber: Option<f64>,
}

/// Mapping units by what gave them.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct CorrectedBy {
    pub ecc: u64,
    pub reread: u64,
    pub block: u64,
    pub stripe: u64,
}

/// Units that were to be rebuilt from their stripe, and those of them that could not be.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct StripeRecovery {
    pub attempts: u64,
    pub failures: u64,
}

/// Superblocks moved by scrubbing.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Scrubbed {
    pub superblocks: u64,
    /// Of these, the ones that scrubbing itself had written.
    pub again: u64,
    pub by_reads: u64,
    pub by_age: u64,
    pub by_expected_errors: u64,
    pub by_rereads: u64,
    pub by_patrol: u64,
    /// Their stripes had lost members.
    pub by_exposed: u64,
    /// Their class had got another code.
    pub by_code: u64,
    /// Dies had been added.
    pub by_dies: u64,
}

/// Parity in the drive, class by class.
#[derive(Clone, Debug, Serialize)]
pub struct Protection {
    /// In order.
    pub by_class: Vec<ClassFigures>,
    /// Partial parity, in pages, that had to be written again because the superblock that held it was full.
    pub partial_parity_moved_pages: f64,
    /// Superblocks with data, and those of them whose code is no longer that of their class, at the end.
    pub superblocks: u32,
    #[allow(missing_docs, reason = "said above")]
    pub outdated_superblocks: u32,
    /// Changes that were due.
    pub changes: Vec<ChangeMade>,
}

/// A class of data.
#[derive(Clone, Debug, Serialize)]
pub struct ClassFigures {
    /// Its number.
    pub class: u8,
    /// Program units of data in a stripe; what its parity protects.
    pub k: u16,
    /// Program units of parity in a stripe.
    pub m: u8,
    /// Program units of a block that one more protects.
    pub block: Option<u16>,
    /// Pages of user data in its superblocks at the end.
    pub pages: u64,
    /// Pages times seconds that its data on flash had no parity though its code promises some, because its stripe was not full.
    pub unprotected_page_seconds: f64,
}

/// A change of protection that was due.
#[derive(Clone, Debug, Serialize)]
pub struct ChangeMade {
    /// When, in seconds.
    pub at_s: f64,
    /// What.
    pub what: String,
    /// Why it was not made.
    pub refused: Option<String>,
}

/// Raw bit error rates.
#[derive(Clone, Debug, Serialize)]
pub struct Rber {
    /// Over blocks.
    pub mean: f64,
    #[allow(missing_docs, reason = "the names say it")]
    pub p50: f64,
    #[allow(missing_docs, reason = "the names say it")]
    pub p99: f64,
    #[allow(missing_docs, reason = "the names say it")]
    pub max: f64,
    /// Mean wrong bits of a codeword just written, at the wear that the run began with.
    pub fresh_errors: f64,
    /// Reads at a rate beyond 0.5, where the model has no meaning; the rate was held there.
    pub saturated_reads: u64,
}

/// The twin without errors, and how much longer this drive took.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Twin {
    pub read_us: Option<Latency>,
    pub write_us: Option<Latency>,
    pub write_amplification: Option<f64>,
    /// Over the twin's: 1 is no overhead.
    pub read_mean_ratio: Option<f64>,
    pub read_p99_9_ratio: Option<f64>,
    pub write_mean_ratio: Option<f64>,
    /// Of all commands.
    pub mean_ratio: Option<f64>,
}

/// Garbage collection and wear levelling.
#[derive(Clone, Debug, Serialize)]
pub struct Gc {
    /// Superblocks relocated.
    pub victims: u64,
    /// Mean share of valid units in them when chosen; absent where there were none.
    pub mean_valid: Option<f64>,
    /// Seconds during which host writes waited for space, summed over flash cores.
    pub blocked_s: f64,
}

/// Wear, over the drive's life.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Wear {
    pub mean_pe: f64,
    pub max_pe: u32,
    pub min_pe: u32,
    pub bad_blocks: u64,
    pub spare_blocks_left: u64,
}

/// Queues and utilisation.
#[derive(Clone, Debug, Serialize)]
pub struct Queue {
    /// Mean commands in flight.
    pub mean_in_flight: f64,
    /// Most commands in flight.
    pub max_in_flight: u32,
    /// L against λ·W.
    pub littles_law: LittlesLaw,
    /// Share of the measured time for which each channel was booked.
    pub channel_utilisation: Vec<f64>,
    /// Share of the measured time for which dies were busy.
    pub die_utilisation: Spread,
    /// Queue depth of a closed loop; absent in an open one.
    pub host_queue_depth: Option<u32>,
}

/// Little's law, from three sums kept apart: the time integral of commands in flight, the count, the sum of latencies.
#[derive(Clone, Debug, Serialize)]
pub struct LittlesLaw {
    /// Mean commands in flight.
    pub l: f64,
    /// Throughput times mean latency.
    pub lambda_w: f64,
    /// |l − λW| / l. Zero but for rounding when nothing was cut off; a warm-up or a stop cuts commands in flight.
    pub relative_error: f64,
}

/// A spread of values.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Spread {
    pub mean: f64,
    pub min: f64,
    pub max: f64,
}

/// Whether it was steady.
#[derive(Clone, Debug, Serialize)]
pub struct SteadyState {
    /// While preconditioning.
    pub precondition: PreconditionState,
    /// While measuring.
    pub measured: MeasuredState,
}

/// How preconditioning ended.
#[derive(Clone, Debug, Serialize)]
pub struct PreconditionState {
    /// Whether the write amplification became steady; absent where nothing was overwritten.
    pub reached: Option<bool>,
    /// Overwritten, in capacities.
    pub drive_writes: f64,
    /// Of the last round.
    pub write_amplification: Option<f64>,
    /// Rounds.
    pub rounds: u64,
}

/// Whether the measurement was steady.
#[derive(Clone, Debug, Serialize)]
pub struct MeasuredState {
    /// Absent where it cannot be told.
    pub reached: Option<bool>,
    /// By which criterion, or why it cannot be told.
    pub why: String,
}

/// Closed forms beside the measurement.
#[derive(Clone, Debug, Serialize)]
pub struct ClosedForm {
    /// Write amplification of greedy or FIFO collection under uniform random writes with this drive's effective spare space; absent where
    /// the workload or the policy is another.
    pub greedy_waf: Option<f64>,
    /// The same for preconditioning by random overwrites.
    pub precondition_waf: Option<f64>,
    /// Spare space over user space that the data can use: without open and held-back superblocks.
    pub spare_factor: f64,
    /// Limit of sequential reads, in MiB/s: the least of dies, channels and link.
    pub sequential_read_mib_s: f64,
    /// Limit of sequential writes into erased blocks, in MiB/s.
    pub sequential_write_mib_s: f64,
    /// Why the write amplification can or cannot be compared.
    pub note: String,
}

/// The drive in figures.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct DeviceFacts {
    pub model: String,
    pub capacity_bytes: u64,
    pub raw_bytes: u64,
    pub mapping_unit: u64,
    pub units: u64,
    /// Over all flash cores.
    pub superblocks: u64,
    pub units_per_superblock: u64,
    /// (raw − user) / user.
    pub spare_factor: f64,
    /// The same without spare blocks, bad blocks, and superblocks that are open or held back.
    pub effective_spare_factor: f64,
}

/// Memory.
#[derive(Clone, Debug, Serialize)]
pub struct Memory {
    /// Resident bytes of all tables for each mapping unit.
    pub mapping_bytes_per_unit: f64,
    /// Peak resident memory of the process; filled in by the front end.
    pub peak_rss_mib: Option<f64>,
}

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
    pub state: State,
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
    /// The probability that a rebuild at the end would lose data; absent where flash does not err, where members are missing, and
    /// for RAID-10.
    pub data_loss_probability: Option<DataLoss>,
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
    /// Seconds left at the speed so far; absent where it is over.
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

/// Probabilities that some bit of the survivors cannot be had after failures that use up all redundancy.
#[derive(Clone, Debug, Serialize)]
pub struct DataLoss {
    /// Members that fail.
    pub failures: u64,
    /// When the oldest fail.
    pub oldest: f64,
    /// When any fail, each set equally likely.
    pub any: f64,
}
