//! Program operations under way when power failed, which the drive takes for good.

use crate::op::{Op, OpKind, Purpose};
use crate::read::broken_units;
use crate::ssd::Ssd;
use outlast_flash::Outstanding;
use outlast_media::UnitTear;
use outlast_units::rng::{mix, sub_seed};
use outlast_units::{CoreId, Nanos, Pu};

impl Ssd {
    /// The next loss of power leaves `tear` of units whose program operation is under way then, if the buffer is not protected.
    pub fn tear_next(&mut self, tear: UnitTear) {
        self.schedule.tear_next(tear);
    }

    /// Host units that a read gives torn: the drive does not know of them.
    pub fn torn_units(&self) -> u64 {
        self.cores.iter().map(|core| core.ftl.torn_pages().count() as u64).sum()
    }

    /// Power failed, and of program operations of core `core` among the `outstanding` that were under way flash has what `tear` says. The drive
    /// takes those for good that hold nothing but what the host was not promised; returns their program units. What relocation was moving,
    /// and parity, is passed over as ever: who moves data reads it again and sees what came of it.
    pub(super) fn take_for_good(
        &mut self,
        now: Nanos,
        core: CoreId,
        outstanding: &[Outstanding<Purpose>],
        tear: UnitTear,
    ) -> Vec<Pu> {
        let mut taken = Vec::new();
        if tear == UnitTear::Nothing {
            return taken;
        }
        let draw = mix(sub_seed(self.seed, "ssd.tear") ^ self.power_cuts.cuts);
        for one in outstanding.iter().filter(|one| one.started) {
            if self.places[one.die].core != core {
                continue;
            }
            let (tag, units) = (one.op.tag, one.op.units());
            let state = &mut self.cores[core];
            let mask = u64::MAX >> (64 - state.ftl.layout().units_per_pu());
            let is_broken = broken_units(&state.ftl, state.faults.as_ref(), tag.pu, mask) != 0;
            if tag.kind != OpKind::HostProgram || units == 0 || is_broken || !state.ftl.is_unpromised(tag.pu)
            {
                continue;
            }
            state.ftl.tear(tag.pu, tear, draw);
            self.flash_programmed(now, &Op::of_tag(tag, core, units, 0));
            taken.push(tag.pu);
        }
        taken
    }
}
