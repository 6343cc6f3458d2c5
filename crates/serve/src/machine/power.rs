//! The power of a machine goes and comes.

use super::{Machine, Refused};
use crate::input::Power;
use outlast_device::{Completion, Device, Outcome};
use outlast_units::Nanos;

impl Machine {
    pub(super) fn switch(&mut self, now: Nanos, power: Power) -> Result<(), Refused> {
        match power {
            Power::Off => self.lose_power(now),
            Power::Cut { force } => {
                self.lose_power(now)?;
                self.regain_power(now, force)
            }
            Power::On { force } if self.off.is_some() => self.regain_power(now, force),
            Power::On { force } if !self.service.is_up() => {
                self.service.start(now, force)?;
                self.events.note(now, "power", "the array has started".to_owned());
                Ok(())
            }
            Power::On { .. } => Err(Refused::On),
        }
    }

    /// What has completed has completed, whether or not the host has heard of it; all else is aborted.
    fn lose_power(&mut self, now: Nanos) -> Result<(), Refused> {
        if self.off.is_some() {
            return Err(Refused::Off);
        }
        for done in &self.ready {
            self.answers.extend(self.service.take_data(done.tag).map(|data| (done.tag, data)));
        }
        let aborted = |tag| Completion { at: now, tag, outcome: Outcome::Aborted };
        let aborted: Vec<Completion> = std::mem::take(&mut self.flight).tags().map(aborted).collect();
        self.events.note(now, "power-off", format!("power is lost; {} commands are aborted", aborted.len()));
        self.ready.extend(aborted);
        self.off = Some(now);
        Ok(())
    }

    /// From now on it is ready as soon as its power is back, and takes its own word for what flash would tell it: see
    /// [`InService::mount_at_once`](outlast_engine::InService::mount_at_once). To be asked of a fork that is only looked at.
    pub fn mount_at_once(&mut self) {
        self.service.mount_at_once();
    }

    /// What would be if power failed at `now` and member `member` of an array were gone when it is back at once: to be asked of a fork, since no
    /// log has it.
    ///
    /// # Errors
    /// There is no power, or what [`InService::power_cycle_without`](outlast_engine::InService::power_cycle_without) refuses.
    pub fn lose_power_and(&mut self, member: u16, now: Nanos, force: bool) -> Result<(), Refused> {
        let now = self.come_to(now)?;
        self.lose_power(now)?;
        self.off = None;
        let started = self.service.power_cycle_without(now, member, force);
        // The host has heard already that its commands were aborted.
        self.service.advance(now, &mut Vec::new());
        self.events.collect(&mut self.service);
        Ok(started?)
    }

    fn regain_power(&mut self, now: Nanos, force: bool) -> Result<(), Refused> {
        let Some(off) = self.off.take() else { return Ok(()) };
        self.dark += now - off;
        let started = self.service.power_cycle(off, now, force);
        // The host has heard already that its commands were aborted.
        self.service.advance(now, &mut Vec::new());
        self.events.note(
            now,
            "power-on",
            if started.is_ok() { "power is back" } else { "power is back; the array does not start" }
                .to_owned(),
        );
        Ok(started?)
    }
}
