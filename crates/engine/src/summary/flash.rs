//! Sections `flash`, `write_amplification` and `gc` of the result.

use crate::batch_means::{ConfidenceInterval, interval};
use crate::counts::DriveCounts;
use crate::facts::RunFacts;
use crate::summary::host::is_zero;
use crate::window::TimeWindow;
use outlast_ftl::{ByProgramCause, PagesRead, ProgramCause};
use outlast_settings::drive::SsdConfig;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

/// Bytes programmed per byte that the host wrote. In results every cause but the host has a key of its own; causes of a group, such as
/// parity, also have one together.
#[derive(Clone, Debug)]
pub struct WriteAmplification {
    /// Bytes programmed for any cause.
    pub total: f64,
    /// Bytes programmed by cause. The part of the host is 1 and those of `partial_write`, `array` and `coalesced`.
    pub causes: ByProgramCause<f64>,
    /// Parts of mapping units that partial writes did not cover.
    pub partial_write: f64,
    /// Bytes that an array wrote to its members beyond those of the host: parity, copies, records, rebuilding. Zero for a drive by itself.
    pub array: f64,
    /// Bytes that finishes of zones have written; absent for drives without zones.
    pub finish: Option<f64>,
    /// Bytes committed from random write areas less those that the host has written to them: negative where it has written them again; absent without areas.
    pub random_write: Option<f64>,
    /// Bytes saved by units that replaced older ones in the write buffer; not above zero.
    pub coalesced: f64,
    /// Write amplification of each flash core; empty for a single core and for arrays.
    pub by_core: Vec<f64>,
}

/// Names of groups of several causes.
fn groups() -> impl Iterator<Item = &'static str> {
    // Causes of a group are neighbours, so `dedup` suffices.
    let mut groups: Vec<&str> = ProgramCause::ALL.into_iter().map(ProgramCause::group).collect();
    groups.dedup();
    let several = |group: &&str| ProgramCause::ALL.iter().filter(|cause| cause.group() == *group).count() > 1;
    groups.into_iter().filter(several)
}

impl Serialize for WriteAmplification {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("total", &self.total)?;
        for group in groups() {
            map.serialize_entry(group, &self.causes.of_group(group))?;
        }
        for (cause, part) in self.causes.iter().filter(|&(cause, _)| cause != ProgramCause::Host) {
            map.serialize_entry(cause.name(), &part)?;
        }
        map.serialize_entry("partial_write", &self.partial_write)?;
        map.serialize_entry("array", &self.array)?;
        if let Some(finish) = &self.finish {
            map.serialize_entry("finish", finish)?;
        }
        if let Some(random_write) = &self.random_write {
            map.serialize_entry("random_write", random_write)?;
        }
        if self.coalesced != 0.0 {
            map.serialize_entry("coalesced", &self.coalesced)?;
        }
        if !self.by_core.is_empty() {
            map.serialize_entry("by_core", &self.by_core)?;
        }
        map.end()
    }
}

/// Numbers of flash operations.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct FlashOperations {
    pub reads: u64,
    pub programs: u64,
    pub erases: u64,
    pub multi_plane_programs: u64,
    pub suspends: u64,
    /// Program units that relocation copied on the chip; absent: 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub on_chip_copies: u64,
    pub by_cause: FlashByCause,
}

/// Pages read by cause, and mapping units' worth of pages programmed by cause (fractions where several units share a page). In results
/// reads have their causes' names, programs end in `_programs`, and causes of a group, such as parity, also have a key together.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct FlashByCause {
    pub reads: PagesRead,
    pub programs: ByProgramCause<f64>,
}

impl Serialize for FlashByCause {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (cause, pages) in self.reads.iter() {
            map.serialize_entry(cause.name(), &pages)?;
        }
        for (cause, pages) in self.programs.iter() {
            map.serialize_entry(&format!("{}_programs", cause.name()), &pages)?;
        }
        for group in groups() {
            map.serialize_entry(&format!("{group}_programs"), &self.programs.of_group(group))?;
        }
        map.end()
    }
}

