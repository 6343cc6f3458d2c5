//! Something breaks, and a die is given up. This takes the whole drive: power may fail, and a die's stripes, streams and waiting writes
//! are concerned at once.

use crate::core::Due;
use crate::ssd::Ssd;
use outlast_media::{DieDamage, DieFaults, DriveFault};
use outlast_units::{CoreId, DieId, LocalDie, Nanos};

impl Ssd {
    /// From now on operations may fail.
    pub(crate) fn expect_faults(&mut self) {
        self.fallible = true;
        let wordline = self.config.reliability.as_ref().and_then(|r| r.page_types());
        let wordline = wordline.map_or(1, |types| types.factors.len() as u32);
        for core in &mut self.cores {
            core.faults.get_or_insert_with(|| {
                let dies = core.dies.len() as u16;
                let first = core.dies[LocalDie(0)];
                DieFaults::new(&self.config.geometry, dies, first, wordline, &self.config.hazards, self.seed)
            });
        }
    }

    /// Something breaks now.
    ///
    /// # Panics
    /// If it is of a die that the drive does not have.
    pub fn inject(&mut self, now: Nanos, fault: DriveFault) {
        if let DieDamage::Power(tear) = fault.damage {
            self.tear_next(tear);
            let aborted = self.host.abort(now);
            self.note(|ledger| ledger.abort(now, &aborted));
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
        for die in fault.dies(&self.config.geometry) {
            assert!(usize::from(die) < self.places.len(), "die {die} breaks, of {}", self.places.len());
            let (core, local) = self.core_of_die(DieId(die));
            let state = &mut self.cores[core];
            if let Some(faults) = &mut state.faults {
                faults.inject(local, fault.damage);
            }
            let plane = match fault.damage {
                DieDamage::Plane { plane } => Some(plane),
                DieDamage::Die | DieDamage::Chip => None,
                _ => continue,
            };
            if let Some(watch) = &mut self.watch {
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
        assert!(local.index() < self.cores[core].dies.len(), "core {core} has no die {local}");
        self.cores[core].ftl.end_rebuild();
        self.cores[core].ftl.give_up_die(local, plane);
        debug_assert!(
            plane.is_some() || self.cores[core].ftl.is_dead_die(local),
            "a die given up takes no data"
        );
        // Stripes may have ended where the die would have come next.
        self.program_all_parity(now, core);
        self.restore_redundancy(now, core, local, plane);
        self.reprotect_all(now, core);
        self.make_due(core, Due::Admit);
        self.make_due_then(core, Due::Collect);
        self.settle(now);
    }
}
