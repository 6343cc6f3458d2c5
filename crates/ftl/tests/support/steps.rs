//! Random steps, and what must be true after each.

use super::kind::{DIES, UNITS};
use super::rig::{Page, Rig};
use outlast_ftl::{CodeAxis, LineMember, StreamCause};
use outlast_settings::ftl::CodeConfig;
use outlast_units::{Lpn, Ppn, Stream};
use proptest::prelude::*;

impl Rig {
    pub(crate) fn step(&mut self, step: u8, number: u32) {
        let lpn = Lpn(number % UNITS as u32);
        match step {
            0..=29 => {
                for _ in 0..=number % 9 {
                    let other = Lpn(self.rng.below(UNITS) as u32);
                    self.write(step % 6, if step < 9 { lpn } else { other });
                }
            }
            30..=32 => self.trim(lpn),
            33..=45 => {
                for _ in 0..=number % 5 {
                    let lane = self.rng.below(self.queues.len() as u64) as usize;
                    self.program(lane);
                }
            }
            46 => self.flush(),
            47..=48 => self.collect(StreamCause::Gc, 1.0),
            49 => self.collect(StreamCause::Gc, 0.5),
            50..=52 => self.cover(Stream(number as u8 % self.ftl.streams().count())),
            53..=54 => self.cut(),
            55 => {
                let parity = (number / 8 % 3) as u8;
                let block = number.is_multiple_of(4).then_some(1);
                let code = CodeConfig { data: DIES - u16::from(parity), parity, block };
                // Refused where it leaves too little room.
                let _ = self.ftl.set_code(step % self.ftl.streams().classes(), code);
            }
            56 if number.is_multiple_of(8) => self.fail_die(number.is_multiple_of(3).then_some(1)),
            57 if self.kind.levels => self.collect(StreamCause::WearLeveling, 1.0),
            58 if self.kind.scrubs => self.collect(StreamCause::Scrub, 1.0),
            59 => self.lose_cache(),
            60..=62 => self.flush_map(number.is_multiple_of(2)),
            _ => {}
        }
        self.erase_formers();
    }

    /// True if the unit in `slot`, on flash, can be rebuilt; along every axis that suffices it is as it was written.
    pub(crate) fn comes_back(&mut self, slot: Ppn) -> bool {
        let (pu, _) = self.ftl.layout().pu_of(slot);
        let mut comes = false;
        for axis in CodeAxis::ALL {
            let Some(needed) = self.ftl.parity().line_needs(pu, axis) else { continue };
            let (mut available, mut read, mut unread) = (0, Vec::new(), Vec::new());
            for member in self.ftl.parity().line_of(pu, axis) {
                match member {
                    LineMember::Empty => available += 1,
                    LineMember::Buffered(pu) => read.push(pu),
                    LineMember::OnFlash(pu) if !self.is_unreadable(pu) => unread.push(pu),
                    LineMember::OnFlash(_) | LineMember::Gone => {}
                }
            }
            while available + (read.len() as u32) < needed && !unread.is_empty() {
                read.push(unread.swap_remove(self.rng.below(unread.len() as u64) as usize));
            }
            if available + (read.len() as u32) < needed {
                continue;
            }
            let unit = self.ftl.parity().rebuild(slot, axis, &read).expect("enough members");
            assert_eq!(Some(&unit), self.ftl.space().image(slot), "slot {slot} along {axis:?}");
            self.rebuilt += 1;
            comes = true;
        }
        comes
    }

    /// True if the unit in `slot` must come back: its code has parity over dies, and nothing but dies has failed; no other than its own, which
    /// therefore was there when the superblock was opened.
    fn is_promised(&self, slot: Ppn) -> bool {
        let (pu, _) = self.ftl.layout().pu_of(slot);
        let others = u16::from(self.dead != 0 && !self.ftl.space().pus().is_dead_lane(pu))
            + self.dead.saturating_sub(1);
        !self.kind.late
            && self.kind.failures == u64::MAX
            && others == 0
            && self.ftl.parity().code_of_pu(pu).parity != 0
    }

    pub(crate) fn check(&mut self) -> Result<(), TestCaseError> {
        prop_assert_eq!(self.ftl.self_check(), Ok(()));
        // A snapshot of it would be read again.
        prop_assert_eq!(self.ftl.check_restored(), Ok(()));
        for lpn in (0..UNITS as u32).map(Lpn) {
            let slot = self.ftl.lookup(lpn);
            let lost = self.ftl.is_lost(lpn);
            match self.newest.get(&lpn) {
                None => prop_assert!(!slot.is_some() && !lost, "page {} has data from nowhere", lpn),
                Some(Page::Lost) => {
                    prop_assert!(!slot.is_some() && lost, "page {} is lost and has data", lpn);
                }
                Some(Page::Written(version)) => {
                    prop_assert!(slot.is_some() && !lost, "page {} of write {} is gone", lpn, version);
                    prop_assert_eq!(self.version(slot), *version, "page {}", lpn);
                    if self.ftl.space().pus().is_programmed(slot) {
                        let comes = self.comes_back(slot);
                        prop_assert!(comes || !self.is_promised(slot), "page {} does not come back", lpn);
                    }
                }
            }
        }
        Ok(())
    }
}
