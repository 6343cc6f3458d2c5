//! Rebuilding units of one read from the other members of their line.

use super::lines::Lines;
use super::units;
use crate::op::Op;
use outlast_ftl::{CodeAxis, LineMember};
use outlast_units::{Lpn, Pu};

/// Units of one read that are being rebuilt from the other members of their line.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(super) struct Recovery {
    /// The read; `op.failing` are the units.
    pub(super) op: Op,
    pub(super) axis: CodeAxis,
    /// Axes that have been asked, one bit each.
    pub(super) asked: u8,
    /// Recoveries above this one, for whose sake it is made.
    pub(super) depth: u8,
    /// Members that it takes, and how many are known to be empty.
    needed: u32,
    known: u32,
    /// Reads of members under way, those that are being rebuilt themselves included.
    left: u32,
    /// Program units of members that have not been read yet, the next one last.
    unread: Vec<Pu>,
    /// Those that have been read, or were in the controller's memory, with the units that they did not give.
    read: Vec<(Pu, u64)>,
    /// Logical page of each unit of `op.failing`, in order; of a member of another's line, none.
    pub(super) owners: Vec<Lpn>,
}

impl Recovery {
    /// The way along `axis` to rebuild what `op` did not give; `None` where there is none that may suffice.
    pub(super) fn along(lines: &impl Lines, op: Op, axis: CodeAxis) -> Option<Self> {
        let needed = lines.needs(op.pu, axis)?;
        let (mut known, mut unread, mut read) = (0, Vec::new(), Vec::new());
        for member in lines.members(op.pu, axis) {
            match member {
                LineMember::Empty => known += 1,
                LineMember::Buffered(pu) => read.push((pu, 0)),
                // The controller knows which dies are dead.
                LineMember::OnFlash(pu) if !lines.is_out_of_reach(pu) => unread.push(pu),
                LineMember::OnFlash(_) | LineMember::Gone => {}
            }
        }
        unread.reverse();
        let may_suffice = known + (unread.len() + read.len()) as u32 >= needed;
        let asked = 1 << axis as u8;
        let owners = Vec::new();
        let way = Self { op, axis, asked, depth: 0, needed, known, left: 0, unread, read, owners };
        may_suffice.then_some(way)
    }

    /// Program units that it names, with the units of each.
    pub(super) fn pus(&self) -> impl Iterator<Item = (Pu, u64)> {
        let unread = self.unread.iter().map(|&pu| (pu, 0));
        std::iter::once((self.op.pu, self.op.mask)).chain(unread).chain(self.read.iter().copied())
    }

    /// What it costs to begin with: the reads that one die has to make, one after the other; then all reads.
    pub(super) fn cost(&self) -> (usize, usize) {
        let reads = (self.needed as usize).saturating_sub(self.known as usize + self.read.len());
        (if self.axis == CodeAxis::Block { reads } else { reads.min(1) }, reads)
    }

    /// How many more members it takes to rebuild `unit`.
    fn lacking(&self, unit: u32) -> u32 {
        let given = self.read.iter().filter(|(_, bad)| bad >> unit & 1 == 0).count() as u32;
        self.needed.saturating_sub(self.known + given)
    }

    /// The members to be read next, as many as are lacking; none where none is lacking, or none is left. They count as under way.
    pub(super) fn take_members(&mut self) -> Vec<Pu> {
        debug_assert!(self.left == 0, "more members are read when those before have ended");
        let lacking = units(self.op.failing).map(|unit| self.lacking(unit)).max().unwrap_or(0) as usize;
        let rest = self.unread.len().saturating_sub(lacking);
        let mut members = self.unread.split_off(rest);
        members.reverse();
        self.left = members.len() as u32;
        members
    }

    /// A member has been read, and did not give its units in `bad`. Whether it was the last one under way.
    pub(super) fn member_ended(&mut self, pu: Pu, bad: u64) -> bool {
        assert!(self.left != 0, "program unit {pu} is read for a recovery that does not wait for it");
        self.left -= 1;
        self.read.push((pu, bad));
        self.left == 0
    }

    /// The units that cannot be rebuilt from what has been read.
    pub(super) fn bad(&self) -> u64 {
        units(self.op.failing).filter(|&unit| self.lacking(unit) != 0).fold(0, |mask, unit| mask | 1 << unit)
    }

    /// The members that have given `unit`.
    pub(super) fn given(&self, unit: u32) -> Vec<Pu> {
        self.read.iter().filter(|(_, bad)| bad >> unit & 1 == 0).map(|&(pu, _)| pu).collect()
    }

    /// The owner of `unit` of the read; `None` where it is read for the sake of another.
    pub(super) fn owner(&self, unit: u32) -> Option<Lpn> {
        let index = units(self.op.failing).position(|other| other == unit)?;
        self.owners.get(index).copied()
    }

    /// The owners of the units in `mask`, in order.
    pub(super) fn owners_of(&self, mask: u64) -> Vec<Lpn> {
        units(mask).filter_map(|unit| self.owner(unit)).collect()
    }

    /// Members that go into each rebuilt unit.
    pub(super) fn needed(&self) -> u32 {
        self.needed
    }

    /// Reads of members under way, those that are being rebuilt themselves included.
    pub(super) fn left(&self) -> u32 {
        self.left
    }
}
