//! Sections `reliability` and `protection` of the result: errors, their correction, parity in the drive.

use crate::drives::DriveSet;
use crate::latency::LatencyFigures;
use outlast_ssd::{PredictionCounts, Reason};
use serde::Serialize;

/// Errors, their correction, and the exact probability that it would have failed.
#[derive(Clone, Debug, Serialize)]
pub struct ReliabilityFigures {
    /// Uncorrectable units expected over bits that the host read: the exact probabilities of all host reads, after ECC, re-reads and
    /// stripes. Absent where the flash never errs or nothing was read.
    pub uber_exact: Option<f64>,
    /// Exact probabilities after each mechanism.
    pub exact: Option<ExactProbabilities>,
    /// Units that host reads could not get, as sampled.
    pub uncorrectable_reads: u64,
    /// Re-reads per page read.
    pub rereads_per_read: f64,
    /// Units read, by the mechanism that delivered them.
    pub corrected_by: CorrectedBy,
    /// Units that reads with limited retry gave up; absent where there were none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_retry_errors: Option<u64>,
    /// Commands that ended with a medium error.
    pub medium_errors: u64,
    /// Attempts to rebuild units from their stripe.
    pub stripe_recovery: StripeRecovery,
    /// Pages read by scrubbing and by patrol.
    pub scrub_pages: u64,
    /// Superblocks that scrubbing moved, by reason.
    pub scrubbed: ScrubFigures,
    /// Bytes lost because their only copy was unreadable when it had to be moved.
    pub data_loss_bytes: u64,
    /// Bytes lost and not written or trimmed since, at the end.
    pub lost_bytes: u64,
    /// Program operations and erasures that failed.
    pub program_failures: u64,
    #[allow(missing_docs, reason = "said above")]
    pub erase_failures: u64,
    /// Faults that happened, scheduled or by chance, over the drive's life.
    pub faults: u64,
    /// Dies that were expected to fail; absent without `device.repair.predict`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicted: Option<PredictionFigures>,
    /// Raw bit error rate over blocks with data, at the end.
    pub rber: Option<RberFigures>,
    /// Comparison with a twin without errors; absent unless `run.twin` asks for it.
    pub twin: Option<TwinComparison>,
}

/// Predictions of failing dies over the drive's life, and what became of them by the end.
#[derive(Clone, Debug, Serialize)]
pub struct PredictionFigures {
    /// Dies that were expected to fail.
    pub dies: u64,
    /// Dies among them that work at the end.
    pub false_alarms: u64,
    /// Dies that failed before they were expected to.
    pub missed: u64,
}

impl From<PredictionCounts> for PredictionFigures {
    fn from(PredictionCounts { expected, false_alarms, missed }: PredictionCounts) -> Self {
        Self { dies: expected, false_alarms, missed }
    }
}

/// Exact probabilities after each mechanism.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct ExactProbabilities {
    pub units_read: u64,
    pub after_ecc: TailProbability,
    pub after_rereads: TailProbability,
    pub after_stripe: TailProbability,
}

/// Mean probability that a mapping unit of a host read is unreadable.
#[derive(Clone, Debug, Serialize)]
pub struct TailProbability {
    /// Probability per unit.
    pub per_unit: f64,
    /// Probability per bit.
    pub uber: f64,
    /// Common logarithm of `uber`, which itself may be below the smallest number; absent for zero.
    pub log10_uber: Option<f64>,
}

/// Mapping units by the mechanism that delivered them.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct CorrectedBy {
    pub ecc: u64,
    pub reread: u64,
    pub block: u64,
    pub stripe: u64,
}

/// Attempts to rebuild units from their stripe, and those that failed.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct StripeRecovery {
    pub attempts: u64,
    pub failures: u64,
}

/// Superblocks moved by scrubbing.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct ScrubFigures {
    pub superblocks: u64,
    /// Superblocks among them that scrubbing itself had written.
    pub again: u64,
    pub by_reads: u64,
    pub by_age: u64,
    pub by_expected_errors: u64,
    pub by_rereads: u64,
    pub by_patrol: u64,
    /// Moved because their stripes had lost members.
    pub by_exposed: u64,
    /// Moved because their class had been given another code.
    pub by_code: u64,
    /// Moved because dies had been added.
    pub by_dies: u64,
    /// Moved because a die with some of their data was expected to fail.
    pub by_evacuation: u64,
}

impl ScrubFigures {
    /// Counts since the last reset.
    pub(crate) fn of(ssd: &DriveSet<'_>) -> Self {
        let count = |reason| ssd.moved_for(reason);
        let (by_reads, by_age, by_expected_errors, by_rereads, by_patrol) = (
            count(Reason::Reads),
            count(Reason::Age),
            count(Reason::ExpectedErrors),
            count(Reason::Rereads),
            count(Reason::Patrol),
        );
        let (by_exposed, by_code, by_dies) =
            (count(Reason::Exposed), count(Reason::Code), count(Reason::Dies));
        // The other reasons are collection's own, and wear levelling's.
        let by_scrubbing = |reason: &Reason| !matches!(reason, Reason::Space | Reason::Wear);
        Self {
            superblocks: Reason::ALL.into_iter().filter(by_scrubbing).map(count).sum(),
            again: ssd.scrubbed_again(),
            by_reads,
            by_age,
            by_expected_errors,
            by_rereads,
            by_patrol,
            by_exposed,
            by_code,
            by_dies,
            by_evacuation: count(Reason::Evacuation),
        }
    }

