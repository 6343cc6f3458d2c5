//! The bytes of parity, and rebuilding from them.

use super::shards;
use crate::layout::SlotLayout;
use crate::partials::StripeCover;
use crate::space::contents::SlotContents;
use crate::space::pus::ParityLine;
use crate::space::{CodeAxis, PuStates};
use outlast_media::{BlankUnit, SlotBytes, UnitBytes};
use outlast_units::{Ppn, Pu, PuWithin, SuperblockId};

impl SlotContents {
    /// Fills program unit `parity_pu` with the parity of its line along `axis`, if bytes are kept.
    pub(crate) fn fill_parity(
        &mut self,
        pus: &PuStates,
        superblock: SuperblockId,
        axis: CodeAxis,
        parity_pu: Pu,
    ) {
        let units = pus.layout.units_per_pu();
        if self.bytes.is_none() {
            return;
        }
        let Some(line) = pus.line(parity_pu, axis) else { return };
        let members: Vec<(Pu, usize)> = pus.members(line).collect();
        let Some(&(_, index)) = members.iter().find(|&&(pu, _)| pu == parity_pu) else { return };
        for unit in 0..units {
            let Some(mut sums) = self.sums(pus, superblock, line, &members, unit) else { return };
            self.write_parity(
                pus.layout.first_slot_of(parity_pu) + unit,
                sums.swap_remove(index - line.data),
            );
        }
    }

    /// The bytes of all parity of a stripe at once, except for what cannot be programmed.
    pub(crate) fn compute_stripe(&mut self, pus: &PuStates, superblock: SuperblockId, stripe: u32) {
        let Some(line) = pus.stripe_line(superblock, stripe).filter(|_| self.bytes.is_some()) else {
            return;
        };
        let members: Vec<(Pu, usize)> = pus.members(line).collect();
        let first = pus.layout.pu_at(superblock, PuWithin(0));
        let parity = members
            .iter()
            .copied()
            .filter(|&(pu, index)| index >= line.data && !pus.is_skipped(superblock, PuWithin(pu - first)));
        let parity: Vec<(Pu, usize)> = parity.collect();
        for unit in 0..pus.layout.units_per_pu() {
            let Some(sums) = self.sums(pus, superblock, line, &members, unit) else { return };
            for (sum, index) in sums.into_iter().zip(line.data..) {
                if let Some(&(pu, _)) = parity.iter().find(|&&(_, other)| other == index) {
                    self.write_parity(pus.layout.first_slot_of(pu) + unit, sum);
                }
            }
        }
    }

    /// The bytes of partial parity `cover`: of the full program units of stripe `stripe`, not of the one begun.
    pub(crate) fn compute_cover(
        &mut self,
        pus: &PuStates,
        superblock: SuperblockId,
        stripe: u32,
        cover: &StripeCover,
    ) {
        let Some(line) = pus.stripe_line(superblock, stripe).filter(|_| self.bytes.is_some()) else {
            return;
        };
        let end = pus.layout.pu_at(superblock, cover.until);
        let members: Vec<(Pu, usize)> =
            pus.members(line).filter(|&(pu, index)| index < line.data && pu < end).collect();
        for unit in 0..pus.layout.units_per_pu() {
            let Some(sums) = self.sums(pus, superblock, line, &members, unit) else { return };
            for (&pu, sum) in cover.pus.iter().zip(sums) {
                self.write_parity(pus.layout.first_slot_of(pu) + unit, sum);
            }
        }
    }

    fn write_parity(&mut self, slot: Ppn, sum: UnitBytes) {
        if let Some(contents) = &mut self.bytes {
            contents.write_parity(slot.0, sum);
        }
    }

    /// All parities of one unit of a line, as units to be written; data that was never written is zero. `None` where no bytes are kept.
    fn sums(
        &mut self,
        pus: &PuStates,
        superblock: SuperblockId,
        line: ParityLine,
        members: &[(Pu, usize)],
        unit: u32,
    ) -> Option<Vec<UnitBytes>> {
        let code = PuStates::code_of_line(line, pus.code_of(superblock)?)?;
        let count = code.parity_shards();
        let contents = self.bytes.as_mut()?;
        let blanks =
            if data_of(&pus.layout, contents, line, members, unit).any(|(_, unit)| unit.length().is_some()) {
                (0..count).map(|_| contents.blank()).collect()
            } else {
                Vec::new()
            };
        let code = PuStates::code_of_line(line, pus.code_of(superblock)?)?;
        let data = data_of(&pus.layout, self.bytes.as_ref()?, line, members, unit);
        Some(shards::encode(code, data, blanks))
    }

    /// As [`SlotContents::sums`], in memory of their own, to be compared.
    pub(crate) fn encoded(
        &self,
        pus: &PuStates,
        superblock: SuperblockId,
        line: ParityLine,
        members: &[(Pu, usize)],
        unit: u32,
    ) -> Option<Vec<UnitBytes>> {
        let code = PuStates::code_of_line(line, pus.code_of(superblock)?)?;
        let data = data_of(&pus.layout, self.bytes.as_ref()?, line, members, unit);
        let length = self.unit;
        let blanks = (0..code.parity_shards()).map(|_| BlankUnit::new(length)).collect();
        Some(shards::encode(code, data, blanks))
    }

    /// The unit of slot `slot` rebuilt along `axis` from other members: those in `had` (program units that
    /// were read, or were in the controller's memory when the recovery began), and those that are not on flash. For drives that
    /// keep bytes. `None` if no bytes are kept, the slot has no parity that way, or these members do not suffice.
    pub(crate) fn rebuild(&self, pus: &PuStates, slot: Ppn, axis: CodeAxis, had: &[Pu]) -> Option<UnitBytes> {
        let (pu, unit) = pus.layout.pu_of(slot);
        let (superblock, _) = pus.within_superblock(pu);
        let line = pus.line(pu, axis)?;
        let code = pus.code_of(superblock).and_then(|code| PuStates::code_of_line(line, code))?;
        let contents = self.bytes.as_ref()?;
        let members: Vec<(Pu, usize)> = pus.members(line).collect();
        let wanted = members.iter().find(|&&(other, _)| other == pu)?.1;
        // The parity of a stripe that is not complete is in the controller's memory.
        let in_memory = self.encoded(pus, superblock, line, &members, unit)?;
        let mut present = outlast_codes::ShardSet::default();
        let mut had_of_line = vec![None; code.shards()];
        // Members that a line lacks to the length of the code are zero.
        let data = members.iter().filter(|&&(_, index)| index < line.data).count();
        for index in data..line.data {
            present = present.with(index);
        }
        for &(other, index) in members.iter().filter(|&&(other, _)| other != pu) {
            let (on_flash, raw) = (
                pus.is_on_flash(superblock, other),
                contents.raw((pus.layout.first_slot_of(other) + unit).0),
            );
            let gone = pus.lanes.has_failed(other);
            if (gone || on_flash) && !had.contains(&other) {
                continue;
            }
            match raw {
                Some(raw) => had_of_line[index] = Some(raw),
                None if index < line.data => {}
                None if pus.is_skipped(superblock, pus.within_superblock(other).1) => {
                    continue;
                }
                None => had_of_line[index] = Some(&in_memory[index - line.data]),
            }
            present = present.with(index);
        }
        let target = outlast_codes::ShardSet::default().with(wanted);
        let decoder = code.decoder(&present, &target).ok()?;
        Some(shards::rebuild(&decoder, &had_of_line, self.unit))
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
