//! Credit: what collection does lets the host write.

use super::Core;
use super::pacing::Progress;
use crate::ssd::Ssd;
use outlast_units::{CoreId, Nanos};

impl Ssd {
    /// Collection has dealt with `units` units of its victim: the host may write its share.
    pub(super) fn grant_credit(&mut self, now: Nanos, core: CoreId, units: u32) {
        let Core { ftl, tasks, buffer, .. } = &mut self.cores[core];
        let Some(progress) = tasks.worked(units) else { return };
        if buffer.pacer().is_smooth() {
            buffer.grant(now, ftl, progress);
        } else {
            self.grant_with_extras(now, core, units, progress);
        }
    }

    /// As [`Ssd::grant_credit`], where there are marks or tokens, or victims overlap.
    #[inline(never)]
    fn grant_with_extras(&mut self, now: Nanos, core: CoreId, units: u32, progress: Progress) {
        let Core { ftl, tasks, buffer, .. } = &mut self.cores[core];
        if buffer.pacer().shares_gain() {
            let gain = tasks.take_gain(units);
            if buffer.pacer().is_mixed() || ftl.space().free_superblocks() > ftl.space().reserve() {
                return buffer.grant_gain(now, ftl, gain);
            }
        }
        if buffer.pacer().overlaps() {
            // Nothing is kept back, as erasures do not stop collection.
            let room = ftl.space().room_for_host(tasks.coming(ftl));
            buffer.pacer_mut().grant(now, room, 0, progress);
        } else {
            buffer.grant(now, ftl, progress);
        }
    }
}
