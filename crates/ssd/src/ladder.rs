//! The ladder for what a sensing did not give: re-reads, the stripe, the last re-reads, a medium error.

use crate::op::{Op, OpKind, Rung, UnitWork};
use crate::read::{broken_units, units};
use crate::ssd::Ssd;
use outlast_device::Outcome;
use outlast_ftl::{Axis, Member};
use outlast_units::slab::{NIL, Slab};
use outlast_units::{Lpn, Nanos, Ppn};

/// How deep recoveries of members for the recovery of another may nest, where data has parity along two axes.
const MOST_NESTED: u8 = 3;

/// Units of one read that are being rebuilt from the other members of their line.
#[derive(Clone, Debug)]
pub(crate) struct Recovery {
    op: Op,
    axis: Axis,
    /// Axes that have been asked, one bit each.
    asked: u8,
    /// Recoveries above this one, for whose sake it is made.
    depth: u8,
    /// Members that it takes, and how many are known to be empty.
    needed: u32,
    known: u32,
    /// Reads under way.
    left: u32,
    /// Program units of members that have not been read yet.
    later: Vec<u32>,
    /// Those that have been read, or were in the controller's memory, with the units that they did not give.
    read: Vec<(u32, u64)>,
    /// Logical page of each unit of `op.failing`, in order; of a member of another's line, none.
    owners: Vec<Lpn>,
}

impl Recovery {
    /// How many more members it takes to rebuild `unit`.
    fn lacking(&self, unit: u32) -> u32 {
        let had = self.read.iter().filter(|(_, bad)| bad >> unit & 1 == 0).count() as u32;
        self.needed.saturating_sub(self.known + had)
    }

    /// What it costs to begin with: the reads that one die has to make, one after the other; then all reads.
    fn cost(&self) -> (usize, usize) {
        let reads = (self.needed as usize).saturating_sub(self.known as usize + self.read.len());
        (if self.axis == Axis::Block { reads } else { reads.min(1) }, reads)
    }

    /// The host command for whose sake it is made.
    fn top_request(&self, recoveries: &Slab<Option<Self>>) -> Option<u32> {
        let mut op = self.op;
        while op.kind == OpKind::StripeRead {
            op = recoveries[op.recovery].as_ref()?.op;
        }
        (op.kind == OpKind::HostRead).then_some(op.work.request)
    }

    fn suffices(&self) -> bool {
        self.known + (self.later.len() + self.read.len()) as u32 >= self.needed
    }
}

impl Ssd {
    /// The data of a sensing has arrived and some of it cannot be corrected. Whether the die is to sense it again; then that is counted.
    #[inline(never)]
    pub(crate) fn reread(&mut self, now: Nanos, read: u32) -> bool {
        let op = self.reads[read];
        let superblock = self.cores[usize::from(op.core)].ftl.layout().place(op.pu).superblock;
        let protected = self.cores[usize::from(op.core)].ftl.has_parity(superblock);
        let limit = match op.rung {
            Rung::Rereads => self.retries.first(protected),
            Rung::LastRereads => self.retries.all(),
        };
        if op.kind == OpKind::PatrolRead
            || limit.is_some_and(|limit| u32::from(op.step) >= limit)
            || op.failing & !self.beyond_hope(&op) == 0
        {
            return false;
        }
        self.count_reread(now, usize::from(op.core), superblock, op.failing);
        let op = &mut self.reads[read];
        op.step = op.step.saturating_add(1);
        op.rereads = op.rereads.saturating_add(1);
        true
    }

    /// Units of `op` on flash that is broken for good: no re-read helps.
    fn beyond_hope(&self, op: &Op) -> u64 {
        let state = &self.cores[usize::from(op.core)];
        broken_units(&state.ftl, state.faults.as_ref(), op.pu, op.failing)
    }

    /// A read has ended and units in `op.failing` could not be had: down the ladder.
    #[cold]
    pub(crate) fn uncorrectable(&mut self, now: Nanos, op: &Op) {
        match op.kind {
            OpKind::StripeRead => self.stripe_read(now, op),
            OpKind::PatrolRead => self.patrol_read(now, op),
            _ => {
                let ftl = &self.cores[usize::from(op.core)].ftl;
                let first = op.pu * ftl.layout().units_per_pu();
                let owners = units(op.failing).map(|unit| ftl.owner(Ppn(first + unit))).collect();
                let mut op = *op;
                if op.recovery == NIL {
                    op.recovery = 0;
                    if op.kind == OpKind::RelocationRead {
                        self.cores[usize::from(op.core)].tasks.recovery_begins(u32::from(op.units));
                    }
                }
                self.next_rung(now, op, owners);
            }
        }
    }

