//! Answers about ranges of its sectors, without taking time: the truth, also where its firmware does not know it yet.

use crate::ssd::Ssd;
use outlast_controller::can_be_read;
use outlast_device::{Extent, ExtentState, Extents, Held, Peek};
use outlast_media::UnitBytes;
use outlast_units::{Lba, SECTOR_BYTES};

impl Ssd {
    pub(crate) fn extents_of(&self, lba: Lba, sectors: u64) -> Vec<Extent> {
        let end = lba.0.saturating_add(sectors).min(self.context.size.sectors);
        let per_unit = u64::from(self.context.size.sectors_per_unit);
        let mut extents = Extents::default();
        let mut at = lba.0;
        while at < end {
            let unit = at / per_unit;
            let next = ((unit + 1) * per_unit).min(end);
            extents.push(Lba(at), next - at, self.state_of(unit));
            at = next;
        }
        extents.into_vec()
    }

    pub(crate) fn peek_at(&self, lba: Lba, sectors: u64, to: &mut Vec<Peek>) {
        let end = lba.0.saturating_add(sectors).min(self.context.size.sectors);
        let per_unit = u64::from(self.context.size.sectors_per_unit);
        let mut at = lba.0;
        while at < end {
            let unit = at / per_unit;
            let next = ((unit + 1) * per_unit).min(end);
            let from = (at % per_unit * SECTOR_BYTES) as usize;
            to.push(Peek { lba: Lba(at), sectors: next - at, held: self.held_by(unit, from) });
            at = next;
        }
    }

    /// What unit `unit` holds from byte `from` on.
    fn held_by(&self, unit: u64, from: usize) -> Held {
        if self.state_of(unit).lost {
            return Held::Lost;
        }
        let (core, lpn) = self.directory().place_of(unit);
        if let Some(held) = self.context.zones.as_ref().and_then(|zones| zones.area_content(unit)) {
            return held.memory().map_or(Held::Zeroes, |memory| Held::Bytes { memory, from });
        }
        let ftl = self.cores[core].ftl();
        let slot = ftl.lookup(lpn);
        if !slot.is_some() {
            return Held::Zeroes;
        }
        match ftl.load(slot).map(UnitBytes::memory) {
            Some(Some(memory)) => Held::Bytes { memory, from },
            Some(None) => Held::Zeroes,
            None => Held::Unknown,
        }
    }

    fn state_of(&self, unit: u64) -> ExtentState {
        let (core, lpn) = self.directory().place_of(unit);
        if self.context.zones.as_ref().is_some_and(|zones| zones.is_in_area(unit)) {
            return ExtentState { allocated: true, lost: false, misplaced: false, volatile: false };
        }
        let ftl = self.cores[core].ftl();
        let slot = ftl.lookup(lpn);
        if !slot.is_some() {
            let (lost, volatile) = (ftl.is_lost(lpn), ftl.is_volatile(lpn));
            return ExtentState { allocated: lost, lost, misplaced: false, volatile };
        }
        let (pu, own) = ftl.layout().pu_of(slot);
        let lost = ftl.space().pus().is_programmed(slot)
            && !can_be_read(&self.cores[core].lines(&self.context), pu, own);
        let asked_for = self.to_be_written_again(unit, |_, _, _| true);
        ExtentState {
            allocated: true,
            lost: lost || asked_for.is_some_and(|(_, readable)| !readable),
            misplaced: !lost && asked_for.is_some_and(|(_, readable)| readable),
            volatile: ftl.is_volatile(lpn),
        }
    }
}
