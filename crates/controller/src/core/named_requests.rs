//! Requests that the parts of a drive name: each is to be under way, also in state that was read.

use crate::commands::HostRequestId;
use crate::core::{CoreContext, CoreWork, FlashCore};
use crate::op::OpKind;

impl FlashCore {
    /// Requests for which the core has work to do, or writes that wait.
    pub fn named_requests(&self) -> impl Iterator<Item = HostRequestId> {
        let work = self.cpu.works().map(|work| match *work {
            CoreWork::Units { first, .. } => first.request,
            CoreWork::Search { request } | CoreWork::Mark { request } => request,
        });
        let maps = self.awaiting_map().map(|work| work.request);
        work.chain(self.buffer.waiting().map(|write| write.work.request)).chain(maps)
    }
}

impl CoreContext {
    /// Requests that wait for a flush, the link, a read with a record, or lists of a failed die.
    pub fn named_requests(&self) -> impl Iterator<Item = HostRequestId> {
        let is_for_request = |kind| matches!(kind, OpKind::HostRead | OpKind::RmwRead | OpKind::MoveRead);
        let reads = self.reads.live().filter(move |op| is_for_request(op.kind)).map(|op| op.work.request);
        let lists = self.watch.iter().flat_map(|watch| watch.lists.requests());
        self.commands.flushes.requests().chain(self.commands.link.requests()).chain(reads).chain(lists)
    }
}
