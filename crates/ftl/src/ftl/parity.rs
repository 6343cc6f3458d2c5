//! The bytes of parity, and rebuilding from them.

use super::{Ftl, shards};
use crate::layout::SlotLayout;
use crate::stripes::{PuRole, StripeLayout};
use outlast_codes::ErasureCode;
use outlast_decisions::SuperblockState;
use outlast_media::{BlankUnit, SlotBytes, UnitBytes};
use outlast_units::{Ppn, Pu, PuWithin, SuperblockId};

/// Axis along which a code protects program units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub enum CodeAxis {
    /// Over dies: a stripe.
    Dies,
    /// Over the pages of the same block(s).
    Block,
}

impl CodeAxis {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Dies, Self::Block];
}

/// Program units that one code word covers, with its position.
#[derive(Clone, Copy, Debug)]
pub(super) struct ParityLine {
    superblock: SuperblockId,
    axis: CodeAxis,
    /// Its stripe, or the first program unit of its lane in its group.
    number: u32,
    /// Most data members of the code: parity is numbered from there.
    pub(super) data: usize,
}

impl Ftl {
    /// The bytes of a parity program unit, owners of the data included.
    pub(super) fn compute_parity(&mut self, superblock: SuperblockId, axis: CodeAxis, parity_pu: Pu) {
        let units = self.layout.units_per_pu();
        self.disown(parity_pu);
        if self.contents.is_none() {
            return;
        }
        let Some(line) = self.line(parity_pu, axis) else { return };
        let members: Vec<(Pu, usize)> = self.members(line).collect();
        let Some(&(_, index)) = members.iter().find(|&&(pu, _)| pu == parity_pu) else { return };
        for unit in 0..units {
            let Some(mut sums) = self.sums(superblock, line, &members, unit) else { return };
            self.write_parity(
                self.layout.first_slot_of(parity_pu) + unit,
                sums.swap_remove(index - line.data),
            );
        }
    }

    /// The bytes of all parity of a stripe at once, except for what cannot be programmed.
    pub(super) fn compute_stripe(&mut self, superblock: SuperblockId, stripe: u32) {
        let Some(line) = self.stripe_line(superblock, stripe).filter(|_| self.contents.is_some()) else {
            return;
        };
        let members: Vec<(Pu, usize)> = self.members(line).collect();
        let first = self.layout.pu_at(superblock, PuWithin(0));
        let parity = members
            .iter()
            .copied()
            .filter(|&(pu, index)| index >= line.data && !self.is_skipped(superblock, PuWithin(pu - first)));
        let parity: Vec<(Pu, usize)> = parity.collect();
        for unit in 0..self.layout.units_per_pu() {
            let Some(sums) = self.sums(superblock, line, &members, unit) else { return };
            for (sum, index) in sums.into_iter().zip(line.data..) {
                if let Some(&(pu, _)) = parity.iter().find(|&&(_, other)| other == index) {
                    self.write_parity(self.layout.first_slot_of(pu) + unit, sum);
                }
            }
        }
    }

    /// The bytes of partial parity `cover`: of the full program units of stripe `stripe`, not of the one begun.
    pub(super) fn compute_cover(
        &mut self,
        superblock: SuperblockId,
        stripe: u32,
        cover: &crate::partials::StripeCover,
    ) {
        let Some(line) = self.stripe_line(superblock, stripe).filter(|_| self.contents.is_some()) else {
            return;
        };
        let end = self.layout.pu_at(superblock, cover.until);
        let members: Vec<(Pu, usize)> =
            self.members(line).filter(|&(pu, index)| index < line.data && pu < end).collect();
        for unit in 0..self.layout.units_per_pu() {
            let Some(sums) = self.sums(superblock, line, &members, unit) else { return };
            for (&pu, sum) in cover.pus.iter().zip(sums) {
                self.write_parity(self.layout.first_slot_of(pu) + unit, sum);
            }
        }
    }

    fn write_parity(&mut self, slot: Ppn, sum: UnitBytes) {
        if let Some(contents) = &mut self.contents {
            contents.write_parity(slot.0, sum);
        }
    }

