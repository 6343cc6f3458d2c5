//! Credit: what collection does lets the host write.

use crate::core::FlashCore;
use crate::op::InternalTask;
use outlast_units::Nanos;

impl FlashCore {
    /// Collection has dealt with `units` units of its victim: the host may write its share.
    #[inline]
    pub(in crate::core) fn grant_credit(&mut self, now: Nanos, units: u32) {
        let FlashCore { ftl, tasks, buffer, .. } = self;
        if tasks.runs(InternalTask::Gc) {
            let mut work = tasks.work();
            buffer.collected(now, ftl, &mut work, units, || tasks.coming(ftl));
            tasks.set_work(work);
        }
    }
}
