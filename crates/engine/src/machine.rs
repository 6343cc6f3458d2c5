//! What the engine runs: a drive by itself, or an array of them.

use crate::counts::{Snapshot, WINDOW_BLOCKS};
use crate::error::ServiceError;
use crate::progress::OnProgress;
use crate::team::Team;
use outlast_array::ArrayCondition;
use outlast_device::{Command, Device, Op, Outcome};
use outlast_ftl::{Ftl, ProgramCause};
use outlast_media::ConfigError;
use outlast_persist::Restore;
use outlast_scenario::{Scenario, Strike};
use outlast_ssd::{CoreShare, Ssd};
use outlast_units::{Lba, Nanos};

/// A device that can be prepared without time and tells what it has done. Implemented by types known when the run loop is compiled,
/// so that it calls them directly.
pub(crate) trait Machine: Device + Restore {
    /// Whether it comes to the same when it is advanced to a time and then on, instead of at once.
    const MAY_WAIT: bool;

    /// Mapping units that the host addresses.
    fn units(&self) -> u64;

    /// Units that one call of [`Machine::fill`] should write.
    fn fill_units(&self) -> u64;

    /// Writes units `first..end` in order, without time.
    ///
    /// # Errors
    /// [`Outcome::ReadOnly`] when a drive is worn out.
    fn fill(&mut self, first: u64, end: u64) -> Result<(), Outcome>;

    /// As [`Machine::fill`] of as many of the first `units` units as can be written faster in some other way to the same effect; returns
    /// how many, and stops early where `go_on`, given the units written so far, says so.
    ///
    /// # Errors
    /// [`Outcome::ReadOnly`] when a drive is worn out.
    fn fill_first(
        &mut self,
        units: u64,
        team: Team,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<u64, Outcome>;

    /// Units that one call of [`Machine::write_units`] should write.
    fn batch(&self) -> usize;

    /// Writes whole units without time, on the threads of `team` where that can be.
    ///
    /// # Errors
    /// The number of units that were written before a drive was worn out.
    fn write_units(&mut self, units: &[u64], team: Team) -> Result<(), usize>;

    /// Carries out a command without time, or keeps it to be carried out with others: that it could not be may be told later, by another
    /// one or by [`Machine::catch_up`].
    fn apply(&mut self, command: Command) -> Outcome;

    /// Carries out what is kept. Before anything but [`Machine::host_units`] is asked for.
    fn catch_up(&mut self) -> Outcome {
        Outcome::Ok
    }

    /// Takes account of what untimed commands have left in buffers.
    fn end_untimed(&mut self);

    /// Shows the translation layers of the drives that it has now, always in the same order.
    fn each_ftl(&self, look: &mut dyn FnMut(&Ftl));

    /// Units that the host wrote since the last reset.
    fn host_units(&self) -> u64;

    /// Units that all drives programmed.
    fn programmed_units(&self) -> u64;

    /// Time begins: what the scenario has happen is scheduled.
    ///
    /// # Errors
    /// A fault at a place that is not there.
    fn begin(&mut self, scenario: &Scenario) -> Result<(), ConfigError>;

    /// Something breaks. To be called with all done that was due until `now`.
    ///
    /// # Errors
    /// What the array refuses; after a loss of power that it refuses to start from, it is off.
    fn strike(&mut self, now: Nanos, strike: Strike) -> Result<(), ServiceError>;

    /// Starts counting anew.
    fn reset(&mut self, now: Nanos);

    /// What is counted now.
    fn snapshot(&self, now: Nanos) -> Snapshot;

    /// The latest simulated time that can be handled.
    fn latest(&self) -> Nanos;

    /// Whether something happened that ends the run as an error.
    fn has_failed(&self) -> bool;

    /// What code of the user's that decides for a drive did that it must not, if it did.
    fn policy_failure(&self) -> Option<ConfigError>;

    /// Whether it takes commands: an array that did not start after a loss of power does not.
    #[inline]
    fn is_up(&self) -> bool {
        true
    }

    /// The state of an array; a drive by itself has none.
    #[inline]
    fn condition(&self) -> Option<ArrayCondition> {
        None
    }

    /// The host has ended: carries on what must not be left half done. Returns whether the caller stopped it.
    fn finish(&mut self, _progress: OnProgress<'_>) -> bool {
        false
    }
}

/// Units between two looks at the clock.
const FILL_UNITS: u64 = 64;
/// Units that are divided among flash cores: enough that starting threads costs nothing beside them.
const APART: usize = 1 << 16;

/// A write of units `first..end`.
pub(crate) fn unit_write(sectors_per_unit: u32, first: u64, end: u64) -> Command {
    let per_unit = u64::from(sectors_per_unit);
    let sectors = ((end - first) * per_unit) as u32;
    Command::new(Op::Write, Lba(first * per_unit), sectors)
}

impl Machine for Ssd {
    const MAY_WAIT: bool = true;

    fn units(&self) -> u64 {
        Ssd::units(self)
    }

    fn fill_units(&self) -> u64 {
        FILL_UNITS
    }

    fn fill(&mut self, first: u64, end: u64) -> Result<(), Outcome> {
        (first..end).try_for_each(|unit| self.write_unit_untimed(unit, 0))
    }

    /// Where it has several flash cores, all of it, core by core.
    fn fill_first(
        &mut self,
        units: u64,
        team: Team,
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
            Machine::write_units(self, &slice, team).map_err(|_| Outcome::ReadOnly)?;
            if !go_on(first) {
                break;
            }
        }
        Ok(first)
    }

    /// As many as are looked up together, or what is worth a thread for each core.
    fn batch(&self) -> usize {
        if self.ftls().len() == 1 { 64 } else { APART }
    }

    fn write_units(&mut self, units: &[u64], team: Team) -> Result<(), usize> {
        self.write_units_untimed(units, |shares| team.for_each(shares, CoreShare::write))
    }

    #[inline]
    fn apply(&mut self, command: Command) -> Outcome {
        self.apply_untimed(command)
    }

    fn end_untimed(&mut self) {
        Ssd::end_untimed(self);
    }

    fn each_ftl(&self, look: &mut dyn FnMut(&Ftl)) {
        self.ftls().for_each(look);
    }

    fn has_failed(&self) -> bool {
        self.ftls().any(Ftl::has_policy_failed)
    }

    fn policy_failure(&self) -> Option<ConfigError> {
        self.ftls().find_map(Ftl::policy_failure)
    }

    fn host_units(&self) -> u64 {
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

    fn strike(&mut self, now: Nanos, strike: Strike) -> Result<(), ServiceError> {
        let Strike::Flash { fault, .. } = strike else { return Err(ServiceError::NoArray) };
        self.inject(now, fault);
        Ok(())
    }

    fn reset(&mut self, now: Nanos) {
        self.reset_counters(now);
    }

    fn snapshot(&self, now: Nanos) -> Snapshot {
        Snapshot::of(self, now, WINDOW_BLOCKS)
    }

    fn latest(&self) -> Nanos {
        self.horizon()
    }
}
