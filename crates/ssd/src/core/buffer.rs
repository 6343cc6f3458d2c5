//! The write buffer of a flash core: what is in it, who waits for it, and how fast the host may fill it.

use crate::config::SsdConfig;
use crate::op::UnitWork;
use outlast_ftl::{Ftl, Stream};
use outlast_media::ConfigError;
use outlast_units::{Bytes, Nanos, Pu};
use std::collections::VecDeque;

/// Credit is counted in 2^-16 units.
const CREDIT_ONE: u64 = 1 << 16;

/// A host write that waits for room.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub(crate) struct WaitingWrite {
    pub(crate) work: UnitWork,
    pub(crate) stream: Stream,
}

/// The write buffer of a flash core.
///
/// **Admission**: a write enters when the buffer and its stream have room and, while collection runs, it has *credit*. Until then it waits,
/// first come, first served.
///
/// **Pacing**: collection grants credit as it goes on with its victim, so that the host fills its open superblocks when collection has gained
/// the next one.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct Buffer {
    /// Host units that are not on flash, and how many fit.
    held: u32,
    capacity: u32,
    /// Host writes that wait for the buffer, for space, or for credit, in order.
    waiting: VecDeque<WaitingWrite>,
    paces: bool,
    /// Host units that may be written while collection runs, in 2^-16 units.
    credit: u64,
    /// Since when the first waiting write has waited for collection.
    blocked_since: Option<Nanos>,
    /// Program units of relocated data that hold host data, too, since its own program operation failed; and the flush epochs that
    /// wait for them. Only where the buffer is not protected.
    moved_in: Vec<(Pu, u32)>,
}

impl Buffer {
    /// The buffer of a core with translation layer `ftl`.
    ///
    /// # Errors
    /// A buffer in which no program unit of each stream fits.
    pub(crate) fn new(ftl: &Ftl, config: &SsdConfig) -> Result<Self, ConfigError> {
        let unit = config.ftl.mapping_unit.0;
        let cores = u64::from(config.controller.flash_cores);
        let capacity = config.controller.write_buffer.0 / unit / cores;
        let capacity = u32::try_from(capacity).unwrap_or(u32::MAX);
        // Each stream may hold a program unit that is begun and not full; one more must fit.
        let least = (ftl.streams().hosts().len() as u32) * ftl.layout().units_per_pu() + 1;
        if capacity < least {
            let bytes = Bytes(u64::from(least) * unit * cores);
            let limit = format!("must hold a program unit of every stream and core: at least {bytes}");
            let given = config.controller.write_buffer;
            return Err(ConfigError::new("device.controller.write_buffer", given, limit));
        }
        Ok(Self {
            held: 0,
            capacity,
            waiting: VecDeque::new(),
            paces: config.ftl.gc.pacing,
            credit: 0,
            blocked_since: None,
            moved_in: Vec::new(),
        })
    }

    /// Host units that are not on flash.
    pub(crate) fn held(&self) -> u32 {
        self.held
    }

    /// Whether `write` may enter now, `collects` being whether collection runs.
    #[inline]
    pub(crate) fn admits(&self, write: WaitingWrite, ftl: &Ftl, collects: bool) -> bool {
        self.held < self.capacity
            && ftl.can_append(write.stream)
            && (!collects || self.credit >= CREDIT_ONE || !self.paces)
    }

    /// A write enters, though there may be no credit for it. The caller has asked whether there is room.
    #[inline]
    pub(crate) fn enter(&mut self, collects: bool) {
        debug_assert!(self.held < self.capacity, "a write enters a full buffer");
        self.held += 1;
        if collects {
            self.credit = self.credit.saturating_sub(CREDIT_ONE);
        }
    }

    /// A unit of a failed program is in the buffer again.
    pub(crate) fn enter_again(&mut self) {
        self.held += 1;
    }

    /// `units` units are on flash.
    #[inline]
    pub(crate) fn leave(&mut self, units: u32) {
        debug_assert!(units <= self.held, "{units} units leave a buffer of {}", self.held);
        self.held -= units;
    }

    /// Collection has dealt with `units` of the `work` units that it has to move until it gains a superblock: the host may write its share,
    /// such that its open superblocks, which have room for `room` units, are full by then. `kept_back` of them are kept back for the time
    /// of the erasure and of estimates that were off; then host writes go on at the pace of the estimate.
    #[inline]
    pub(crate) fn grant(&mut self, room: u32, kept_back: u32, units: u32, work: u32) {
        debug_assert!(units <= work, "collection has done {units} of {work} units");
        let spendable = u64::from(room.saturating_sub(kept_back));
        let share = spendable * CREDIT_ONE * u64::from(units) / u64::from(work);
        self.credit = (self.credit + share).min(u64::from(room) * CREDIT_ONE);
    }

    /// The write that waits longest.
    #[inline]
    pub(crate) fn first_waiting(&self) -> Option<WaitingWrite> {
        self.waiting.front().copied()
    }

