//! When missing pieces are back, and drives are new.

use super::{FleetMachine, GroupLoss, LossCause, UnreadableData};
use crate::event::{FleetChange, FleetEvent};
use crate::plan::{PieceOrder, RepairTimes};

impl FleetMachine<'_> {
    /// Plans when the pieces of a drive that has just failed are back; `by_drive` if it repairs a die by itself, within these hours.
    pub(super) fn begin_repairs(&mut self, drive: u32, by_drive: Option<f64>) {
        let (fleet, repair) = (self.fleet, self.fleet.plan.repair);
        let mut order: Vec<u32> = fleet.pieces_of(drive).to_vec();
        if repair.threshold > 1 && by_drive.is_none() {
            // Lazily: groups that miss too little wait, and one that has come to miss enough is repaired with all that it misses.
            let misses = |piece: &u32| self.missing[self.group_of(*piece)].count_ones();
            order.retain(|piece| misses(piece) >= repair.threshold);
            let (width, own) = (fleet.plan.code.pieces(), order.len());
            for piece in order.clone() {
                let first = piece / width * width;
                let waiting = (first..first + width).filter(|&other| {
                    other != piece
                        && self.missing[self.group_of(other)] >> (other - first) & 1 == 1
                        && self.ends[other as usize].is_infinite()
                });
                order.extend(waiting.collect::<Vec<u32>>());
            }
            self.tally.pieces_along += (order.len() - own) as u64;
        }
        if order.is_empty() {
            return;
        }
        if repair.order != PieceOrder::Together {
            self.shuffle(&mut order);
        }
        if repair.order == PieceOrder::Exposure {
            order.sort_by_key(|&piece| std::cmp::Reverse(self.missing[self.group_of(piece)].count_ones()));
        }
        let (start, whole) = if let Some(hours) = by_drive {
            (self.now, self.lasting(hours))
        } else {
            self.meet_elsewhere();
            self.book(order[0])
        };
        let count = fleet.pieces_of(drive).len().max(order.len()) as f64;
        for (index, &piece) in order.iter().enumerate() {
            let share = self.share_of(piece, index as f64 + 1.0, count);
            self.set_end(piece, start + whole * share);
            if repair.order == PieceOrder::Exposure {
                self.hurry(
                    piece,
                    start - self.now,
                    whole / count.max(f64::from(repair.pieces_of_drive)),
                    index,
                );
            }
        }
        if by_drive.is_none() {
            self.begin_rebuild(drive, order, start);
        }
    }

    /// Part of the rebuild of a drive after which its `place`-th piece is back, of `count`.
    pub(super) fn share_of(&mut self, piece: u32, place: f64, count: f64) -> f64 {
        let repair = &self.fleet.plan.repair;
        if repair.order == PieceOrder::Together {
            return 1.0;
        }
        let all = f64::from(repair.pieces_of_drive);
        if all <= count {
            return place / count;
        }
        // This group is one of many on the drive. By exposure, only those come before it that miss as much: they share as many drives.
        let level = self.missing[self.group_of(piece)].count_ones();
        let rivals = match self.fleet.plan.repair.order {
            PieceOrder::Exposure => {
                (all * self.fleet.plan.repair.shared.powf(f64::from(level) - 1.0)).ceil().max(1.0)
            }
            _ => all,
        };
        (1.0 + self.rng.below(rivals as u64) as f64) / all
    }

    /// Moves the other missing pieces of a group that now misses more to the front of their drives.
    pub(super) fn hurry(&mut self, piece: u32, begins: f64, each: f64, index: usize) {
        let width = self.fleet.plan.code.pieces();
        let (group, first) = (self.group_of(piece), piece / width * width);
        if self.missing[group].count_ones() < 2 {
            return;
        }
        // They have been noticed with this failure at the latest, since they came before it.
        let delay = begins.max(match self.fleet.plan.repair.distribution {
            RepairTimes::Exponential => 0.0,
            RepairTimes::Fixed => self.fleet.plan.repair.detection,
        });
        let soon = self.now + delay + each * (index as f64 + 1.0);
        for other in (first..first + width).filter(|&other| other != piece) {
            let end = self.ends[other as usize];
            let soon =
                self.now + (soon - self.now) * self.slowdown_of(self.fleet.plan.groups[other as usize]);
            if self.missing[group] >> (other - first) & 1 == 1 && end.is_finite() && end > soon {
                self.set_end(other, soon);
            }
        }
    }

    /// When the rebuild that `piece` belongs to starts, and how long it takes.
    pub(super) fn book(&mut self, piece: u32) -> (f64, f64) {
        let repair = self.fleet.plan.repair;
        let (delay, whole) = match repair.distribution {
            RepairTimes::Exponential => (0.0, self.lasting(repair.detection + repair.rebuild)),
            RepairTimes::Fixed => (repair.detection, repair.rebuild),
        };
        let mut start = self.now + delay;
        if !repair.parallel {
            let crew = if self.fleet.is_disjoint { self.group_of(piece) } else { 0 };
            start = start.max(self.crews[crew]);
            self.crews[crew] = start + whole;
        }
        (start, whole)
    }

    pub(super) fn shuffle(&mut self, order: &mut [u32]) {
        for i in (1..order.len()).rev() {
            order.swap(i, self.rng.below(i as u64 + 1) as usize);
        }
    }

    pub(super) fn return_piece(&mut self, piece: u32, unreadable: UnreadableData) {
        let plan = &self.fleet.plan;
        let (group, place) = (self.group_of(piece), piece % plan.code.pieces());
        let before = self.missing[group];
        self.ends[piece as usize] = f64::INFINITY;
        if unreadable == UnreadableData::Drawn
            && plan.read_failure > 0.0
            && !self.gone[group]
            && plan.code.is_critical(before)
            && self.rng.unit() < plan.read_failure
        {
            self.losses.push(GroupLoss { at: self.now, group: group as u32, cause: LossCause::Unreadable });
        }
        self.missing[group] = before & !(1 << place);
        self.at_level[before.count_ones() as usize] -= 1;
        self.at_level[before.count_ones() as usize - 1] += 1;
        self.gone[group] &= self.missing[group] != 0;
        let drive = plan.groups[piece as usize];
        self.note_return(piece);
        if self.at_level[0] as usize == self.fleet.groups() {
            self.leave_elsewhere();
        }
        self.tally.pieces_rebuilt += u64::from(!self.drives[drive as usize].stays);
        self.drives[drive as usize].missing -= 1;
        if self.drives[drive as usize].missing == 0 {
            let stays = std::mem::take(&mut self.drives[drive as usize].stays);
            let age = self.now - self.drives[drive as usize].installed_at;
            // One that was repairing a die when it came of age is replaced now.
            let retires = plan.retire_at.is_some_and(|most| age >= most);
            self.tally.retirements += u64::from(stays && retires);
            if !stays || retires {
                self.install(drive);
            }
        }
    }

    /// A new drive in the place of an old one.
    pub(super) fn install(&mut self, drive: u32) {
        let state = &mut self.drives[drive as usize];
        state.installed_at = self.now;
        state.age_number += 1;
        self.plan_retirement(drive);
    }

    pub(super) fn plan_retirement(&mut self, drive: u32) {
        if let Some(age) = self.fleet.plan.retire_at {
            let state = &self.drives[drive as usize];
            let at = (state.installed_at + age).max(self.now);
            let due = FleetChange::Retirement { drive, age: state.age_number };
            self.push(at, due);
        }
    }

    pub(super) fn lasting(&mut self, mean: f64) -> f64 {
        match self.fleet.plan.repair.distribution {
            RepairTimes::Exponential if mean > 0.0 => self.wait(1.0 / mean),
            _ => mean,
        }
    }

    pub(super) fn set_end(&mut self, piece: u32, at: f64) {
        self.ends[piece as usize] = at;
        self.push(at, FleetChange::PieceEnd { piece });
    }

    /// True if the next known event is the end of a repair on which all data of its group depend.
    pub(crate) fn next_is_critical(&self) -> bool {
        match self.due.peek() {
            Some(&FleetEvent { at, due: FleetChange::PieceEnd { piece }, .. }) if self.is_end(piece, at) => {
                let group = self.group_of(piece);
                !self.gone[group] && self.fleet.plan.code.is_critical(self.missing[group])
            }
            _ => false,
        }
    }
}
