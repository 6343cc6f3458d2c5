//! Collection without time that takes turns with the host's writes ([`UntimedTurns`]).

use crate::credit::{HostCredit, VictimWork};
use crate::ftl::{Ftl, FtlFull};
use crate::streams::StreamCause;
use crate::turns::{UntimedTurns, UntimedVictim};
use outlast_units::{Nanos, Stream};

/// Host writes that wait, as a user's pacing policy sees them: without time always the next one.
const WAITING: u32 = 1;
/// Stretches of a victim that collection handles one at a time where only the room of the host's open superblocks is granted: a sixteenth of a
/// superblock, the part that credit keeps back too (`credit/shares.rs`). Else a stretch is a program unit.
const STRETCHES: u32 = 16;

impl Ftl {
    /// Sets up collection without time. To be called when the marks are set, by which credit is granted.
    pub(super) fn begin_turns(&mut self) {
        let credit = HostCredit::new(self, &self.space.config().gc);
        let (page, pu) = (self.space.layout().units_per_page(), self.space.layout().units_per_pu());
        let part = self.space.layout().units_per_superblock() / STRETCHES / page * page;
        self.stretch = if credit.is_plain() { part.max(page) } else { pu };
        self.turns = UntimedTurns { credit, ..UntimedTurns::default() };
    }

    /// True if a write of the host to `stream` enters by the writes granted before.
    #[inline]
    pub(super) fn enters_at_once(&mut self, stream: Stream) -> bool {
        let enters = self.turns.granted_writes != 0 && !self.space.frontiers()[stream].is_full();
        self.turns.granted_writes -= u32::from(enters);
        enters
    }

    /// Collects until a write of the host to `stream` may enter.
    ///
    /// # Errors
    /// [`FtlFull`] when it never may.
    pub(super) fn collect_until_admitted(&mut self, stream: Stream) -> Result<(), FtlFull> {
        self.turns.recall_writes();
        while !self.may_host_write(stream) {
            self.advance_collection()?;
        }
        Ok(())
    }

    /// Ends the turn of a host write that was checked and has entered: spends its credit, or begins a victim if it `filled` a program unit and space
    /// is short; grants writes ahead.
    pub(super) fn end_host_turn(&mut self, filled: bool) {
        if self.turns.victim.is_some() {
            self.turns.credit.spend();
        } else if filled && self.space.needs_gc() {
            self.begin_victim();
        }
        self.turns.granted_writes = match self.turns.victim {
            // Units are moved to the host's stream: each write is checked to leave room for them.
            Some(_) if self.space.streams().are_mixed() => 0,
            Some(_) => self.turns.credit.take_writes(),
            None if self.space.needs_gc() => 0,
            None => u32::MAX,
        };
    }

    /// True if a write of the host to `stream` may enter, by the rules of a timed run.
    fn may_host_write(&self, stream: Stream) -> bool {
        self.can_append(stream)
            && self.turns.victim.as_ref().is_none_or(|victim| {
                let has_room = || {
                    victim.stream != stream
                        || self.space.leaves_room(stream, self.space.superblocks().valid(victim.superblock))
                };
                self.turns.credit.lets_in(has_room)
            })
    }

    /// Advances collection by a stretch of its victim, or to its next victim.
    ///
    /// # Errors
    /// [`FtlFull`] when there is nothing to be gained.
    pub(super) fn advance_collection(&mut self) -> Result<(), FtlFull> {
        if let Some(victim) = self.turns.victim {
            self.move_next(victim);
            return Ok(());
        }
        if self.space.is_read_only() {
            return Err(FtlFull);
        }
        if self.space.needs_gc() && self.begin_victim() {
            return Ok(());
        }
        if let Some(cold) = self.turns.cold {
            // The free superblocks are promised to wear levelling, or its erasure frees one.
            self.move_cold(cold);
            return Ok(());
        }
        if !self.space.needs_gc() || self.held_units() == 0 {
            return Err(FtlFull);
        }
        // A superblock can be collected only when all of it is on flash, so that held-back program units are programmed.
        self.program_held();
        Ok(())
    }

    /// Begins the next victim of collection; false if there is none.
    #[cold]
    fn begin_victim(&mut self) -> bool {
        if self.space.is_read_only() {
            return false;
        }
        let Some(superblock) = self.choose_victim() else { return false };
        let mut credit = std::mem::take(&mut self.turns.credit);
        credit.begin_victim(Nanos::ZERO, self, superblock, WAITING);
        self.turns.credit = credit;
        let stream = self.space.streams().gc(self.space.pus().class_of_superblock(superblock));
        let room = self.space.room(stream);
        let cause = self.space.cause_of_moving(superblock, StreamCause::Gc);
        let valid = self.space.begin_relocation(superblock, stream, cause);
        self.turns.victim = Some(UntimedVictim {
            superblock,
            stream,
            opens: self.space.frontiers()[stream].is_promised(),
            next: self.space.layout().first_slot(superblock),
            work: VictimWork::new(valid, room, self.space.data_units(stream)),
        });
        true
    }

    /// Moves the units of the next stretch of `victim`, the one under way; erases it when all have been moved.
    fn move_next(&mut self, mut victim: UntimedVictim) {
        let stretch = self.stretch;
        let reads = if self.turns.cold.is_some() { self.reads_of(&victim) } else { 0 };
        let cause = self.space.superblocks().moved_for(victim.superblock);
        let units = self.move_valid(victim.superblock, &mut victim.next, stretch, victim.stream, cause);
        if units != 0 {
            let opened = victim.opens && !self.space.frontiers()[victim.stream].is_promised();
            let mut credit = std::mem::take(&mut self.turns.credit);
            credit.grant_for_units(self, &mut victim.work, units, || u32::from(opened));
            self.turns.credit = credit;
        }
        if self.space.superblocks().valid(victim.superblock) != 0 {
            assert!(units != 0, "superblock {} was not emptied", victim.superblock);
            self.turns.victim = Some(victim);
            if self.turns.cold.is_some() {
                self.level_wear(reads);
            }
            return;
        }
        let mut credit = std::mem::take(&mut self.turns.credit);
        credit.grant_rest(self, &mut victim.work);
        self.turns.credit = credit;
        self.turns.victim = None;
        self.space.end_promise(victim.stream);
        self.erased(victim.superblock);
        if self.turns.cold.is_some() {
            self.level_wear(reads + self.space.layout().lane_count());
        }
        self.begin_cold();
        if self.space.needs_gc() {
            self.begin_victim();
        }
    }
}
