//! Energy: what the parts of a drive have done, and what that takes.

use crate::ssd::Ssd;
use outlast_settings::drive::EnergyConfig;
use outlast_units::Nanos;

/// Work done by a time, as the drive's counters have it: since their last reset, or since the beginning.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(super) struct WorkDone {
    pub(super) at: Nanos,
    /// Time that dies, channels and both directions of the link were busy, in sum.
    dies: u64,
    channels: u64,
    link: u64,
    /// Time with commands in progress.
    busy: u64,
    /// Time in each state of rest.
    rested: Vec<u64>,
    /// Time without power.
    off: u64,
    reads: u64,
    programs: u64,
    erases: u64,
}

impl WorkDone {
    /// Of `ssd` by `now`, which has been without power for `off`.
    pub(super) fn of(ssd: &Ssd, now: Nanos, off: Nanos) -> Self {
        let nanos = |times: &[Nanos]| times.iter().map(|time| time.0).sum();
        let busy = ssd.busy(now);
        let counters = ssd.counters();
        Self {
            at: now,
            dies: nanos(&busy.dies),
            channels: nanos(&busy.channels),
            link: busy.link.map_or(0, |link| nanos(&link)),
            busy: ssd.host.busy_time(now).0,
            rested: ssd.host.rested(now).iter().map(|time| time.0).collect(),
            off: off.0,
            reads: counters.reads.total(),
            programs: counters.programs,
            erases: counters.erases,
        }
    }

    /// The energy of what was done after `before`.
    pub(super) fn energy_since(&self, before: &Self, config: &EnergyConfig) -> EnergyByPart {
        let seconds = |now: u64, then: u64| now.saturating_sub(then) as f64 / 1e9;
        let count = |now: u64, then: u64| now.saturating_sub(then) as f64;
        let mut idle = seconds(self.at.0, before.at.0) - seconds(self.off, before.off);
        let busy = seconds(self.busy, before.busy).min(idle);
        idle -= busy;
        let mut controller = config.active_watts * busy;
        for (index, state) in config.states.iter().enumerate() {
            let of = |work: &Self| work.rested.get(index).copied().unwrap_or(0);
            let rested = seconds(of(self), of(before)).min(idle);
            idle -= rested;
            controller += state.watts * rested;
        }
        controller += config.idle_watts * idle.max(0.0);
        let operations = config.read_joules * count(self.reads, before.reads)
            + config.program_joules * count(self.programs, before.programs)
            + config.erase_joules * count(self.erases, before.erases);
        EnergyByPart {
            controller,
            dies: config.die_watts * seconds(self.dies, before.dies) + operations,
            channels: config.channel_watts * seconds(self.channels, before.channels),
            link: config.link_watts * seconds(self.link, before.link),
        }
    }
}

/// Energy by the part that took it, J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EnergyByPart {
    /// The controller and its memory.
    pub controller: f64,
    /// Dies, the energy of single operations included.
    pub dies: f64,
    /// Channels.
    pub channels: f64,
    /// The host link.
    pub link: f64,
}

impl EnergyByPart {
    /// Energy of all parts.
    pub fn total(&self) -> f64 {
        self.controller + self.dies + self.channels + self.link
    }

    /// Power that heats the controller, and that which heats the case, in watts over `seconds`.
    pub(super) fn watts(&self, seconds: f64) -> [f64; 2] {
        [(self.controller + self.link) / seconds, (self.dies + self.channels) / seconds]
    }
}

impl std::ops::Add for EnergyByPart {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            controller: self.controller + other.controller,
            dies: self.dies + other.dies,
            channels: self.channels + other.channels,
            link: self.link + other.link,
        }
    }
}
