//! Recording of work that is due on a flash core, and questions of whether there would be any.

use crate::core::{CoreContext, Due, Effect, FlashCore};
use crate::op::InternalTask;

impl FlashCore {
    /// True if anything is due that comes before admission.
    #[inline]
    pub fn is_due_first(&self) -> bool {
        self.dirty.is_before_admission()
    }

    /// True if nothing is due.
    pub fn is_settled(&self) -> bool {
        self.dirty.is_clean()
    }

    /// Takes what is looked at next on the core, which is the first of which something is due.
    #[inline]
    pub(super) fn take_due(&mut self, context: &mut CoreContext) -> Option<Due> {
        context.unsettled.take(&mut self.dirty)
    }

    /// `due` is due on the core.
    #[inline]
    pub fn make_due(&mut self, context: &mut CoreContext, due: Due) {
        context.unsettled.add(self.id, &mut self.dirty, due);
    }

    /// `due` is due on the core after all else that is, and what comes of it.
    #[inline]
    pub(crate) fn make_due_then(&mut self, context: &mut CoreContext, due: Due) {
        context.unsettled.add_then(self.id, &mut self.dirty, due);
    }

    /// True if something is due that comes before the next write enters the buffer of the core.
    #[inline]
    pub fn is_due_before_admission(&self, context: &CoreContext) -> bool {
        self.dirty.is_before_admission() || context.is_command_due() || context.unsettled.any_effect()
    }

    /// True if an attempt to let waiting writes in would change nothing, as things are, and something waits.
    #[inline]
    pub(crate) fn admits_nothing(&self) -> bool {
        self.buffer.would_wait_on(self.tasks.runs(InternalTask::Gc))
            && !self.tasks.is_pinned()
            && self.buffer.first_waiting().is_some_and(|first| self.ftl.can_append(first.stream))
    }

    /// True if [`FlashCore::collect`] would change nothing, as things are.
    #[inline]
    pub(crate) fn collects_nothing(&self) -> bool {
        (self.tasks.runs(InternalTask::Gc) || !self.ftl.needs_gc()) && self.resets.is_empty()
    }
}

impl CoreContext {
    /// Commands to zones may go on, once nothing else is due.
    pub fn look_at_zones(&mut self) {
        if self.zones.as_ref().is_some_and(|zones| zones.goes_on()) {
            self.unsettled.add_effect(Effect::ZonesGoOn);
        }
    }

    /// True if nothing is due. Then what a handler is about to make due will meet the state as it is now: what would find nothing to do
    /// need not be made due.
    #[inline]
    pub fn is_settled(&self) -> bool {
        self.unsettled.is_empty()
    }

    /// True if a flush begins, or a move of the drive's own may: effects of parts of commands that have ended.
    #[inline]
    pub fn is_command_due(&self) -> bool {
        debug_assert!(
            self.unsettled.is_command_due() == (self.commands.flushes.any_due() || self.moves.are_due()),
            "a flush or a move has become due, or none is any more, that nobody has looked at"
        );
        self.unsettled.is_command_due()
    }

    /// Sees whether a flush begins or a move of the drive's own may: after each change of either.
    pub fn look_at_commands(&mut self) {
        self.unsettled.set_command(self.commands.flushes.any_due() || self.moves.are_due());
    }
}
