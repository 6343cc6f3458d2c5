//! Coalescing: a unit that the host writes again before it is programmed is replaced in its slot.

use crate::ftl::Ftl;
use crate::streams::StreamCause;
use outlast_media::UnitBytes;
use outlast_units::{Lpn, Ppn, Pu};

impl Ftl {
    /// True if a unit that is written again before it is programmed is replaced in its slot.
    #[inline]
    pub fn coalesces(&self) -> bool {
        self.held.is_some()
    }

    /// The slot of `lpn`, if new data of the host can replace the old there: the slot holds the host's data, and its program unit is not full or is
    /// held back.
    #[inline]
    pub fn replaceable(&self, lpn: Lpn) -> Option<Ppn> {
        if self.held.is_none() { None } else { self.slot_to_replace(lpn) }
    }

    #[cold]
    #[inline(never)]
    fn slot_to_replace(&self, lpn: Lpn) -> Option<Ppn> {
        let held = self.held.as_ref()?;
        let slot = self.pages.map().lookup(lpn);
        if !slot.is_some() {
            return None;
        }
        let superblock = self.space.layout().superblock_of(slot);
        if self.space.superblocks().to_come(superblock) == 0 {
            return None;
        }
        let stream = self.space.superblocks().opened_by(superblock);
        let (pu, _) = self.space.layout().pu_of(slot);
        let is_open = held.has(pu) || self.space.begun_pu(stream) == Some(pu);
        // Units that relocation moved are not new, wherever they had to go, and a flush does not wait for them.
        (is_open
            && self.space.streams().cause(stream) == StreamCause::Host
            && self.pages.is_new(&self.space, slot))
        .then_some(slot)
    }

    /// Replaces the data in `slot`, which is [replaceable](Ftl::replaceable), by new data of the host: `unit`, when bytes are kept.
    pub fn replace(&mut self, slot: Ppn, unit: Option<UnitBytes>) {
        debug_assert!(
            self.replaceable(self.pages.map().owner(slot)) == Some(slot),
            "slot {slot} takes no new data"
        );
        self.space.counts_mut().count_coalesced();
        if let (Some(contents), Some(unit)) = (self.space.contents_mut(), unit) {
            contents.replace(slot.0, unit);
        }
    }

    /// Holds back program unit `pu`, which is full of the host's data; returns the one that is to be programmed now, if any. Program units are
    /// programmed in the order in which they were filled.
    pub fn hold_back(&mut self, pu: Pu) -> Option<Pu> {
        match &mut self.held {
            Some(held) => held.push(pu),
            None => Some(pu),
        }
    }

    /// Takes the program unit that has been held back longest, to be programmed now.
    pub fn take_held(&mut self) -> Option<Pu> {
        self.held.as_mut()?.pop()
    }

    /// Units in program units that are held back.
    pub fn held_units(&self) -> u32 {
        self.held.as_ref().map_or(0, |held| held.len() * self.space.layout().units_per_pu())
    }

    /// Programs, without time, all program units that are held back.
    pub(super) fn program_held(&mut self) {
        while let Some(pu) = self.take_held() {
            self.programmed(pu);
        }
    }

    /// Checks that program units that are held back await their program.
    pub(super) fn check_held(&self) -> Result<(), String> {
        let Some(held) = &self.held else { return Ok(()) };
        held.check(|pu| {
            let (superblock, _) = self.space.layout().within_superblock(pu);
            let is_host = self.space.streams().cause(self.space.superblocks().opened_by(superblock))
                == StreamCause::Host;
            is_host
                && self.space.superblocks().to_come(superblock) != 0
                && !self.space.superblocks().is_programmed(pu)
        })
    }
}
