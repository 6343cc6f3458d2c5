//! The write buffer of a flash core: what is in it, who waits for it, and how fast the host may fill it.

mod clock;

use super::coalescing::capacity_of;
use super::pacing::Pacer;
use super::pauses::Pauses;
use crate::core::Tasks;
use crate::op::{InternalTask, UnitWork};
use outlast_ftl::{Ftl, VictimWork};
use outlast_media::ConfigError;
use outlast_settings::drive::SsdConfig;
use outlast_units::{Nanos, Pu, Stream, SuperblockId};
use std::collections::VecDeque;

/// A host write that waits for room.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub struct WaitingWrite {
    /// The unit, and the sectors of it that are written.
    pub work: UnitWork,
    /// Stream that it is written to.
    pub stream: Stream,
}

/// The write buffer of a flash core.
///
/// **Admission**: a write enters when the buffer and its stream have room, there is no pause and, while collection runs, the [`Pacer`] lets it in.
/// Until then it waits, first come, first served.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub struct Buffer {
    /// Host units that are not on flash, and how many fit.
    held: u32,
    #[persist(fixed)]
    capacity: u32,
    /// Host writes that wait for the buffer, for space, or for credit, in order.
    waiting: VecDeque<WaitingWrite>,
    pacer: Pacer,
    pauses: Pauses,
    /// Since when the first waiting write has waited for collection, or for its token.
    blocked_since: Option<Nanos>,
    /// For how long writes had waited for collection before.
    blocked: Nanos,
    /// Program units of relocated data that hold host data, too, since its own program operation failed; and the flush epochs that
    /// wait for them. Only where the buffer is not protected.
    moved_in: Vec<(Pu, u32)>,
}

impl Buffer {
    /// The buffer of a core with translation layer `ftl`.
    ///
    /// # Errors
    /// A buffer in which no program unit of each stream fits, beside what is held back.
    pub fn new(ftl: &Ftl, config: &SsdConfig) -> Result<Self, ConfigError> {
        let capacity = capacity_of(ftl, config)?;
        Ok(Self {
            held: 0,
            capacity,
            waiting: VecDeque::new(),
            pacer: Pacer::new(ftl, config),
            pauses: Pauses::new(config.controller.pauses),
            blocked_since: None,
            blocked: Nanos::ZERO,
            moved_in: Vec::new(),
        })
    }

    /// Host units that are not on flash.
    pub fn held(&self) -> u32 {
        self.held
    }

    /// True if `write` may enter now, beside what `tasks` have under way.
    #[allow(clippy::inline_always, reason = "as FlashCore::may_enter")]
    #[inline(always)]
    pub(crate) fn admits(&self, now: Nanos, write: WaitingWrite, ftl: &Ftl, tasks: &Tasks) -> bool {
        let leaves_room = || tasks.leaves_room(ftl, write.stream);
        self.held < self.capacity
            && self.pauses.ends(now).is_none()
            && ftl.can_append(write.stream)
            && (!tasks.runs(InternalTask::Gc) || self.pacer.lets_in(now, leaves_room))
    }

    /// `units` units that collection has moved are among the host's.
    pub fn take_in(&mut self, units: u32) {
        self.held += units;
    }

    /// True if collection, whose units go among the host's, waits until some have left.
    #[inline]
    pub(crate) fn holds_up(&self) -> bool {
        self.pacer.credit().is_mixed() && self.held >= self.capacity
    }

    /// A write enters, though there may be no credit for it. The caller has asked whether there is room.
    #[inline]
    pub fn enter(&mut self, collects: bool) {
        debug_assert!(self.held < self.capacity, "a write enters a full buffer");
        self.held += 1;
        self.pacer.enter(collects);
    }

    /// A unit of a failed program is in it again.
    pub(crate) fn enter_again(&mut self) {
        self.held += 1;
    }

    /// `units` units are on flash.
    #[inline]
    pub fn leave(&mut self, units: u32) {
        debug_assert!(units <= self.held, "{units} units leave a buffer of {}", self.held);
        self.held -= units;
    }

    /// Collection has dealt with `units` units of its victim: see [`outlast_ftl::HostCredit::grant_for_units`].
    #[allow(clippy::inline_always, reason = "once for each read of collection where credit is all there is")]
    #[inline(always)]
    pub(crate) fn collected(
        &mut self,
        now: Nanos,
        ftl: &Ftl,
        work: &mut VictimWork,
        units: u32,
        coming: impl FnOnce() -> u32,
    ) {
        self.pacer.collected(now, ftl, work, units, coming);
    }

    /// All of collection's victim has been moved: see [`outlast_ftl::HostCredit::grant_rest`].
    pub(crate) fn victim_moved(&mut self, now: Nanos, ftl: &Ftl, work: &mut VictimWork) {
        self.pacer.victim_moved(now, ftl, work);
    }

    /// Collection takes `victim`.
    #[inline]
    pub(crate) fn collects(&mut self, now: Nanos, ftl: &mut Ftl, victim: SuperblockId) {
        self.pacer.collection_takes(now, ftl, victim, self.waiting.len() as u32);
    }

