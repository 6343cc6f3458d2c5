//! Energy and heat: what the drive draws, how warm that makes it, and what it does about it.
//!
//! Nothing here is called by a command or a flash operation. Energy follows from times and counts that the parts keep anyway, whenever somebody asks. Heat is
//! looked at every `device.heat.every`, as housekeeping: the power since the last look counts as constant, which gives the temperatures exactly
//! (`nodes.rs`), and the temperature of the controller decides how fast commands come in from then on ([`Pace`](crate::host::Pace)). Reads, programs and
//! collection inside go on.

mod energy;
mod nodes;

pub use energy::EnergyByPart;
pub use nodes::Temperatures;

use crate::ssd::Ssd;
use energy::WorkDone;
use outlast_settings::drive::{EnergyConfig, HeatConfig};
use outlast_units::{ByteRate, Nanos};

/// Part of the time since a shut-down that passes at least until the next look.
const PART_OF_SHUTDOWN: u64 = 1 << 16;

/// Figures of energy and heat since the last reset.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PowerFigures {
    /// Energy by part.
    pub energy: EnergyByPart,
    /// Time since the reset.
    pub span: Nanos,
    /// Commands that found the drive in a state of rest.
    pub wakes: u64,
    /// Heat; absent without `device.heat`.
    pub heat: Option<HeatFigures>,
}

/// Figures of heat since the last reset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeatFigures {
    /// Temperatures at the last look.
    pub now: Temperatures,
    /// Highest temperature of the controller at any look, °C.
    pub hottest: f64,
    /// Time in which the host's commands were slowed down or kept out.
    pub throttled: Nanos,
    /// How often throttling began.
    pub throttles: u64,
    /// How often the drive shut down.
    pub shutdowns: u64,
}

/// Account of energy, and the state of heat.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct PowerWatch {
    at_reset: WorkDone,
    /// Time without power since the beginning.
    off: Nanos,
    heat: Option<HeatWatch>,
}

/// Temperatures, and what they have led to.
#[derive(Clone, Debug, outlast_persist::Persist)]
struct HeatWatch {
    seen: WorkDone,
    next: Nanos,
    now: Temperatures,
    hottest: f64,
    /// Steps of throttling that have begun.
    steps: u32,
    is_shut_down: bool,
    /// The look at which it shut down last.
    shut_since: Nanos,
    throttled: Nanos,
    throttles: u64,
    shutdowns: u64,
}

impl PowerWatch {
    /// As the settings have it; `None` where nothing counts energy.
    pub(crate) fn new(energy: Option<&EnergyConfig>, heat: Option<&HeatConfig>) -> Option<Self> {
        let idle = energy?.idle_watts;
        let heat = heat.map(|config| {
            let now = match config.start {
                Some(start) => Temperatures { controller: start, case: start },
                None => nodes::steady(config, [idle, 0.0]),
            };
            HeatWatch {
                seen: WorkDone::default(),
                next: config.every,
                now,
                hottest: now.controller,
                steps: 0,
                is_shut_down: false,
                shut_since: Nanos::ZERO,
                throttled: Nanos::ZERO,
                throttles: 0,
                shutdowns: 0,
            }
        });
        Some(Self { at_reset: WorkDone::default(), off: Nanos::ZERO, heat })
    }

    /// Checks what was read against the settings: heat is there as they say, with no more steps of throttling than there are, and temperatures are numbers.
    ///
    /// # Errors
    /// A sentence on what does not fit.
    fn check_restored(&self, config: Option<&HeatConfig>) -> Result<(), String> {
        if self.heat.is_some() != config.is_some() {
            return Err("the heat of a drive is watched, or not, against its settings".to_owned());
        }
        let Some((own, config)) = self.heat.as_ref().zip(config) else { return Ok(()) };
        if own.steps as usize > config.throttle.len() {
            return Err(format!(
                "{} steps of throttling have begun, of {}",
                own.steps,
                config.throttle.len()
            ));
        }
        let degrees = [own.now.controller, own.now.case, own.hottest];
        match degrees.iter().find(|degrees| !degrees.is_finite()) {
            Some(degrees) => Err(format!("a drive is {degrees} degrees warm")),
            None => Ok(()),
        }
    }
}

impl HeatWatch {
    /// Takes in what was done since the last look.
    fn look(&mut self, work: WorkDone, energy: &EnergyConfig, heat: &HeatConfig) {
        let seconds = work.at.saturating_sub(self.seen.at).0 as f64 / 1e9;
        if seconds > 0.0 {
            let watts = work.energy_since(&self.seen, energy).watts(seconds);
            self.now = nodes::after(heat, self.now, watts, seconds);
            self.hottest = self.hottest.max(self.now.controller);
            if self.steps != 0 || self.is_shut_down {
                self.throttled += work.at - self.seen.at;
            }
        }
        self.seen = work;
    }