    /// Reason of most moves, as a clause after "because", with the setting to change.
    pub(crate) fn main_cause(&self) -> &'static str {
        let causes = [
            (self.by_reads, "they were read too often: device.scrub.reads may be too low"),
            (self.by_age, "they were too old: device.scrub.age may be too short"),
            (
                self.by_expected_errors,
                "too many errors were expected in them: device.scrub.expected_errors may be too low",
            ),
            (self.by_rereads, "they were read again so often: device.scrub.rereads_per_unit may be too low"),
            (self.by_patrol, "patrol found wrong bits in them: device.scrub.patrol_errors may be too low"),
            (self.by_exposed, "their stripes had lost members: dies, or power, failed more than once"),
            (self.by_code, "their class had got another code: codes change faster than data is moved"),
            (self.by_dies, "dies were added, more than once"),
            (self.by_evacuation, "a die that held some of them was expected to fail, more than once"),
        ];
        // Reversed, because `max_by_key` returns the last of equals and the first is wanted.
        let main = causes.into_iter().rev().max_by_key(|&(count, _)| count);
        main.filter(|&(count, _)| count != 0).map_or("a policy of your own named them", |(_, words)| words)
    }
}

/// Parity in the drive, class by class.
#[derive(Clone, Debug, Serialize)]
pub struct ProtectionFigures {
    /// Figures by class, in order.
    pub by_class: Vec<ClassFigures>,
    /// Pages of partial parity that had to be written again because the superblock that held them was full.
    pub partial_parity_moved_pages: f64,
    /// Superblocks with data at the end.
    pub superblocks: u32,
    /// Superblocks among them whose code is no longer that of their class.
    pub outdated_superblocks: u32,
    /// Changes of protection that were due.
    pub changes: Vec<ChangeMade>,
    /// Redundancy lost to failed dies; absent where none was lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redundancy: Option<RedundancyFigures>,
}

/// The redundancy of data after failures of dies.
#[derive(Clone, Debug, Serialize)]
pub struct RedundancyFigures {
    /// Number of any further dies that may fail at the end without loss of data; in an array, of the weakest drive.
    pub data_survives: u32,
    /// Superblocks whose stripes lack members at the end.
    pub degraded_superblocks: u32,
    /// Bytes of data in these.
    pub degraded_bytes: u64,
    /// True if too few superblocks are left to rebuild them.
    pub lacks_space: bool,
    /// Dies and planes that were given up, in order of time.
    pub losses: Vec<RedundancyLost>,
}

/// A die, or a plane of it, that was given up while data with parity lay on it.
#[derive(Clone, Debug, Serialize)]
pub struct RedundancyLost {
    /// The drive of an array; absent for a drive by itself.
    pub device: Option<u64>,
    /// The die, numbered channel by channel.
    pub die: u16,
    /// The plane, if only that failed.
    pub plane: Option<u16>,
    /// Time in seconds.
    pub at_s: f64,
    /// Superblocks of its flash core that lacked redundancy then.
    pub superblocks: u32,
    /// Bytes of the host's data in them.
    pub bytes: u64,
    /// Seconds until no superblock lacked redundancy any more; absent while one does.
    pub time_to_full_redundancy_s: Option<f64>,
}

/// Code and data of one class.
#[derive(Clone, Debug, Serialize)]
pub struct ClassFigures {
    /// Number of the class.
    pub class: u8,
    /// Program units of data in a stripe.
    pub k: u16,
    /// Program units of parity in a stripe.
    pub m: u8,
    /// Program units of a block that one further unit of parity protects; absent without parity of blocks.
    pub block: Option<u16>,
    /// Pages of user data in its superblocks at the end.
    pub pages: u64,
    /// Page-seconds that data on flash had no parity yet, because its stripe was not full, although its code has parity.
    pub unprotected_page_seconds: f64,
}

/// A change of protection that was due.
#[derive(Clone, Debug, Serialize)]
pub struct ChangeMade {
    /// Time in seconds.
    pub at_s: f64,
    /// The change, in words.
    pub what: String,
    /// Reason for which it was not made; absent if it was.
    pub refused: Option<String>,
}

/// Raw bit error rates.
#[derive(Clone, Debug, Serialize)]
pub struct RberFigures {
    /// Mean over blocks.
    pub mean: f64,
    #[allow(missing_docs, reason = "the names say it")]
    pub p50: f64,
    #[allow(missing_docs, reason = "the names say it")]
    pub p99: f64,
    #[allow(missing_docs, reason = "the names say it")]
    pub max: f64,
    /// Mean wrong bits of a codeword just written, at the initial wear of the run.
    pub fresh_errors: f64,
    /// Reads for which the model gave a rate beyond 0.5, where it has no meaning; 0.5 was used.
    pub saturated_reads: u64,
}

/// Latencies of a twin without errors, and ratios of this drive's latencies to them.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct TwinComparison {
    pub read_us: Option<LatencyFigures>,
    pub write_us: Option<LatencyFigures>,
    pub write_amplification: Option<f64>,
    /// Ratio to the twin: 1 is no overhead.
    pub read_mean_ratio: Option<f64>,
    pub read_p99_9_ratio: Option<f64>,
    pub write_mean_ratio: Option<f64>,
    /// Ratio over reads and writes together.
    pub mean_ratio: Option<f64>,
}
