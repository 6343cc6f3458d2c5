//! Requests that the parts of a drive name, and how many parts of each: each is to be under way with as many, also in state that was read.

use crate::commands::HostRequestId;
use crate::core::{CoreContext, CoreWork, FlashCore};
use crate::op::{Op, OpKind};

/// A request, and how many of its parts somebody is at work on.
type RequestParts = (HostRequestId, u32);

impl FlashCore {
    /// Requests for which the core has work to do, or writes that wait, with their parts.
    pub fn named_parts(&self) -> impl Iterator<Item = RequestParts> {
        let work = self.cpu.works().map(|work| match *work {
            CoreWork::Units { first, units } => (first.request, units),
            CoreWork::Search { request } | CoreWork::Mark { request } => (request, 1),
        });
        let maps = self.awaiting_map().map(|work| (work.request, 1));
        let writes = self.buffer.waiting().map(|write| (write.work.request, 1));
        work.chain(writes).chain(maps).chain(self.resets.requests().map(|request| (request, 1)))
    }
}

impl CoreContext {
    /// Requests that wait for a flush, the link, a read, the turn of their zone, or lists of a failed die, with their parts.
    pub fn named_parts(&self) -> impl Iterator<Item = RequestParts> {
        let plain =
            self.flash.reads().filter(|(_, op)| op.tag.kind == OpKind::HostRead && !op.tag.has_record);
        let plain = plain.map(|(_, op)| (op.tag.request(), op.units()));
        let reads = self.reads.live().chain(self.ladder.reads()).filter_map(parts_of);
        let lists = self.watch.iter().flat_map(|watch| watch.lists.requests());
        let zones = self.zones.iter().flat_map(|zones| zones.named_requests());
        let once =
            self.commands.flushes.requests().chain(self.commands.link.requests()).chain(lists).chain(zones);
        once.map(|request| (request, 1)).chain(plain).chain(reads)
    }
}

/// The request that a read is for, and how many of its parts; those of the drive itself are for none.
fn parts_of(op: &Op) -> Option<RequestParts> {
    match op.kind {
        OpKind::HostRead => Some((op.work.request, op.units.into())),
        OpKind::RmwRead | OpKind::MoveRead => Some((op.work.request, 1)),
        _ => None,
    }
}
