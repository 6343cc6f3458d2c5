//! Recovery of what one read did not give. The other members of its line are read; one that does not give its units is rebuilt along its own other line, for which
//! members are read again, and so on: the peeling decoder of a product code.
//!
//! A program unit is read once for a recovery, however many lines it lies on. So a recovery reads no more than the lines that cross each other there, however much of
//! their flash fails.

mod review;
mod way;

use super::lines::Lines;
use super::units;
use crate::op::Op;
use outlast_ftl::CodeAxis;
use outlast_units::{Lpn, Pu};
use way::RebuildWay;

/// Step of a recovery: a thing that it asks for, or has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecoveryStep {
    /// Read a program unit.
    Read(Pu),
    /// The units in the mask of a program unit, no units of the read itself, have been rebuilt along an axis.
    Rebuilt { pu: Pu, axis: CodeAxis, mask: u64 },
}

/// Program unit of a recovery.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
struct Member {
    pu: Pu,
    /// Axis of the line for which it is read.
    axis: CodeAxis,
    is_under_way: bool,
    /// Units that it does not give, and that have not been rebuilt.
    missing: u64,
}

/// Program units that one code word covers, as far as the drive reaches them.
#[derive(Clone, Debug, outlast_persist::Persist)]
struct Line {
    axis: CodeAxis,
    /// Members that it takes to rebuild one, and how many are known to be empty.
    needed: u32,
    known: u32,
    pus: Vec<Pu>,
    /// Program units that are rebuilt along it.
    targets: Vec<Pu>,
    /// True if all has been read that can help its targets.
    has_ended: bool,
}

/// Units of one read that are being rebuilt, and all that is read for their sake.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(super) struct Recovery {
    /// The read; `op.failing` are the units.
    pub(super) op: Op,
    /// Axis along which its units are rebuilt now, and those that have been asked, one bit each.
    axis: CodeAxis,
    asked: u8,
    /// Logical page of each unit of `op.failing`, in order.
    pub(super) owners: Vec<Lpn>,
    /// Every program unit that has been read, is being read or was in the controller's memory, by number; the read's own among them.
    members: Vec<Member>,
    lines: Vec<Line>,
}

impl Recovery {
    pub(super) fn new(op: Op, owners: Vec<Lpn>) -> Self {
        let own = Member { pu: op.pu, axis: CodeAxis::Dies, is_under_way: false, missing: op.failing };
        Self { op, axis: CodeAxis::Dies, asked: 0, owners, members: vec![own], lines: Vec::new() }
    }

    /// Goes on along a line of the read that gives something by now, or the cheapest one not asked yet that may suffice; false where there is none.
    pub(super) fn ask_next(&mut self, lines: &impl Lines) -> bool {
        let own = self.op.pu;
        if let Some(axis) = CodeAxis::ALL.into_iter().find(|&axis| self.good_along(axis) != 0) {
            self.axis = axis;
            return true;
        }
        let open = CodeAxis::ALL.into_iter().filter(|&axis| self.asked >> axis as u8 & 1 == 0);
        let ways = open.filter_map(|axis| Some((axis, RebuildWay::of(lines, own, axis)?.cost(axis))));
        let Some((axis, _)) = ways.min_by_key(|&(_, cost)| cost) else { return false };
        self.asked |= 1 << axis as u8;
        self.axis = axis;
        self.open(lines, own, axis);
        true
    }

    /// Takes steps until reads are under way, or nothing more can be read along this line of the read. Returns whether reads are under way.
    pub(super) fn go_on(&mut self, steps: &mut Vec<RecoveryStep>) -> bool {
        while self.under_way() == 0 {
            let of_read = self.line_of(self.op.pu, self.axis).expect("the line was opened");
            // Lines may wait for each other.
            let goes_on = self.lacking(of_read) != 0
                && (self.review_all(of_read, steps)
                    || self.read_more(of_read, steps)
                    || self.rebuild_all(steps));
            if !goes_on {
                return false;
            }
        }
        true
    }

    /// Program unit `pu` has been read, and did not give its units in `missing`: then it is rebuilt along its other line, if there is one.
    ///
    /// # Panics
    /// If it is not being read.
    pub(super) fn member_ended(
        &mut self,
        lines: &impl Lines,
        pu: Pu,
        missing: u64,
        steps: &mut Vec<RecoveryStep>,
    ) {
        let member = self.members.iter_mut().find(|member| member.pu == pu && member.is_under_way);
        let member = member.expect("a member is read for a recovery that waits for it");
        (member.is_under_way, member.missing) = (false, missing);
        let axis = member.axis;
        if missing != 0 {
            for other in CodeAxis::ALL.into_iter().filter(|&other| other != axis) {
                self.open(lines, pu, other);
            }
        }
        self.review_lines_of(pu, steps);
    }

    /// Reads of members under way.
    pub(super) fn under_way(&self) -> u32 {
        self.members.iter().filter(|member| member.is_under_way).count() as u32
    }

    /// Units of the read that this line gives.
    pub(super) fn good(&self) -> u64 {
        self.good_along(self.axis)
    }

    fn good_along(&self, axis: CodeAxis) -> u64 {
        self.line_of(self.op.pu, axis).map_or(0, |line| self.good_of(line, self.op.pu))
    }

    /// Axis of this line.
    pub(super) fn axis(&self) -> CodeAxis {
        self.axis
    }