    /// Steps that begin or end at the temperature of now; returns the rate at which the host is let in, and whether it is at all.
    fn decide(&mut self, config: &HeatConfig) -> HostPacing {
        let warm = self.now.controller;
        let before = self.steps;
        while let Some(step) = config.throttle.get(self.steps as usize)
            && warm >= step.from
        {
            self.steps += 1;
        }
        while self.steps > 0 && warm < config.throttle[self.steps as usize - 1].until {
            self.steps -= 1;
        }
        self.throttles += u64::from(before == 0 && self.steps != 0);
        if let Some(shutdown) = config.shutdown {
            let was = self.is_shut_down;
            self.is_shut_down = if was { warm >= shutdown.until } else { warm >= shutdown.from };
            self.shutdowns += u64::from(self.is_shut_down && !was);
            if !was {
                self.shut_since = self.seen.at;
            }
        }
        match self.steps.checked_sub(1) {
            _ if self.is_shut_down => HostPacing::Shut,
            Some(step) => HostPacing::Rate(config.throttle[step as usize].rate),
            None => HostPacing::Free,
        }
    }
}

impl HeatWatch {
    /// Shortest span until the next look: a shut-down of weeks is not looked at every few milliseconds until it ends.
    fn span_while_shut(&self) -> Nanos {
        let since = self.seen.at.saturating_sub(self.shut_since);
        if self.is_shut_down { Nanos(since.0 / PART_OF_SHUTDOWN) } else { Nanos::ZERO }
    }
}

/// How commands of the host are let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostPacing {
    /// As they come.
    Free,
    /// At a rate.
    Rate(ByteRate),
    /// Not at all.
    Shut,
}

impl Ssd {
    /// Looks at the temperature, if it is time, and throttles the host as that asks for; returns when to look again.
    pub(crate) fn watch_heat(&mut self, now: Nanos) -> Nanos {
        let Some(next) = self.power_watch.as_ref().and_then(|watch| watch.heat.as_ref()).map(|own| own.next)
        else {
            return Nanos::MAX;
        };
        if next > now {
            return next;
        }
        self.look_at_heat(now);
        let (Some(watch), Some(config)) = (&mut self.power_watch, &self.context.config.heat) else {
            return Nanos::MAX;
        };
        let Some(heat) = &mut watch.heat else { return Nanos::MAX };
        let pacing = heat.decide(config);
        heat.next = now + config.every.max(heat.span_while_shut());
        heat.next.min(self.host.set_pacing(now, pacing))
    }

    /// Checks the account of energy and heat that was read.
    ///
    /// # Errors
    /// A sentence on what does not fit the settings.
    pub(crate) fn check_power_watch(&self) -> Result<(), String> {
        let config = &self.context.config;
        match &self.power_watch {
            Some(watch) if config.energy.is_some() => watch.check_restored(config.heat.as_ref()),
            None if config.energy.is_none() => Ok(()),
            _ => Err("energy is counted, or not, against the settings".to_owned()),
        }
    }

    /// Takes in the work since the last look: before the counters start anew, and when a look is due.
    pub(crate) fn look_at_heat(&mut self, now: Nanos) {
        let Some(off) = self.power_watch.as_ref().filter(|watch| watch.heat.is_some()).map(|watch| watch.off)
        else {
            return;
        };
        let work = WorkDone::of(self, now, off);
        let config = &self.context.config;
        if let (Some(watch), Some(energy), Some(heat)) = (&mut self.power_watch, &config.energy, &config.heat)
            && let Some(own) = &mut watch.heat
        {
            own.look(work, energy, heat);
        }
    }

    /// Power is off from `off` to `on`, in which the drive cools.
    pub(crate) fn rest_without_power(&mut self, off: Nanos, on: Nanos) {
        if self.power_watch.is_none() {
            return;
        }
        self.look_at_heat(off);
        if let Some(watch) = &mut self.power_watch {
            watch.off += on - off;
        }
        self.look_at_heat(on);
    }

    /// The counters have started anew, at `now`; or what they counted took no time.
    pub(crate) fn reset_power(&mut self, now: Nanos) {
        let Some(off) = self.power_watch.as_ref().map(|watch| watch.off) else { return };
        let work = WorkDone::of(self, now, off);
        self.host.reset_wakes();
        if let Some(watch) = &mut self.power_watch {
            watch.at_reset = work.clone();
            if let Some(heat) = &mut watch.heat {
                heat.seen = work;
                heat.hottest = heat.now.controller;
                (heat.throttled, heat.throttles, heat.shutdowns) = (Nanos::ZERO, 0, 0);
            }
        }
    }

    /// Energy and heat since the last reset; `None` where nothing counts energy.
    pub fn power_figures(&self, now: Nanos) -> Option<PowerFigures> {
        let (watch, config) = (self.power_watch.as_ref()?, self.context.config.energy.as_ref()?);
        let work = WorkDone::of(self, now, watch.off);
        let heat = watch.heat.as_ref().map(|own| HeatFigures {
            now: own.now,
            hottest: own.hottest,
            throttled: own.throttled,
            throttles: own.throttles,
            shutdowns: own.shutdowns,
        });
        Some(PowerFigures {
            energy: work.energy_since(&watch.at_reset, config),
            span: now.saturating_sub(watch.at_reset.at),
            wakes: self.host.wakes(),
            heat,
        })
    }
}

#[cfg(test)]
mod tests;
