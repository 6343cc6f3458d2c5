//! Data to be programmed that waits for its channel, and lets what has been read go first.

use crate::die::DiePhase;
use crate::flash::Flash;
use crate::op::FlashOpKind;
use outlast_media::{ArrayWork, ChannelOrder};
use outlast_units::{ChannelId, DieId, Nanos};
use std::collections::VecDeque;

/// Data to be programmed whose transfer is booked and has not begun.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
struct QueuedTransfer {
    die: DieId,
    start: Nanos,
    /// Reads that have gone before it.
    passed: u8,
}

/// What waits for one channel, in the order in which it is booked. What reads have gone before often enough stands in front, as they go before
/// all that may be passed, or before none.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(crate) struct TransferQueue {
    waiting: VecDeque<QueuedTransfer>,
}

impl TransferQueue {
    /// Those that have begun by `now` wait no more.
    fn begin(&mut self, now: Nanos) {
        while self.waiting.front().is_some_and(|first| first.start <= now) {
            self.waiting.pop_front();
        }
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
        let end = self.channels[channel].book(now, span);
        if PLAIN || self.transfer_queues.is_empty() {
            end
        } else {
            self.pass_programs(now, channel, span, end)
        }
    }

    /// Books the transfer of data to be programmed on `die`; returns its end.
    #[inline]
    pub(crate) fn book_program<const PLAIN: bool>(&mut self, now: Nanos, die: DieId) -> Nanos {
        let channel = self.dies[die].channel;
        let end = self.channels[channel].book(now, self.program_transfer);
        if !PLAIN && !self.transfer_queues.is_empty() {
            self.queue_program_transfer(now, die, channel, end - self.program_transfer);
        }
        end
    }

    /// The transfer of data to be programmed on `die` is booked from `start` on.
    #[inline(never)]
    fn queue_program_transfer(&mut self, now: Nanos, die: DieId, channel: ChannelId, start: Nanos) {
        let line = &mut self.transfer_queues[channel.index()];
        line.begin(now);
        line.waiting.push_back(QueuedTransfer { die, start, passed: 0 });
    }

    /// A transfer of `span` that has been booked until `end` goes before the data that it may pass, which is put off by so much; returns its
    /// end.
    #[inline(never)]
    fn pass_programs(&mut self, now: Nanos, channel: ChannelId, span: Nanos, end: Nanos) -> Nanos {
        let line = &mut self.transfer_queues[channel.index()];
        line.begin(now);
        let behind = line.waiting.partition_point(|own| own.passed == ChannelOrder::MOST_READS);
        let Some(first) = line.waiting.get(behind) else { return end };
        let end = first.start + span;
        for index in behind..line.waiting.len() {
            let own = &mut self.transfer_queues[channel.index()].waiting[index];
            own.start += span;
            own.passed += 1;
            let die = own.die;
            self.delay_program(die, span);
        }
        end
    }

    /// The data that `die` is to program comes in later by `span`, and so does all that follows from it.
    fn delay_program(&mut self, die: DieId, span: Nanos) {
        let state = &mut self.dies[die];
        state.array_start += span;
        state.array_end += span;
        debug_assert!(self.ops[state.current].kind == FlashOpKind::Program, "die {die} waits for no data");
        let at = match (state.phase, &self.suspend) {
            // Settled when a read came while the data was on its way.
            (DiePhase::Suspending, Some(suspend)) => {
                let progress = suspend.least_progress.unwrap_or(Nanos::ZERO);
                state.array_start + progress + suspend.latency_of(ArrayWork::Program)
            }
            _ => state.array_end,
        };
        self.events.set_die(die, at);
        self.update_accounts(move |accounts| accounts.delay_array_work(die, span));
    }
}
