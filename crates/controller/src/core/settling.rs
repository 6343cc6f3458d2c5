//! Settling of a flash core: work that is due is done in its order.

use crate::core::{CoreContext, Due, FlashCore};
use crate::op::InternalTask;
use outlast_units::Nanos;

impl FlashCore {
    /// Does what is due on the core, in its order, until nothing is, a command of the host or an effect comes first, or host writes may enter the
    /// buffer: true if they may. The drive admits them, since their old data may lie in another core.
    #[allow(clippy::inline_always, reason = "the body of the drive's loop, which nothing else calls")]
    #[inline(always)]
    pub fn settle(&mut self, now: Nanos, context: &mut CoreContext) -> bool {
        while let Some(due) = self.take_due(context) {
            match due {
                Due::Formers => self.look_at_formers(now, context),
                Due::GcVictim => self.look_at_victim(now, context, InternalTask::Gc),
                Due::WearVictim => self.look_at_victim(now, context, InternalTask::WearLeveling),
                Due::ScrubVictim => self.look_at_victim(now, context, InternalTask::Scrub),
                Due::Wear => self.level_wear(now, context),
                Due::Collect => self.collect(now, context),
                Due::Scrub => self.maybe_scrub(now, context),
                Due::Admit => return true,
                Due::MapFlush => self.flush_map(now, context),
            }
            if context.is_command_due() || context.unsettled.any_effect() {
                return false;
            }
        }
        false
    }
}
