//! Copies that units in the buffer superseded: data goes back to them when power fails.

use crate::origins::{LOST, UnitOrigins, is_copy};
use crate::pages::PageTable;
use crate::space::FlashSpace;
use crate::streams::StreamCause;
use outlast_decisions::SuperblockState;
use outlast_units::{Lpn, Ppn, Pu, SuperblockId};

impl PageTable {
    /// True if copies that units in the buffer superseded are kept.
    #[inline]
    pub(crate) fn keeps_origins(&self) -> bool {
        self.origins.is_some()
    }

    /// Begins to keep the origin of each unit in the buffer, which is empty.
    pub(crate) fn begin_origins(&mut self, space: &FlashSpace) {
        let mut origins = Box::new(UnitOrigins::new(space.layout()));
        for superblock in space.superblocks().in_state(SuperblockState::Open) {
            origins.open_table(superblock, space.layout().units_per_superblock());
        }
        self.origins = Some(origins);
        self.tracks_writes = true;
    }

    /// Stops keeping origins: writes without time need none.
    pub(crate) fn end_origins(&mut self) {
        self.origins = None;
        self.tracks_writes = self.records.is_some() || self.maps.is_some() || self.handles.is_some();
    }

    /// Maps pages back to their copies on flash, as power failed and program units `gone` are lost. Returns the number of units that were current.
    pub(crate) fn fall_back(&mut self, space: &mut FlashSpace, gone: &[(Pu, bool)]) -> u64 {
        let lost = gone.iter().map(|&(pu, _)| self.fall_back_to_origins(space, pu)).sum();
        self.undo_trims(space);
        if let Some(origins) = &mut self.origins {
            origins.clear();
        }
        lost
    }

    /// Drops records of units in the buffer, as power failed.
    pub(crate) fn drop_buffered(&mut self, space: &FlashSpace) {
        if let Some(records) = &mut self.records {
            records.drop_buffered(space.layout());
        }
    }

    /// True if a unit in the `begun` slots of program unit `pu` supersedes one of `superblock`.
    pub(crate) fn pins(&self, space: &FlashSpace, pu: Pu, begun: u32, superblock: SuperblockId) -> bool {
        let table = self.origins.as_ref().and_then(|origins| origins.of_pu(space.layout(), pu));
        table.is_some_and(|table| {
            let mut begun = table[..begun as usize].iter();
            begun.any(|&at| is_copy(at) && space.layout().superblock_of(at) == superblock)
        })
    }

    /// Checks that pins are those of the units in the buffer.
    pub(crate) fn check_origins(&self, space: &FlashSpace) -> Result<(), String> {
        let Some(origins) = &self.origins else { return Ok(()) };
        let is = |wanted| move |superblock| space.superblocks().state(superblock) == wanted;
        origins.check(space.layout(), is(SuperblockState::Open), is(SuperblockState::Free), |slot| {
            space.pus().is_programmed(slot)
        })
    }

    /// True if `superblock` may be erased: all units that superseded units of it are on flash, or safe in the buffer.
    #[inline]
    pub(crate) fn may_erase(&self, superblock: SuperblockId) -> bool {
        self.origins.as_ref().is_none_or(|origins| !origins.is_pinned(superblock))
    }

    /// Sets the origin of the unit in `slot` to `origin`, or to [`LOST`] if `was_lost`.
    pub(crate) fn set_origin(&mut self, space: &FlashSpace, slot: Ppn, origin: Ppn, was_lost: bool) {
        if let Some(origins) = &mut self.origins {
            let origin = if was_lost { LOST } else { origin };
            origins.pin(space.layout(), origin);
            origins.set(space.layout(), slot, origin);
        }
    }

    /// Releases the origins of program unit `pu`, which is on flash.
    pub(crate) fn release_origins(&mut self, space: &FlashSpace, pu: Pu) {
        if let Some(origins) = &mut self.origins {
            origins.release(space.layout(), pu);
        }
    }

    /// Takes program unit `pu`, which will never be on flash, out of all chains of origins. A unit that superseded one of its stale units gets the
    /// origin of the stale one; origins of its valid units are kept until these have been written again.
    #[cold]
    pub(crate) fn pass_on_origins(&mut self, space: &FlashSpace, pu: Pu) {
        let Some(mut origins) = self.origins.take() else { return };
        for slot in Ppn::each(space.layout().slots_of(pu)) {
            let Some(origin) = origins.of(space.layout(), slot) else { continue };
            origins.set(space.layout(), slot, Ppn::NONE);
            let lpn = self.map.owner(slot);
            let mut next = if lpn.is_some() { self.lookup(lpn) } else { Ppn::NONE };
            if !next.is_some() {
                match origins.trimmed.get(&lpn) {
                    // The page was trimmed, and an undone trim would lead here: from now on to the origin, which nothing erases before the trim is
                    // safe.
                    Some(&former) if former == slot => drop(origins.trimmed.insert(lpn, origin)),
                    // An undone trim would lead to a newer copy, whose chain of origins may lead here.
                    Some(&former) => next = former,
                    None => {}
                }
            }
            if next == slot {
                // The unit is valid: it will be written again, and its origin goes with it.
                origins.keep(slot, origin);
                continue;
            }
            // Back along the chain, from the newest copy in the buffer to the one whose origin is this slot.
            loop {
                let in_buffer = is_copy(next) && !space.pus().is_programmed(next);
                let at = if in_buffer { origins.of(space.layout(), next) } else { None };
                let Some(at) = at else {
                    // The chain ended before this slot: a newer copy is on flash, or the page was trimmed. Nothing leads to the origin any more.
                    origins.unpin(space.layout(), origin);
                    break;
                };
                if at == slot {
                    origins.set(space.layout(), next, origin);
                    origins.unpin(space.layout(), slot);
                    break;
                }
                next = at;
            }
        }
        self.origins = Some(origins);
    }

