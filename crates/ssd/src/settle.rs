//! Work that events have made due, done after each event and after each unit of a command, until nothing is due.
//!
//! A handler changes the state of parts and records what may be due on a flash core ([`Due`]): a victim to erase, space to gain, a host write to enter the
//! buffer. The work is done in a fixed order, so that what follows from an event does not depend on who recorded it first. The self-check finds work that is
//! due between events (decision 0031).
//!
//! Consequences for other cores or the host are an [`Effect`], applied before anything else that is due. A command that was held back for
//! its order is split unit by unit, the next one whenever nothing is due. So settling is never entered again: an assertion holds that.
//!
//! Within one core not everything goes this way: collection and erasures also begin by a call, where a write waits for room and where a victim ends.

use crate::livelock::LivelockWatch;
use crate::ssd::Ssd;
use outlast_controller::Effect;
use outlast_units::Nanos;

impl Ssd {
    /// Does what is due until nothing is; what that makes due in turn included.
    #[inline]
    pub(crate) fn settle(&mut self, now: Nanos) {
        if !self.context.is_settled() {
            self.settle_all(now);
        }
    }

    /// Not inlined: where nothing is due [`Ssd::settle`] is to be a few comparisons.
    #[inline(never)]
    pub(crate) fn settle_all(&mut self, now: Nanos) {
        debug_assert!(!self.is_settling, "settling is entered again");
        self.is_settling = true;
        let mut watch = LivelockWatch::new(0);
        loop {
            if self.context.is_settled() {
                if !self.go_on_splitting(now) {
                    break;
                }
            } else if let Some(effect) = self.context.take_effect() {
                self.apply(now, effect);
            } else {
                let core = self.context.first_due();
                let command = self.context.is_command_due();
                match core {
                    Some(core) if !command || self.cores[core].is_due_first() => {
                        if self.cores[core].settle(now, &mut self.context) {
                            self.admit_waiting(now, core);
                            self.let_held_go();
                        }
                    }
                    _ => self.settle_around(now, command),
                }
            }
            if watch.step() {
                // Whoever waits: no time passes meanwhile, and so nothing completes.
                watch.look(0, self.commands_in_flight().max(1), self.context.size.units);
            }
        }
        self.is_settling = false;
    }

    /// Carries out what a flash core has asked for.
    #[cold]
    #[inline(never)]
    fn apply(&mut self, now: Nanos, effect: Effect) {
        match effect {
            Effect::OldDataRead(op) => self.old_data_read(now, &op),
            Effect::MoveRead { op, lost } => self.move_read(now, &op, lost),
            Effect::MapRead(core, page) => self.map_read(now, core, page),
            Effect::Wake(die) => self.wake_die(now, die),
            Effect::ListRead(op) => self.list_read(now, &op),
            Effect::StatusDone { request, command, tag } => self.answer_status(now, request, &command, tag),
            Effect::StateChanged => self.change_by_state(now),
            // They do once nothing is due.
            Effect::ZonesGoOn => {}
        }
    }

    /// Does what comes before or after all that is due on cores: a flush begins, or a move of the drive's own may, if `command`; else the next die
    /// that has waited until nothing else is due goes on.
    #[inline(never)]
    fn settle_around(&mut self, now: Nanos, command: bool) {
        if command {
            let due = self.context.commands.flushes.take_due();
            self.context.look_at_commands();
            return match due {
                Some(request) if self.was_held_up(request) => self.go_on_in_order(now),
                Some(request) => self.begin_barrier(now, request),
                None => self.keep_moving(now),
            };
        }
        match self.context.take_query() {
            Some((die, ask)) => {
                self.cores[self.context.places[die].core].answer_again(now, &mut self.context, die, ask);
            }
            None => self.wake_waiting(now),
        }
    }
}