    fn stripe_line(&self, superblock: SuperblockId, stripe: u32) -> Option<ParityLine> {
        let code = self.code_of(superblock)?;
        // A stripe whose parity could not be placed has none.
        code.parity_of(stripe, self.opened_gaps(superblock)).next()?;
        Some(ParityLine { superblock, axis: CodeAxis::Dies, number: stripe, data: code.data() })
    }

    /// The line of program unit `pu` along `axis`; `None` where it has no parity that way.
    pub(super) fn line(&self, pu: Pu, axis: CodeAxis) -> Option<ParityLine> {
        let (superblock, within) = self.within_superblock(pu);
        let code = self.code_of(superblock)?;
        let role = code.role(within, self.opened_gaps(superblock));
        match axis {
            CodeAxis::Dies if matches!(role, PuRole::Data | PuRole::Parity) => {
                self.stripe_line(superblock, code.stripe_of(within))
            }
            CodeAxis::Block if role != PuRole::Gap => {
                let data = code.block_code()?.data_shards();
                let lanes = self.layout.lanes().len() as u32;
                let number = code.group_of(within).start * lanes + within.0 % lanes;
                Some(ParityLine { superblock, axis, number, data })
            }
            _ => None,
        }
    }

    fn code_of_line(line: ParityLine, code: &StripeLayout) -> Option<&ErasureCode> {
        match line.axis {
            CodeAxis::Dies => code.code(),
            CodeAxis::Block => code.block_code(),
        }
    }

    /// The program units of a line, each with its number in the code: data in order, then parity.
    pub(super) fn members(&self, line: ParityLine) -> impl Iterator<Item = (Pu, usize)> {
        let (superblock, axis, number, most) = (line.superblock, line.axis, line.number, line.data);
        let first = self.layout.pu_at(superblock, PuWithin(0));
        let gaps = self.opened_gaps(superblock);
        let code = self.code_of(superblock).expect("a line is of a superblock with a code");
        let stripe = (axis == CodeAxis::Dies).then(|| {
            let data = PuWithin::each(code.members(number))
                .filter(move |&pu| self.role(superblock, pu) == PuRole::Data)
                .enumerate();
            let parity = code.parity_of(number, gaps).enumerate().map(move |(index, pu)| (index + most, pu));
            data.chain(parity).map(move |(index, pu)| (self.layout.pu_at(superblock, pu), index))
        });
        let block = (axis == CodeAxis::Block).then(|| {
            let lanes = self.layout.lanes().len() as u32;
            let rows = code.group_of(PuWithin(number));
            let count = rows.end - rows.start;
            (0..count).map(move |row| {
                let index = if row + 1 == count { most } else { row as usize };
                (first + (number + row * lanes), index)
            })
        });
        stripe.into_iter().flatten().chain(block.into_iter().flatten())
    }

    /// All parities of one unit of a line, as units to be written; data that was never written is zero. `None` where no bytes are kept.
    fn sums(
        &mut self,
        superblock: SuperblockId,
        line: ParityLine,
        members: &[(Pu, usize)],
        unit: u32,
    ) -> Option<Vec<UnitBytes>> {
        let code = Self::code_of_line(line, self.code_of(superblock)?)?;
        let count = code.parity_shards();
        let contents = self.contents.as_mut()?;
        let blanks = if data_of(&self.layout, contents, line, members, unit)
            .any(|(_, unit)| unit.length().is_some())
        {
            (0..count).map(|_| contents.blank()).collect()
        } else {
            Vec::new()
        };
        let code = Self::code_of_line(line, self.code_of(superblock)?)?;
        let data = data_of(&self.layout, self.contents.as_ref()?, line, members, unit);
        Some(shards::encode(code, data, blanks))
    }

    /// As [`Ftl::sums`], in memory of their own, to be compared.
    fn encoded(
        &self,
        superblock: SuperblockId,
        line: ParityLine,
        members: &[(Pu, usize)],
        unit: u32,
    ) -> Option<Vec<UnitBytes>> {
        let code = Self::code_of_line(line, self.code_of(superblock)?)?;
        let data = data_of(&self.layout, self.contents.as_ref()?, line, members, unit);
        let length = self.config.mapping_unit.0 as usize;
        let blanks = (0..code.parity_shards()).map(|_| BlankUnit::new(length)).collect();
        Some(shards::encode(code, data, blanks))
    }

