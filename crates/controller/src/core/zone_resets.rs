//! Resets of zones on a flash core: the superblocks of the zone, of which nothing is valid any more, are erased one after another.

use crate::commands::HostRequestId;
use crate::core::{CoreContext, Due, FlashCore};
use crate::op::InternalTask;
use outlast_decisions::SuperblockState;
use outlast_ftl::StreamCause;
use outlast_units::{Lpn, Nanos, Stream, SuperblockId};

/// Superblocks that are to be erased for resets, in order, and the reset that waits for each.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(super) struct ZoneResets {
    superblocks: Vec<ResetSuperblock>,
}

/// A superblock that is erased for a reset.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
struct ResetSuperblock {
    superblock: SuperblockId,
    /// [`HostRequestId::NONE`] where nobody waits any more.
    request: HostRequestId,
    /// How long the erasure of its blocks takes; zero for tBERS.
    time: Nanos,
}

/// Reset of a zone, as a flash core carries it out.
#[derive(Clone, Copy, Debug)]
pub struct ZoneReset {
    /// The reset.
    pub request: HostRequestId,
    /// Units of the zone: the first, the one after the last that the host has written, and the one after the last.
    pub units: (Lpn, Lpn, Lpn),
    /// The stream that fills the zone.
    pub stream: Option<Stream>,
    /// Time for which dies are busy with a zone that the host has written wholly; absent: that of block erasures.
    pub time: Option<Nanos>,
}

impl ZoneResets {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.superblocks.is_empty()
    }

    /// Takes `superblock` off the list, for which nobody is to wait any more: the reset that waits for it.
    pub(super) fn take(&mut self, superblock: SuperblockId) -> Option<HostRequestId> {
        let at = self.superblocks.iter().position(|own| own.superblock == superblock)?;
        Some(self.superblocks.remove(at).request).filter(|&request| request != HostRequestId::NONE)
    }

    /// How long the erasure of the blocks of `superblock` takes; zero for tBERS.
    #[cold]
    pub(super) fn time_of(&self, superblock: SuperblockId) -> Nanos {
        let own = self.superblocks.iter().find(|own| own.superblock == superblock);
        own.map_or(Nanos::ZERO, |own| own.time)
    }

    /// Resets that wait for a superblock, once for each.
    pub(super) fn requests(&self) -> impl Iterator<Item = HostRequestId> {
        let all = self.superblocks.iter().map(|own| own.request);
        all.filter(|&request| request != HostRequestId::NONE)
    }

    /// Power has failed: nobody waits any more, but the superblocks are erased all the same.
    pub(super) fn power_failed(&mut self) {
        for own in &mut self.superblocks {
            own.request = HostRequestId::NONE;
        }
    }
}

impl FlashCore {
    /// The units of a zone are stale; the superblocks that have held them, and hold nothing else, are erased, each as a part of the reset. The superblock
    /// that the zone's stream has open is closed. Returns the number of superblocks.
    pub fn reset_zone(&mut self, now: Nanos, context: &mut CoreContext, reset: ZoneReset) -> u64 {
        let ZoneReset { request, units: (first, written, end), stream, time } = reset;
        let mut superblocks = self.drop_units(first, written);
        for (superblock, _) in self.drop_units(written, end) {
            if superblocks.iter().all(|&(own, _)| own != superblock) {
                superblocks.push((superblock, 0));
            }
        }
        if let Some(stream) = stream {
            self.close_stream(now, context, stream);
        }
        let mut count = 0;
        for (superblock, units) in superblocks {
            let view = self.ftl.superblock(superblock);
            let is_host = self.ftl.streams().cause(view.stream()) == StreamCause::Host;
            if view.state() == SuperblockState::Open {
                // What was moved there, or written again as a program had failed, is stale, and its superblock fills up with data of others.
                if !is_host || view.valid() != 0 {
                    continue;
                }
                let own = view.stream();
                self.close_stream(now, context, own);
            }
            count += 1;
            context.commands.requests.add_part(request);
            // One superblock after another, each by its share of what the host has written: together that of the zone.
            let share = f64::from(units) / f64::from(end - first);
            let time = time.map_or(Nanos::ZERO, |time| Nanos(((time.0 as f64 * share) as u64).max(1)));
            self.resets.superblocks.push(ResetSuperblock { superblock, request, time });
        }
        self.make_due(context, Due::Collect);
        count
    }

    /// Units from `first` to `end` are stale, for good. Returns the superblocks in which they were, and how many in each.
    pub fn drop_units(&mut self, first: Lpn, end: Lpn) -> Vec<(SuperblockId, u32)> {
        let mut superblocks: Vec<(SuperblockId, u32)> = Vec::new();
        for lpn in Lpn::each(first..end) {
            let slot = self.ftl.lookup(lpn);
            if slot.is_some() {
                let superblock = self.ftl.layout().superblock_of(slot);
                // Mostly the last one.
                match superblocks.iter_mut().rev().find(|(own, _)| *own == superblock) {
                    Some((_, units)) => *units += 1,
                    None => superblocks.push((superblock, 1)),
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

    /// The next superblock of a reset that can be erased, unless collection is under way.
    #[cold]
    #[inline(never)]
    pub(super) fn next_of_reset(&mut self, now: Nanos, context: &mut CoreContext) -> Option<SuperblockId> {
        if self.tasks.formers().next().is_some() {
            self.program_pinned(now, context, None);
            self.program_moved(now, context);
        }
        if self.tasks.runs(InternalTask::Gc) {
            return None;
        }
        let mut at = 0;
        while let Some(&ResetSuperblock { superblock, .. }) = self.resets.superblocks.get(at) {
            let view = self.ftl.superblock(superblock);
            match view.state() {
                SuperblockState::Sealed if view.valid() == 0 && view.may_be_erased() => {
                    return Some(superblock);
                }
                SuperblockState::Sealed if view.valid() == 0 => {
                    self.program_pinned(now, context, Some(superblock));
                    at += 1;
                }
                // Units of another zone are in it: collection moved them there, and will erase it, or its stream was given up and others write to it.
                SuperblockState::Sealed | SuperblockState::Open if view.valid() != 0 => {
                    self.end_reset_of(now, context, superblock);
                }
                // There is nothing left to erase.
                SuperblockState::Free | SuperblockState::Retired => {
                    self.end_reset_of(now, context, superblock);
                }
                _ => at += 1,
            }
        }
        None
    }

    fn end_reset_of(&mut self, now: Nanos, context: &mut CoreContext, superblock: SuperblockId) {
        if let Some(request) = self.resets.take(superblock) {
            context.finish_parts(now, request, 1);
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
}
