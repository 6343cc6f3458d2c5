//! The host link: which data crosses it when, in both directions.

use crate::commands::HostRequestId;
use outlast_device::Command;
use outlast_units::{ByteRate, Bytes, Nanos, SECTOR_BYTES};
use std::collections::VecDeque;

/// The link, full duplex; each direction carries one transfer after the other. A drive may have none: then data is there at once.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub struct Link {
    #[persist(fixed)]
    rate: Option<ByteRate>,
    in_free: Nanos,
    out_free: Nanos,
    /// Time of all data booked since the last reset, in and out.
    booked: [Nanos; 2],
    /// Requests whose data is still coming in, with the time of its end, in order.
    arriving: VecDeque<(Nanos, HostRequestId)>,
}

impl Link {
    /// A link of `rate` in each direction; `None`: data crosses in no time.
    pub fn new(rate: Option<ByteRate>) -> Self {
        Self {
            rate,
            in_free: Nanos::ZERO,
            out_free: Nanos::ZERO,
            booked: [Nanos::ZERO; 2],
            arriving: VecDeque::new(),
        }
    }

    /// True if transfers take time.
    #[inline]
    pub fn is_there(&self) -> bool {
        self.rate.is_some()
    }

    /// The data of write `command`, which is request `request`, begins to come in. False, and nothing done, without a link.
    #[inline]
    pub fn receive(&mut self, now: Nanos, command: &Command, request: HostRequestId) -> bool {
        self.rate.is_some_and(|rate| self.begin_receiving(now, command, request, rate))
    }

    #[inline(never)]
    fn begin_receiving(
        &mut self,
        now: Nanos,
        command: &Command,
        request: HostRequestId,
        rate: ByteRate,
    ) -> bool {
        let span = rate.time_for(Bytes(u64::from(command.sectors) * SECTOR_BYTES));
        self.in_free = self.in_free.max(now) + span;
        self.booked[0] += span;
        debug_assert!(self.arriving.back().is_none_or(|&(at, _)| at <= self.in_free), "data overtakes data");
        self.arriving.push_back((self.in_free, request));
        true
    }

    /// When all that has been booked has crossed.
    pub fn free_at(&self) -> Nanos {
        let arriving = self.arriving.iter().map(|&(at, _)| at);
        arriving.fold(self.in_free.max(self.out_free), Nanos::max)
    }

    /// Requests whose data is still coming in.
    pub fn requests(&self) -> impl Iterator<Item = HostRequestId> {
        self.arriving.iter().map(|&(_, request)| request)
    }

    /// When the next request's data is all there.
    pub fn next(&self) -> Nanos {
        self.arriving.front().map_or(Nanos::MAX, |&(at, _)| at)
    }

    /// The request whose data is all there.
    pub fn arrived(&mut self) -> Option<HostRequestId> {
        self.arriving.pop_front().map(|(_, request)| request)
    }

    /// `bytes` of a read's data begin to go out; returns when all of it has left, `None` without a link.
    #[inline]
    pub(crate) fn send(&mut self, now: Nanos, bytes: u64) -> Option<Nanos> {
        let rate = self.rate?;
        let span = rate.time_for(Bytes(bytes));
        self.out_free = self.out_free.max(now) + span;
        self.booked[1] += span;
        Some(self.out_free)
    }

    /// How long each direction has been busy until `now`, in and out, since the last reset; `None` without a link.
    pub fn busy_until(&self, now: Nanos) -> Option<[Nanos; 2]> {
        self.rate?;
        let [inwards, outwards] = self.booked;
        let left = [self.in_free, self.out_free].map(|free| free.saturating_sub(now));
        Some([inwards.saturating_sub(left[0]), outwards.saturating_sub(left[1])])
    }

    /// Counts anew from `now` on: what is booked beyond it belongs to what is counted from then on.
    pub fn reset_busy(&mut self, now: Nanos) {
        self.booked = [self.in_free, self.out_free].map(|free| free.saturating_sub(now));
    }

    /// Power has failed: nothing crosses any more.
    pub fn forget(&mut self, now: Nanos) {
        self.booked = self.busy_until(now).unwrap_or_default();
        (self.in_free, self.out_free) = (now, now);
        self.arriving.clear();
    }
}
