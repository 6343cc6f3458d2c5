//! The ladder for what a sensing did not give: re-reads, the stripe, the last re-reads, a medium error.
//!
//! A stripe, and the code within blocks, are lines of members; a unit is rebuilt from as many others of its line as the code needs, the
//! cheapest line first. A member that cannot be read is itself rebuilt along its other line ([`Recovery`]).

mod restored;

use super::lines::{Lines, drop_stale};
use super::recovery::{Recovery, RecoveryStep};
use super::retries::Retries;
use super::{Corrections, units};
use crate::commands::HostRequestId;
use crate::op::{Op, OpKind, Rung};
use outlast_ftl::CodeAxis;
use outlast_units::slab::{NIL, Slab};
use outlast_units::{Lpn, Pu};

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
        self.try_lines(lines, Recovery::new(op, owners), effects);
    }

    /// Member `op` of a line has been read, or could not be: then it may be rebuilt along its other line.
    pub(crate) fn member_ended(&mut self, lines: &impl Lines, op: &Op, effects: &mut Vec<LadderEffect>) {
        let mut steps = Vec::new();
        let recovery = self.recoveries[op.recovery].as_mut();
        let recovery = recovery.expect("a member is read for a recovery that waits for it");
        recovery.member_ended(lines, op.pu, op.failing, &mut steps);
        let reads_on = recovery.go_on(&mut steps);
        follow(recovery, &steps, op.recovery, effects);
        if reads_on {
            return;
        }
        let ended = self.recoveries[op.recovery].take();
        self.recoveries.remove(op.recovery);
        if let Some(recovery) = ended.and_then(|recovery| self.line_ended(lines, recovery, effects)) {
            self.try_lines(lines, recovery, effects);
        }
    }

    /// Rebuilds what the read of `recovery` did not give along the cheapest line not asked yet, or goes on without the lines.
    fn try_lines(&mut self, lines: &impl Lines, recovery: Recovery, effects: &mut Vec<LadderEffect>) {
        let mut next = Some(recovery);
        while let Some(mut recovery) = next {
            if !recovery.ask_next(lines) {
                self.counted.stripe_failures += u64::from(recovery.op.failing.count_ones());
                self.last_rereads(lines, recovery.op, effects);
                return;
            }
            let mut steps = Vec::new();
            let index = self.recoveries.insert(None);
            let reads_on = recovery.go_on(&mut steps);
            follow(&recovery, &steps, index, effects);
            if reads_on {
                self.recoveries[index] = Some(recovery);
                return;
            }
            self.recoveries.remove(index);
            next = self.line_ended(lines, recovery, effects);
        }
    }

    /// Ends this line of the read of `recovery`, along which nothing more can be read. Returns it if units are left that another line may give.
    fn line_ended(
        &mut self,
        lines: &impl Lines,
        mut recovery: Recovery,
        effects: &mut Vec<LadderEffect>,
    ) -> Option<Recovery> {
        let (mut op, axis, good) = (recovery.op, recovery.axis(), recovery.good());
        for unit in units(good) {
            let (owner, members) = (recovery.owner(unit), recovery.given(op.pu, axis, unit));
            effects.push(LadderEffect::Rebuilt { op, axis, unit, owner, members });
        }
        combines(&recovery, op.pu, axis, good, effects);
        match axis {
            CodeAxis::Dies => self.counted.stripe += u64::from(good.count_ones()),
            CodeAxis::Block => self.counted.block += u64::from(good.count_ones()),
        }
        let bad = op.failing & !good;
        op.failing = bad;
        recovery.owners = drop_stale(lines, &mut op, recovery.owners_of(bad), effects);
        recovery.op = op;
        if op.failing == 0 {
            self.end(op, effects);
            return None;
        }
        Some(recovery)
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

    /// Checks that every recovery waits for as many members as are being read for it. `reads` gives the recovery of each read of a member under way.
    pub(crate) fn self_check(&self, reads: impl Iterator<Item = u32>) -> Result<(), String> {
        let members: Vec<u32> = reads.collect();
        let waited: u32 = self.recoveries.live().flatten().map(Recovery::under_way).sum();
        if let Some(&index) = members.iter().find(|&&index| {
            let own = members.iter().filter(|&&other| other == index).count() as u32;
            index == NIL || self.recoveries[index].as_ref().is_none_or(|recovery| recovery.under_way() != own)
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

/// Actions for which the `steps` of `recovery`, which is number `index`, ask.
fn follow(recovery: &Recovery, steps: &[RecoveryStep], index: u32, effects: &mut Vec<LadderEffect>) {
    let own = recovery.op;
    for &step in steps {
        match step {
            RecoveryStep::Read(pu) => effects.push(LadderEffect::Read(Op {
                mask: own.failing,
                units: own.failing.count_ones() as u16,
                recovery: index,
                ..Op::new(OpKind::StripeRead, own.task, own.core, pu)
            })),
            RecoveryStep::Rebuilt { pu, axis, mask } => {
                let op = Op::new(OpKind::StripeRead, own.task, own.core, pu);
                for unit in units(mask) {
                    let members = recovery.given(pu, axis, unit);
                    effects.push(LadderEffect::Rebuilt { op, axis, unit, owner: None, members });
                }
                combines(recovery, pu, axis, mask, effects);
            }
        }
    }
}

/// Combining the units in `mask` of program unit `pu`, if any, takes time.
fn combines(recovery: &Recovery, pu: Pu, axis: CodeAxis, mask: u64, effects: &mut Vec<LadderEffect>) {
    if mask != 0 {
        let (op, needed) = (recovery.op, recovery.needed(pu, axis));
        let members = u64::from(needed) * u64::from(mask.count_ones());
        let request = (op.kind == OpKind::HostRead).then_some(op.work.request);
        effects.push(LadderEffect::Combine { members, request });
    }
}
