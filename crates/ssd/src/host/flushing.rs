//! Flushes: whether there is anything to do, and when it is done.

use crate::ssd::Ssd;
use outlast_controller::Then;
use outlast_device::{Command, Outcome, Tag};
use outlast_settings::drive::{FlushPolicy, Trims, WriteCache};
use outlast_units::Nanos;

impl Ssd {
    /// True if a flush has anything to do.
    pub(crate) fn has_to_flush(&self) -> bool {
        match self.context.write_cache() {
            WriteCache::Protected => false,
            WriteCache::Volatile => true,
            // Writes are on flash when they end; trims may not be safe.
            WriteCache::Off => self.context.config.controller.trims == Trims::Volatile,
        }
    }

    /// What follows when all parts of a command are done that is to be on flash.
    pub(crate) fn then_to_flash(&self) -> Then {
        match self.context.config.controller.flush {
            FlushPolicy::Honour => Then::AwaitFlash,
            FlushPolicy::Ignore => Then::Complete,
            FlushPolicy::Late(_) => Then::FlushLater,
        }
    }

    /// Flushes that were put off until now begin.
    pub(crate) fn begin_late_flush(&mut self, now: Nanos) {
        if self.context.commands.late.take_due(now) {
            let flush = Command::FLUSH;
            let request = self.context.commands.requests.begin(now, flush, Tag(0), Outcome::Ok, Then::Forget);
            self.context.commands.flushes.call(request);
            self.context.look_at_commands();
        }
    }
}
