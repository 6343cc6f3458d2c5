//! Events of dies, and dies that wait for their turn to begin an internal operation.

use crate::ssd::Ssd;
use outlast_controller::DieGoesOn;
use outlast_units::{CoreId, DieId, Nanos};

impl Ssd {
    /// All units of a command have been queued: the dies that hold them look at their queues, in the order of the units.
    #[inline(never)]
    pub(crate) fn end_gathering(&mut self, now: Nanos) {
        let dies = self.context.flash.end_gathering();
        for &die in &dies {
            self.cores[self.context.places[die].core].look_up(now, &mut self.context, die);
        }
        self.context.flash.return_gathered(dies);
    }

    /// The slot of an internal operation is free for the next.
    #[inline(never)]
    pub(crate) fn slot_has_thought(&mut self, now: Nanos) {
        self.context.flash.end_thinking(now);
        self.context.let_waiting_go();
    }

    /// An internal operation has ended or relocated data has left the buffer: the next of the dies that waited for that goes on, unless
    /// the one before it has begun an internal operation.
    pub(crate) fn wake_waiting(&mut self, now: Nanos) {
        if let Some(die) = self.context.take_waiting_die() {
            let core = self.context.places[die].core;
            self.cores[core].wake_of::<false>(now, &mut self.context, die);
        }
    }

    /// Die `die` looks for work.
    #[cold]
    pub(crate) fn wake_die(&mut self, now: Nanos, die: DieId) {
        let core = self.context.places[die].core;
        self.cores[core].wake_of::<false>(now, &mut self.context, die);
    }

    /// Something that a die did has ended, in a flash room with extras.
    #[inline(never)]
    pub(crate) fn die_event_with_extras(&mut self, now: Nanos, die: DieId) {
        self.die_event_of::<false>(now, die);
    }

    /// Something that a die did has ended; with `PLAIN` in a flash room that [is plain](outlast_flash::Flash::is_plain).
    #[allow(clippy::inline_always, reason = "as Ssd::step")]
    #[inline(always)]
    pub(crate) fn die_event_of<const PLAIN: bool>(&mut self, now: Nanos, die: DieId) {
        let core = self.context.flash.core_of(die);
        let own = &mut self.cores[core];
        match own.end_die_work::<PLAIN>(now, &mut self.context, die) {
            DieGoesOn::ByItself => {}
            // Mostly: the core is looked up once.
            DieGoesOn::Settled if self.context.is_settled() => {
                own.wake_of::<PLAIN>(now, &mut self.context, die);
            }
            DieGoesOn::Settled => self.settle_and_wake::<PLAIN>(now, core, die),
        }
    }

    /// Does what is due, and then has die `die` of core `core` look for work.
    #[inline(never)]
    fn settle_and_wake<const PLAIN: bool>(&mut self, now: Nanos, core: CoreId, die: DieId) {
        self.settle_all(now);
        self.cores[core].wake_of::<PLAIN>(now, &mut self.context, die);
    }
}
