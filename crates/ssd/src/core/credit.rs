//! Credit: what collection does lets the host write.

use super::Core;
use crate::op::InternalTask;
use crate::ssd::Ssd;
use outlast_units::{CoreId, Nanos};

impl Ssd {
    /// Collection has dealt with `units` units of its victim: the host may write its share.
    #[inline]
    pub(super) fn grant_credit(&mut self, now: Nanos, core: CoreId, units: u32) {
        let Core { ftl, tasks, buffer, .. } = &mut self.cores[core];
        if tasks.runs(InternalTask::Gc) {
            let mut work = tasks.work();
            buffer.collected(now, ftl, &mut work, units, || tasks.coming(ftl));
            tasks.set_work(work);
        }
    }
}
