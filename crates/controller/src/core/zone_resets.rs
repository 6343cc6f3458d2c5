//! Resets of zones on a flash core: the superblocks of the zone, of which nothing is valid any more, are erased one after another.

use crate::commands::HostRequestId;
use crate::core::{CoreContext, Due, FlashCore};
use crate::health::Reason;
use crate::op::InternalTask;
use outlast_decisions::SuperblockState;
use outlast_device::Outcome;
use outlast_ftl::StreamCause;
use outlast_units::{Lpn, Nanos, Stream, SuperblockId};

/// Superblocks that are to be erased for resets, in order, and the reset that waits for each.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(super) struct ZoneResets {
    superblocks: Vec<(SuperblockId, HostRequestId)>,
}

impl ZoneResets {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.superblocks.is_empty()
    }

    /// Power has failed: nobody waits any more, but the superblocks are erased all the same.
    pub(super) fn power_failed(&mut self) {
        for (_, request) in &mut self.superblocks {
            *request = HostRequestId::NONE;
        }
    }
}

impl FlashCore {
    /// Units from `first` to `end` of a zone are stale; the superblocks that have held them, and hold nothing else, are erased for reset `request`, of which
    /// each is a part. `stream`: that of the zone, whose superblock is closed. Returns the number of superblocks.
    pub fn reset_zone(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        (first, end): (Lpn, Lpn),
        stream: Option<Stream>,
        request: HostRequestId,
    ) -> u64 {
        let superblocks = self.drop_units(first, end);
        if let Some(stream) = stream {
            self.close_stream(now, context, stream);
        }
        let mut count = 0;
        for superblock in superblocks {
            let view = self.ftl.superblock(superblock);
            let is_host = self.ftl.streams().cause(view.stream()) == StreamCause::Host;
            if !is_host && view.state() == SuperblockState::Open {
                // What was moved there is stale, and its superblock fills up with what else is moved.
                continue;
            }
            count += 1;
            context.commands.requests.add_part(request);
            self.resets.superblocks.push((superblock, request));
        }
        self.make_due(context, Due::Collect);
        count
    }

    /// Units from `first` to `end` are stale, for good. Returns the superblocks in which they were.
    pub fn drop_units(&mut self, first: Lpn, end: Lpn) -> Vec<SuperblockId> {
        let mut superblocks: Vec<SuperblockId> = Vec::new();
        for lpn in Lpn::each(first..end) {
            let slot = self.ftl.lookup(lpn);
            if slot.is_some() {
                let superblock = self.ftl.layout().superblock_of(slot);
                if superblocks.last() != Some(&superblock) && !superblocks.contains(&superblock) {
                    superblocks.push(superblock);
                }
            }
            self.forget_read(lpn);
            self.ftl.trim(lpn);
        }
        superblocks
    }

    /// The superblock that `stream` fills takes no more: the next unit opens another.
    pub fn close_stream(&mut self, now: Nanos, context: &mut CoreContext, stream: Stream) {
        let Some(superblock) = self.ftl.stream(stream).open_superblock() else { return };
        if self.close_superblock(now, context, stream) {
            self.sealed(now, context, superblock);
        }
        self.make_due(context, Due::Collect);
    }

    /// Begins to erase the next superblock of a reset that can be, unless collection is under way.
    #[cold]
    #[inline(never)]
    pub(super) fn erase_reset(&mut self, now: Nanos, context: &mut CoreContext) {
        if self.tasks.formers().next().is_some() {
            self.program_pinned(now, context, None);
            self.program_moved(now, context);
        }
        if self.tasks.runs(InternalTask::Gc) {
            return;
        }
        let mut at = 0;
        while let Some(&(superblock, _)) = self.resets.superblocks.get(at) {
            let view = self.ftl.superblock(superblock);
            match view.state() {
                SuperblockState::Sealed if view.valid() == 0 && view.may_be_erased() => {
                    return self.start_relocation(
                        now,
                        context,
                        InternalTask::Gc,
                        superblock,
                        Reason::Space,
                        None,
                    );
                }
                SuperblockState::Sealed if view.valid() == 0 => {
                    self.program_pinned(now, context, Some(superblock));
                    at += 1;
                }
                // Units of another zone are in it: collection moved them there, and will erase it. Or there is nothing left to erase.
                SuperblockState::Sealed if view.valid() != 0 => self.reset_ended(now, context, superblock),
                SuperblockState::Free | SuperblockState::Retired => {
                    self.reset_ended(now, context, superblock)
                }
                _ => at += 1,
            }
        }
    }

    /// Programs what is begun of moved data, padded: a victim waits for it that is erased before the superblocks of a reset.
    fn program_moved(&mut self, now: Nanos, context: &mut CoreContext) {
        for stream in self.ftl.streams().all() {
            let units = self.ftl.stream(stream).begun_units();
            if units == 0 || self.ftl.streams().cause(stream) == StreamCause::Host {
                continue;
            }
            if let Some(pu) = self.ftl.pad(stream) {
                self.program_in(now, context, stream, pu, units);
                self.program_parity(now, context, stream);
            }
        }
    }

    /// Nobody waits for `superblock` any more: it has been erased.
    #[cold]
    #[inline(never)]
    pub(super) fn reset_ended(&mut self, now: Nanos, context: &mut CoreContext, superblock: SuperblockId) {
        let Some(at) = self.resets.superblocks.iter().position(|&(own, _)| own == superblock) else { return };
        let (_, request) = self.resets.superblocks.remove(at);
        if request != HostRequestId::NONE {
            context.finish_parts(now, request, 1);
        }
    }
}

impl CoreContext {
    /// Command `command` of a drive with zones has ended.
    #[cold]
    pub(super) fn complete_in_zone(
        &mut self,
        now: Nanos,
        id: HostRequestId,
        request: &crate::commands::Request,
    ) {
        let CoreContext { zones, commands, unsettled, .. } = self;
        let Some(zones) = zones else { return };
        let is_refused = matches!(
            request.outcome,
            Outcome::Zone(_) | Outcome::OutOfRange | Outcome::InvalidNamespace | Outcome::InvalidOpcode
        );
        if is_refused {
            commands.complete(now, request);
        } else {
            let (result, later) = zones.ended(id, &request.command, &mut commands.requests);
            commands.complete_later(now, request, result, later);
        }
        if zones.goes_on() {
            unsettled.add_effect(crate::core::Effect::ZonesGoOn);
        }
        if request.is_early() {
            self.put_off_flush(now);
        }
    }
}
