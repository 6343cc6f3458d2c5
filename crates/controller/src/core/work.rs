//! The processor of a flash core: work that it is handed, and work that it has done.

use crate::core::{CoreContext, CoreWork, FlashCore};
use crate::events::DriveSource;
use crate::op::UnitWork;
use outlast_device::Op as HostOp;
use outlast_units::{Lpn, Nanos};

impl FlashCore {
    /// Takes `work`, which costs the processor `cost`. True if the core is to act on it at once, as it costs nothing and nothing else is being done.
    #[allow(clippy::inline_always, reason = "a comparison or two, mostly, for every unit of a command")]
    #[inline(always)]
    pub fn take_work(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        cost: Nanos,
        work: impl FnOnce() -> CoreWork,
    ) -> bool {
        let is_at_once = cost == Nanos::ZERO && self.cpu.is_free(now);
        if !is_at_once {
            self.queue_work(now, context, cost, work());
        }
        is_at_once
    }

    /// `work` waits for its turn on the processor.
    #[inline(never)]
    fn queue_work(&mut self, now: Nanos, context: &mut CoreContext, cost: Nanos, work: CoreWork) {
        match work {
            CoreWork::Units { first, .. } if self.is_of_page_before(context, first) => {
                self.cpu.take_another_unit(now, cost);
            }
            _ => self.cpu.take(now, cost, work),
        }
        self.schedule(context);
    }

    /// The work whose time has passed.
    ///
    /// # Panics
    /// If the processor has no work.
    pub fn end_work(&mut self, context: &mut CoreContext) -> CoreWork {
        let work = self.cpu.done().expect("a processor's event has work");
        self.schedule(context);
        work
    }

    /// Sees that the core acts when the first piece of its work is done.
    #[inline]
    fn schedule(&mut self, context: &mut CoreContext) {
        context.events.set(DriveSource::Core(self.id), self.cpu.next());
    }

    /// True if `work` reads the unit after those that the core was given last, in the same program unit: firmware looks up all
    /// that a command wants of a page, then has the page read.
    fn is_of_page_before(&self, context: &CoreContext, work: UnitWork) -> bool {
        let Some(&CoreWork::Units { first: before, units }) = self.cpu.last() else {
            return false;
        };
        if before.request != work.request
            || before.lpn + units != work.lpn
            || context.commands.requests.command(work.request).op != HostOp::Read
            || context.redirection().is_some()
        {
            return false;
        }
        let (last, this) = (self.ftl.lookup(Lpn(work.lpn.0 - 1)), self.ftl.lookup(work.lpn));
        last.is_some() && this.is_some() && self.ftl.layout().pu_of(last).0 == self.ftl.layout().pu_of(this).0
    }
}