    /// The unit of slot `slot` rebuilt along `axis` from other members: those in `had` (program units that
    /// were read, or were in the controller's memory when the recovery began), and those that are not on flash. For drives that
    /// keep bytes. `None` if no bytes are kept, the slot has no parity that way, or these members do not suffice.
    pub(super) fn rebuild(&self, slot: Ppn, axis: CodeAxis, had: &[Pu]) -> Option<UnitBytes> {
        let (pu, unit) = self.layout.pu_of(slot);
        let (superblock, _) = self.within_superblock(pu);
        let line = self.line(pu, axis)?;
        let code = self.code_of(superblock).and_then(|code| Self::code_of_line(line, code))?;
        let contents = self.contents.as_ref()?;
        let members: Vec<(Pu, usize)> = self.members(line).collect();
        let wanted = members.iter().find(|&&(other, _)| other == pu)?.1;
        // The parity of a stripe that is not complete is in the controller's memory.
        let in_memory = self.encoded(superblock, line, &members, unit)?;
        let mut present = outlast_codes::ShardSet::default();
        let mut had_of_line = vec![None; code.shards()];
        // Members that a line lacks to the length of the code are zero.
        let data = members.iter().filter(|&&(_, index)| index < line.data).count();
        for index in data..line.data {
            present = present.with(index);
        }
        for &(other, index) in members.iter().filter(|&&(other, _)| other != pu) {
            let (on_flash, raw) = (
                self.is_on_flash(superblock, other),
                contents.raw((self.layout.first_slot_of(other) + unit).0),
            );
            let gone = self.lanes.has_failed(other);
            if (gone || on_flash) && !had.contains(&other) {
                continue;
            }
            match raw {
                Some(raw) => had_of_line[index] = Some(raw),
                None if index < line.data => {}
                None if self.is_skipped(superblock, self.within_superblock(other).1) => {
                    continue;
                }
                None => had_of_line[index] = Some(&in_memory[index - line.data]),
            }
            present = present.with(index);
        }
        let target = outlast_codes::ShardSet::default().with(wanted);
        let decoder = code.decoder(&present, &target).ok()?;
        Some(shards::rebuild(&decoder, &had_of_line, self.config.mapping_unit.0 as usize))
    }

    /// Checks that the parity of every complete line, and every cover, is that of its pages.
    pub(super) fn check_parity(&self) -> Result<(), String> {
        if self.contents.is_none() {
            return Ok(());
        }
        for superblock in self.superblocks.ids() {
            let Some(code) = self.code_of(superblock) else { continue };
            for stripe in 0..code.count() {
                let lane_lines = PuWithin::each(code.block_parity_after(stripe))
                    .filter_map(|pu| self.line(self.layout.pu_at(superblock, pu), CodeAxis::Block));
                for line in self.stripe_line(superblock, stripe).into_iter().chain(lane_lines) {
                    self.check_line(superblock, line)?;
                }
            }
        }
        Ok(())
    }

    fn check_line(&self, superblock: SuperblockId, line: ParityLine) -> Result<(), String> {
        let Some(contents) = self.contents.as_ref() else { return Ok(()) };
        let units = self.layout.units_per_pu();
        let members: Vec<(Pu, usize)> = self.members(line).collect();
        for unit in 0..units {
            let sums = self.encoded(superblock, line, &members, unit).unwrap_or_default();
            for &(pu, index) in members.iter().filter(|&&(_, index)| index >= line.data) {
                let written = contents.raw((self.layout.first_slot_of(pu) + unit).0);
                if written.is_some_and(|written| *written != sums[index - line.data]) {
                    return Err(format!(
                        "line {} ({:?}) of superblock {superblock}: parity of unit {unit} is off",
                        line.number, line.axis
                    ));
                }
            }
        }
        let cover = (line.axis == CodeAxis::Dies
            && self.superblocks.state(superblock) == SuperblockState::Open)
            .then(|| self.partials.cover(superblock, line.number))
            .flatten();
        if let Some(cover) = cover {
            self.check_cover(superblock, line, &members, cover)?;
        }
        Ok(())
    }