    /// How fast the host may write while collection runs.
    #[inline]
    pub(crate) fn pacer(&self) -> &Pacer {
        &self.pacer
    }

    #[inline]
    pub(crate) fn pacer_mut(&mut self) -> &mut Pacer {
        &mut self.pacer
    }

    /// The write that waits longest.
    #[inline]
    pub fn first_waiting(&self) -> Option<WaitingWrite> {
        self.waiting.front().copied()
    }

    /// Writes that wait for room, in order.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &WaitingWrite> {
        self.waiting.iter()
    }

    /// True if writes wait for room.
    #[inline]
    pub fn any_waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Has `write` wait for room, behind all that do.
    #[inline]
    pub fn wait(&mut self, write: WaitingWrite) {
        self.waiting.push_back(write);
    }

    /// `write` waits before all others.
    pub fn wait_first(&mut self, write: WaitingWrite) {
        self.waiting.push_front(write);
    }

    /// The write that waits longest waits no more. Prefetches what the next ones will change when they enter: what was prefetched when they came has left
    /// the processor's nearest cache since, as all that waited before them have entered.
    #[inline]
    pub(crate) fn stop_waiting(&mut self, ftl: &Ftl) {
        let first = self.waiting.pop_front();
        debug_assert!(first.is_some(), "no write waits");
        let lpn_of = |write: &WaitingWrite| write.work.lpn;
        ftl.touch_written::<true>(self.waiting.front().map(lpn_of).into_iter());
        // Its entry says which slot to touch, and is to be there by then.
        ftl.touch(self.waiting.get(2).map(lpn_of).into_iter());
    }

    /// All that wait: each is given to whoever decides anew where it goes.
    pub fn take_waiting(&mut self) -> VecDeque<WaitingWrite> {
        std::mem::take(&mut self.waiting)
    }

    /// Writes that wait though the buffer has room wait for collection, from now on.
    #[inline]
    pub fn note_blocked(&mut self, now: Nanos) {
        if self.held < self.capacity && self.blocked_since.is_none() {
            self.blocked_since = Some(now);
        }
    }

    /// True if a write that waits and finds its stream open would wait on, and is accounted for: the buffer is full, or there is no credit for
    /// it. `collects` is whether collection runs.
    #[inline]
    pub(crate) fn would_wait_on(&self, collects: bool) -> bool {
        self.held >= self.capacity
            || (collects
                && self.pacer.credit().paces()
                && !self.pacer.credit().has_one()
                && self.blocked_since.is_some())
    }

    /// True if host writes wait for collection.
    #[inline]
    pub(crate) fn is_blocked(&self) -> bool {
        self.blocked_since.is_some() && !self.pacer.awaits_token()
    }

    /// Host writes wait for collection no more; returns for how long they did.
    #[inline]
    pub fn unblock(&mut self, now: Nanos) -> Nanos {
        let Some(since) = self.blocked_since.take() else { return Nanos::ZERO };
        self.pacer.ends_wait();
        self.blocked += now - since;
        now - since
    }

    /// For how long host writes have waited for collection until `now`.
    pub(crate) fn blocked_until(&self, now: Nanos) -> Nanos {
        self.blocked + self.blocked_since.map_or(Nanos::ZERO, |since| now - since)
    }

    /// Flush epoch `epoch` waits for program unit `pu`, among relocated data; false if it does already.
    pub(crate) fn note_moved_in(&mut self, pu: Pu, epoch: u32) -> bool {
        let is_new = !self.moved_in.contains(&(pu, epoch));
        if is_new {
            self.moved_in.push((pu, epoch));
        }
        is_new
    }

    /// The flush epochs that wait for program unit `pu`.
    pub fn moved_in(&self, pu: Pu) -> impl Iterator<Item = u32> {
        self.moved_in.iter().filter(move |&&(other, _)| other == pu).map(|&(_, epoch)| epoch)
    }

    /// True if any flush epoch waits for relocated data.
    #[inline]
    pub(crate) fn any_moved_in(&self) -> bool {
        !self.moved_in.is_empty()
    }

    /// For how many flush epochs relocated data is waited for.
    pub fn epochs_moved_in(&self) -> u64 {
        self.moved_in.len() as u64
    }

    /// Program unit `pu` is on flash, or its units are elsewhere: returns the flush epochs that waited for it.
    #[cold]
    pub(crate) fn take_moved_in(&mut self, pu: Pu) -> Vec<u32> {
        let ended = self.moved_in(pu).collect();
        self.moved_in.retain(|&(other, _)| other != pu);
        ended
    }

    /// Power has failed: nobody waits. Returns for how long host writes had waited for collection. What is in the buffer is told by
    /// [`Buffer::hold`].
    pub fn forget(&mut self, now: Nanos) -> Nanos {
        self.waiting.clear();
        self.pacer.forget();
        self.moved_in.clear();
        self.unblock(now)
    }

    /// The buffer holds `units` host units.
    pub fn hold(&mut self, units: u32) {
        self.held = units;
    }
}

#[cfg(test)]
mod tests;
