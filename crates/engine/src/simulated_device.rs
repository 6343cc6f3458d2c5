//! The devices that the engine runs: a drive by itself, or an array of drives.

use crate::counts::{DriveSnapshot, WINDOW_BLOCKS};
use crate::error::ServiceError;
use crate::progress::OnProgress;
use crate::team::ThreadTeam;
use outlast_array::ArrayCondition;
use outlast_device::{Command, Device, Op, Outcome};
use outlast_ftl::{Ftl, ProgramCause};
use outlast_media::ConfigError;
use outlast_persist::Restore;
use outlast_scenario::{FaultTarget, Scenario};
use outlast_ssd::{CoreShare, Ssd};
use outlast_units::{Lba, Nanos};

/// A day before the device's horizon, in which no command is submitted: what is under way, and what the device does in the background, has an end beyond the
/// present, which must lie before the horizon.
pub const DRAIN_TIME: Nanos = Nanos::secs(86_400);

/// A device that can be prepared without time and that counts what it does. The run loop is generic over it, so its calls are direct.
pub(crate) trait SimulatedDevice: Device + Restore {
    /// True if advancing in two steps has the same outcome as advancing at once.
    const MAY_WAIT: bool;

    /// Mapping units that the host addresses.
    fn units(&self) -> u64;

    /// Units that one call of [`SimulatedDevice::fill`] should write.
    fn fill_units(&self) -> u64;

    /// Writes units `first..end` in order, without time.
    ///
    /// # Errors
    /// [`Outcome::ReadOnly`] when a drive is worn out.
    fn fill(&mut self, first: u64, end: u64) -> Result<(), Outcome>;

    /// Writes as many of the first `units` units as it can faster than by [`SimulatedDevice::fill`], with the same effect; returns how many.
    /// Stops early if `go_on`, which is given the units written so far, returns false.
    ///
    /// # Errors
    /// [`Outcome::ReadOnly`] when a drive is worn out.
    fn fill_first(
        &mut self,
        units: u64,
        team: ThreadTeam,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<u64, Outcome>;

    /// Units that one call of [`SimulatedDevice::write_units`] should write.
    fn batch(&self) -> usize;

    /// Writes whole units without time, on the threads of `team` if the device can use them.
    ///
    /// # Errors
    /// The number of units that were written before a drive was worn out.
    fn write_units(&mut self, units: &[u64], team: ThreadTeam) -> Result<(), usize>;

    /// Carries out a command without time, or keeps it in a backlog. A failure of a kept command is returned by a later one, or by
    /// [`SimulatedDevice::catch_up`].
    fn apply(&mut self, command: &Command) -> Outcome;

    /// Carries out the backlog. Must be called before anything but [`SimulatedDevice::host_units`] is read.
    fn catch_up(&mut self) -> Outcome {
        Outcome::Ok
    }

    /// Brings buffers into the state that untimed commands leave, so that timed ones can follow.
    fn end_untimed(&mut self);

    /// Calls `visit` with each translation layer of its present drives, always in the same order.
    fn each_ftl(&self, visit: &mut dyn FnMut(&Ftl));

    /// Units that the host wrote since the last reset.
    fn host_units(&self) -> u64;

    /// Units that all drives have programmed, for whatever cause.
    fn programmed_units(&self) -> u64;

    /// Begins simulated time: schedules the faults and other happenings of the scenario.
    ///
    /// # Errors
    /// A fault at an address that the device does not have.
    fn begin(&mut self, scenario: &Scenario) -> Result<(), ConfigError>;

    /// Injects a fault. The device must have been advanced to `now`.
    ///
    /// # Errors
    /// The array refuses it. An array that refuses to start after a loss of power stays off.
    fn strike(&mut self, now: Nanos, strike: FaultTarget) -> Result<(), ServiceError>;

    /// Resets all counters.
    fn reset(&mut self, now: Nanos);

    /// Counts since the last reset, and the state at `now`.
    fn snapshot(&self, now: Nanos) -> DriveSnapshot;

    /// The latest simulated time that can be handled. Commands end [`DRAIN_TIME`] before it.
    fn latest(&self) -> Nanos;

    /// True if something happened that ends the run with an error.
    fn has_failed(&self) -> bool;

    /// Error of user code that made an invalid decision, if any.
    fn policy_failure(&self) -> Option<ConfigError>;

    /// True if it takes commands; an array that did not start after a loss of power does not.
    #[inline]
    fn is_up(&self) -> bool {
        true
    }

    /// The state of an array; a drive by itself has none.
    #[inline]
    fn condition(&self) -> Option<ArrayCondition> {
        None
    }

    /// Finishes work that must not be left half done after the host has ended. True if `progress` stopped it.
    fn finish(&mut self, _progress: OnProgress<'_>) -> bool {
        false
    }
}

/// Units written between two checks of the clock.
const FILL_UNITS: u64 = 64;
/// Units that are divided among flash cores at once: enough to make the cost of starting threads negligible.
const APART: usize = 1 << 16;

/// A write of units `first..end`.
pub(crate) fn unit_write(sectors_per_unit: u32, first: u64, end: u64) -> Command {
    let per_unit = u64::from(sectors_per_unit);
    let sectors = ((end - first) * per_unit) as u32;
    Command::new(Op::Write, Lba(first * per_unit), sectors)
}

impl SimulatedDevice for Ssd {
    const MAY_WAIT: bool = true;