    fn next_rung(&mut self, now: Nanos, mut op: Op, owners: Vec<Lpn>) {
        let owners = self.drop_stale(now, &mut op, owners);
        if op.failing == 0 || op.rung == Rung::LastRereads {
            self.finish_read(now, &op, op.failing);
            return;
        }
        let ftl = &self.cores[usize::from(op.core)].ftl;
        if Axis::ALL.iter().all(|&axis| ftl.line_needs(op.pu, axis).is_none()) {
            self.finish_read(now, &op, op.failing);
            return;
        }
        let count = u64::from(op.failing.count_ones());
        self.corrections.stripe_attempts += count;
        if let Some(recovery) = self.cheapest(op, owners, 0, 0) {
            self.go_on_recovering(now, recovery);
        } else {
            self.corrections.stripe_failures += count;
            self.last_rereads(now, op);
        }
    }

    /// The cheapest way to rebuild what `op` did not get that has not been asked and may suffice.
    fn cheapest(&self, op: Op, owners: Vec<Lpn>, asked: u8, depth: u8) -> Option<Recovery> {
        let open = Axis::ALL.iter().filter(|&&axis| asked >> axis as u8 & 1 == 0);
        let ways = open.filter_map(|&axis| self.way(op, axis)).filter(Recovery::suffices);
        let mut best = ways.min_by_key(Recovery::cost)?;
        best.asked |= asked;
        best.depth = depth;
        best.owners = owners;
        Some(best)
    }

    fn way(&self, op: Op, axis: Axis) -> Option<Recovery> {
        let ftl = &self.cores[usize::from(op.core)].ftl;
        let needed = ftl.line_needs(op.pu, axis)?;
        let (mut known, mut later, mut read) = (0, Vec::new(), Vec::new());
        for member in ftl.line_of(op.pu, axis) {
            match member {
                Member::Empty => known += 1,
                Member::Buffered(pu) => read.push((pu, 0)),
                // The controller knows which dies are dead.
                Member::OnFlash(pu) if !self.is_out_of_reach(usize::from(op.core), pu) => later.push(pu),
                Member::OnFlash(_) | Member::Gone => {}
            }
        }
        // Read in order: taken from the end.
        later.reverse();
        let asked = 1 << axis as u8;
        Some(Recovery { op, axis, asked, depth: 0, needed, known, left: 0, later, read, owners: Vec::new() })
    }

    /// Reads as many more members as are lacking; with none lacking, or none left, the recovery ends.
    fn go_on_recovering(&mut self, now: Nanos, mut recovery: Recovery) {
        let op = recovery.op;
        let lacking = units(op.failing).map(|unit| recovery.lacking(unit)).max().unwrap_or(0) as usize;
        let rest = recovery.later.len().saturating_sub(lacking);
        let now_read = recovery.later.split_off(rest);
        if now_read.is_empty() {
            self.end_recovery(now, recovery);
            return;
        }
        recovery.left = now_read.len() as u32;
        let index = self.recoveries.insert(Some(recovery));
        for pu in now_read.into_iter().rev() {
            let read = Op {
                mask: op.failing,
                units: op.failing.count_ones() as u16,
                recovery: index,
                ..Op::new(OpKind::StripeRead, op.task, usize::from(op.core), pu)
            };
            self.queue_read(now, read);
        }
    }

    /// Data that has meanwhile moved, or been replaced, is not looked for here any more. Returns the owners of what is left.
    fn drop_stale(&mut self, now: Nanos, op: &mut Op, owners: Vec<Lpn>) -> Vec<Lpn> {
        let core = usize::from(op.core);
        let first = op.pu * self.cores[core].ftl.layout().units_per_pu();
        let mut left = Vec::with_capacity(owners.len());
        for (unit, lpn) in units(op.failing).zip(owners) {
            let current = if lpn.is_some() { self.cores[core].ftl.lookup(lpn) } else { Ppn::NONE };
            if current == Ppn(first + unit) {
                left.push(lpn);
                continue;
            }
            if !current.is_some() && lpn.is_some() && self.cores[core].ftl.is_lost(lpn) {
                // Given up since, by a relocation that could not read it either.
                left.push(lpn);
                continue;
            }
            op.failing &= !(1 << unit);
            if op.kind == OpKind::HostRead && current.is_some() && self.cores[core].ftl.is_programmed(current)
            {
                // The copy made since is as good as what was asked for: relocation moved it, or the host rewrote it while
                // this read was under way.
                op.units -= 1;
                let (pu, unit) = self.cores[core].ftl.layout().pu_of(current);
                let work = UnitWork { lpn: lpn.0, ..op.work };
                let read =
                    Op { mask: 1 << unit, units: 1, work, ..Op::new(OpKind::HostRead, op.task, core, pu) };
                self.queue_read(now, read);
            }
        }
        left
    }