/// Figures of garbage collection and wear levelling.
#[derive(Clone, Debug, Serialize)]
pub struct GcFigures {
    /// Superblocks relocated.
    pub victims: u64,
    /// Mean share of valid units in them when chosen; absent where there were none.
    pub mean_valid: Option<f64>,
    /// Seconds during which host writes waited for space, summed over flash cores.
    pub blocked_s: f64,
    /// 95 % confidence interval of the write amplification, from batch means over the run; absent where the run is too short for
    /// uncorrelated batches.
    pub write_amplification_interval: Option<ConfidenceInterval>,
}

/// Write amplification of the measured time; `None` where the host wrote nothing.
pub(crate) fn amplification(facts: &RunFacts<'_>) -> Option<WriteAmplification> {
    let counts = &facts.measured.counts;
    // Members count a write when it reaches their buffer, an array when all of it is done. Without redundancy left, the array may so have
    // counted a little more than its members since the measurement began: then its writes are those that members have taken.
    let host_bytes = counts.host_bytes.min(counts.drives.host_bytes_written);
    if host_bytes == 0 {
        return None;
    }
    let unit = facts.ssd.config().ftl.mapping_unit.0 as f64;
    let host = host_bytes as f64;
    let array = (counts.drives.host_bytes_written - host_bytes) as f64 / host;
    let causes = counts.written.map(|units| units as f64 * unit / host);
    let coalesced = -(counts.drives.coalesced_writes as f64 * unit / host);
    // In whole bytes, since a difference of quotients is a little off zero: slots that the host's units took, those of older units
    // included, and what the host wrote of them.
    let slots = (counts.written[ProgramCause::Host] + counts.drives.coalesced_writes)
        * facts.ssd.config().ftl.mapping_unit.0;
    let finish = facts.ssd.first().zones_view().map(|zones| zones.counts().finish_bytes);
    let areas = facts.ssd.first().zones_view().filter(|zones| zones.table().random_write().is_some());
    let random_write = areas.map(|zones| {
        let counts = zones.counts();
        i128::from(counts.committed_bytes) - i128::from(counts.area_bytes)
    });
    let partial = i128::from(slots)
        - i128::from(counts.drives.host_bytes_written)
        - i128::from(finish.unwrap_or_default())
        - random_write.unwrap_or_default();
    Some(WriteAmplification {
        total: counts.programmed_bytes as f64 / host,
        causes,
        partial_write: partial as f64 / host,
        coalesced,
        array,
        finish: finish.map(|bytes| bytes as f64 / host),
        random_write: random_write.map(|bytes| bytes as f64 / host),
        by_core: facts.measured.by_core.clone(),
    })
}

pub(crate) fn flash(facts: &RunFacts<'_>) -> FlashOperations {
    flash_of(&facts.measured.counts, facts.ssd.config())
}

pub(super) fn flash_of(counts: &DriveCounts, config: &SsdConfig) -> FlashOperations {
    let per_unit = config.ftl.mapping_unit.0 as f64 / config.geometry.page_size.0 as f64;
    let drives = &counts.drives;
    FlashOperations {
        reads: drives.reads.total(),
        programs: drives.programs,
        erases: drives.erases,
        multi_plane_programs: drives.multi_plane_programs,
        suspends: drives.suspends,
        on_chip_copies: drives.on_chip_copies,
        by_cause: FlashByCause {
            reads: drives.reads,
            programs: counts.written.map(|units| units as f64 * per_unit),
        },
    }
}

/// True if the host wrote to flash while nothing was collected, so that the figures say nothing about collection.
pub(crate) fn is_without_collection(facts: &RunFacts<'_>) -> bool {
    let counts = &facts.measured.counts;
    counts.host_bytes != 0 && counts.drives.programs != 0 && counts.victims == 0
}

pub(crate) fn gc(facts: &RunFacts<'_>) -> GcFigures {
    let counts = &facts.measured.counts;
    let per_superblock = facts.ssd.ftls().next().map_or(0, |ftl| ftl.layout().units_per_superblock());
    let slots = counts.victims as f64 * f64::from(per_superblock);
    let sums = |window: &TimeWindow| (window.counts.programmed_bytes as f64, window.counts.host_bytes as f64);
    // Whole windows only: batches must be of equal length.
    let parts: Vec<_> = facts.recorder.windows.whole().iter().map(sums).collect();
    GcFigures {
        victims: counts.victims,
        mean_valid: (counts.victims != 0).then(|| counts.victim_units as f64 / slots),
        blocked_s: counts.drives.blocked_ns as f64 * 1e-9,
        write_amplification_interval: interval(&parts),
    }
}
