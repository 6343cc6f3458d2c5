//! A fleet as a machine: it goes from one event to the next.
//!
//! Failures of drives come as one Poisson stream at the highest rate that any drive has; a candidate is taken with the share that its own
//! rate has of it (Lewis and Shedler, "Simulation of nonhomogeneous Poisson processes by thinning", 1979). So no drive has a failure
//! waiting, and a machine that is continued twice from one state has two futures.

use crate::event::{Due, Event};
use crate::plan::{Distribution, Fleet, Order, Scope};
use outlast_units::rng::SplitMix;
use std::collections::BinaryHeap;

/// What made a drive fail, or data be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// The hazard of the drive's age, by step of its table: 0 is the youngest.
    Age(u8),
    /// A die failed.
    Die,
    /// A burst in a node, rack or site.
    Burst(u8),
    /// The failure of a neighbour.
    Contagion,
    /// Unreadable data, found by the repair of a piece on which all depended.
    Unreadable,
}

/// A loss of data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// Hours from the start.
    pub at: f64,
    /// The group.
    pub group: u32,
    /// What the last failure was due to.
    pub cause: Cause,
}

/// Counts and times of a machine, for statistics.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Failures of drives, by step of the hazard's table.
    pub failures_by_age: Vec<u64>,
    /// Failures of dies (also counted above, unless drives repair them by themselves).
    pub dies: u64,
    /// Die failures that drives repaired by themselves.
    pub dies_repaired: u64,
    /// Failures by bursts: in nodes, racks, sites.
    pub bursts: [u64; 3],
    /// Failures because of a neighbour.
    pub contagions: u64,
    /// Drives replaced for their age.
    pub retirements: u64,
    /// Pieces that were rebuilt.
    pub pieces_rebuilt: u64,
    /// Hours during which some group missed 0, 1, 2, … pieces at the most.
    pub hours_at_level: Vec<f64>,
    /// Groups times hours in which they missed a piece.
    pub group_hours_degraded: f64,
    /// Events.
    pub events: u64,
}

#[derive(Clone, Debug)]
struct DriveState {
    /// Moment of installation in hours; negative if before the start.
    installed_at: f64,
    /// Which drive in this place, from 0.
    age_number: u32,
    /// Pieces that are not back yet; a drive with some does not fail again.
    missing: u32,
    /// True while it repairs a die by itself, and is not replaced.
    stays: bool,
}

/// A fleet at a moment.
#[derive(Clone, Debug)]
pub struct Machine<'a> {
    fleet: &'a Fleet,
    now: f64,
    rng: SplitMix,
    due: BinaryHeap<Event>,
    number: u64,
    drives: Vec<DriveState>,
    /// Missing pieces of each group, as bits.
    missing: Vec<u64>,
    /// Groups whose data are gone, until all their pieces are back.
    gone: Vec<bool>,
    /// When each missing piece is back; infinite if its repair has not begun.
    ends: Vec<f64>,
    /// Groups by number of missing pieces.
    at_level: Vec<u32>,
    /// When the repair crew is free: of each group, or of the fleet.
    crews: Vec<f64>,
    losses: Vec<Loss>,
    /// Moment and drive of every failure, in order of time; dies that drives repair are none.
    failures: Vec<(f64, u32)>,
    tally: Tally,
}

/// What a machine does about unreadable data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// It draws whether there are some.
    Drawn,
    /// Whoever drives it weighs them.
    Weighed,
}

impl<'a> Machine<'a> {
    /// A whole fleet at time 0, with the chance of `seed`.
    pub fn new(fleet: &'a Fleet, seed: u64) -> Self {
        let (plan, groups) = (&fleet.plan, fleet.groups());
        let age = |drive: usize| plan.age[drive.min(plan.age.len() - 1)];
        let drives = (0..fleet.drives())
            .map(|drive| DriveState { installed_at: -age(drive), age_number: 0, missing: 0, stays: false })
            .collect();
        let mut at_level = vec![0; plan.code.pieces() as usize + 1];
        at_level[0] = groups as u32;
        let mut machine = Self {
            fleet,
            now: 0.0,
            rng: SplitMix::new(seed, "fleet"),
            due: BinaryHeap::new(),
            number: 0,
            drives,
            missing: vec![0; groups],
            gone: vec![false; groups],
            ends: vec![f64::INFINITY; plan.groups.len()],
            tally: Tally {
                failures_by_age: vec![0; plan.hazard.from.len()],
                hours_at_level: vec![0.0; at_level.len()],
                ..Tally::default()
            },
            at_level,
            crews: vec![0.0; if fleet.is_disjoint { groups } else { 1 }],
            losses: Vec::new(),
            failures: Vec::new(),
        };
        if plan.retire_at.is_some() {
            (0..fleet.drives() as u32).for_each(|drive| machine.plan_retirement(drive));
        }
        machine
    }