    /// Checks that the cover gives the bytes that were written, if bytes are kept.
    pub(super) fn check_cover_gives(
        &self,
        pu: Pu,
        unit: u32,
        cover: &crate::partials::StripeCover,
        had: &[bool],
        missing: &[Pu],
    ) {
        let Some(contents) = self.contents.as_ref() else { return };
        let (superblock, _) = self.within_superblock(pu);
        let Some(line) = self.line(pu, CodeAxis::Dies) else { return };
        let Some(code) = self.code_of(superblock).and_then(StripeLayout::code) else { return };
        let end = self.layout.pu_at(superblock, cover.until);
        let mut had_of_line = vec![None; code.shards()];
        let mut present =
            (0..line.data).fold(outlast_codes::ShardSet::default(), outlast_codes::ShardSet::with);
        let mut wanted = None;
        for (other, index) in self.members(line).filter(|&(_, index)| index < line.data) {
            if other == pu {
                wanted = Some(index);
            }
            if missing.contains(&other) {
                present = present.without(index);
            } else if let Some(raw) =
                contents.raw((self.layout.first_slot_of(other) + unit).0).filter(|_| other < end)
            {
                had_of_line[index] = Some(raw);
            }
        }
        for (index, (&parity, _)) in cover.pus.iter().zip(had).enumerate().filter(|(_, (_, had))| **had) {
            if let Some(raw) = contents.raw((self.layout.first_slot_of(parity) + unit).0) {
                had_of_line[line.data + index] = Some(raw);
                present = present.with(line.data + index);
            }
        }
        let Some(wanted) = wanted else { return };
        let target = outlast_codes::ShardSet::default().with(wanted);
        let decoder = code.decoder(&present, &target).expect("no more is missing than there is parity");
        let rebuilt = shards::rebuild(&decoder, &had_of_line, self.config.mapping_unit.0 as usize);
        let written = contents.raw((self.layout.first_slot_of(pu) + unit).0);
        let written = written.cloned().unwrap_or(UnitBytes::zero(0));
        assert!(rebuilt == written, "the cover of program unit {pu} gave other bytes than were written");
    }

    /// Checks the cover of a stripe against the data that it covers.
    fn check_cover(
        &self,
        superblock: SuperblockId,
        line: ParityLine,
        members: &[(Pu, usize)],
        cover: &crate::partials::StripeCover,
    ) -> Result<(), String> {
        let Some(contents) = self.contents.as_ref() else { return Ok(()) };
        let (units, end) = (self.layout.units_per_pu(), self.layout.pu_at(superblock, cover.until));
        let covered: Vec<(Pu, usize)> =
            members.iter().copied().filter(|&(pu, index)| index < line.data && pu < end).collect();
        for unit in 0..units {
            let sums = self.encoded(superblock, line, &covered, unit).unwrap_or_default();
            for (&pu, sum) in cover.pus.iter().zip(&sums) {
                let written = contents.raw((self.layout.first_slot_of(pu) + unit).0);
                if written.is_none_or(|written| written != sum) {
                    return Err(format!(
                        "stripe {} of superblock {superblock}: its cover is off",
                        line.number
                    ));
                }
            }
        }
        Ok(())
    }
}

/// Unit `unit` of each data member of a line, with the member's number in the code.
fn data_of<'a>(
    layout: &'a SlotLayout,
    contents: &'a SlotBytes,
    line: ParityLine,
    members: &'a [(Pu, usize)],
    unit: u32,
) -> impl Iterator<Item = (usize, &'a UnitBytes)> {
    let data = members.iter().filter(move |&&(_, index)| index < line.data);
    data.filter_map(move |&(pu, index)| Some((index, contents.raw((layout.first_slot_of(pu) + unit).0)?)))
}
