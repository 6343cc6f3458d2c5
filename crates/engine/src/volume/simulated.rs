//! The array as the engine prepares, runs and measures it: filling without time, faults, counts, and work after the host's end.

use super::ArrayVolume;
use crate::counts::{DriveSnapshot, snapshot_of};
use crate::error::ServiceError;
use crate::member::ArrayMember;
use crate::progress::{OnProgress, RunControl, RunPhase, RunProgress};
use crate::simulated_device::{SimulatedDevice, unit_write};
use crate::team::ThreadTeam;
use outlast_array::ArrayCondition;
use outlast_device::{Command, Device, Outcome};
use outlast_ftl::Ftl;
use outlast_media::ConfigError;
use outlast_scenario::{FaultTarget, Scenario};
use outlast_ssd::Ssd;
use outlast_units::{Nanos, SECTOR_BYTES};
use std::cmp::Reverse;

/// Events between two progress reports while the array finishes its work after the host's end.
const BETWEEN_CLOCKS: u64 = 4096;
/// Units written between two checks of the clock.
const BATCH: usize = 64;
/// Units of a drive that are filled in one turn, between two checks of the clock: enough for its tables to pay for their way into the cache.
const FILL_STEP: usize = 1 << 16;

impl ArrayVolume {
    /// True if the array has work to finish after the host's end: a rebuild, or parity in doubt.
    fn is_unfinished(&self) -> bool {
        let failed = self.failure.is_some() || self.array.has_policy_failed();
        (self.array.is_rebuilding() || self.array.is_in_doubt()) && !failed && self.is_up()
    }
}

impl SimulatedDevice for ArrayVolume {
    /// False: which of several members acts first at one moment depends on how far each has been advanced.
    const MAY_WAIT: bool = false;

    fn units(&self) -> u64 {
        ArrayVolume::units(self)
    }

    /// Units of a stripe, so that its parity is written once.
    fn fill_units(&self) -> u64 {
        let stripe = self.array.identify().optimal_io.0 / SECTOR_BYTES / u64::from(self.sectors_per_unit);
        stripe.clamp(1, 1 << 20)
    }

    fn fill(&mut self, first: u64, end: u64) -> Result<(), Outcome> {
        match self.apply(&unit_write(self.sectors_per_unit, first, end)) {
            Outcome::Ok => Ok(()),
            other => Err(other),
        }
    }

