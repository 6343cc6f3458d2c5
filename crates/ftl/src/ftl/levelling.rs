//! Wear levelling without time: its share of the dies' operations is that of a timed run while the host has writes waiting.

use crate::ftl::Ftl;
use crate::streams::StreamCause;
use crate::turns::{ColdVictim, UntimedVictim};
use outlast_units::{Ppn, to_count};

impl Ftl {
    /// Begins to move the superblock that wear levelling chooses, if it moves none.
    pub(super) fn begin_cold(&mut self) {
        if self.turns.cold.is_some() {
            return;
        }
        let Some(superblock) = self.choose_cold() else { return };
        let stream = self.space.streams().wear_leveling(self.space.pus().class_of_superblock(superblock));
        self.space.begin_relocation(superblock, stream, StreamCause::WearLeveling);
        let next = self.space.layout().first_slot(superblock);
        self.turns.cold = Some(ColdVictim { superblock, stream, next });
        self.turns.programmed = self.space.counts().pus_programmed();
        self.level_wear(0);
    }

    /// Read operations of the next stretch of `victim` that collection is about to handle.
    pub(super) fn reads_of(&self, victim: &UntimedVictim) -> u32 {
        let units = self.space.layout().units_per_pu();
        let end =
            self.space.layout().first_slot(victim.superblock).0 + self.space.layout().units_per_superblock();
        let until = victim.next.0.saturating_add(self.stretch).min(end);
        let pus = (victim.next.0..until).step_by(units as usize);
        to_count(pus.filter(|&at| self.pages.map().valid_in(Ppn(at), units.min(end - at)) != 0).count())
    }

    /// Gives wear levelling its turns for `operations` more operations of the dies, beside programs.
    pub(super) fn level_wear(&mut self, operations: u32) {
        let programs = self.space.counts().pus_programmed() - self.turns.programmed;
        self.turns.owed += programs + u64::from(operations);
        while let Some(cold) = self.turns.cold {
            let price = self.price_of_next(cold);
            if self.turns.owed < price {
                break;
            }
            self.turns.owed -= price;
            self.move_cold(cold);
        }
        self.turns.programmed = self.space.counts().pus_programmed();
    }

    /// Moves the rest of the superblock that wear levelling has begun.
    pub(super) fn finish_cold(&mut self) {
        while let Some(cold) = self.turns.cold {
            self.move_cold(cold);
        }
    }

    /// The first program unit of `cold` from the next on that holds valid units, and these, a bit each.
    fn next_cold(&self, cold: ColdVictim) -> Option<(Ppn, u64)> {
        let units = self.space.layout().units_per_pu();
        let end =
            self.space.layout().first_slot(cold.superblock).0 + self.space.layout().units_per_superblock();
        let pus = (cold.next.0..end).step_by(units as usize);
        pus.map(|at| (Ppn(at), self.pages.map().valid_in(Ppn(at), units))).find(|&(_, valid)| valid != 0)
    }

    /// Operations of the dies after which the next step of moving `cold` has its turn: a read and the part of a program that its units fill, or, when
    /// all is moved, an erasure on each lane.
    fn price_of_next(&self, cold: ColdVictim) -> u64 {
        let every = u64::from(self.background_every);
        match self.next_cold(cold) {
            Some((_, valid)) => {
                let units = u64::from(self.space.layout().units_per_pu());
                every * (units + u64::from(valid.count_ones())) / units
            }
            None => every * self.space.lanes().erasable(cold.superblock).count() as u64,
        }
    }

    /// Moves the next program unit of `cold`, or erases it when all has been moved.
    pub(super) fn move_cold(&mut self, cold: ColdVictim) {
        if let Some((from, valid)) = self.next_cold(cold) {
            self.relocate_at_once(cold.stream, from, valid);
            let pages = self.space.layout().pages_under(valid);
            self.space.counts_mut().count_read(StreamCause::WearLeveling.read(), pages.into());
            let next = from + self.space.layout().units_per_pu();
            self.turns.cold = Some(ColdVictim { next, ..cold });
            return;
        }
        assert!(
            self.space.superblocks().valid(cold.superblock) == 0,
            "superblock {} was not emptied",
            cold.superblock
        );
        self.turns.cold = None;
        self.space.end_promise(cold.stream);
        self.erased(cold.superblock);
    }
}
