//! Redundancy that was lacking and is whole again.

use crate::core::{CoreContext, FlashCore};
use outlast_settings::drive::ControllerConfig;
use outlast_units::Nanos;

impl FlashCore {
    /// A superblock has been moved, filled or erased: redundancy that was lacking may be whole again.
    #[inline]
    pub(crate) fn look_at_redundancy(&mut self, now: Nanos, context: &mut CoreContext) {
        if context.redundancy.is_lacking() {
            self.note_restored(now, context);
        }
    }

    #[cold]
    fn note_restored(&mut self, now: Nanos, context: &mut CoreContext) {
        if self.ftl.redundancy().degraded().next().is_none() {
            context.redundancy.restored(now, self.id.0);
            if !context.redundancy.is_lacking() {
                context.flash.set_background_every(ControllerConfig::BACKGROUND_EVERY);
            }
        }
    }
}
