//! Program units that a loss of power has left torn, and that the drive takes for programmed.

use crate::ftl::Ftl;
use crate::origins::LOST;
use outlast_media::{SlotBytes, UnitTear};
use outlast_units::rng::mix;
use outlast_units::{Lpn, Ppn, Pu};

impl Ftl {
    /// Tears the units of program unit `pu`: reads give a mix, by `tear`, of them and the copies on flash that they were to supersede. `draw`: random
    /// number of this loss of power.
    pub fn tear(&mut self, pu: Pu, tear: UnitTear, draw: u64) {
        if self.space.contents().is_none() {
            return;
        }
        for slot in Ppn::each(self.space.layout().slots_of(pu)) {
            if !self.pages.owner(slot).is_some() {
                continue;
            }
            let origin = self.pages.copy_before(&self.space, slot);
            debug_assert!(origin != LOST, "slot {slot} is torn over data that is lost");
            self.space.tear(slot, origin.is_some().then_some(origin), tear, mix(draw ^ u64::from(slot.0)));
        }
    }

    /// Pages whose current copy is torn.
    pub fn torn_pages(&self) -> impl Iterator<Item = Lpn> {
        let torn = self.space.contents().into_iter().flat_map(SlotBytes::torn_slots);
        let owners = torn.map(|slot| (Ppn(slot), self.pages.owner(Ppn(slot))));
        owners.filter(|&(slot, lpn)| lpn.is_some() && self.pages.lookup(lpn) == slot).map(|(_, lpn)| lpn)
    }

    /// True if program unit `pu`, whose programming is under way, has only units that the host has written and no flush has covered: the drive has
    /// promised nothing about them. Not with units written over lost data: there is nothing that they could be torn over.
    pub fn is_unpromised(&self, pu: Pu) -> bool {
        self.pages.is_unpromised(&self.space, pu)
    }
}