    /// Members that go into each unit rebuilt along `axis` of program unit `pu`.
    pub(super) fn needed(&self, pu: Pu, axis: CodeAxis) -> u32 {
        self.line_of(pu, axis).map_or(0, |line| self.lines[line].needed)
    }

    /// The members of the line of program unit `pu` along `axis` that have given `unit`.
    pub(super) fn given(&self, pu: Pu, axis: CodeAxis, unit: u32) -> Vec<Pu> {
        let Some(line) = self.line_of(pu, axis) else { return Vec::new() };
        let others = self.lines[line].pus.iter().copied().filter(|&other| other != pu);
        others.filter(|&other| self.gives(other, unit)).collect()
    }

    /// The owner of `unit` of the read.
    pub(super) fn owner(&self, unit: u32) -> Option<Lpn> {
        let index = units(self.op.failing).position(|other| other == unit)?;
        self.owners.get(index).copied()
    }

    /// The owners of the units in `mask`, in order.
    pub(super) fn owners_of(&self, mask: u64) -> Vec<Lpn> {
        units(mask).filter_map(|unit| self.owner(unit)).collect()
    }

    /// Program units that it names, with the units of each.
    pub(super) fn pus(&self) -> impl Iterator<Item = (Pu, u64)> {
        let of_lines = self.lines.iter().flat_map(|line| line.pus.iter().chain(&line.targets));
        let own = std::iter::once((self.op.pu, self.op.mask)).chain(of_lines.map(|&pu| (pu, 0)));
        own.chain(self.members.iter().map(|member| (member.pu, member.missing)))
    }

    /// True if the line along which its units are rebuilt is there, and members are in order.
    pub(super) fn is_whole(&self) -> bool {
        self.line_of(self.op.pu, self.axis).is_some()
            && self.members.is_sorted_by(|one, next| one.pu < next.pu)
            && self.member(self.op.pu).is_some()
    }

    fn member(&self, pu: Pu) -> Option<&Member> {
        let index = self.members.binary_search_by_key(&pu, |member| member.pu).ok()?;
        self.members.get(index)
    }

    fn add(&mut self, member: Member) {
        if let Err(index) = self.members.binary_search_by_key(&member.pu, |member| member.pu) {
            self.members.insert(index, member);
        }
    }

    fn gives(&self, pu: Pu, unit: u32) -> bool {
        self.member(pu).is_some_and(|member| !member.is_under_way && member.missing >> unit & 1 == 0)
    }

    /// Units of program unit `pu` that are missing, and that the read is about.
    fn missing(&self, pu: Pu) -> u64 {
        self.member(pu).map_or(0, |member| member.missing & self.op.failing)
    }

    fn line_of(&self, pu: Pu, axis: CodeAxis) -> Option<usize> {
        self.lines.iter().position(|line| line.axis == axis && line.pus.contains(&pu))
    }

    /// Has program unit `pu` rebuilt along `axis`, if that may suffice.
    fn open(&mut self, lines: &impl Lines, pu: Pu, axis: CodeAxis) {
        if let Some(line) = self.line_of(pu, axis) {
            let line = &mut self.lines[line];
            if !line.targets.contains(&pu) {
                line.targets.push(pu);
                line.has_ended = false;
            }
            return;
        }
        let Some(RebuildWay { needed, known, buffered, on_flash }) = RebuildWay::of(lines, pu, axis) else {
            return;
        };
        for &pu in &buffered {
            self.add(Member { pu, axis, is_under_way: false, missing: 0 });
        }
        let pus = [vec![pu], on_flash, buffered].concat();
        self.lines.push(Line { axis, needed, known, pus, targets: vec![pu], has_ended: false });
    }

    /// How many more members line `line` takes to rebuild all that its targets lack.
    fn lacking(&self, line: usize) -> usize {
        let Line { needed, known, pus, targets, .. } = &self.lines[line];
        let wanted = targets.iter().fold(0, |mask, &pu| mask | self.missing(pu));
        let given = |unit| pus.iter().filter(|&&pu| self.gives(pu, unit)).count() as u32;
        let lacking = units(wanted).map(|unit| needed.saturating_sub(known + given(unit)));
        lacking.max().unwrap_or(0) as usize
    }

    /// Units that program unit `pu` of line `line` lacks and that the others give.
    fn good_of(&self, line: usize, pu: Pu) -> u64 {
        let Line { needed, known, pus, .. } = &self.lines[line];
        let given = |unit| pus.iter().filter(|&&pu| self.gives(pu, unit)).count() as u32;
        let good = units(self.missing(pu)).filter(|&unit| known + given(unit) >= *needed);
        good.fold(0, |mask, unit| mask | 1 << unit)
    }

    /// Has as many more members of line `line` read as it lacks; false if none is left.
    fn read_more(&mut self, line: usize, steps: &mut Vec<RecoveryStep>) -> bool {
        let (lacking, Line { axis, pus, .. }) = (self.lacking(line), &self.lines[line]);
        let axis = *axis;
        let unread = pus.iter().copied().filter(|&pu| self.member(pu).is_none());
        let next: Vec<Pu> = unread.take(lacking).collect();
        for &pu in &next {
            self.add(Member { pu, axis, is_under_way: true, missing: 0 });
        }
        steps.extend(next.iter().map(|&pu| RecoveryStep::Read(pu)));
        !next.is_empty()
    }
}