    /// A member of a line has been read, or could not be: then it may be had along its other axis.
    #[inline(never)]
    pub(crate) fn stripe_read(&mut self, now: Nanos, op: &Op) {
        if op.failing != 0 {
            let above = self.recoveries[op.recovery].as_ref().expect("a stripe read belongs to a recovery");
            let (depth, asked) = (above.depth + 1, 1 << above.axis as u8);
            if depth <= MOST_NESTED
                && let Some(nested) = self.cheapest(*op, Vec::new(), asked, depth)
            {
                self.go_on_recovering(now, nested);
                return;
            }
        }
        self.member_read(now, op);
    }

    fn member_read(&mut self, now: Nanos, op: &Op) {
        let recovery = self.recoveries[op.recovery].as_mut().expect("a stripe read belongs to a recovery");
        recovery.left -= 1;
        recovery.read.push((op.pu, op.failing));
        if recovery.left == 0 {
            let recovery = self.recoveries[op.recovery].take().expect("looked at above");
            self.recoveries.remove(op.recovery);
            self.go_on_recovering(now, recovery);
        }
    }

    fn end_recovery(&mut self, now: Nanos, mut recovery: Recovery) {
        let mut op = recovery.op;
        let bad = units(op.failing)
            .filter(|&unit| recovery.lacking(unit) != 0)
            .fold(0u64, |mask, unit| mask | 1 << unit);
        let good = op.failing & !bad;
        if self.config.bytes {
            for unit in units(good) {
                let had = recovery.read.iter().filter(|(_, bad)| bad >> unit & 1 == 0).map(|&(pu, _)| pu);
                let lpn = units(op.failing).position(|other| other == unit);
                let lpn = lpn.and_then(|index| recovery.owners.get(index)).copied();
                self.take_rebuilt(&op, recovery.axis, lpn, unit, &had.collect::<Vec<_>>());
            }
        }
        self.take_time(now, &recovery, good);
        if op.kind == OpKind::StripeRead {
            // For the sake of another: what is still missing may be had along an axis not asked yet.
            op.failing = bad;
            let rest =
                if bad == 0 { None } else { self.cheapest(op, Vec::new(), recovery.asked, recovery.depth) };
            match rest {
                Some(rest) => self.go_on_recovering(now, rest),
                None => self.member_read(now, &op),
            }
            return;
        }
        match recovery.axis {
            Axis::Dies => self.corrections.stripe += u64::from(good.count_ones()),
            Axis::Block => self.corrections.block += u64::from(good.count_ones()),
        }
        let mut index = 0;
        let failing = op.failing;
        recovery.owners.retain(|_| {
            let unit = units(failing).nth(index).unwrap_or(0);
            index += 1;
            bad >> unit & 1 == 1
        });
        op.failing = bad;
        let owners = self.drop_stale(now, &mut op, recovery.owners);
        if op.failing == 0 {
            self.finish_read(now, &op, 0);
        } else if let Some(next) = self.cheapest(op, owners, recovery.asked, 0) {
            self.go_on_recovering(now, next);
        } else {
            self.corrections.stripe_failures += u64::from(op.failing.count_ones());
            self.last_rereads(now, op);
        }
    }

    /// Combining the members takes a flash core time, which the host waits for.
    fn take_time(&mut self, now: Nanos, recovery: &Recovery, good: u64) {
        let cost = self.config.controller.decode_cost;
        if cost == Nanos::ZERO || good == 0 {
            return;
        }
        let members = u64::from(recovery.needed) * u64::from(good.count_ones());
        let done = self.cores[usize::from(recovery.op.core)].cpu.occupy(now, Nanos(cost.0 * members));
        let request = recovery.top_request(&self.recoveries);
        if let Some(request) = request {
            self.host.requests.not_before(request, done);
        }
    }

