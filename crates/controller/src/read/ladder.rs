//! The ladder for what a sensing did not give: re-reads, the stripe, the last re-reads, a medium error.
//!
//! A stripe, and the code within blocks, are lines of members; a unit is rebuilt from as many others of its line as the code needs, the
//! cheapest line first. A member that cannot be read may itself be rebuilt along its other line, a few recoveries deep.

mod restored;

use super::lines::{Lines, drop_stale};
use super::recovery::Recovery;
use super::retries::Retries;
use super::{Corrections, units};
use crate::commands::HostRequestId;
use crate::op::{Op, OpKind, Rung};
use outlast_ftl::CodeAxis;
use outlast_units::slab::{NIL, Slab};
use outlast_units::{Lpn, Pu};

/// How deep recoveries of members for the recovery of another may nest, where data has parity along two axes.
pub(super) const MOST_NESTED: u8 = 3;

/// What the ladder asks for, in the order in which it is to be done.
#[derive(Clone, Debug)]
pub(crate) enum LadderEffect {
    /// Put a read into the queue of its die.
    Read(Op),
    /// The same, once more, of units that were sensed before.
    Reread(Op),
    /// A unit has been rebuilt from the units of `members`: where bytes are kept, they are put together.
    Rebuilt { op: Op, axis: CodeAxis, unit: u32, owner: Option<Lpn>, members: Vec<Pu> },
    /// Combining so many members takes flash core `core` time, which the host's request, if it is for one, waits for.
    Combine { members: u64, request: Option<HostRequestId> },
    /// A read has come to its end: it has given all of its units but those in the mask.
    Done(Op, u64),
}

/// The reads that are further down than the die that made them.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct Ladder {
    #[persist(fixed)]
    retries: Retries,
    recoveries: Slab<Option<Recovery>>,
    /// What the ladder below the re-reads has counted.
    counted: Corrections,
}

impl Ladder {
    pub(crate) fn new(retries: Retries) -> Self {
        Self { retries, recoveries: Slab::default(), counted: Corrections::default() }
    }

    /// How many re-reads there are.
    #[inline]
    pub(crate) fn retries(&self) -> Retries {
        self.retries
    }

    /// True if the die that has sensed `op` is to sense what is missing once more. `is_limited`: `op` is a read with limited retry.
    pub(crate) fn wants_reread(
        &self,
        lines: &impl Lines,
        op: &Op,
        is_protected: bool,
        is_limited: bool,
    ) -> bool {
        debug_assert!(op.failing != 0, "nothing is missing");
        let limit = match op.rung {
            Rung::Rereads => self.retries.first(is_protected),
            Rung::LastRereads => self.retries.all(),
        };
        op.kind != OpKind::PatrolRead
            && (!is_limited || u32::from(op.rereads) < self.retries.limited())
            && limit.is_none_or(|limit| u32::from(op.step) < limit)
            && op.failing & !lines.broken_units(op.pu, op.failing) != 0
    }

    /// Read `op`, of no member of another's line, has ended, and re-reads did not give its units in `op.failing`. With limited retry they are given up
    /// (`is_limited`), although other means may be left.
    pub(crate) fn failed(
        &mut self,
        lines: &impl Lines,
        mut op: Op,
        is_limited: bool,
        effects: &mut Vec<LadderEffect>,
    ) {
        assert!(op.kind != OpKind::StripeRead, "members of lines end elsewhere");
        let first = lines.first_slot_of(op.pu);
        let owners = units(op.failing).map(|unit| lines.owner(first + unit)).collect();
        let owners = drop_stale(lines, &mut op, owners, effects);
        let has_line = CodeAxis::ALL.iter().any(|&axis| lines.needs(op.pu, axis).is_some());
        if is_limited && op.failing != 0 {
            self.counted.limited += u64::from(op.failing.count_ones());
            effects.push(LadderEffect::Done(op, op.failing));
            return;
        }
        if op.failing == 0 || op.rung == Rung::LastRereads || !has_line {
            self.end(op, effects);
            return;
        }
        self.counted.stripe_attempts += u64::from(op.failing.count_ones());
        self.try_lines(lines, op, owners, 0, effects);
    }

