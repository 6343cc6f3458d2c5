//! How drives fail: by their age, in bursts, because of neighbours.

use super::{FleetMachine, GroupLoss, LossCause};
use crate::event::FleetChange;
use crate::plan::FailureDomain;

impl FleetMachine<'_> {
    /// Takes what the stream of chance brings; failures of the drives in `except` are counted by whoever drives the machine.
    pub(super) fn take_candidate(&mut self, except: &[u32]) {
        let fleet = self.fleet;
        let mut place = self.rng.unit() * self.stream_rate();
        let failures = self.fleet.drives() as f64 * self.fleet.highest_rate;
        if place < failures {
            let drive = self.rng.below(self.fleet.drives() as u64) as u32;
            if self.rng.unit() * self.fleet.highest_rate < self.rate_of(drive) && !except.contains(&drive) {
                self.fail_by_age(drive);
            }
            return;
        }
        place -= failures;
        for burst in &fleet.plan.bursts {
            let domains = fleet.domains(burst.scope);
            let rate = burst.rate * domains as f64;
            if place < rate {
                let domain = self.rng.below(domains as u64) as usize;
                let hit: Vec<u32> = fleet
                    .domain(burst.scope, domain)
                    .iter()
                    .copied()
                    .filter(|_| self.rng.unit() < burst.probability)
                    .collect();
                if !hit.iter().any(|drive| except.contains(drive)) {
                    self.fail_by_burst(&hit, burst.scope);
                }
                return;
            }
            place -= rate;
        }
    }

    fn fail_by_burst(&mut self, hit: &[u32], scope: FailureDomain) {
        for &drive in hit {
            if self.drives[drive as usize].missing == 0 {
                self.tally.bursts[scope as usize] += 1;
                self.fail(drive, LossCause::Burst(scope as u8));
            }
        }
    }

    /// Bursts that hit some of these drives: which of the plan's, in which domain, how often per hour.
    pub(crate) fn burst_rates(&self, drives: &[u32], into: &mut Vec<(usize, usize, f64)>) {
        into.clear();
        for (index, burst) in self.fleet.plan.bursts.iter().enumerate() {
            let mut domains: Vec<usize> =
                drives.iter().map(|&drive| self.fleet.domain_of(drive, burst.scope)).collect();
            domains.sort_unstable();
            for same in domains.chunk_by(|a, b| a == b) {
                let none = (1.0 - burst.probability).powf(same.len() as f64);
                into.push((index, same[0], burst.rate * (1.0 - none)));
            }
        }
    }

    /// A burst that hits at least one of these drives, and others as chance has it.
    pub(crate) fn burst_on(&mut self, index: usize, domain: usize, drives: &[u32]) {
        let fleet = self.fleet;
        let burst = fleet.plan.bursts[index];
        let members = fleet.domain(burst.scope, domain);
        let (own, others): (Vec<u32>, Vec<u32>) = members.iter().partition(|drive| drives.contains(drive));
        let miss = 1.0 - burst.probability;
        let mut hit: Vec<u32> = others.into_iter().filter(|_| self.rng.unit() >= miss).collect();
        // The first of them that is hit, given that one is; those before it are not.
        let mut first = own.len() - 1;
        let mut left = self.rng.unit() * (1.0 - miss.powf(own.len() as f64));
        for place in 0..own.len() {
            let here = burst.probability * miss.powf(place as f64);
            if left < here {
                first = place;
                break;
            }
            left -= here;
        }
        hit.push(own[first]);
        hit.extend(own[first + 1..].iter().filter(|_| self.rng.unit() >= miss));
        self.fail_by_burst(&hit, burst.scope);
    }

    /// A failure that the age of a drive brings: of the whole, or of a die.
    pub(crate) fn fail_by_age(&mut self, drive: u32) {
        let step = self.fleet.plan.hazard.step(self.now - self.drives[drive as usize].installed_at);
        let is_die = self.fleet.plan.die_share > 0.0 && self.rng.unit() < self.fleet.plan.die_share;
        self.tally.dies += u64::from(is_die);
        if is_die && self.fleet.plan.die_repair.is_some() {
            self.tally.dies_repaired += 1;
        } else {
            self.tally.failures_by_age[step] += 1;
        }
        self.fail(drive, if is_die { LossCause::Die } else { LossCause::Age(step as u8) });
    }

    pub(super) fn fail(&mut self, drive: u32, cause: LossCause) {
        let fleet = self.fleet;
        let repair_of_die = if cause == LossCause::Die { fleet.plan.die_repair } else { None };
        if repair_of_die.is_none() {
            self.failures.push((self.now, drive));
        }
        let pieces = fleet.pieces_of(drive);
        for &piece in pieces {
            let (group, place) = (self.group_of(piece), piece % fleet.plan.code.pieces());
            let before = self.missing[group];
            self.missing[group] |= 1 << place;
            self.at_level[before.count_ones() as usize] -= 1;
            self.at_level[before.count_ones() as usize + 1] += 1;
            self.drives[drive as usize].missing += 1;
            if !self.gone[group] && fleet.plan.code.is_lost(self.missing[group]) {
                self.gone[group] = true;
                self.losses.push(GroupLoss { at: self.now, group: group as u32, cause });
            }
        }
        if let Some(hours) = repair_of_die {
            self.drives[drive as usize].stays = !pieces.is_empty();
            self.begin_repairs(drive, Some(hours));
            return;
        }
        if pieces.is_empty() {
            self.install(drive);
        } else {
            self.begin_repairs(drive, None);
        }
        self.spread(drive);
    }

    /// Failures of neighbours that this one brings.
    pub(super) fn spread(&mut self, drive: u32) {
        let fleet = self.fleet;
        for one in &fleet.plan.contagion {
            if self.rng.unit() < one.probability {
                let neighbours = fleet.neighbours(drive, one.scope);
                if neighbours.len() < 2 {
                    continue;
                }
                // One of the others: the last takes the place of the drive itself.
                let mut other = neighbours[self.rng.below(neighbours.len() as u64 - 1) as usize];
                if other == drive {
                    other = neighbours[neighbours.len() - 1];
                }
                let at = self.now + self.rng.unit() * one.window;
                let age = self.drives[other as usize].age_number;
                self.push(at, FleetChange::Contagion { drive: other, age });
            }
        }
    }

    /// Failures per hour of a drive at its age; 0 while it is down.
    pub(crate) fn rate_of(&self, drive: u32) -> f64 {
        let state = &self.drives[drive as usize];
        if state.missing > 0 {
            return 0.0;
        }
        let age = self.now - state.installed_at;
        self.fleet.plan.hazard.at(age) * self.fleet.frailty_of(drive, state.age_number)
    }

    /// Hours until the rate of a drive changes with its age.
    pub(crate) fn until_rate_changes(&self, drive: u32) -> f64 {
        self.fleet.plan.hazard.until_change(self.now - self.drives[drive as usize].installed_at)
    }

    /// Drives that are up in groups which miss `level` pieces: each once.
    pub(crate) fn drives_at(&self, level: usize, into: &mut Vec<u32>) {
        let width = self.fleet.plan.code.pieces() as usize;
        into.clear();
        for (group, &missing) in self.missing.iter().enumerate() {
            if missing.count_ones() as usize == level && !self.gone[group] {
                let members = &self.fleet.plan.groups[group * width..(group + 1) * width];
                into.extend(members.iter().filter(|&&drive| self.drives[drive as usize].missing == 0));
            }
        }
        if self.fleet.groups() > 1 {
            into.sort_unstable();
            into.dedup();
        }
    }

    /// Candidates of chance per hour: failures at the highest rate of any drive, and bursts.
    pub(crate) fn stream_rate(&self) -> f64 {
        let bursts = self.fleet.plan.bursts.iter();
        let bursts: f64 = bursts.map(|burst| burst.rate * self.fleet.domains(burst.scope) as f64).sum();
        self.fleet.drives() as f64 * self.fleet.highest_rate + bursts
    }
}
