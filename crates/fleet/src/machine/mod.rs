//! A fleet as a machine: it goes from one event to the next.
//!
//! Failures of drives come as one Poisson stream at the highest rate that any drive has; a candidate is taken with the share that its own
//! rate has of it (Lewis and Shedler, "Simulation of nonhomogeneous Poisson processes by thinning", 1979). So no drive has a failure
//! waiting, and a machine that is continued twice from one state has two futures.

mod failing;
mod repairing;
mod sharing;
mod tally;

use crate::event::{FleetChange, FleetEvent};
use crate::fleet::Fleet;
use crate::plan::FailureDomain;
use outlast_units::rng::SplitMix;
use std::collections::BinaryHeap;
pub use tally::{FleetTally, GroupLoss, LossCause};

#[derive(Clone, Debug)]
struct FleetDrive {
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
pub struct FleetMachine<'a> {
    fleet: &'a Fleet,
    now: f64,
    rng: SplitMix,
    due: BinaryHeap<FleetEvent>,
    number: u64,
    drives: Vec<FleetDrive>,
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
    /// Rebuilds that have been planned and are not over; none unless they share bandwidth.
    rebuilds: Vec<sharing::ActiveRebuild>,
    /// Number of the last rebuild, and that of each missing piece.
    rebuild_number: u32,
    owner: Vec<u32>,
    /// True while rebuilds of other groups are played with this one; the number of such a time; true before it.
    is_met: bool,
    meeting: u32,
    is_warming: bool,
    losses: Vec<GroupLoss>,
    /// Moment and drive of every failure, in order of time; dies that drives repair are none.
    failures: Vec<(f64, u32)>,
    tally: FleetTally,
}

/// Treatment of unreadable data by a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnreadableData {
    /// It draws whether there are some.
    Drawn,
    /// Whoever drives it weighs them.
    Weighed,
}

impl<'a> FleetMachine<'a> {
    /// A whole fleet at time 0, with the chance of `seed`.
    pub fn new(fleet: &'a Fleet, seed: u64) -> Self {
        let (plan, groups) = (&fleet.plan, fleet.groups());
        let age = |drive: usize| plan.age[drive.min(plan.age.len() - 1)];
        let drives = (0..fleet.drives())
            .map(|drive| FleetDrive { installed_at: -age(drive), age_number: 0, missing: 0, stays: false })
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
            tally: FleetTally {
                failures_by_age: vec![0; plan.hazard.from.len()],
                hours_at_level: vec![0.0; at_level.len()],
                ..FleetTally::default()
            },
            at_level,
            crews: vec![0.0; if fleet.is_disjoint { groups } else { 1 }],
            rebuilds: Vec::new(),
            rebuild_number: 0,
            owner: Vec::new(),
            is_met: false,
            meeting: 0,
            is_warming: false,
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
    pub fn losses(&self) -> &[GroupLoss] {
        &self.losses
    }

    /// Moment in hours and drive of every failure so far; dies that drives repaired by themselves are none.
    pub fn failures(&self) -> &[(f64, u32)] {
        &self.failures
    }

    /// Counts and times so far.
    pub fn tally(&self) -> &FleetTally {
        &self.tally
    }

    /// Most pieces that any group misses.
    pub fn level(&self) -> usize {
        self.at_level.iter().rposition(|&groups| groups > 0).unwrap_or(0)
    }

    /// Plays until `end` in hours.
    pub fn run(&mut self, end: f64) {
        while self.step(end, UnreadableData::Drawn) {}
    }

    /// Plays at most `most` events until `end` in hours; false if it has come to the end.
    pub(crate) fn run_events(&mut self, end: f64, most: u64) -> bool {
        (0..most).all(|_| self.step(end, UnreadableData::Drawn))
    }

    /// Losses since they were taken last. Failures are forgotten with them.
    pub(crate) fn take_losses(&mut self) -> Vec<GroupLoss> {
        self.failures.clear();
        std::mem::take(&mut self.losses)
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
    pub(crate) fn step(&mut self, end: f64, unreadable: UnreadableData) -> bool {
        let by_chance = self.now + self.wait(self.stream_rate());
        self.step_to(by_chance, end, unreadable, &[])
    }

    /// As [`FleetMachine::step`], with the moment of the next candidate of chance given, and drives that do not fail by their age.
    pub(crate) fn step_to(
        &mut self,
        by_chance: f64,
        end: f64,
        unreadable: UnreadableData,
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

    /// Lets time pass in which nothing happens.
    pub(crate) fn pass(&mut self, until: f64) {
        let hours = until - self.now;
        let level = self.level();
        self.tally.hours_at_level[level] += hours;
        let degraded = self.fleet.groups() as f64 - f64::from(self.at_level[0]);
        self.tally.group_hours_degraded += degraded * hours;
        self.now = until;
    }

    fn group_of(&self, piece: u32) -> usize {
        (piece / self.fleet.plan.code.pieces()) as usize
    }

    fn is_end(&self, piece: u32, at: f64) -> bool {
        self.ends[piece as usize].to_bits() == at.to_bits()
    }

    fn push(&mut self, at: f64, due: FleetChange) {
        self.number += 1;
        self.due.push(FleetEvent { at, number: self.number, due });
    }

    fn take_due(&mut self, unreadable: UnreadableData) {
        let Some(event) = self.due.pop() else { return };
        match event.due {
            FleetChange::PieceEnd { piece } if self.is_end(piece, event.at) => {
                self.return_piece(piece, unreadable);
            }
            FleetChange::PieceEnd { .. } => {}
            FleetChange::RebuildBegin { number } => self.run_rebuild(number),
            FleetChange::ElsewhereEnd { number } => self.end_elsewhere(number, event.at),
            FleetChange::ElsewhereFailure { meeting } => self.fail_elsewhere(meeting),
            FleetChange::Contagion { drive, age } => {
                if self.drives[drive as usize].age_number == age && self.drives[drive as usize].missing == 0 {
                    self.tally.contagions += 1;
                    self.fail(drive, LossCause::Contagion);
                }
            }
            FleetChange::Retirement { drive, age } => {
                if self.drives[drive as usize].age_number == age && self.drives[drive as usize].missing == 0 {
                    self.tally.retirements += 1;
                    self.install(drive);
                }
            }
        }
    }

    /// Nodes, racks or sites are numbered by this.
    pub const fn scope_name(scope: u8) -> &'static str {
        match scope {
            s if s == FailureDomain::Node as u8 => "node",
            s if s == FailureDomain::Rack as u8 => "rack",
            _ => "site",
        }
    }
}