    /// Member `op` of a line has been read, or could not be: then it may be rebuilt along its other line.
    pub(crate) fn member_ended(&mut self, lines: &impl Lines, op: &Op, effects: &mut Vec<LadderEffect>) {
        if op.failing != 0 {
            let above = self.recovery(op.recovery);
            let (depth, asked) = (above.depth + 1, 1 << above.axis as u8);
            if depth <= MOST_NESTED
                && let Some(nested) = cheapest(lines, *op, Vec::new(), asked, depth)
            {
                self.recover(lines, nested, effects);
                return;
            }
        }
        if let Some(above) = self.take_if_last(op) {
            self.recover(lines, above, effects);
        }
    }

    fn recovery(&mut self, index: u32) -> &mut Recovery {
        self.recoveries[index].as_mut().expect("a member is read for a recovery that waits for it")
    }

    /// Member `op` has come to its end: the recovery that waited for it, if it was the last one.
    fn take_if_last(&mut self, op: &Op) -> Option<Recovery> {
        if !self.recovery(op.recovery).member_ended(op.pu, op.failing) {
            return None;
        }
        let above = self.recoveries[op.recovery].take();
        self.recoveries.remove(op.recovery);
        above
    }

    /// Rebuilds what read `op` did not give along the cheapest line not asked yet, or goes on without the lines.
    fn try_lines(
        &mut self,
        lines: &impl Lines,
        op: Op,
        owners: Vec<Lpn>,
        asked: u8,
        effects: &mut Vec<LadderEffect>,
    ) {
        if let Some(recovery) = cheapest(lines, op, owners, asked, 0) {
            self.recover(lines, recovery, effects);
        } else {
            self.counted.stripe_failures += u64::from(op.failing.count_ones());
            self.last_rereads(lines, op, effects);
        }
    }

    /// Has as many more members read as are lacking. With none lacking, or none left, the recovery ends, and the one above it goes on.
    fn recover(&mut self, lines: &impl Lines, recovery: Recovery, effects: &mut Vec<LadderEffect>) {
        let mut next = Some(recovery);
        while let Some(mut recovery) = next {
            let members = recovery.take_members();
            if members.is_empty() {
                next = self.end_recovery(lines, &recovery, effects);
                continue;
            }
            let op = recovery.op;
            let index = self.recoveries.insert(Some(recovery));
            let read = |pu| Op {
                mask: op.failing,
                units: op.failing.count_ones() as u16,
                recovery: index,
                ..Op::new(OpKind::StripeRead, op.task, op.core, pu)
            };
            effects.extend(members.into_iter().map(|pu| LadderEffect::Read(read(pu))));
            return;
        }
    }

    /// Nothing more can be read for `recovery`. Returns the one that goes on now: along another line, or above it.
    fn end_recovery(
        &mut self,
        lines: &impl Lines,
        recovery: &Recovery,
        effects: &mut Vec<LadderEffect>,
    ) -> Option<Recovery> {
        let mut op = recovery.op;
        let bad = recovery.bad();
        let good = op.failing & !bad;
        for unit in units(good) {
            let (owner, members) = (recovery.owner(unit), recovery.given(unit));
            effects.push(LadderEffect::Rebuilt { op, axis: recovery.axis, unit, owner, members });
        }
        if good != 0 {
            let members = u64::from(recovery.needed()) * u64::from(good.count_ones());
            let request = self.top_request(recovery);
            effects.push(LadderEffect::Combine { members, request });
        }
        op.failing = bad;
        if op.kind == OpKind::StripeRead {
            // For the sake of another: what is still missing may be found along a line not asked yet.
            let rest =
                if bad == 0 { None } else { cheapest(lines, op, Vec::new(), recovery.asked, recovery.depth) };
            return rest.or_else(|| self.take_if_last(&op));
        }
        match recovery.axis {
            CodeAxis::Dies => self.counted.stripe += u64::from(good.count_ones()),
            CodeAxis::Block => self.counted.block += u64::from(good.count_ones()),
        }
        let owners = drop_stale(lines, &mut op, recovery.owners_of(bad), effects);
        if op.failing == 0 {
            self.end(op, effects);
        } else if let Some(rest) = cheapest(lines, op, owners, recovery.asked, 0) {
            return Some(rest);
        } else {
            self.counted.stripe_failures += u64::from(op.failing.count_ones());
            self.last_rereads(lines, op, effects);
        }
        None
    }

