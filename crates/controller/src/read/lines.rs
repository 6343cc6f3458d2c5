//! A flash core as the ladder sees it: lines of members from which units are rebuilt, and where pages are by now.

use super::ladder::LadderEffect;
use super::units;
use crate::op::{Op, OpKind, UnitWork};
use outlast_ftl::{CodeAxis, LineMember};
use outlast_units::{Lpn, Ppn, Pu};

/// View of a flash core for the recovery ladder.
pub trait Lines {
    /// The first slot of a program unit.
    fn first_slot_of(&self, pu: Pu) -> Ppn;
    /// Members that it takes to rebuild one of the line of program unit `pu` along `axis`; `None` where there is no such line.
    fn needs(&self, pu: Pu, axis: CodeAxis) -> Option<u32>;
    /// The other members of that line.
    fn members(&self, pu: Pu, axis: CodeAxis) -> impl Iterator<Item = LineMember>;
    /// True if what lies on the die of program unit `pu` is beyond reach, as far as firmware knows.
    fn is_out_of_reach(&self, pu: Pu) -> bool;
    /// The units in `mask` of program unit `pu` that lie on flash broken for good: no re-read helps.
    fn broken_units(&self, pu: Pu, mask: u64) -> u64;
    /// Which page a slot was written for.
    fn owner(&self, slot: Ppn) -> Lpn;
    /// The current copy of a page.
    fn lookup(&self, lpn: Lpn) -> Ppn;
    /// True if a page is known to be lost.
    fn is_lost(&self, lpn: Lpn) -> bool;
    /// True if a slot is on flash.
    fn is_programmed(&self, slot: Ppn) -> bool;
    /// The program unit of a slot, and the slot's place in it.
    fn pu_of(&self, slot: Ppn) -> (Pu, u32);
}

/// Data that has meanwhile moved, or been replaced, is not looked for here any more. Returns the owners of what is left.
pub(super) fn drop_stale(
    lines: &impl Lines,
    op: &mut Op,
    owners: Vec<Lpn>,
    effects: &mut Vec<LadderEffect>,
) -> Vec<Lpn> {
    let first = lines.first_slot_of(op.pu);
    let mut left = Vec::with_capacity(owners.len());
    for (unit, lpn) in units(op.failing).zip(owners) {
        let current = if lpn.is_some() { lines.lookup(lpn) } else { Ppn::NONE };
        // Or it has been given up since, by a relocation that could not read it either.
        if current == first + unit || (!current.is_some() && lpn.is_some() && lines.is_lost(lpn)) {
            left.push(lpn);
            continue;
        }
        op.failing &= !(1 << unit);
        if op.kind == OpKind::HostRead && current.is_some() && lines.is_programmed(current) {
            // The copy made since is as good as what was asked for: relocation moved it, or the host rewrote it while this read was
            // under way.
            op.units -= 1;
            let (pu, unit) = lines.pu_of(current);
            let work = UnitWork { lpn, ..op.work };
            let read = Op::new(OpKind::HostRead, op.task, op.core, pu);
            effects.push(LadderEffect::Read(Op { mask: 1 << unit, units: 1, work, ..read }));
        }
    }
    left
}
