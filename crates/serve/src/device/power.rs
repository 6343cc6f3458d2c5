//! Loss and return of a device's power.

use super::{RefusedInput, ServedDevice};
use crate::input::PowerChange;
use outlast_device::{Completion, Device, Outcome};
use outlast_units::Nanos;

impl ServedDevice {
    pub(super) fn change_power(&mut self, now: Nanos, power: PowerChange) -> Result<(), RefusedInput> {
        match power {
            PowerChange::Off => self.lose_power(now),
            PowerChange::Cut { force } => {
                self.lose_power(now)?;
                self.regain_power(now, force)
            }
            PowerChange::On { force } if self.off_since.is_some() => self.regain_power(now, force),
            PowerChange::On { force } if !self.service.is_up() => {
                self.service.start(now, force)?;
                self.events.record(now, "power", "the array has started".to_owned());
                Ok(())
            }
            PowerChange::On { .. } => Err(RefusedInput::On),
        }
    }

    /// Cuts the power. Completions stand, even if the host has not taken them; all other commands are aborted.
    fn lose_power(&mut self, now: Nanos) -> Result<(), RefusedInput> {
        if self.off_since.is_some() {
            return Err(RefusedInput::Off);
        }
        // Completed reads keep their data, even if it is taken only after power is back.
        for done in &self.ready {
            self.unclaimed_reads.extend(self.service.take_data(done.tag).map(|data| (done.tag, data)));
        }
        let aborted = |tag| Completion::new(now, tag, Outcome::Aborted);
        let aborted: Vec<Completion> = std::mem::take(&mut self.tags).tags().map(aborted).collect();
        self.events.record(
            now,
            "power-off",
            format!("power is lost; {} commands are aborted", aborted.len()),
        );
        self.ready.extend(aborted);
        self.off_since = Some(now);
        Ok(())
    }

    /// Lets the device be ready as soon as power returns, from its own state instead of flash: see
    /// [`InService::mount_at_once`](outlast_engine::InService::mount_at_once). Only for forks that are examined and dropped.
    pub fn mount_at_once(&mut self) {
        self.service.mount_at_once();
    }

    /// Cuts the power at `now` and restores it at once, with member `member` of an array gone. Only for forks: the log has no such input.
    ///
    /// # Errors
    /// There is no power, or what [`InService::power_cycle_without`](outlast_engine::InService::power_cycle_without) refuses.
    pub fn lose_power_and_member(
        &mut self,
        member: u16,
        now: Nanos,
        force: bool,
    ) -> Result<(), RefusedInput> {
        let now = self.advance_to(now)?;
        self.lose_power(now)?;
        self.off_since = None;
        let started = self.service.power_cycle_without(now, member, force);
        // The host has been told that its commands were aborted; their completions are dropped.
        self.service.advance(now, &mut Vec::new());
        self.events.collect(&mut self.service);
        Ok(started?)
    }

    fn regain_power(&mut self, now: Nanos, force: bool) -> Result<(), RefusedInput> {
        // Power is back even if the array then refuses to start.
        let Some(off_since) = self.off_since.take() else { return Ok(()) };
        self.total_off += now - off_since;
        let started = self.service.power_cycle(off_since, now, force);
        // The host has been told that its commands were aborted; their completions are dropped.
        self.service.advance(now, &mut Vec::new());
        self.events.record(
            now,
            "power-on",
            if started.is_ok() { "power is back" } else { "power is back; the array does not start" }
                .to_owned(),
        );
        Ok(started?)
    }
}
