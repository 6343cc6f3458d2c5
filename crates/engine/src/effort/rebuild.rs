//! Repairs of an array after faults: rows of chunks, or single units, that are read from members and written to one.
//!
//! Most of it often comes after the workload has ended, so that none of the workload's counts hold it.

use super::FlashEstimate;
use outlast_decisions::RepairWay;
use outlast_media::{FaultKind, FaultSpec};
use outlast_scenario::OverwritePattern;
use outlast_settings::array::ArrayConfig;
use outlast_settings::drive::RepairScheme;
use outlast_units::Nanos;

/// Counts of all recoveries of a run together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RebuildWork {
    /// Commands to members that fill a member as a whole.
    pub(super) pass_commands: f64,
    /// Commands to members that recover what a die held.
    pub(super) repair_commands: f64,
    /// Pages sensed, those of light members excluded.
    pub(super) reads: f64,
    /// Units programmed, those of light members excluded.
    pub(super) units: f64,
}

/// Copies that one fault makes the array take.
struct MemberRefill {
    /// Bytes that are written.
    bytes: f64,
    /// Bytes of each write.
    piece: f64,
    /// Members that are read for each write, and the share of them that is simulated in full.
    sources: f64,
    full_share: f64,
    is_pass: bool,
}

impl RebuildWork {
    /// For the faults that the scenario names; `duration` ends the workload, where it has a limit of time, which goes on for `workload_s`
    /// seconds, probably.
    pub(super) fn of(flash: &FlashEstimate<'_>, duration: Option<Nanos>, workload_s: f64) -> Self {
        let mut work = Self::default();
        let Some(array) = flash.scenario.array.as_ref().filter(|array| array.redundancy() > 0) else {
            return work;
        };
        let mut spares = array.spares;
        for fault in &flash.scenario.faults {
            if duration.is_some_and(|end| end <= fault.at) {
                continue;
            }
            if let Some(refill) = refill_of(flash, array, fault, &mut spares) {
                let left = (workload_s - fault.at.as_secs_f64()).max(0.0);
                work.add(flash, array, fault, &refill, left);
            }
        }
        work
    }

    fn add(
        &mut self,
        flash: &FlashEstimate<'_>,
        array: &ArrayConfig,
        fault: &FaultSpec,
        refill: &MemberRefill,
        left_s: f64,
    ) {
        let config = flash.drive.config();
        let (unit, page) = (config.ftl.mapping_unit.0 as f64, config.geometry.page_size.0 as f64);
        // A run that ends with its workload leaves the rest undone.
        let rate = array.repair.rate_of(config.controller.link).or(array.background.max_rate);
        let rate = rate.map_or(f64::INFINITY, |rate| rate.bytes_per_s() as f64);
        let is_whole = flash.scenario.run.finish_rebuild || left_s.is_infinite();
        let done = if is_whole { 1.0 } else { (rate * left_s / refill.bytes).min(1.0) };
        let pieces = done * refill.bytes / refill.piece;
        let commands = pieces * (refill.sources + 1.0);
        if refill.is_pass {
            self.pass_commands += commands;
        } else {
            self.repair_commands += commands;
        }
        // Overwritten units lie on pages of their own.
        let is_scattered = flash.scenario.precondition.overwrite != OverwritePattern::None;
        let sensed = (refill.piece / if is_scattered { unit } else { page }).ceil();
        self.reads += pieces * refill.sources * refill.full_share * flash.filled() * sensed;
        let written =
            if refill.is_pass && array.spares > 0 { array.members } else { fault.device.unwrap_or(0) };
        if !array.is_light(written) {
            self.units += pieces * (refill.piece / unit).ceil() * flash.parity;
        }
    }
}

/// Copies that `fault` makes the array take; one of the spares goes where one is needed, and without it nothing is copied.
fn refill_of(
    flash: &FlashEstimate<'_>,
    array: &ArrayConfig,
    fault: &FaultSpec,
    spares: &mut u16,
) -> Option<MemberRefill> {
    let unit = flash.drive.config().ftl.mapping_unit.0 as f64;
    let member = flash.units * flash.fan.large_writes / flash.fan.members * unit;
    let chunk = array.chunk.0 as f64;
    let sources = flash.fan.sources;
    let target = fault.device.unwrap_or(0);
    let others = (0..array.members).filter(|&other| other != target && !array.is_light(other)).count() as f64;
    let full_share = others / f64::from(array.members - 1).max(1.0);
    let rebuild = MemberRefill { bytes: member, piece: chunk, sources, full_share, is_pass: true };
    let geometry = &flash.drive.config().geometry;
    let dies = match fault.kind {
        FaultKind::Replace => return Some(rebuild),
        FaultKind::Device => {
            *spares = spares.checked_sub(1)?;
            return Some(rebuild);
        }
        // Only a drive that repairs its dies tells the array of one that failed.
        _ if flash.drive.config().repair.is_none() => return None,
        FaultKind::Die => 1.0,
        FaultKind::Chip => f64::from(geometry.dies_per_chip),
        _ => return None,
    };
    if array.repair.way != RepairWay::Die {
        *spares = spares.checked_sub(1)?;
        // The member itself is read where it helps to fill the spare.
        let assists = array.repair.way == RepairWay::Assist;
        return Some(if assists {
            MemberRefill { sources: 1.0, full_share: 1.0, ..rebuild }
        } else {
            rebuild
        });
    }
    let lost = flash.filled() * member * dies / f64::from(geometry.dies());
    let bytes = lost * (1.0 + fake_failures(flash));
    Some(MemberRefill { bytes, piece: unit.min(chunk), is_pass: false, ..rebuild })
}

/// Fake failures for each unit that is lost. Where all cores share the loss, the core of the die gives all but its own part of that much
/// address space to the others, and most of what it gives is on dies that work.
fn fake_failures(flash: &FlashEstimate<'_>) -> f64 {
    let config = flash.drive.config();
    let cores = f64::from(config.controller.flash_cores);
    match &config.repair {
        Some(repair) if repair.scheme == RepairScheme::Cooperative => {
            let dies_of_core = f64::from(config.geometry.dies()) / cores;
            (1.0 - 1.0 / cores) * (1.0 - 1.0 / dies_of_core)
        }
        _ => 0.0,
    }
}
