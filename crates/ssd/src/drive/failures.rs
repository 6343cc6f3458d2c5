//! Something breaks, and a die is given up: power may fail, and a die concerns its core, the repair and the host.

use crate::ssd::Ssd;
use outlast_media::{DieDamage, DriveFault};
use outlast_units::{CoreId, DieId, LocalDie, Nanos};

impl Ssd {
    /// From now on operations may fail.
    pub(crate) fn expect_faults(&mut self) {
        self.context.expect_faults();
        let wordline = self.context.config.reliability.as_ref().and_then(|r| r.page_types());
        let wordline = wordline.map_or(1, |types| types.factors.len() as u32);
        for core in &mut self.cores {
            core.expect_faults(&self.context.config, wordline, self.seed);
        }
    }

    /// Something breaks now.
    ///
    /// # Panics
    /// If it is of a die that the drive does not have.
    pub fn inject(&mut self, now: Nanos, fault: DriveFault) {
        if let DieDamage::Power(tear) = fault.damage {
            self.tear_next(tear);
            let aborted = self.host.abort(now, &mut self.context.commands);
            self.context.note(|ledger| ledger.abort(now, &aborted));
            self.cut(now, now);
            self.schedule.count_injected();
            return;
        }
        if fault.damage == DieDamage::ParityCache {
            self.lose_parity_cache();
            self.schedule.count_injected();
            return;
        }
        self.expect_faults();
        for die in fault.dies(&self.context.config.geometry) {
            assert!(
                usize::from(die) < self.context.places.len(),
                "die {die} breaks, of {}",
                self.context.places.len()
            );
            let (core, local) = self.context.core_of_die(DieId(die));
            self.cores[core].inject(local, fault.damage);
            let plane = match fault.damage {
                DieDamage::Plane { plane } => Some(plane),
                DieDamage::Die | DieDamage::Chip => None,
                _ => continue,
            };
            if let Some(watch) = &mut self.context.watch {
                // Firmware will find out.
                watch.detector.note_broken(now, DieId(die));
            } else {
                self.give_up(now, core, local, plane);
            }
        }
        self.schedule.count_injected();
    }

    /// Core `core` uses its die `local`, or only `plane` of it, no more.
    pub(crate) fn give_up(&mut self, now: Nanos, core: CoreId, local: LocalDie, plane: Option<u16>) {
        self.cores[core].give_up_die(now, &mut self.context, local, plane);
        self.settle(now);
    }
}
