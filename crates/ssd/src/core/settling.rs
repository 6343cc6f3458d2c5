//! Recording of work that is due on a flash core.

use crate::core::{CoreContext, Due, FlashCore};

impl FlashCore {
    /// True if anything is due that comes before admission.
    #[inline]
    pub(crate) fn is_due_first(&self) -> bool {
        self.dirty.is_before_admission()
    }

    /// True if nothing is due.
    pub(crate) fn is_settled(&self) -> bool {
        self.dirty.is_clean()
    }

    /// Takes what is looked at next on the core, which is the first of which something is due.
    #[inline]
    pub(crate) fn take_due(&mut self, context: &mut CoreContext) -> Option<Due> {
        context.unsettled.take(&mut self.dirty)
    }

    /// `due` is due on the core.
    #[inline]
    pub(crate) fn make_due(&mut self, context: &mut CoreContext, due: Due) {
        context.unsettled.add(self.id, &mut self.dirty, due);
    }

    /// `due` is due on the core after all else that is, and what comes of it.
    #[inline]
    pub(crate) fn make_due_then(&mut self, context: &mut CoreContext, due: Due) {
        context.unsettled.add_then(self.id, &mut self.dirty, due);
    }

    /// True if something is due that comes before the next write enters the buffer of the core.
    #[inline]
    pub(crate) fn is_due_before_admission(&self, context: &CoreContext) -> bool {
        self.dirty.is_before_admission() || context.is_command_due() || context.unsettled.any_effect()
    }
}

impl CoreContext {
    /// True if nothing is due. Then what a handler is about to make due will meet the state as it is now: what would find nothing to do
    /// need not be made due.
    #[inline]
    pub(crate) fn is_settled(&self) -> bool {
        self.unsettled.is_empty() && !self.is_command_due()
    }

    /// True if a flush begins, or a move of the drive's own may: effects of parts of commands that have ended.
    #[inline]
    pub(crate) fn is_command_due(&self) -> bool {
        self.host.flushes.any_due() || self.moves.are_due()
    }
}