    /// The stripe did not help: the re-reads that were kept for this moment, if any, else the end.
    fn last_rereads(&mut self, now: Nanos, mut op: Op) {
        let (first, all) = (self.retries.first(true), self.retries.all());
        let more = first.is_some_and(|first| all.is_none_or(|all| all > first));
        if !more || op.failing & !self.beyond_hope(&op) == 0 {
            self.finish_read(now, &op, op.failing);
            return;
        }
        op.rung = Rung::LastRereads;
        op.step = op.step.saturating_add(1);
        op.rereads = op.rereads.saturating_add(1);
        let superblock = self.cores[usize::from(op.core)].ftl.layout().place(op.pu).superblock;
        self.count_reread(now, usize::from(op.core), superblock, op.failing);
        self.queue_read(now, op);
    }

    /// Where bytes are kept: what the line gave must be what was written, and is what the host gets.
    fn take_rebuilt(&mut self, op: &Op, axis: Axis, lpn: Option<Lpn>, unit: u32, had: &[u32]) {
        let core = usize::from(op.core);
        let ftl = &self.cores[core].ftl;
        let slot = Ppn(op.pu * ftl.layout().units_per_pu() + unit);
        if lpn.is_some_and(|lpn| ftl.lookup(lpn) != slot) {
            return;
        }
        let Some(rebuilt) = ftl.rebuild(slot, axis, had) else {
            // A member for another, in a superblock erased meanwhile: then that other is stale, too.
            assert!(lpn.is_none(), "the line of page {lpn:?} could not be put together");
            return;
        };
        let written = ftl.image(slot);
        assert!(
            written.is_none_or(|written| *written == rebuilt),
            "the line of slot {slot} gave other bytes than were written"
        );
        if let Some(lpn) = lpn {
            assert!(rebuilt.tag() == lpn.0, "the line of page {lpn} gave page {}", rebuilt.tag());
            if op.kind == OpKind::HostRead {
                self.deliver(op.work.request, core, lpn, rebuilt.bytes());
            }
        }
    }

    /// A read has come to its end: all of it had but the units in `lost`.
    #[inline(never)]
    pub(crate) fn finish_read(&mut self, now: Nanos, op: &Op, lost: u64) {
        self.corrections.uncorrectable += u64::from(lost.count_ones());
        match op.kind {
            OpKind::HostRead => {
                if lost != 0 {
                    self.counters.medium_errors += u64::from(lost.count_ones());
                    self.host.requests.fail(op.work.request, Outcome::MediumError);
                }
                if op.units != 0 {
                    self.host_read(now, op.work.request, u32::from(op.units));
                }
            }
            OpKind::RmwRead => {
                if lost != 0 {
                    self.counters.medium_errors += 1;
                    self.host.requests.fail(op.work.request, Outcome::MediumError);
                    self.finish_parts(now, op.work.request, 1);
                } else {
                    self.old_data_read(now, op);
                }
            }
            OpKind::RelocationRead => {
                if op.recovery != NIL {
                    self.cores[usize::from(op.core)].tasks.recovery_ended(u32::from(op.units));
                }
                self.relocation_read(now, op, lost);
            }
            OpKind::MoveRead => self.move_read(now, op, lost != 0),
            _ => unreachable!("no read of {:?}", op.kind),
        }
        if lost != 0 {
            self.look_at_state(now);
        }
    }
}

/// How many re-reads there are before and after the stripe is asked.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Retries {
    /// Of all data; `None`: unlimited.
    pub(crate) max: Option<u32>,
    /// Of data with parity, before the stripe; `None`: all.
    pub(crate) if_protected: Option<u32>,
}

impl Retries {
    pub(crate) fn all(self) -> Option<u32> {
        self.max
    }

    pub(crate) fn first(self, protected: bool) -> Option<u32> {
        match (self.max, self.if_protected.filter(|_| protected)) {
            (Some(max), Some(own)) => Some(max.min(own)),
            (max, own) => max.or(own),
        }
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_before_the_stripe_never_exceed_all_retries() {
        let retries = Retries { max: Some(3), if_protected: Some(5) };
        assert_eq!((retries.first(true), retries.first(false), retries.all()), (Some(3), Some(3), Some(3)));
        let retries = Retries { max: None, if_protected: Some(1) };
        assert_eq!((retries.first(true), retries.first(false), retries.all()), (Some(1), None, None));
    }
}
