//! Checks of the bytes of parity: complete lines, and covers.

use super::shards;
use crate::partials::StripeCover;
use crate::space::contents::SlotContents;
use crate::space::pus::ParityLine;
use crate::space::{CodeAxis, PuStates};
use crate::stripes::StripeLayout;
use outlast_decisions::SuperblockState;
use outlast_media::UnitBytes;
use outlast_units::{Pu, PuWithin, SuperblockId};

impl SlotContents {
    /// Checks that the parity of every complete line, and every cover, is that of its pages.
    pub(crate) fn check_parity(&self, pus: &PuStates) -> Result<(), String> {
        if self.bytes.is_none() {
            return Ok(());
        }
        for superblock in pus.superblocks.ids() {
            let Some(code) = pus.code_of(superblock) else { continue };
            for stripe in 0..code.count() {
                let lane_lines = PuWithin::each(code.block_parity_after(stripe))
                    .filter_map(|pu| pus.line(pus.layout.pu_at(superblock, pu), CodeAxis::Block));
                for line in pus.stripe_line(superblock, stripe).into_iter().chain(lane_lines) {
                    self.check_line(pus, superblock, line)?;
                }
            }
        }
        Ok(())
    }

    fn check_line(&self, pus: &PuStates, superblock: SuperblockId, line: ParityLine) -> Result<(), String> {
        let Some(contents) = self.bytes.as_ref() else { return Ok(()) };
        let units = pus.layout.units_per_pu();
        let members: Vec<(Pu, usize)> = pus.members(line).collect();
        for unit in 0..units {
            let sums = self.encoded(pus, superblock, line, &members, unit).unwrap_or_default();
            for &(pu, index) in members.iter().filter(|&&(_, index)| index >= line.data) {
                let written = contents.raw((pus.layout.first_slot_of(pu) + unit).0);
                if written.is_some_and(|written| *written != sums[index - line.data]) {
                    return Err(format!(
                        "line {} ({:?}) of superblock {superblock}: parity of unit {unit} is off",
                        line.number, line.axis
                    ));
                }
            }
        }
        let cover = (line.axis == CodeAxis::Dies
            && pus.superblocks.state(superblock) == SuperblockState::Open)
            .then(|| pus.partials.cover(superblock, line.number))
            .flatten();
        if let Some(cover) = cover {
            self.check_cover(pus, superblock, line, &members, cover)?;
        }
        Ok(())
    }

    /// Checks that the cover gives the bytes that were written, if bytes are kept.
    pub(crate) fn check_cover_gives(
        &self,
        pus: &PuStates,
        pu: Pu,
        unit: u32,
        cover: &StripeCover,
        had: &[bool],
        missing: &[Pu],
    ) {
        let Some(contents) = self.bytes.as_ref() else { return };
        let (superblock, _) = pus.within_superblock(pu);
        let Some(line) = pus.line(pu, CodeAxis::Dies) else { return };
        let Some(code) = pus.code_of(superblock).and_then(StripeLayout::code) else { return };
        let end = pus.layout.pu_at(superblock, cover.until);
        let mut had_of_line = vec![None; code.shards()];
        let mut present =
            (0..line.data).fold(outlast_codes::ShardSet::default(), outlast_codes::ShardSet::with);
        let mut wanted = None;
        for (other, index) in pus.members(line).filter(|&(_, index)| index < line.data) {
            if other == pu {
                wanted = Some(index);
            }
            if missing.contains(&other) {
                present = present.without(index);
            } else if let Some(raw) =
                contents.raw((pus.layout.first_slot_of(other) + unit).0).filter(|_| other < end)
            {
                had_of_line[index] = Some(raw);
            }
        }
        for (index, (&parity, _)) in cover.pus.iter().zip(had).enumerate().filter(|(_, (_, had))| **had) {
            if let Some(raw) = contents.raw((pus.layout.first_slot_of(parity) + unit).0) {
                had_of_line[line.data + index] = Some(raw);
                present = present.with(line.data + index);
            }
        }
        let Some(wanted) = wanted else { return };
        let target = outlast_codes::ShardSet::default().with(wanted);
        let decoder = code.decoder(&present, &target).expect("no more is missing than there is parity");
        let rebuilt = shards::rebuild(&decoder, &had_of_line, self.unit);
        let written = contents.raw((pus.layout.first_slot_of(pu) + unit).0);
        let written = written.cloned().unwrap_or(UnitBytes::zero(0));
        assert!(rebuilt == written, "the cover of program unit {pu} gave other bytes than were written");
    }

    /// Checks the cover of a stripe against the data that it covers.
    fn check_cover(
        &self,
        pus: &PuStates,
        superblock: SuperblockId,
        line: ParityLine,
        members: &[(Pu, usize)],
        cover: &StripeCover,
    ) -> Result<(), String> {
        let Some(contents) = self.bytes.as_ref() else { return Ok(()) };
        let (units, end) = (pus.layout.units_per_pu(), pus.layout.pu_at(superblock, cover.until));
        let covered: Vec<(Pu, usize)> =
            members.iter().copied().filter(|&(pu, index)| index < line.data && pu < end).collect();
        for unit in 0..units {
            let sums = self.encoded(pus, superblock, line, &covered, unit).unwrap_or_default();
            for (&pu, sum) in cover.pus.iter().zip(&sums) {
                let written = contents.raw((pus.layout.first_slot_of(pu) + unit).0);
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
