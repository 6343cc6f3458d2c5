//! Closed forms to compare with the measurement.

use crate::facts::RunFacts;
use crate::sequential::{flash_of, link_of};
use outlast_device::Op;
use outlast_ftl::ProgramCause;
use outlast_models::{bandwidth, write_amplification};
use outlast_scenario::OverwritePattern;
use outlast_settings::ftl::VictimPolicy;
use outlast_workload::AddressPattern;
use serde::Serialize;

/// Closed forms to compare with the measurement.
#[derive(Clone, Debug, Serialize)]
pub struct ClosedForm {
    /// Write amplification of greedy or FIFO collection under uniform random writes with this drive's effective spare space; absent for
    /// other workloads and policies.
    pub greedy_waf: Option<f64>,
    /// Write amplification of greedy or FIFO collection while preconditioning by random overwrites.
    pub precondition_waf: Option<f64>,
    /// Spare space that data can use over user space: without open and reserved superblocks. Absent if the flash holds less than the capacity.
    pub spare_factor: Option<f64>,
    /// Limit of sequential reads, in MiB/s: the least of dies, channels and link.
    pub sequential_read_mib_s: f64,
    /// Limit of sequential writes into erased blocks, in MiB/s.
    pub sequential_write_mib_s: f64,
    /// Reason for which the write amplification can or cannot be compared.
    pub note: String,
}

pub(crate) fn closed_form(facts: &RunFacts<'_>, spare: Option<f64>) -> ClosedForm {
    let config = facts.ssd.config();
    let policy = facts.ssd.ftls().next().and_then(outlast_ftl::Ftl::victim_policy);
    // Outer `None`: no closed form for the policy; inner `None`: no spare space to apply it to.
    let waf = match policy {
        Some(VictimPolicy::Greedy) => Some(spare.and_then(|spare| write_amplification::greedy(spare).ok())),
        Some(VictimPolicy::Fifo) => Some(spare.and_then(|spare| write_amplification::fifo(spare).ok())),
        _ => None,
    };
    let filled = facts.scenario.precondition.fill_fraction >= 1.0;
    // Of a drive that was only partly filled, the empty part is further spare space.
    let prepared_randomly = facts.ssd.array.is_none()
        && facts.scenario.precondition.overwrite == OverwritePattern::Random
        && filled;
    let not_comparable = not_uniform_reason(facts);
    let note = match (&not_comparable, waf) {
        (_, None) => "There is no closed form for this victim policy.".to_owned(),
        (_, Some(None)) => {
            "The closed form needs spare space; the flash that is left holds less than the capacity."
                .to_owned()
        }
        (Some(why), _) => format!("The closed form holds for uniform random writes; here {why}."),
        (None, Some(_)) => "Uniform random writes over the whole capacity: the closed form holds.".to_owned(),
    };
    let waf = waf.flatten();
    let flash = flash_of(config);
    let link = link_of(config);
    let mib = |limits: Result<bandwidth::BandwidthLimits, _>| {
        limits.map_or(0.0, |limits| limits.bytes_per_s() / f64::from(1 << 20))
    };
    ClosedForm {
        greedy_waf: waf.filter(|_| not_comparable.is_none()),
        precondition_waf: waf.filter(|_| prepared_randomly),
        spare_factor: spare,
        sequential_read_mib_s: mib(flash.sequential_read(link)),
        sequential_write_mib_s: mib(flash.sequential_write(link)),
        note,
    }
}

/// True if the host writes every part of the capacity with the same probability.
pub(crate) fn writes_uniformly(facts: &RunFacts<'_>) -> bool {
    not_drawn_uniformly_reason(facts).is_none() && covers_all(facts)
}

/// Reason for which addresses are not drawn uniformly; `None` if they are.
fn not_drawn_uniformly_reason(facts: &RunFacts<'_>) -> Option<&'static str> {
    let Some(synthetic) = &facts.scenario.workload.synthetic else {
        let zoned = facts.scenario.workload.zoned.is_some();
        return Some(if zoned {
            "zones are written in order"
        } else {
            "the workload is recorded or a fio job"
        });
    };
    let is_uniform =
        synthetic.pattern.unwrap_or_default() == AddressPattern::Uniform && synthetic.phases.is_empty();
    (!is_uniform).then_some("the workload is skewed, sequential or has phases")
}

/// True if the workload addresses all of the capacity.
fn covers_all(facts: &RunFacts<'_>) -> bool {
    facts.workload.footprint.as_ref().is_none_or(|range| {
        let sectors = facts.ssd.units() * u64::from(facts.ssd.sectors_per_unit());
        // Alignment may leave out a little at the end: 1 % is tolerated.
        range.start.0 == 0 && range.end.0 * 100 >= sectors * 99
    })
}

/// Reason for which the run is not one of uniform random writes of whole mapping units over the whole capacity; `None` if it is.
fn not_uniform_reason(facts: &RunFacts<'_>) -> Option<&'static str> {
    if facts.ssd.array.is_some() {
        return Some("an array adds writes of its own");
    }
    if let Some(why) = not_drawn_uniformly_reason(facts) {
        return Some(why);
    }
    let written = &facts.measured.counts.written;
    let is_any = |causes: &[ProgramCause]| causes.iter().any(|&cause| written[cause] != 0);
    if is_any(&[ProgramCause::Migrated, ProgramCause::Lists]) {
        return Some("flash cores take over each other's data, or lists of it take space");
    }
    if is_any(&[ProgramCause::Map]) {
        return Some("pages of the mapping table are written, too");
    }
    if is_any(&[
        ProgramCause::Scrub,
        ProgramCause::Rewritten,
        ProgramCause::Reencode,
        ProgramCause::PartialParity,
    ]) {
        return Some("scrubbing moves data, or failed programs are repeated");
    }
    if facts
        .ssd
        .config()
        .protection
        .as_ref()
        .is_some_and(|p| p.streams != outlast_settings::ftl::ProtectedStreams::All || p.classes.len() > 1)
    {
        return Some("some superblocks hold parity and some do not");
    }
    if facts.measured.counts.drives.partial_writes != 0 {
        return Some("some writes cover mapping units only in part");
    }
    if facts.measured.counts.drives.coalesced_writes != 0 {
        return Some("some writes coalesce in the buffer");
    }
    if facts.recorder.completed.commands[Op::Trim as usize] != 0 {
        return Some("some space is trimmed");
    }
    if written[ProgramCause::Host] == 0 {
        return Some("nothing is written");
    }
    if !covers_all(facts) {
        return Some("the workload covers a part of the capacity");
    }
    // A mean of up to two units for each write is tolerated.
    if facts.recorder.completed.bytes[Op::Write as usize]
        > facts.recorder.completed.commands[Op::Write as usize] * 2 * facts.ssd.config().ftl.mapping_unit.0
    {
        return Some("writes span many mapping units");
    }
    None
}