    /// Moves the origin of the unit of `from`, whose program operation failed, to `to`.
    #[cold]
    pub(crate) fn move_origin(&mut self, space: &FlashSpace, from: Ppn, to: Ppn) {
        let is_new = self.is_new(space, from);
        if let Some(origins) = &mut self.origins {
            origins.move_kept(space.layout(), from, to, is_new);
        }
    }

    /// Drops kept origins of failed program units: their units had no place to go.
    #[cold]
    pub(crate) fn drop_origins(&mut self, space: &FlashSpace) {
        if let Some(origins) = &mut self.origins {
            origins.drop_kept(space.layout());
        }
    }

    /// Maps the pages of the units of `pu`, which are lost, back to their origins on flash. Returns the number of units that were current.
    fn fall_back_to_origins(&mut self, space: &mut FlashSpace, pu: Pu) -> u64 {
        let Some(origins) = self.origins.take() else { return 0 };
        let mut lost = 0;
        for slot in Ppn::each(space.layout().slots_of(pu)) {
            let lpn = self.map.owner(slot);
            if !lpn.is_some() || self.lookup(lpn) != slot {
                continue;
            }
            lost += 1;
            let at = origins.on_flash(space.layout(), slot, |at| space.pus().is_programmed(at));
            space.remove_valid(slot);
            self.map.unmap(lpn);
            self.restore_copy(space, lpn, at);
        }
        self.origins = Some(origins);
        lost
    }

    /// Gives page `lpn`, which has no copy, its former state `at`: a slot on flash, lost, or nothing.
    pub(crate) fn restore_copy(&mut self, space: &mut FlashSpace, lpn: Lpn, at: Ppn) {
        self.mark_entry_dirty(lpn);
        if self.losses.is_lost_stale(at) {
            self.record_loss(lpn);
        } else if at == LOST {
            self.losses.lose(lpn);
        } else if at.is_some() {
            let superblock = space.layout().superblock_of(at);
            assert!(
                self.owner(at) == lpn && space.superblocks().state(superblock) != SuperblockState::Free,
                "the last copy of page {lpn} on flash has been destroyed"
            );
            let before = self.map.put(lpn, at);
            debug_assert!(!before.is_some(), "page {lpn} has data in slot {before}");
            space.revive(superblock);
        }
    }

    /// The copy on flash that the unit in `slot`, which is not on flash, supersedes; [`LOST`], or [`Ppn::NONE`] if there is none.
    pub(crate) fn copy_before(&self, space: &FlashSpace, slot: Ppn) -> Ppn {
        self.origins.as_ref().map_or(Ppn::NONE, |origins| {
            let origin = origins.of(space.layout(), slot).unwrap_or(Ppn::NONE);
            let copy = origins.on_flash(space.layout(), origin, |at| space.pus().is_programmed(at));
            if self.losses.is_lost_stale(copy) { LOST } else { copy }
        })
    }

    /// True if the unit in `slot` is new data of the host, not one that relocation moved.
    pub(crate) fn is_new(&self, space: &FlashSpace, slot: Ppn) -> bool {
        let elsewhere = self.origins.as_ref().and_then(|origins| origins.is_new_elsewhere(slot));
        elsewhere.unwrap_or_else(|| {
            let stream = space.superblocks().opened_by(space.layout().superblock_of(slot));
            space.streams().cause(stream) == StreamCause::Host
        })
    }

    /// True if the newest data of `lpn`, or its trim, is only in a buffer that a loss of power empties.
    pub(crate) fn is_volatile(&self, space: &FlashSpace, lpn: Lpn) -> bool {
        let Some(origins) = &self.origins else { return false };
        let mut at = self.lookup(lpn);
        if !at.is_some() {
            return self.is_trim_volatile(space, lpn);
        }
        while is_copy(at) && !space.pus().is_programmed(at) {
            if self.is_new(space, at) {
                return true;
            }
            at = origins.of(space.layout(), at).unwrap_or(Ppn::NONE);
        }
        false
    }

    /// True if program unit `pu`, whose programming is under way, has only units that the host has written and no flush has covered: the drive has
    /// promised nothing about them. Not with units written over lost data: there is nothing that they could be torn over.
    pub(crate) fn is_unpromised(&self, space: &FlashSpace, pu: Pu) -> bool {
        let mut slots = Ppn::each(space.layout().slots_of(pu)).filter(|&slot| self.owner(slot).is_some());
        !space.pus().is_given_up(pu)
            && slots.all(|slot| self.is_new(space, slot) && self.copy_before(space, slot) != LOST)
    }
}
