//! The generator of a zoned workload: it knows its zones as a host does, by what it has sent.

use crate::{RequestSource, WorkloadError, WorkloadRequest};
use outlast_device::{Command, Op, RandomWriteAreas, ZoneAction, ZoneId, ZoneLayout};
use outlast_units::rng::SplitMix;
use outlast_units::{Lba, Nanos, SECTOR_BYTES};
use std::collections::VecDeque;

/// A checked zoned workload.
#[derive(Clone, Debug)]
pub(super) struct ZonedPlan {
    pub(super) layout: ZoneLayout,
    /// Zones used, the first ones, and how many are written side by side.
    pub(super) zones: u32,
    pub(super) side_by_side: u32,
    pub(super) append: bool,
    /// Sectors of a request.
    pub(super) sectors: u32,
    /// Sectors of a zone that are written; below its capacity it is finished then.
    pub(super) until: u64,
    pub(super) random_reset: bool,
    /// Share of reads.
    pub(super) read: f64,
    /// Share of writes that write again what lies in the random write area of their zone, and the areas; absent where zones are opened without one.
    pub(super) rewrite: Option<(f64, RandomWriteAreas)>,
    /// Zones that are full at the beginning, the first ones.
    pub(super) filled: u32,
    pub(super) requests: u64,
    pub(super) bytes: u64,
    pub(super) seed: u64,
}

/// Requests of a [`ZonedPlan`].
#[derive(Clone, Debug)]
pub(super) struct ZonedSource {
    plan: ZonedPlan,
    rng: SplitMix,
    /// Sectors of each zone that the host has written.
    written: Vec<u64>,
    empty: VecDeque<ZoneId>,
    /// In the order in which they became full.
    full: VecDeque<ZoneId>,
    /// Zones that are written side by side, and whose turn it is.
    open: Vec<Option<ZoneId>>,
    turn: usize,
    /// Reads and writes given, and their bytes.
    given: u64,
    bytes: u64,
}

impl ZonedSource {
    pub(super) fn new(plan: ZonedPlan) -> Self {
        let capacity = plan.layout.capacity;
        let written = (0..plan.zones).map(|zone| if zone < plan.filled { capacity } else { 0 }).collect();
        Self {
            rng: SplitMix::new(plan.seed, "zones"),
            written,
            empty: (plan.filled..plan.zones).map(ZoneId).collect(),
            full: (0..plan.filled).map(ZoneId).collect(),
            open: vec![None; plan.side_by_side as usize],
            turn: 0,
            given: 0,
            bytes: 0,
            plan,
        }
    }

    fn is_at_end(&self) -> bool {
        self.given >= self.plan.requests || self.bytes >= self.plan.bytes
    }

    /// A number below `below`.
    fn draw(&mut self, below: u64) -> u64 {
        self.rng.below(below)
    }

    /// A read of something that was written; `None` if nothing is.
    fn read(&mut self) -> Option<Command> {
        let unit = u64::from(self.plan.sectors);
        // A zone that holds enough is found by a few draws, or by a search from the last on.
        let zones = u64::from(self.plan.zones);
        let first = self.draw(zones);
        let at = (0..zones)
            .map(|step| (first + step) % zones)
            .find(|&zone| self.written[zone as usize] >= unit)?;
        let place = self.draw(self.written[at as usize] / unit) * unit;
        let start = self.plan.layout.start(ZoneId(at as u32));
        Some(Command::new(Op::Read, Lba(start.0 + place), self.plan.sectors))
    }

