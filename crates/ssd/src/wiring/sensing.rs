//! The drive's way into sensing.

use crate::op::Rung;
use crate::read::{Attempt, Sensed, faulty_units};
use crate::ssd::Ssd;
use outlast_units::Nanos;

impl Ssd {
    /// A die senses what operation `op` still wants: the cells are disturbed, and it is decided which units the ECC gives.
    ///
    /// Not inlined: reads of drives whose flash never errs should not pay for its registers.
    #[inline(never)]
    pub(crate) fn sense(&mut self, now: Nanos, op: u32) {
        let this = &mut self.ops[op];
        let core = &mut self.cores[usize::from(this.core)];
        let at = now + self.schedule.aged();
        let is_first = this.rereads == 0 && this.rung == Rung::Rereads;
        let read = Attempt { kind: this.kind, pu: this.pu, wanted: this.failing, step: this.step, is_first };
        debug_assert!(read.wanted != 0, "a sensing of nothing");
        let mut has_alarm = false;
        let sensed = match (&mut core.cells, &mut self.reliability) {
            (Some(own), Some(reliability)) => {
                let sensed = if core.faults.is_none() && reliability.is_plain(read.kind) {
                    reliability.sense_small(&core.ftl, own, read, at, &self.retries)
                } else {
                    reliability.sense_any(&core.ftl, own, core.faults.as_ref(), &read, at, &self.retries)
                };
                has_alarm = own.cells.has_alarm();
                sensed
            }
            _ => Sensed { failing: 0, units: read.wanted.count_ones(), step: read.step },
        };
        let mut failing = sensed.failing;
        if let Some(faults) = &mut core.faults {
            failing |= faulty_units(&core.ftl, faults, &read);
        }
        debug_assert!(failing & !read.wanted == 0, "a unit fails that was not wanted");
        this.failing = failing;
        this.step = sensed.step;
        this.sent = sensed.units as u16;
        let failed = if failing == 0 { 0 } else { failing.count_ones() };
        self.corrections.sensed(read.kind, is_first, u64::from(sensed.units - failed));
        if has_alarm {
            let core = usize::from(this.core);
            self.look_at_alarms(now, core);
        }
    }
}