    /// The host command for whose sake `recovery` is made.
    fn top_request(&self, recovery: &Recovery) -> Option<HostRequestId> {
        let mut op = recovery.op;
        while op.kind == OpKind::StripeRead {
            op = self.recoveries[op.recovery].as_ref()?.op;
        }
        (op.kind == OpKind::HostRead).then_some(op.work.request)
    }

    /// The stripe did not help: the re-reads that were kept for this moment, if any, else the end.
    fn last_rereads(&mut self, lines: &impl Lines, mut op: Op, effects: &mut Vec<LadderEffect>) {
        if !self.retries.are_left_after_stripe() || op.failing & !lines.broken_units(op.pu, op.failing) == 0 {
            self.end(op, effects);
            return;
        }
        op.rung = Rung::LastRereads;
        op.step = op.step.saturating_add(1);
        op.rereads = op.rereads.saturating_add(1);
        effects.push(LadderEffect::Reread(op));
    }

    fn end(&mut self, op: Op, effects: &mut Vec<LadderEffect>) {
        self.counted.uncorrectable += u64::from(op.failing.count_ones());
        effects.push(LadderEffect::Done(op, op.failing));
    }

    /// What the ladder below the re-reads has counted since the last reset.
    pub(crate) fn counted(&self) -> Corrections {
        self.counted
    }

    /// Counting begins anew.
    pub(crate) fn reset(&mut self) {
        self.counted = Corrections::default();
    }

    /// Power has failed: reads under way are forgotten, and the recoveries that wait for them.
    pub(crate) fn power_failed(&mut self) {
        self.recoveries = Slab::default();
    }

    /// Checks that every recovery waits for as many members as are being read for it, or rebuilt. `reads` gives the recovery of each read
    /// of a member under way.
    pub(crate) fn self_check(&self, reads: impl Iterator<Item = u32>) -> Result<(), String> {
        let nested = self.recoveries.live().flatten().map(|recovery| &recovery.op);
        let nested = nested.filter(|op| op.kind == OpKind::StripeRead).map(|op| op.recovery);
        let members: Vec<u32> = reads.chain(nested).collect();
        let waited: u32 = self.recoveries.live().flatten().map(Recovery::left).sum();
        if let Some(&index) = members.iter().find(|&&index| {
            let own = members.iter().filter(|&&other| other == index).count() as u32;
            index == NIL || self.recoveries[index].as_ref().is_none_or(|recovery| recovery.left() != own)
        }) {
            return Err(format!("members of lines are read for recovery {index}, which waits for others"));
        }
        if members.len() != waited as usize {
            return Err(format!(
                "recoveries wait for {waited} members of lines, {} are under way",
                members.len()
            ));
        }
        Ok(())
    }
}

/// The cheapest way to rebuild what `op` did not give along a line not asked yet that may suffice.
fn cheapest(lines: &impl Lines, op: Op, owners: Vec<Lpn>, asked: u8, depth: u8) -> Option<Recovery> {
    let open = CodeAxis::ALL.into_iter().filter(|&axis| asked >> axis as u8 & 1 == 0);
    let ways = open.filter_map(|axis| Recovery::along(lines, op, axis));
    let mut best = ways.min_by_key(Recovery::cost)?;
    best.asked |= asked;
    best.depth = depth;
    best.owners = owners;
    Some(best)
}