    /// The next write, with the reset and the finish that it needs, into `out`.
    fn write(&mut self, out: &mut Vec<WorkloadRequest>) -> u32 {
        let turn = self.turn;
        self.turn = (turn + 1) % self.open.len();
        let zone = match self.open[turn] {
            Some(zone) => zone,
            None => self.take_zone(out),
        };
        let (start, at) = (self.plan.layout.start(zone), self.written[zone.index()]);
        if let Some(again) = self.again(at) {
            self.open[turn] = Some(zone);
            push(out, Command::new(Op::Write, Lba(start.0 + again), self.plan.sectors));
            return self.plan.sectors;
        }
        let sectors = u64::from(self.plan.sectors).min(self.plan.until - at) as u32;
        let (op, lba) = if self.plan.append { (Op::Append, start) } else { (Op::Write, Lba(start.0 + at)) };
        push(out, Command::new(op, lba, sectors));
        self.written[zone.index()] = at + u64::from(sectors);
        let is_last = self.written[zone.index()] == self.plan.until;
        if is_last && self.plan.until < self.plan.layout.capacity {
            push(out, Command::manage_zone(ZoneAction::Finish, start));
        } else if is_last && self.plan.rewrite.is_some() {
            let last = Lba(start.0 + self.plan.until - u64::from(self.plan.layout.block));
            push(out, Command::manage_zone(ZoneAction::Commit, last));
        }
        if is_last {
            self.full.push_back(zone);
        }
        self.open[turn] = (!is_last).then_some(zone);
        sectors
    }

    /// The place of a write of a full request that writes again what lies in the area of a zone that is written up to `at`; `None` where the next write goes on.
    fn again(&mut self, at: u64) -> Option<u64> {
        let (share, areas) = self.plan.rewrite?;
        // The write pointer stands where the write that ended at `at` left it.
        let pointer = at.saturating_sub(areas.size).next_multiple_of(areas.granularity);
        let places = (at.checked_sub(pointer + u64::from(self.plan.sectors))? + 1)
            .div_ceil(u64::from(self.plan.layout.block));
        (self.rng.unit() < share).then(|| pointer + self.draw(places) * u64::from(self.plan.layout.block))
    }

    /// An empty zone; one that is full is reset where there is none. It is opened with a random write area if writes write again.
    fn take_zone(&mut self, out: &mut Vec<WorkloadRequest>) -> ZoneId {
        let zone = self.take_empty(out);
        if self.plan.rewrite.is_some() {
            push(out, Command::manage_zone(ZoneAction::OpenRandom, self.plan.layout.start(zone)));
        }
        zone
    }

    fn take_empty(&mut self, out: &mut Vec<WorkloadRequest>) -> ZoneId {
        if let Some(zone) = self.empty.pop_front() {
            return zone;
        }
        let at = if self.plan.random_reset { self.draw(self.full.len() as u64) as usize } else { 0 };
        let zone = self.full.remove(at).expect("there are more zones than are written side by side");
        push(out, Command::manage_zone(ZoneAction::Reset, self.plan.layout.start(zone)));
        self.written[zone.index()] = 0;
        zone
    }
}

fn push(out: &mut Vec<WorkloadRequest>, command: Command) {
    out.push(WorkloadRequest { at: Nanos::ZERO, command });
}

impl RequestSource for ZonedSource {
    fn fill(&mut self, out: &mut Vec<WorkloadRequest>, max: usize) -> Result<usize, WorkloadError> {
        let before = out.len();
        // A write may come with a reset before it and a finish behind it.
        while out.len() - before < max && !self.is_at_end() {
            let is_read = self.plan.read > 0.0 && self.rng.unit() < self.plan.read;
            let read = if is_read { self.read() } else { None };
            let sectors = match read {
                Some(read) => {
                    push(out, read);
                    read.sectors
                }
                None => self.write(out),
            };
            self.given += 1;
            self.bytes += u64::from(sectors) * SECTOR_BYTES;
        }
        Ok(out.len() - before)
    }

    fn rewind(&mut self) -> Result<(), WorkloadError> {
        *self = Self::new(self.plan.clone());
        Ok(())
    }

