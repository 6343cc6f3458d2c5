//! The drive's way into sensing.

use crate::op::{Op, Rung};
use crate::read::{Attempt, Site, sense};
use crate::ssd::Ssd;
use outlast_units::Nanos;

impl Ssd {
    /// A die senses what operation `op` still wants: the cells are disturbed, and it is decided which units the ECC gives.
    ///
    /// Not inlined: reads of drives whose flash never errs should not pay for its registers.
    #[inline(never)]
    pub(crate) fn sense(&mut self, now: Nanos, op: u32) {
        let this: &mut Op = &mut self.ops[op];
        let state = &mut self.cores[usize::from(this.core)];
        let is_first = this.rereads == 0 && this.rung == Rung::Rereads;
        let read = Attempt { kind: this.kind, pu: this.pu, wanted: this.failing, step: this.step, is_first };
        let site = Site {
            ftl: &state.ftl,
            cells: state.cells.as_mut(),
            faults: state.faults.as_mut(),
            at: now + self.aged,
            limit: self.retries.first(true),
        };
        let sensed = sense(site, self.reliability.as_deref_mut(), read);
        this.failing = sensed.failing;
        this.step = sensed.step;
        let sent = read.wanted.count_ones();
        this.sent = sent as u16;
        let got = sent - if sensed.failing == 0 { 0 } else { sensed.failing.count_ones() };
        self.corrections.sensed(read.kind, is_first, u64::from(got));
        if state.cells.as_ref().is_some_and(|own| own.cells.has_alarm()) {
            let core = usize::from(this.core);
            self.look_at_alarms(now, core);
        }
    }
}
