//! Lists of the owners of a failed die's units: what the core marks, and what a stripe still gives.

use crate::commands::HostRequestId;
use crate::core::{CoreContext, FlashCore};
use outlast_ftl::{CodeAxis, LineMember};
use outlast_units::{DieId, Lpn, Nanos, Pu};

impl FlashCore {
    /// Core `core` marks pages that lists of die `die` name, which takes it time.
    ///
    /// # Panics
    /// If the die has not failed.
    pub fn mark(&mut self, now: Nanos, context: &mut CoreContext, die: DieId, pages: &[Lpn]) {
        let (Some(watch), Some(repair)) = (&mut context.watch, &context.config.repair) else {
            return;
        };
        assert!(watch.detector.has_failed(die), "only units of failed dies are marked");
        watch.lists.mark(self.id, pages);
        for record in watch.records_of(die) {
            record.marked += pages.len() as u64;
        }
        self.cpu.occupy(now, Nanos(repair.mark_cost().0 * pages.len() as u64));
    }

    /// Core `core` has marked what was left of one of its failed dies, for the sake of `request`.
    pub fn marked(&mut self, now: Nanos, context: &mut CoreContext, request: HostRequestId) {
        let dies = self.dies.iter().copied();
        if let Some(watch) = &mut context.watch {
            watch.lists.marked(dies);
        }
        context.finish_parts(now, request, 1);
    }

    /// True if the stripes of the drive can give what was in program unit `pu`, as far as firmware knows.
    pub fn stripe_gives(&self, context: &CoreContext, pu: Pu) -> bool {
        let ftl = &self.ftl;
        let is_there = |member: &LineMember| match member {
            LineMember::Empty | LineMember::Buffered(_) => true,
            LineMember::OnFlash(pu) => !self.is_out_of_reach(context, *pu),
            LineMember::Gone => false,
        };
        let gives = |axis: CodeAxis| {
            let needed = ftl.parity().line_needs(pu, axis);
            needed.is_some_and(|needed| {
                ftl.parity().line_of(pu, axis).filter(is_there).count() as u32 >= needed
            })
        };
        CodeAxis::ALL.into_iter().any(gives)
    }
}
