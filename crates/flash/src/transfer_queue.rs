//! Queue of transfers to dies on each channel, which lets data that has been read go first ([`ChannelOrder::ReadsFirst`]).

use crate::die::{DiePhase, FlashDie};
use crate::flash::{DieContext, Flash};
use crate::op_kind::FlashOpKind;
use outlast_media::{ArrayWork, ChannelOrder};
use outlast_units::{ChannelId, DieId, Nanos};
use std::collections::VecDeque;

/// A booked transfer of data to be programmed that has not begun.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
struct QueuedTransfer {
    die: DieId,
    start: Nanos,
    /// Reads that have gone before it, at most [`ChannelOrder::MOST_READS`].
    passed: u8,
}

/// Transfers that wait for one channel, in the order of their bookings. Those that reads have passed often enough are in front: a read passes all
/// that may be passed, so an earlier booking never has fewer passes than a later one.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(crate) struct TransferQueue {
    waiting: VecDeque<QueuedTransfer>,
}

impl TransferQueue {
    /// Removes transfers that have begun by `now`.
    fn begin(&mut self, now: Nanos) {
        while self.waiting.front().is_some_and(|first| first.start <= now) {
            self.waiting.pop_front();
        }
    }
}

impl<T: Copy> DieContext<T> {
    /// Books the transfer of data to be programmed on `die`; returns its end.
    #[inline]
    pub(crate) fn book_program<const PLAIN: bool>(
        &mut self,
        now: Nanos,
        die: DieId,
        state: &FlashDie,
    ) -> Nanos {
        let end = self.channels[state.channel].book(now, self.program_transfer);
        if !PLAIN && !self.transfer_queues.is_empty() {
            self.queue_program_transfer(now, die, state.channel, end - self.program_transfer);
        }
        end
    }

    /// Queues the transfer of data to be programmed on `die`, which is booked from `start` on.
    #[inline(never)]
    fn queue_program_transfer(&mut self, now: Nanos, die: DieId, channel: ChannelId, start: Nanos) {
        let queue = &mut self.transfer_queues[channel.index()];
        queue.begin(now);
        queue.waiting.push_back(QueuedTransfer { die, start, passed: 0 });
    }
}

impl<T: Copy> Flash<T> {
    /// Books the transfer of what has been read; returns its end.
    #[inline]
    pub(crate) fn book_read<const PLAIN: bool>(
        &mut self,
        now: Nanos,
        channel: ChannelId,
        span: Nanos,
    ) -> Nanos {
        let end = self.context.channels[channel].book(now, span);
        if PLAIN || self.context.transfer_queues.is_empty() {
            end
        } else {
            self.pass_programs(now, channel, span, end)
        }
    }

    /// Moves a read's transfer of `span`, booked until `end`, before the transfers that it may pass, which are delayed by `span`; returns its new
    /// end.
    #[inline(never)]
    fn pass_programs(&mut self, now: Nanos, channel: ChannelId, span: Nanos, end: Nanos) -> Nanos {
        let queue = &mut self.context.transfer_queues[channel.index()];
        queue.begin(now);
        // Sorted by passes, the most first ([`TransferQueue`]): a search by bisection finds the first that may be passed.
        let behind = queue.waiting.partition_point(|transfer| transfer.passed == ChannelOrder::MOST_READS);
        let Some(first) = queue.waiting.get(behind) else { return end };
        let end = first.start + span;
        for index in behind..queue.waiting.len() {
            let transfer = &mut self.context.transfer_queues[channel.index()].waiting[index];
            transfer.start += span;
            transfer.passed += 1;
            let die = transfer.die;
            self.delay_program(die, span);
        }
        end
    }

    /// Delays the data that `die` is to program by `span`, and with it the array's work and the event of the die.
    fn delay_program(&mut self, die: DieId, span: Nanos) {
        let state = &mut self.dies[die];
        state.array_start += span;
        state.array_end += span;
        debug_assert!(
            self.context.ops[state.current].kind() == FlashOpKind::Program,
            "die {die} waits for no data"
        );
        let at = match (state.phase, &self.context.suspend) {
            // Its suspension was planned when a read came while the data was on its way.
            (DiePhase::Suspending, Some(suspend)) => {
                let (work, start) = (ArrayWork::Program, state.array_start);
                suspend.earliest(work, start, start) + suspend.latency_of(work)
            }
            _ => state.array_end,
        };
        self.context.events.set_die(die, at);
        self.context.update_accounts(move |accounts| accounts.delay_array_work(die, span));
    }
}
