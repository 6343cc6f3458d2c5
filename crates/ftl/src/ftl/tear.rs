//! Program units that a loss of power has left torn, and that the drive takes for programmed.

use super::Ftl;
use crate::origins::LOST;
use outlast_media::{SlotBytes, UnitBytes, UnitTear};
use outlast_units::rng::mix;
use outlast_units::{Lpn, Ppn, Pu};

impl Ftl {
    /// True if program unit `pu`, whose programming is under way, has only units that the host has written and no flush has covered: the drive has
    /// promised nothing about them. Not with units written over lost data: there is nothing that they could be torn over.
    pub fn is_unpromised(&self, pu: Pu) -> bool {
        let mut slots = Ppn::each(self.layout.slots_of(pu)).filter(|&slot| self.owner(slot).is_some());
        !self.is_given_up(pu) && slots.all(|slot| self.is_new(slot) && self.copy_before(slot) != LOST)
    }

    /// The copy on flash that the unit in `slot`, which is not on flash, supersedes; [`LOST`], or [`Ppn::NONE`] if there is none.
    fn copy_before(&self, slot: Ppn) -> Ppn {
        self.origins.as_ref().map_or(Ppn::NONE, |origins| {
            let origin = origins.of(&self.layout, slot).unwrap_or(Ppn::NONE);
            let copy = origins.on_flash(&self.layout, origin, |at| self.is_programmed(at));
            if self.losses.is_lost_stale(copy) { LOST } else { copy }
        })
    }

    /// Tears the units of program unit `pu`: reads give a mix, by `tear`, of them and the copies on flash that they were to supersede. `draw`: random
    /// number of this loss of power.
    pub fn tear(&mut self, pu: Pu, tear: UnitTear, draw: u64) {
        let Some(mut contents) = self.contents.take() else { return };
        for slot in Ppn::each(self.layout.slots_of(pu)).filter(|&slot| self.owner(slot).is_some()) {
            let origin = self.copy_before(slot);
            debug_assert!(origin != LOST, "slot {slot} is torn over data that is lost");
            contents.tear(slot.0, origin.is_some().then_some(origin.0), tear, mix(draw ^ u64::from(slot.0)));
        }
        self.contents = Some(contents);
    }

    /// Torn content of `slot`; `None` if a read gives the unit that was written there.
    pub fn torn(&self, slot: Ppn) -> Option<&UnitBytes> {
        self.contents.as_ref()?.torn(slot.0)
    }

    /// Pages whose current copy is torn.
    pub fn torn_pages(&self) -> impl Iterator<Item = Lpn> {
        let torn = self.contents.iter().flat_map(SlotBytes::torn_slots);
        let owners = torn.map(|slot| (Ppn(slot), self.owner(Ppn(slot))));
        owners.filter(|&(slot, lpn)| lpn.is_some() && self.lookup(lpn) == slot).map(|(_, lpn)| lpn)
    }
}
