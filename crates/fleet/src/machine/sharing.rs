//! Rebuilds at one time, which share the bandwidths of drives, nodes and racks, or wait for one crew.
//!
//! A rebuild takes as long as alone, times the highest of its slowdowns: by each resource, the share of it that the rebuild takes alone, times
//! one and what other rebuilds take of the same. When one begins or ends, what is left of the others is stretched or shortened.
//!
//! Where the fleet is one group of many, rebuilds of other drives are played with it, from its first failure until it is whole again: those
//! that were going on at that moment by playing the time before it.

use super::FleetMachine;
use crate::event::FleetChange;
use crate::plan::RepairTimes;

/// Drive of a rebuild that is in another group.
const ELSEWHERE: u32 = u32::MAX;
/// A node or rack in which the group has no piece.
const UNKNOWN: u32 = u32::MAX;
/// Times of a rebuild alone, after which what was at the start is forgotten; more of them the busier the fleet is.
const WARM_UP: f64 = 10.0;
/// Load from which on no longer time before is looked at.
const BUSIEST: f64 = 0.9;

/// A rebuild that has been planned.
#[derive(Clone, Debug)]
pub(super) struct ActiveRebuild {
    number: u32,
    drive: u32,
    /// Node and rack.
    place: [u32; 2],
    pieces: Vec<u32>,
    /// Pieces that are not back yet.
    left: u32,
    /// End of one elsewhere; the pieces of others have theirs.
    ends: f64,
    slowdown: f64,
    /// False until its failure has been noticed.
    runs: bool,
}