    /// Hours from the start.
    pub fn now(&self) -> f64 {
        self.now
    }

    /// Losses so far.
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    /// Moment in hours and drive of every failure so far; dies that drives repaired by themselves are none.
    pub fn failures(&self) -> &[(f64, u32)] {
        &self.failures
    }

    /// Counts and times so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Most pieces that any group misses.
    pub fn level(&self) -> usize {
        self.at_level.iter().rposition(|&groups| groups > 0).unwrap_or(0)
    }

    /// Plays until `end` in hours.
    pub fn run(&mut self, end: f64) {
        while self.step(end, Unreadable::Drawn) {}
    }

    /// Other chance from here on: as if the machine had met another future.
    pub(crate) fn reseed(&mut self, seed: u64) {
        self.rng = SplitMix::new(seed, "fleet");
    }

    pub(crate) fn fleet(&self) -> &'a Fleet {
        self.fleet
    }

    pub(crate) fn unit(&mut self) -> f64 {
        self.rng.unit()
    }

    /// Hours until something happens at `rate` per hour.
    pub(crate) fn wait(&mut self, rate: f64) -> f64 {
        // `1 − unit` is never 0.
        -(1.0 - self.rng.unit()).ln() / rate
    }

    /// The next event up to `end`, or the passage of time to it. False at the end.
    pub(crate) fn step(&mut self, end: f64, unreadable: Unreadable) -> bool {
        let by_chance = self.now + self.wait(self.stream_rate());
        self.step_to(by_chance, end, unreadable, &[])
    }

    /// As [`Machine::step`], with the moment of the next candidate of chance given, and drives that do not fail by their age.
    pub(crate) fn step_to(
        &mut self,
        by_chance: f64,
        end: f64,
        unreadable: Unreadable,
        except: &[u32],
    ) -> bool {
        let known = self.next_due();
        if known.min(by_chance) > end {
            self.pass(end);
            return false;
        }
        self.tally.events += 1;
        if known <= by_chance {
            self.pass(known);
            self.take_due(unreadable);
        } else {
            self.pass(by_chance);
            self.take_candidate(except);
        }
        true
    }

    /// When the next known event is due.
    pub(crate) fn next_due(&self) -> f64 {
        self.due.peek().map_or(f64::INFINITY, |event| event.at)
    }

    /// True if the next known event is the end of a repair on which all data of its group depend.
    pub(crate) fn next_is_critical(&self) -> bool {
        match self.due.peek() {
            Some(&Event { at, due: Due::PieceEnd { piece }, .. }) if self.is_end(piece, at) => {
                let group = self.group_of(piece);
                !self.gone[group] && self.fleet.plan.code.is_critical(self.missing[group])
            }
            _ => false,
        }
    }

    /// Candidates of chance per hour: failures at the highest rate of any drive, and bursts.
    pub(crate) fn stream_rate(&self) -> f64 {
        let bursts = self.fleet.plan.bursts.iter();
        let bursts: f64 = bursts.map(|burst| burst.rate * self.fleet.domains(burst.scope) as f64).sum();
        self.fleet.drives() as f64 * self.fleet.highest_rate + bursts
    }

    /// Lets time pass in which nothing happens.
    pub(crate) fn pass(&mut self, until: f64) {
        let hours = until - self.now;
        let level = self.level();
        self.tally.hours_at_level[level] += hours;
        let degraded = self.fleet.groups() as f64 - f64::from(self.at_level[0]);
        self.tally.group_hours_degraded += degraded * hours;
        self.now = until;
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

    fn group_of(&self, piece: u32) -> usize {
        (piece / self.fleet.plan.code.pieces()) as usize
    }

    fn is_end(&self, piece: u32, at: f64) -> bool {
        self.ends[piece as usize].to_bits() == at.to_bits()
    }

    fn push(&mut self, at: f64, due: Due) {
        self.number += 1;
        self.due.push(Event { at, number: self.number, due });
    }

    fn take_due(&mut self, unreadable: Unreadable) {
        let Some(event) = self.due.pop() else { return };
        match event.due {
            Due::PieceEnd { piece } if self.is_end(piece, event.at) => self.return_piece(piece, unreadable),
            Due::PieceEnd { .. } => {}
            Due::Contagion { drive, age } => {
                if self.drives[drive as usize].age_number == age && self.drives[drive as usize].missing == 0 {
                    self.tally.contagions += 1;
                    self.fail(drive, Cause::Contagion);
                }
            }
            Due::Retirement { drive, age } => {
                if self.drives[drive as usize].age_number == age && self.drives[drive as usize].missing == 0 {
                    self.tally.retirements += 1;
                    self.install(drive);
                }
            }
        }
    }

    /// Takes what the stream of chance brings; failures of the drives in `except` are counted by whoever drives the machine.
    fn take_candidate(&mut self, except: &[u32]) {
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
                for &drive in fleet.domain(burst.scope, domain) {
                    if self.rng.unit() < burst.probability && self.drives[drive as usize].missing == 0 {
                        self.tally.bursts[burst.scope as usize] += 1;
                        self.fail(drive, Cause::Burst(burst.scope as u8));
                    }
                }
                return;
            }
            place -= rate;
        }
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
        self.fail(drive, if is_die { Cause::Die } else { Cause::Age(step as u8) });
    }

    fn fail(&mut self, drive: u32, cause: Cause) {
        let fleet = self.fleet;
        let repair_of_die = if cause == Cause::Die { fleet.plan.die_repair } else { None };
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
                self.losses.push(Loss { at: self.now, group: group as u32, cause });
            }
        }
        if let Some(hours) = repair_of_die {
            let hours = self.lasting(hours);
            self.drives[drive as usize].stays = !pieces.is_empty();
            for &piece in pieces {
                self.set_end(piece, self.now + hours);
            }
            return;
        }
        if pieces.is_empty() {
            self.install(drive);
        } else {
            self.begin_repairs(drive);
        }
        self.spread(drive);
    }

    /// Failures of neighbours that this one brings.
    fn spread(&mut self, drive: u32) {
        let fleet = self.fleet;
        for one in &fleet.plan.contagion {
            if self.rng.unit() < one.probability {
                let neighbours = fleet.neighbours(drive, one.scope);
                let other = neighbours[self.rng.below(neighbours.len() as u64) as usize];
                let at = self.now + self.rng.unit() * one.window;
                if other != drive {
                    self.push(
                        at,
                        Due::Contagion { drive: other, age: self.drives[other as usize].age_number },
                    );
                }
            }
        }
    }

    fn lasting(&mut self, mean: f64) -> f64 {
        match self.fleet.plan.repair.distribution {
            Distribution::Exponential if mean > 0.0 => self.wait(1.0 / mean),
            _ => mean,
        }
    }

    fn set_end(&mut self, piece: u32, at: f64) {
        self.ends[piece as usize] = at;
        self.push(at, Due::PieceEnd { piece });
    }

    /// Plans when the pieces of a drive that has just failed are back.
    fn begin_repairs(&mut self, drive: u32) {
        let (fleet, repair) = (self.fleet, self.fleet.plan.repair);
        let mut order: Vec<u32> = fleet.pieces_of(drive).to_vec();
        if repair.threshold > 1 {
            // Lazily: groups that miss too little wait, and one that has come to miss enough is repaired with all that it misses.
            let misses = |piece: &u32| self.missing[self.group_of(*piece)].count_ones();
            order.retain(|piece| misses(piece) >= repair.threshold);
            let width = fleet.plan.code.pieces();
            for piece in order.clone() {
                let first = piece / width * width;
                let waiting = (first..first + width).filter(|&other| {
                    other != piece
                        && self.missing[self.group_of(other)] >> (other - first) & 1 == 1
                        && self.ends[other as usize].is_infinite()
                });
                order.extend(waiting.collect::<Vec<u32>>());
            }
        }
        if order.is_empty() {
            return;
        }
        if repair.order != Order::Together {
            self.shuffle(&mut order);
        }
        if repair.order == Order::Exposure {
            order.sort_by_key(|&piece| std::cmp::Reverse(self.missing[self.group_of(piece)].count_ones()));
        }
        let (start, whole) = self.book(order[0]);
        let count = fleet.pieces_of(drive).len().max(order.len()) as f64;
        for (index, &piece) in order.iter().enumerate() {
            let share = self.share_of(piece, index as f64 + 1.0, count);
            self.set_end(piece, start + whole * share);
            if repair.order == Order::Exposure {
                self.hurry(piece, whole / count.max(f64::from(repair.pieces_of_drive)), index);
            }
        }
    }

    /// Part of the rebuild of a drive after which its `place`-th piece is back, of `count`.
    fn share_of(&mut self, piece: u32, place: f64, count: f64) -> f64 {
        let repair = &self.fleet.plan.repair;
        if repair.order == Order::Together {
            return 1.0;
        }
        let all = f64::from(repair.pieces_of_drive);
        if all <= count {
            return place / count;
        }
        // This group is one of many on the drive. By exposure, only those come before it that miss as much: they share as many drives.
        let level = self.missing[self.group_of(piece)].count_ones();
        let rivals = match self.fleet.plan.repair.order {
            Order::Exposure => (all * self.fleet.plan.repair.shared.powi(level as i32 - 1)).ceil().max(1.0),
            _ => all,
        };
        (1.0 + self.rng.below(rivals as u64) as f64) / all
    }

    /// Moves the other missing pieces of a group that now misses more to the front of their drives.
    fn hurry(&mut self, piece: u32, each: f64, index: usize) {
        let width = self.fleet.plan.code.pieces();
        let (group, first) = (self.group_of(piece), piece / width * width);
        if self.missing[group].count_ones() < 2 {
            return;
        }
        // Noticed with this failure at the latest, since the others came before it.
        let delay = match self.fleet.plan.repair.distribution {
            Distribution::Exponential => 0.0,
            Distribution::Fixed => self.fleet.plan.repair.detection,
        };
        let soon = self.now + delay + each * (index as f64 + 1.0);
        for other in (first..first + width).filter(|&other| other != piece) {
            let end = self.ends[other as usize];
            if self.missing[group] >> (other - first) & 1 == 1 && end.is_finite() && end > soon {
                self.set_end(other, soon);
            }
        }
    }

    /// When the rebuild that `piece` belongs to starts, and how long it takes.
    fn book(&mut self, piece: u32) -> (f64, f64) {
        let repair = self.fleet.plan.repair;
        let (delay, whole) = match repair.distribution {
            Distribution::Exponential => (0.0, self.lasting(repair.detection + repair.rebuild)),
            Distribution::Fixed => (repair.detection, repair.rebuild),
        };
        let mut start = self.now + delay;
        if !repair.parallel {
            let crew = if self.fleet.is_disjoint { self.group_of(piece) } else { 0 };
            start = start.max(self.crews[crew]);
            self.crews[crew] = start + whole;
        }
        (start, whole)
    }

    fn shuffle(&mut self, order: &mut [u32]) {
        for i in (1..order.len()).rev() {
            order.swap(i, self.rng.below(i as u64 + 1) as usize);
        }
    }

    fn return_piece(&mut self, piece: u32, unreadable: Unreadable) {
        let plan = &self.fleet.plan;
        let (group, place) = (self.group_of(piece), piece % plan.code.pieces());
        let before = self.missing[group];
        self.ends[piece as usize] = f64::INFINITY;
        if unreadable == Unreadable::Drawn
            && plan.read_failure > 0.0
            && !self.gone[group]
            && plan.code.is_critical(before)
            && self.rng.unit() < plan.read_failure
        {
            self.losses.push(Loss { at: self.now, group: group as u32, cause: Cause::Unreadable });
        }
        self.missing[group] = before & !(1 << place);
        self.at_level[before.count_ones() as usize] -= 1;
        self.at_level[before.count_ones() as usize - 1] += 1;
        self.gone[group] &= self.missing[group] != 0;
        self.tally.pieces_rebuilt += 1;
        let drive = plan.groups[piece as usize];
        self.drives[drive as usize].missing -= 1;
        if self.drives[drive as usize].missing == 0 && !std::mem::take(&mut self.drives[drive as usize].stays)
        {
            self.install(drive);
        }
    }

    /// A new drive in the place of an old one.
    fn install(&mut self, drive: u32) {
        let state = &mut self.drives[drive as usize];
        state.installed_at = self.now;
        state.age_number += 1;
        self.plan_retirement(drive);
    }

    fn plan_retirement(&mut self, drive: u32) {
        if let Some(age) = self.fleet.plan.retire_at {
            let state = &self.drives[drive as usize];
            let at = (state.installed_at + age).max(self.now);
            let due = Due::Retirement { drive, age: state.age_number };
            self.push(at, due);
        }
    }

    /// Nodes, racks or sites are numbered by this.
    pub const fn scope_name(scope: u8) -> &'static str {
        match scope {
            s if s == Scope::Node as u8 => "node",
            s if s == Scope::Rack as u8 => "rack",
            _ => "site",
        }
    }
}
