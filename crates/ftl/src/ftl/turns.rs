//! Collection without time that takes turns with the host's writes ([`Turns`](crate::turns::Turns)).

use super::{Ftl, Full};
use crate::credit::{Credit, Work};
use crate::streams::{Cause, Stream};
use crate::turns::{Turns, Victim};
use outlast_units::{Nanos, PuWithin};

/// Writes of the host that wait for collection, as a user's policy sees them: the next one.
const WAITING: u32 = 1;

impl Ftl {
    /// To be called when marks are known: has collection without time take turns with the host's writes, unless whole victims come to the same.
    ///
    /// They do where the low mark is the reserve, nothing is mixed and there is no high mark. The host can then open no superblock while collection runs, and one
    /// superblock is gained for each that it fills: credit only says how that is spread over the time in between. A victim is then moved when
    /// the superblock is full, and not while it is filled.
    pub(super) fn begin_turns(&mut self) {
        let is_at_reserve = self.room.start_free() == self.reserve();
        if !is_at_reserve || self.has_marks() || self.streams.are_mixed() {
            let credit = Credit::new(self, &self.config.gc);
            self.turns = Some(Box::new(Turns { credit, victim: None }));
            self.looks_first = true;
        }
    }

    /// Has collection go on until a write of the host to `stream` may enter.
    ///
    /// # Errors
    /// [`Full`] when it never may.
    pub(super) fn take_turns(&mut self, stream: Stream) -> Result<(), Full> {
        while !self.lets_in(stream) {
            self.advance_collection()?;
        }
        Ok(())
    }

    /// A write of the host has entered, and has filled a program unit, or has not.
    pub(super) fn note_turn(&mut self, filled: bool) {
        let Some(turns) = &mut self.turns else { return };
        if turns.victim.is_some() {
            turns.credit.spend();
        } else if filled && self.needs_gc() {
            self.begin_victim();
        }
    }

    /// Whether a write of the host to `stream` may enter, by the rules of a timed run.
    fn lets_in(&self, stream: Stream) -> bool {
        let Some(turns) = &self.turns else { return true };
        self.can_append(stream)
            && turns.victim.as_ref().is_none_or(|victim| {
                let has_room = || {
                    victim.stream != stream
                        || self.leaves_room(stream, self.superblocks.valid(victim.superblock))
                };
                turns.credit.lets_in(has_room)
            })
    }

    /// Collection deals with one program unit of its victim more, or takes the next victim.
    ///
    /// # Errors
    /// [`Full`] when there is nothing to be gained.
    pub(super) fn advance_collection(&mut self) -> Result<(), Full> {
        if self.turns.as_ref().is_some_and(|turns| turns.victim.is_some()) {
            self.move_next();
            return Ok(());
        }
        if self.is_read_only() || !self.needs_gc() {
            return Err(Full);
        }
        if self.begin_victim() {
            return Ok(());
        }
        if self.held_units() == 0 {
            return Err(Full);
        }
        // A superblock can be collected when all of it is on flash.
        self.program_held();
        Ok(())
    }

    /// Collection takes its next victim, if there is one.
    fn begin_victim(&mut self) -> bool {
        if self.is_read_only() {
            return false;
        }
        let Some(superblock) = self.choose_victim() else { return false };
        let Some(mut turns) = self.turns.take() else { return false };
        turns.credit.collection_takes(Nanos::ZERO, self, superblock, WAITING);
        let stream = self.streams.gc(self.class_of_superblock(superblock));
        let room = self.room(stream);
        let valid = self.begin_relocation(superblock, stream, Cause::Gc);
        turns.victim = Some(Victim {
            superblock,
            stream,
            opens: self.frontiers[stream].is_promised(),
            next: PuWithin(0),
            work: Work::new(valid, room, self.data_units(stream)),
        });
        self.turns = Some(turns);
        true
    }

    /// Moves what the next program unit of the victim holds; the victim is erased when that was all.
    fn move_next(&mut self) {
        let Some(mut turns) = self.turns.take() else { return };
        let Some(victim) = &mut turns.victim else {
            self.turns = Some(turns);
            return;
        };
        let (first, end) = (victim.next, PuWithin(self.layout.pus_per_superblock()));
        let left = PuWithin::each(first..end)
            .map(|pu| (pu, self.valid_units(victim.superblock, pu)))
            .find(|&(_, units)| units != 0);
        if let Some((pu, units)) = left {
            victim.next = pu + 1;
            let first = self.layout.first_slot_of(self.layout.pu_at(victim.superblock, pu));
            self.relocate_at_once(victim.stream, first, units);
            self.counts.read(Cause::Gc.read(), u64::from(self.layout.pages_under(units)));
            let opened = victim.opens && !self.frontiers[victim.stream].is_promised();
            turns.credit.collected(self, &mut victim.work, units.count_ones(), || u32::from(opened));
        }
        let is_moved = self.superblocks.valid(victim.superblock) == 0;
        if is_moved {
            turns.credit.victim_moved(self, &mut victim.work);
            let Victim { superblock, stream, .. } = *victim;
            turns.victim = None;
            self.turns = Some(turns);
            self.end_promise(stream);
            self.erased(superblock);
            self.level_wear_at_once();
            if self.needs_gc() {
                self.begin_victim();
            }
        } else {
            assert!(left.is_some(), "superblock {} was not emptied", victim.superblock);
            self.turns = Some(turns);
        }
    }
}