impl FleetMachine<'_> {
    /// Notes the rebuild of pieces that was planned as if it were alone, from `start` on.
    pub(super) fn begin_rebuild(&mut self, drive: u32, pieces: Vec<u32>, start: f64) {
        if self.fleet.plan.repair.sharing.is_none() {
            return;
        }
        self.rebuild_number += 1;
        let number = self.rebuild_number;
        if self.owner.is_empty() {
            self.owner = vec![0; self.ends.len()];
        }
        for &piece in &pieces {
            self.owner[piece as usize] = number;
        }
        let left = pieces.len() as u32;
        let place = self.fleet.place_of(drive);
        let rebuild = ActiveRebuild {
            number,
            drive,
            place,
            pieces,
            left,
            ends: f64::INFINITY,
            slowdown: 1.0,
            runs: false,
        };
        self.rebuilds.push(rebuild);
        if start <= self.now {
            self.run_rebuild(number);
        } else {
            self.push(start, FleetChange::RebuildBegin { number });
        }
    }

    /// A rebuild begins to move data.
    pub(super) fn run_rebuild(&mut self, number: u32) {
        if let Some(rebuild) = self.rebuilds.iter_mut().find(|rebuild| rebuild.number == number) {
            rebuild.runs = true;
            self.settle();
        }
    }

    /// A piece is back: the rebuild that it belongs to may be over.
    pub(super) fn note_return(&mut self, piece: u32) {
        if let Some(&number) = self.owner.get(piece as usize)
            && let Some(index) = self.rebuilds.iter().position(|rebuild| rebuild.number == number)
        {
            self.rebuilds[index].left -= 1;
            if self.rebuilds[index].left == 0 {
                self.rebuilds.remove(index);
                self.settle();
            }
        }
    }

    /// A rebuild elsewhere is over, if its end is this one.
    pub(super) fn end_elsewhere(&mut self, number: u32, at: f64) {
        let is_it =
            |rebuild: &ActiveRebuild| rebuild.number == number && rebuild.ends.to_bits() == at.to_bits();
        if let Some(index) = self.rebuilds.iter().position(is_it) {
            self.rebuilds.remove(index);
            self.settle();
        }
    }

    /// How much longer than alone the rebuild of a drive takes at this moment.
    pub(super) fn slowdown_of(&self, drive: u32) -> f64 {
        self.rebuilds.iter().find(|rebuild| rebuild.drive == drive).map_or(1.0, |rebuild| rebuild.slowdown)
    }

    /// Stretches what is left of each rebuild to the speed that it has now.
    fn settle(&mut self) {
        for index in 0..self.rebuilds.len() {
            if !self.rebuilds[index].runs {
                continue;
            }
            let slowdown = self.slowdown_beside(index);
            let ratio = slowdown / self.rebuilds[index].slowdown;
            if ratio.to_bits() == 1f64.to_bits() {
                continue;
            }
            self.rebuilds[index].slowdown = slowdown;
            let (now, number) = (self.now, self.rebuilds[index].number);
            if self.rebuilds[index].drive == ELSEWHERE {
                let ends = now + (self.rebuilds[index].ends - now) * ratio;
                self.rebuilds[index].ends = ends;
                self.note_end_elsewhere(number, ends);
                continue;
            }
            let pieces = std::mem::take(&mut self.rebuilds[index].pieces);
            for &piece in &pieces {
                let end = self.ends[piece as usize];
                if self.owner[piece as usize] == number && end.is_finite() {
                    self.set_end(piece, now + (end - now) * ratio);
                }
            }
            self.rebuilds[index].pieces = pieces;
        }
    }

    fn slowdown_beside(&self, index: usize) -> f64 {
        let Some(sharing) = self.fleet.plan.repair.sharing else { return 1.0 };
        let own = &self.rebuilds[index];
        let mut taken = [1.0; 3];
        for other in self.rebuilds.iter().filter(|other| other.runs && other.number != own.number) {
            let shares = self.shares_of(own, other);
            taken.iter_mut().zip(shares).for_each(|(sum, share)| *sum += share);
        }
        sharing.parts.iter().zip(taken).map(|(part, taken)| part * taken).fold(1.0, f64::max)
    }

    /// Share that one rebuild takes of the drives, node and rack of another, relative to what that takes.
    fn shares_of(&self, own: &ActiveRebuild, other: &ActiveRebuild) -> [f64; 3] {
        match &self.fleet.overlap {
            Some(overlap) if self.fleet.share_group(own.drive, other.drive) => overlap.own,
            Some(overlap) => overlap.other,
            None => {
                let is_same = |of: usize| own.place[of] == other.place[of] && own.place[of] != UNKNOWN;
                [0.0, f64::from(u8::from(is_same(0))), f64::from(u8::from(is_same(1)))]
            }
        }
    }

    /// Begins to play rebuilds elsewhere, unless it does already.
    pub(super) fn meet_elsewhere(&mut self) {
        if self.fleet.plan.elsewhere.is_none() || self.is_met {
            return;
        }
        self.is_met = true;
        let (end, rate) = (self.now, self.rate_elsewhere());
        let alone = self.alone_hours();
        let of_one = self.fleet.plan.elsewhere.as_ref().map_or(0.0, |elsewhere| elsewhere.load);
        let load = (rate * alone * of_one).min(BUSIEST);
        self.now = (end - WARM_UP * alone / (1.0 - load).powi(2)).max(0.0);
        self.is_warming = true;
        loop {
            let next = self.now + self.wait(rate);
            while let Some((number, ends)) = self.first_end_elsewhere()
                && ends <= next.min(end)
            {
                self.now = ends;
                self.end_elsewhere(number, ends);
            }
            self.now = next.min(end);
            if next >= end {
                break;
            }
            self.join_elsewhere();
        }
        self.is_warming = false;
        for (number, ends) in self.rebuilds.iter().map(|one| (one.number, one.ends)).collect::<Vec<_>>() {
            self.note_end_elsewhere(number, ends);
        }
        self.plan_elsewhere();
    }

    /// Forgets them: nothing is missing, and when something is, others are going on.
    pub(super) fn leave_elsewhere(&mut self) {
        if std::mem::take(&mut self.is_met) {
            self.rebuilds.retain(|rebuild| rebuild.drive != ELSEWHERE);
            self.crews.fill(0.0);
            self.meeting += 1;
        }
    }

    /// A drive elsewhere fails, if the meeting in which that was planned still lasts.
    pub(super) fn fail_elsewhere(&mut self, meeting: u32) {
        if self.is_met && meeting == self.meeting {
            self.join_elsewhere();
            self.plan_elsewhere();
        }
    }

    /// One more rebuild elsewhere.
    fn join_elsewhere(&mut self) {
        let repair = self.fleet.plan.repair;
        let mean = self.alone_hours();
        let whole = self.lasting(mean);
        if !repair.parallel {
            self.crews[0] = self.crews[0].max(self.now) + whole;
            return;
        }
        self.rebuild_number += 1;
        let (number, ends) = (self.rebuild_number, self.now + whole);
        let places = self.fleet.plan.elsewhere.as_ref().map_or(&[][..], |elsewhere| &elsewhere.places);
        let place = match places.len() {
            0 => [UNKNOWN; 2],
            count => places[self.rng.below(count as u64) as usize],
        };
        self.rebuilds.push(ActiveRebuild {
            number,
            drive: ELSEWHERE,
            place,
            pieces: Vec::new(),
            left: 1,
            ends,
            slowdown: 1.0,
            runs: true,
        });
        self.note_end_elsewhere(number, ends);
        self.settle();
    }

    fn plan_elsewhere(&mut self) {
        let at = self.now + self.wait(self.rate_elsewhere());
        if at.is_finite() {
            self.push(at, FleetChange::ElsewhereFailure { meeting: self.meeting });
        }
    }

    fn note_end_elsewhere(&mut self, number: u32, ends: f64) {
        if !self.is_warming {
            self.push(ends, FleetChange::ElsewhereEnd { number });
        }
    }

    fn first_end_elsewhere(&self) -> Option<(u32, f64)> {
        let ends = self.rebuilds.iter().filter(|rebuild| rebuild.drive == ELSEWHERE);
        ends.map(|rebuild| (rebuild.number, rebuild.ends)).min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Mean hours of a rebuild by itself.
    fn alone_hours(&self) -> f64 {
        let repair = &self.fleet.plan.repair;
        match repair.distribution {
            RepairTimes::Exponential => repair.detection + repair.rebuild,
            RepairTimes::Fixed => repair.rebuild,
        }
    }

    /// Rebuilds that begin elsewhere in an hour, at the age that drives have if none has been replaced.
    fn rate_elsewhere(&self) -> f64 {
        let plan = &self.fleet.plan;
        plan.elsewhere.as_ref().map_or(0.0, |elsewhere| {
            elsewhere.rate + elsewhere.drives * plan.hazard.at(elsewhere.age + self.now)
        })
    }
}
