//! Work that events have made due, done after each event and after each unit of a command, until nothing is due.
//!
//! A handler changes the state of parts and records what may be due on a flash core ([`Due`]): a victim to erase, space to gain, a host write to enter the
//! buffer. The work is done in a fixed order, so that what follows from an event does not depend on who recorded it first. The self-check finds work that is
//! due between events (decision 0031).
//!
//! Not everything goes this way. Collection and erasures also begin by a call, where a write waits for room and where a victim ends. And settling can be
//! entered again: a command that was held back for its order is split while the drive settles, and settles after each of its units.

use crate::core::Due;
use crate::livelock::LivelockWatch;
use crate::op::InternalTask;
use crate::ssd::Ssd;
use outlast_units::{CoreId, Nanos};

impl Ssd {
    /// `due` is due on core `core`.
    #[inline]
    pub(crate) fn make_due(&mut self, core: CoreId, due: Due) {
        self.unsettled.add(core, &mut self.cores[core].dirty, due);
    }

    /// `due` is due on core `core` after all else that is, and what comes of it.
    #[inline]
    pub(crate) fn make_due_then(&mut self, core: CoreId, due: Due) {
        self.unsettled.add_then(core, &mut self.cores[core].dirty, due);
    }

    /// Does what is due until nothing is; what that makes due in turn included.
    #[inline]
    pub(crate) fn settle(&mut self, now: Nanos) {
        if !self.is_settled() {
            self.settle_all(now);
        }
    }

    /// Whether nothing is due. Then what a handler is about to make due will meet the state as it is now: what would find nothing to do
    /// need not be made due.
    #[inline]
    pub(crate) fn is_settled(&self) -> bool {
        self.unsettled.is_empty() && !self.is_command_due()
    }

    /// Not inlined: where nothing is due [`Ssd::settle`] is to be a few comparisons.
    #[inline(never)]
    fn settle_all(&mut self, now: Nanos) {
        let mut watch = LivelockWatch::new(0);
        while !self.is_settled() {
            self.settle_next(now);
            if watch.step() {
                // Whoever waits: no time passes meanwhile, and so nothing completes.
                watch.look(0, self.commands_in_flight().max(1), self.size.units);
            }
        }
    }

    /// Whether a flush begins, or a move of the drive's own may: effects of parts of commands that have ended.
    #[inline]
    fn is_command_due(&self) -> bool {
        self.host.flushes.any_due() || self.moves.are_due()
    }

    /// Whether something is due that comes before the next write enters the buffer of core `core`.
    #[inline]
    pub(crate) fn is_due_before_admission(&self, core: CoreId) -> bool {
        self.cores[core].dirty.is_before_admission() || self.is_command_due()
    }

    #[inline]
    fn settle_next(&mut self, now: Nanos) {
        let core = self.unsettled.first();
        if self.is_command_due() && core.is_none_or(|core| !self.cores[core].dirty.is_before_admission()) {
            return match self.host.flushes.take_due() {
                Some(request) if self.was_held_up(request) => self.go_on_in_order(now),
                Some(request) => self.begin_barrier(now, request),
                None => self.keep_moving(now),
            };
        }
        let Some(core) = core else {
            return match self.unsettled.take_ask() {
                Some((die, ask)) => self.answer_again(now, die, ask),
                None => self.wake_waiting(now),
            };
        };
        while let Some(due) = self.unsettled.take(&mut self.cores[core].dirty) {
            match due {
                Due::Formers => self.look_at_formers(now, core),
                Due::GcVictim => self.look_at_victim(now, core, InternalTask::Gc),
                Due::WearVictim => self.look_at_victim(now, core, InternalTask::WearLeveling),
                Due::ScrubVictim => self.look_at_victim(now, core, InternalTask::Scrub),
                Due::Wear => self.level_wear(now, core),
                Due::Collect => self.collect(now, core),
                Due::Scrub => self.maybe_scrub(now, core),
                Due::Admit => {
                    self.admit_waiting(now, core);
                    self.let_held_go();
                }
                Due::MapFlush => self.flush_map(now, core),
            }
            if self.is_command_due() {
                return;
            }
        }
    }
}