    #[inline]
    pub(crate) fn any_waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    #[inline]
    pub(crate) fn wait(&mut self, write: WaitingWrite) {
        self.waiting.push_back(write);
    }

    /// `write` waits before all others.
    pub(crate) fn wait_first(&mut self, write: WaitingWrite) {
        self.waiting.push_front(write);
    }

    /// The write that waits longest waits no more.
    pub(crate) fn stop_waiting(&mut self) {
        let first = self.waiting.pop_front();
        debug_assert!(first.is_some(), "no write waits");
    }

    /// All that wait: each is given to whoever decides anew where it goes.
    pub(crate) fn take_waiting(&mut self) -> VecDeque<WaitingWrite> {
        std::mem::take(&mut self.waiting)
    }

    /// Writes that wait though the buffer has room wait for collection, from now on.
    #[inline]
    pub(crate) fn note_blocked(&mut self, now: Nanos) {
        if self.held < self.capacity && self.blocked_since.is_none() {
            self.blocked_since = Some(now);
        }
    }

    /// Whether a write that waits and finds its stream open would wait on, and is accounted for: the buffer is full, or there is no credit for
    /// it. `collects` is whether collection runs.
    #[inline]
    pub(crate) fn would_wait_on(&self, collects: bool) -> bool {
        self.held >= self.capacity
            || (collects && self.paces && self.credit < CREDIT_ONE && self.blocked_since.is_some())
    }

    /// Whether host writes wait for collection.
    #[inline]
    pub(crate) fn is_blocked(&self) -> bool {
        self.blocked_since.is_some()
    }

    /// Host writes wait for collection no more; returns for how long they did.
    #[inline]
    pub(crate) fn unblock(&mut self, now: Nanos) -> Nanos {
        self.blocked_since.take().map_or(Nanos::ZERO, |since| now - since)
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
    pub(crate) fn moved_in(&self, pu: Pu) -> impl Iterator<Item = u32> {
        self.moved_in.iter().filter(move |&&(other, _)| other == pu).map(|&(_, epoch)| epoch)
    }

    /// Whether any flush epoch waits for relocated data.
    #[inline]
    pub(crate) fn any_moved_in(&self) -> bool {
        !self.moved_in.is_empty()
    }

    /// For how many flush epochs relocated data is waited for.
    pub(crate) fn epochs_moved_in(&self) -> u64 {
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
    pub(crate) fn forget(&mut self, now: Nanos) -> Nanos {
        self.waiting.clear();
        self.credit = 0;
        self.moved_in.clear();
        self.unblock(now)
    }

    /// The buffer holds `units` host units.
    pub(crate) fn hold(&mut self, units: u32) {
        self.held = units;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(capacity: u32) -> Buffer {
        Buffer {
            held: 0,
            capacity,
            waiting: VecDeque::new(),
            paces: true,
            credit: 0,
            blocked_since: None,
            moved_in: Vec::new(),
        }
    }

    /// A host that writes as soon as it may has written, when a victim has been moved, what there was room for, less what is kept back:
    /// however the victim was cut into reads.
    #[test]
    fn a_host_that_writes_as_it_may_fills_its_room_while_a_victim_is_moved() {
        for steps in [[1, 1, 1, 97], [25, 25, 25, 25], [40, 30, 20, 10]] {
            let (mut own, mut room, mut work) = (buffer(64), 64, 100);
            for units in steps {
                own.grant(room, 4, units, work);
                work -= units;
                while own.credit >= CREDIT_ONE {
                    own.enter(true);
                    room -= 1;
                }
            }
            assert_eq!((own.held(), room, work), (60, 4, 0), "{steps:?}");
        }
    }

    #[test]
    fn credit_never_exceeds_the_room() {
        let mut own = buffer(64);
        for _ in 0..4 {
            own.grant(8, 0, 50, 100);
        }
        assert_eq!(own.credit, 8 * CREDIT_ONE);
    }

    #[test]
    fn a_write_that_waits_for_a_full_buffer_does_not_wait_for_collection() {
        let mut full = buffer(1);
        full.enter(false);
        full.note_blocked(Nanos(5));
        assert!(!full.is_blocked());
        full.leave(1);
        full.note_blocked(Nanos(7));
        full.note_blocked(Nanos(8));
        assert_eq!(full.unblock(Nanos(10)), Nanos(3));
        assert_eq!(full.unblock(Nanos(11)), Nanos::ZERO);
    }

    #[test]
    fn an_epoch_waits_once_for_a_program_unit() {
        let mut own = buffer(1);
        assert!(own.note_moved_in(Pu(3), 0) && own.note_moved_in(Pu(3), 1) && own.note_moved_in(Pu(4), 0));
        assert!(!own.note_moved_in(Pu(3), 1));
        assert_eq!(own.take_moved_in(Pu(3)), [0, 1]);
        assert_eq!(own.take_moved_in(Pu(3)), [0u32; 0]);
        assert!(own.any_moved_in());
    }
}
