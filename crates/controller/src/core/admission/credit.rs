//! Credit and the clock: what collection does lets the host write, and so do tokens that come and pauses that end.

use crate::core::{CoreContext, Due, FlashCore};
use crate::op::InternalTask;
use outlast_units::Nanos;

impl FlashCore {
    /// Collection has dealt with `units` units of its victim: the host may write its share.
    #[allow(clippy::inline_always, reason = "once for each read of collection")]
    #[inline(always)]
    pub(in crate::core) fn grant_credit(&mut self, now: Nanos, units: u32) {
        let FlashCore { ftl, tasks, buffer, .. } = self;
        if tasks.runs(InternalTask::Gc) {
            let mut work = tasks.work();
            buffer.collected(now, ftl, &mut work, units, || tasks.coming(ftl));
            tasks.set_work(work);
        }
    }

    /// Lets in the writes that a pause held up, and the one whose token has come, and collection go on that held back for a host that writes no more;
    /// returns when to look again.
    pub fn pace_what_is_due(&mut self, now: Nanos, context: &mut CoreContext) -> Nanos {
        let mut next = Nanos::MAX;
        if self.buffer.waits_for_pauses() {
            if let Some(end) = self.buffer.pause_ends(now) {
                return end;
            }
            self.make_due(context, Due::Admit);
        }
        let buffer = &mut self.buffer;
        let Some(&tokens) = buffer.pacer().tokens() else { return next };
        let (awaits_token, until) = (tokens.is_awaited(), buffer.pacer().holds_until());
        if tokens.holds() && until > now {
            next = until;
        } else if buffer.pacer_mut().lets_collection_go() {
            context.let_waiting_go();
        }
        if awaits_token && tokens.has_one(now) {
            self.make_due(context, Due::Admit);
        } else if awaits_token {
            next = next.min(tokens.next(now));
        }
        next
    }
}