    fn progress(&self) -> Option<f64> {
        let of = |done: u64, all: u64| (all != u64::MAX).then(|| (done as f64 / all.max(1) as f64).min(1.0));
        of(self.given, self.plan.requests).or(of(self.bytes, self.plan.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(append: bool, until: u64) -> ZonedPlan {
        let layout = ZoneLayout { zones: 6, size: 64, capacity: 48, block: 8 };
        ZonedPlan {
            layout,
            zones: 6,
            side_by_side: 2,
            append,
            sectors: 16,
            until,
            random_reset: true,
            read: 0.2,
            rewrite: None,
            filled: 1,
            requests: 400,
            bytes: u64::MAX,
            seed: 5,
        }
    }

    /// What the generator sends is right by the machine of zone states, in the order in which it is sent.
    #[test]
    fn every_command_is_allowed() {
        use outlast_device::{ZoneLimits, ZoneState, ZoneTable};
        for (append, until) in [(false, 48), (true, 48), (false, 40), (true, 8)] {
            let plan = plan(append, until);
            let mut table = ZoneTable::new(plan.layout, ZoneLimits { open: 2, active: 2 });
            table.write(Op::Write, Lba(0), 48).expect("the first zone is filled");
            let mut source = ZonedSource::new(plan);
            let (mut out, mut resets, mut finishes, mut reads) = (Vec::new(), 0, 0, 0);
            while source.fill(&mut out, 7).expect("it never fails") != 0 {}
            for WorkloadRequest { command, .. } in out {
                match command.op {
                    Op::Read => {
                        let (zone, within) =
                            table.check_read(command.lba, command.sectors).expect("within a zone");
                        assert!(
                            within + u64::from(command.sectors) <= table.written(zone),
                            "of what was written"
                        );
                        reads += 1;
                    }
                    Op::ManageZone => {
                        let zone =
                            table.manage(command.zone_action, command.lba).expect("the state allows it");
                        resets += u32::from(command.zone_action == ZoneAction::Reset);
                        finishes += u32::from(table.state(zone) == ZoneState::Full);
                    }
                    op => {
                        table.write(op, command.lba, command.sectors).expect("at the write pointer");
                    }
                }
            }
            assert!(resets > 20, "{resets} resets");
            // A zone that holds less than a request is not read.
            assert!(reads > 40 || until < 16, "{reads} reads");
            assert_eq!(finishes > 0, until < 48);
        }
    }

    /// The same of writes that write again: they stay within the area, and their share is the one asked for.
    #[test]
    fn writes_again_stay_within_the_area() {
        use outlast_device::{ZoneLimits, ZoneTable};
        let areas = RandomWriteAreas { size: 24, granularity: 8, zones: 2 };
        for until in [48, 40] {
            let plan = ZonedPlan {
                sectors: 8,
                requests: 4000,
                read: 0.0,
                rewrite: Some((0.75, areas)),
                ..plan(false, until)
            };
            let limits = ZoneLimits { open: 2, active: 2 };
            let mut table = ZoneTable::new(plan.layout, limits).with_random_write(areas);
            table.write(Op::Write, Lba(0), 48).expect("the first zone is filled");
            let mut source = ZonedSource::new(plan);
            let (mut out, mut again, mut writes) = (Vec::new(), 0, 0);
            while source.fill(&mut out, 7).expect("it never fails") != 0 {}
            for WorkloadRequest { command, .. } in out {
                if command.op == Op::ManageZone {
                    table.manage(command.zone_action, command.lba).expect("the state allows it");
                    continue;
                }
                let zone = table.layout().place(command.lba).0;
                let reached = table.reached(zone);
                let (_, first) =
                    table.write(command.op, command.lba, command.sectors).expect("within the window");
                again += u32::from(first < reached);
                writes += 1;
            }
            // Three on average before each write of a new unit but the first of a zone, which finds nothing to write again.
            let units = (until / 8) as f64;
            let (share, expected) =
                (f64::from(again) / f64::from(writes), 3.0 * (units - 1.0) / (4.0 * units - 3.0));
            assert!((share - expected).abs() < 0.03, "{share} of the writes wrote again, not {expected}");
        }
    }
}
