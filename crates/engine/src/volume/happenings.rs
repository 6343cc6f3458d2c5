//! Scheduled happenings of an array: members that fail or are exchanged, and losses of power.

use super::{ArrayVolume, drive_seed};
use crate::member::ArrayMember;
use outlast_array::ArrayError;
use outlast_media::{ConfigError, UnitTear};
use outlast_scenario::PlannedEvent;
use outlast_ssd::Ssd;
use outlast_units::Nanos;

/// Error of a new drive with settings that have been checked: by chance it has more factory bad blocks than spare ones.
#[allow(clippy::needless_pass_by_value, reason = "the way of an error")]
fn unusable(error: ConfigError) -> ArrayError {
    ArrayError::Unusable { reason: error.to_string() }
}

impl ArrayVolume {
    /// Time of the next happening; none while the array is off.
    #[inline]
    pub(super) fn next_happening(&self) -> Nanos {
        match self.pending.last() {
            Some(&(at, _)) if self.off_since.is_none() => at,
            _ => Nanos::MAX,
        }
    }

    /// Carries out the happenings due at `now`. Refusals become notes, except the exchange of an only copy, which ends the run.
    #[cold]
    pub(super) fn apply_due(&mut self, now: Nanos) {
        while let Some(&(at, happening)) = self.pending.last()
            && at <= now
            && self.off_since.is_none()
        {
            self.pending.pop();
            match (self.carry_out(now, happening), happening) {
                (Err(error @ ArrayError::OnlyCopy { .. }), PlannedEvent::Replace { member, fault, .. }) => {
                    self.failure =
                        Some(ConfigError::new(&format!("faults[{fault}].device"), member, error.to_string()));
                    self.pending.clear();
                }
                (Err(error), PlannedEvent::PowerCut { .. }) => {
                    self.notes.push(format!(
                        "Power failed at {at}, the array did not start again, and the run ended: {error}."
                    ));
                }
                (Err(error), _) => self.notes.push(format!("At {at} nothing happened: {error}.")),
                (Ok(()), _) => {}
            }
        }
    }

    /// Carries out `happening` now.
    ///
    /// # Errors
    /// The array refuses it. An array that refuses to start after a loss of power stays off.
    pub(crate) fn carry_out(&mut self, now: Nanos, happening: PlannedEvent) -> Result<(), ArrayError> {
        match happening {
            PlannedEvent::Fail { member } => self.array.fail_member(now, member.into()),
            PlannedEvent::Replace { .. } => self.exchange(now, happening),
            PlannedEvent::PowerCut { force, tear } => {
                self.tear_next(tear);
                self.power_cycle(now, now, force)
            }
        }
    }

    /// Sets how much of the operations under way the next loss of power leaves on the flash of every drive.
    pub(crate) fn tear_next(&mut self, tear: UnitTear) {
        self.array.with_devices(|_, member| {
            if let Some(ssd) = member.drive_mut() {
                ssd.tear_next(tear);
            }
        });
    }

    /// Cuts the power of every device at `off` and restores it at `on`; commands of the host under way are aborted.
    ///
    /// # Errors
    /// The array does not start, and is off.
    pub(crate) fn power_cycle(&mut self, off: Nanos, on: Nanos, force: bool) -> Result<(), ArrayError> {
        self.array.power_failure_until(off, on);
        self.off_since = Some(on);
        self.start(on, force)
    }

    /// Cuts and restores power at `now`; member `member` is gone afterwards.
    ///
    /// # Errors
    /// There is no such member, or the array does not start, and is off.
    pub(crate) fn power_cycle_without(
        &mut self,
        now: Nanos,
        member: u16,
        force: bool,
    ) -> Result<(), ArrayError> {
        self.array.power_failure_until(now, now);
        self.off_since = Some(now);
        self.array.fail_member(now, member.into())?;
        self.start(now, force)
    }

    /// Starts the array if it is off.
    ///
    /// # Errors
    /// The array refuses, and stays off.
    pub(crate) fn start(&mut self, now: Nanos, force: bool) -> Result<(), ArrayError> {
        self.array.power_on(now, force)?;
        self.off_since = None;
        Ok(())
    }

    /// Exchanges a member for a new drive, or a new stand-in in a stand-in's place.
    fn exchange(&mut self, now: Nanos, happening: PlannedEvent) -> Result<(), ArrayError> {
        let PlannedEvent::Replace { member, force, .. } = happening else { return Ok(()) };
        // Also counted if the array refuses the drive, so that a later one is never a copy of it.
        let seed = drive_seed(self.seed, self.made);
        self.made += 1;
        let light = self.array.config().light.as_ref().filter(|_| self.array.config().is_light(member));
        if let Some(light) = light {
            let capacity = self.config.ftl.user_capacity(&self.config.geometry);
            let drive = ArrayMember::light(light, capacity, seed).map_err(unusable)?;
            self.replaced.extend(self.array.replace(now, member.into(), drive, force)?);
            return Ok(());
        }
        let mut drive = Ssd::new(self.config.clone(), seed).map_err(unusable)?;
        if let Some(store) = &self.store {
            drive.keep_contents_in(store);
        }
        drive.begin_timed();
        if self.array.splits_latencies() {
            drive.split_latencies();
        }
        drive.reset_counters(now);
        let drive = ArrayMember::Drive(Box::new(drive));
        self.replaced.extend(self.array.replace(now, member.into(), drive, force)?);
        Ok(())
    }
}