    /// Fills drive by drive, or several on threads of their own. That keeps the tables of a drive in the processor's cache and skips stand-ins.
    /// Members get the same writes in the same order as through the array.
    fn fill_first(
        &mut self,
        units: u64,
        _team: ThreadTeam,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<u64, Outcome> {
        let per_unit = u64::from(self.sectors_per_unit);
        let config = self.array.config();
        // Contents must pass through the array, which computes parity; and a unit must lie in one chunk.
        if self.config.bytes || !config.chunk.0.is_multiple_of(per_unit * SECTOR_BYTES) {
            return Ok(0);
        }
        let Some((filled, sectors)) =
            self.array.filled_by(units * per_unit).filter(|&(_, sectors)| sectors != 0)
        else {
            return Ok(0);
        };
        let whole = filled / per_unit;
        let member_units = sectors / per_unit;
        let team = self.backlog.team();
        for first in (0..member_units).step_by(FILL_STEP) {
            let end = member_units.min(first + FILL_STEP as u64);
            let drives = self.array.members_mut().filter_map(|(_, member)| member.drive_mut());
            let mut drives: Vec<_> = drives.map(|ssd| (ssd, Ok(()))).collect();
            team.for_each(&mut drives, |(ssd, outcome)| {
                *outcome = ssd.write_range_untimed(first..end);
            });
            drives.into_iter().try_for_each(|(_, outcome)| outcome)?;
            if !go_on(end * whole / member_units) {
                break;
            }
        }
        Ok(whole)
    }

    fn batch(&self) -> usize {
        BATCH
    }

    /// Writes by commands, on the threads of the backlog: each command belongs to certain members.
    fn write_units(&mut self, units: &[u64], _team: ThreadTeam) -> Result<(), usize> {
        for (written, &unit) in units.iter().enumerate() {
            self.fill(unit, unit + 1).map_err(|_| written)?;
        }
        Ok(())
    }

    fn apply(&mut self, command: &Command) -> Outcome {
        self.backlog.push(&mut self.array, command)
    }

    fn catch_up(&mut self) -> Outcome {
        self.backlog.carry_out(&mut self.array)
    }

    fn end_untimed(&mut self) {
        self.array.with_devices(|_, member| {
            if let Some(ssd) = member.drive_mut() {
                ssd.end_untimed();
            }
        });
    }

    fn each_ftl(&self, visit: &mut dyn FnMut(&Ftl)) {
        self.array.devices().filter_map(ArrayMember::drive).flat_map(Ssd::ftls).for_each(visit);
    }

    fn host_units(&self) -> u64 {
        let sectors = self.counters().sectors_written + self.backlog.host_sectors();
        sectors / u64::from(self.sectors_per_unit)
    }

    fn programmed_units(&self) -> u64 {
        self.drives().map(|ssd| ssd.written().total()).sum()
    }

    fn begin(&mut self, scenario: &Scenario) -> Result<(), ConfigError> {
        let faults = scenario.flash_faults()?;
        if scenario.run.causes {
            self.array.split_latencies();
        }
        self.array.with_devices(|index, member| {
            let Some(ssd) = member.drive_mut() else { return };
            ssd.begin_timed();
            if scenario.run.causes {
                ssd.split_latencies();
            }
            if scenario.run.utilisation {
                ssd.keep_victims();
            }
            let member_faults: Vec<_> = faults
                .iter()
                .filter(|(device, ..)| usize::from(*device) == index)
                .map(|&(_, at, fault)| (at, fault))
                .collect();
            ssd.schedule_faults(&member_faults);
            ssd.schedule_changes(&scenario.changes);
            for ageing in &scenario.run.ageing {
                ssd.schedule_ageing(ageing.at, ageing.by);
            }
        });
        // The next happening is taken from the end. The stable sort keeps those of equal times in reversed order, so the first given is taken first.
        self.pending = scenario.planned_events()?;
        self.pending.reverse();
        self.pending.sort_by_key(|&(at, _)| Reverse(at));
        Ok(())
    }

    fn strike(&mut self, now: Nanos, strike: FaultTarget) -> Result<(), ServiceError> {
        match strike {
            FaultTarget::Flash { device, fault } => self.array.with_devices(|index, member| {
                if let Some(ssd) = member.drive_mut().filter(|_| index == usize::from(device)) {
                    ssd.inject(now, fault);
                }
            }),
            FaultTarget::Array(happening) => self.carry_out(now, happening)?,
        }
        Ok(())
    }

    fn reset(&mut self, now: Nanos) {
        self.base = self.array.counters();
        self.array.with_devices(|_, member| {
            if let Some(ssd) = member.drive_mut() {
                ssd.reset_counters(now);
            }
        });
        for ssd in self.replaced.iter_mut().filter_map(ArrayMember::drive_mut) {
            ssd.reset_counters(now);
        }
    }

    fn snapshot(&self, now: Nanos) -> DriveSnapshot {
        let mut snapshot = snapshot_of(self.drives(), now);
        snapshot.counts.host_bytes = self.host_bytes();
        snapshot
    }

    fn latest(&self) -> Nanos {
        self.drives().map(Ssd::horizon).min().unwrap_or(Nanos::MAX)
    }

    fn has_failed(&self) -> bool {
        self.failure.is_some()
            || self.array.has_policy_failed()
            || self.drives().any(SimulatedDevice::has_failed)
    }

    fn policy_failure(&self) -> Option<ConfigError> {
        self.array.policy_failure().or_else(|| self.drives().find_map(SimulatedDevice::policy_failure))
    }

    #[inline]
    fn is_up(&self) -> bool {
        self.off_since.is_none()
    }

    #[inline]
    fn condition(&self) -> Option<ArrayCondition> {
        Some(self.array.condition())
    }

    /// Finishes rebuilds, and resolves parity in doubt, unless `run.finish_rebuild` is false.
    fn finish(&mut self, progress: OnProgress<'_>) -> bool {
        let mut completions = Vec::new();
        let mut steps = 0u64;
        while self.finish_rebuild && self.is_unfinished() {
            let Some(at) = self.next_deadline() else { break };
            self.advance(at, &mut completions);
            self.went_on_until = Some(at);
            steps += 1;
            if steps.is_multiple_of(BETWEEN_CLOCKS) {
                let done = self.array.progress(at);
                let report = RunProgress {
                    phase: RunPhase::Rebuild,
                    fraction: done.map(|pass| pass.done.0 as f64 / pass.total.0.max(1) as f64),
                    requests: steps,
                    simulated: at,
                };
                if progress(&report) == RunControl::Stop {
                    return true;
                }
            }
        }
        false
    }
}