    fn units(&self) -> u64 {
        Ssd::units(self)
    }

    fn fill_units(&self) -> u64 {
        FILL_UNITS
    }

    fn fill(&mut self, first: u64, end: u64) -> Result<(), Outcome> {
        self.write_range_untimed(first..end)
    }

    /// Writes everything, core by core, if there are several flash cores; nothing otherwise.
    fn fill_first(
        &mut self,
        units: u64,
        team: ThreadTeam,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<u64, Outcome> {
        if self.ftls().len() == 1 {
            return Ok(0);
        }
        let mut slice = Vec::with_capacity(APART);
        let mut first = 0;
        while first < units {
            slice.clear();
            slice.extend(first..units.min(first + APART as u64));
            first += slice.len() as u64;
            SimulatedDevice::write_units(self, &slice, team).map_err(|_| Outcome::ReadOnly)?;
            if !go_on(first) {
                break;
            }
        }
        Ok(first)
    }

    /// Units whose table entries are fetched together, or, with several cores, enough for a thread each.
    fn batch(&self) -> usize {
        if self.ftls().len() == 1 { 64 } else { APART }
    }

    fn write_units(&mut self, units: &[u64], team: ThreadTeam) -> Result<(), usize> {
        self.write_units_untimed(units, |shares| team.for_each(shares, CoreShare::write))
    }

    #[inline]
    fn apply(&mut self, command: &Command) -> Outcome {
        self.apply_untimed(command)
    }

    fn end_untimed(&mut self) {
        Ssd::end_untimed(self);
    }

    fn each_ftl(&self, visit: &mut dyn FnMut(&Ftl)) {
        self.ftls().for_each(visit);
    }

    fn has_failed(&self) -> bool {
        let predicts = self.config().repair.as_ref().is_some_and(|repair| repair.predict.is_some());
        self.ftls().any(Ftl::has_policy_failed) || (predicts && Ssd::policy_failure(self).is_some())
    }

    fn policy_failure(&self) -> Option<ConfigError> {
        Ssd::policy_failure(self)
    }

    fn host_units(&self) -> u64 {
        // A write that replaced an older one in the buffer was never programmed by itself.
        self.written()[ProgramCause::Host] + self.counters().coalesced_writes
    }

    fn programmed_units(&self) -> u64 {
        self.written().total()
    }

    fn begin(&mut self, scenario: &Scenario) -> Result<(), ConfigError> {
        self.begin_timed();
        if scenario.run.causes {
            self.split_latencies();
        }
        if scenario.run.utilisation {
            self.keep_victims();
        }
        let faults = scenario.flash_faults()?;
        self.schedule_faults(&faults.iter().map(|&(_, at, fault)| (at, fault)).collect::<Vec<_>>());
        self.schedule_changes(&scenario.changes);
        for ageing in &scenario.run.ageing {
            self.schedule_ageing(ageing.at, ageing.by);
        }
        Ok(())
    }

    fn strike(&mut self, now: Nanos, strike: FaultTarget) -> Result<(), ServiceError> {
        // A drive by itself is device 0; the scenario has checked that.
        let FaultTarget::Flash { fault, .. } = strike else { return Err(ServiceError::NoArray) };
        self.inject(now, fault);
        Ok(())
    }

    fn reset(&mut self, now: Nanos) {
        self.reset_counters(now);
    }

    fn snapshot(&self, now: Nanos) -> DriveSnapshot {
        DriveSnapshot::of(self, now, WINDOW_BLOCKS)
    }

    fn latest(&self) -> Nanos {
        self.horizon()
    }
}
