//! The state of a die and of a channel.

use crate::op::Queue;
use outlast_units::Nanos;
use outlast_units::slab::NIL;

/// What a die is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Idle,
    /// tR runs.
    Sensing,
    /// Data goes out over the channel.
    ReadTransfer,
    /// Data comes in, then tPROG or tBERS runs.
    Array,
    /// Waiting until a suspended operation lets the die read.
    Suspending,
}

/// An operation that host reads have interrupted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Suspended {
    pub(crate) op: u32,
    pub(crate) remaining: Nanos,
    pub(crate) times: u8,
    /// Reads that may still go before it.
    pub(crate) reads_left: u8,
}

/// One die: what it does now and what waits for it.
#[derive(Clone, Debug)]
pub(crate) struct Die {
    pub(crate) channel: u16,
    pub(crate) core: u16,
    pub(crate) local: u16,
    pub(crate) phase: Phase,
    /// The operation under way.
    pub(crate) current: u32,
    /// When the array part of a program or erase begins and ends.
    pub(crate) array_start: Nanos,
    pub(crate) array_end: Nanos,
    /// How often the current program or erase was suspended.
    pub(crate) suspensions: u8,
    pub(crate) suspended: Option<Suspended>,
    pub(crate) reads: Queue,
    pub(crate) programs: Queue,
    /// Programs and erases of garbage collection.
    pub(crate) collection: Queue,
    /// Programs and erases of background tasks.
    pub(crate) background: Queue,
    /// Host reads since the last host program, while one waited.
    pub(crate) reads_in_a_row: u8,
    /// Host operations since the last internal one, while internal ones were urgent.
    pub(crate) host_in_a_row: u8,
    /// Operations since the last one of a background task, while one was under way.
    pub(crate) since_background: u8,
    /// Whether it stands in the list of dies that wait for leave to start an internal operation.
    pub(crate) waiting: bool,
    /// The first read of the command being gathered.
    pub(crate) gathered: u32,
    pub(crate) busy_since: Nanos,
    pub(crate) busy: Nanos,
}

impl Die {
    pub(crate) fn new(channel: u16, core: u16, local: u16) -> Self {
        Self {
            channel,
            core,
            local,
            phase: Phase::Idle,
            current: NIL,
            array_start: Nanos::ZERO,
            array_end: Nanos::ZERO,
            suspensions: 0,
            suspended: None,
            reads: Queue::default(),
            programs: Queue::default(),
            collection: Queue::default(),
            background: Queue::default(),
            reads_in_a_row: 0,
            host_in_a_row: 0,
            since_background: 0,
            waiting: false,
            gathered: NIL,
            busy_since: Nanos::ZERO,
            busy: Nanos::ZERO,
        }
    }
}

/// One channel: transfers book it first come, first served; commands, which are short, go in between.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Channel {
    pub(crate) free_at: Nanos,
    pub(crate) busy: Nanos,
}

impl Channel {
    /// Books `span` from `now` or from when the channel is free; returns its end.
    #[inline]
    pub(crate) fn book(&mut self, now: Nanos, span: Nanos) -> Nanos {
        let end = self.free_at.max(now) + span;
        self.free_at = end;
        self.busy += span;
        end
    }

    /// Puts `span` of command cycles in between transfers that are booked or under way, which it delays; returns its end.
    #[inline]
    pub(crate) fn interleave(&mut self, now: Nanos, span: Nanos) -> Nanos {
        self.book(now, span);
        now + span
    }
}
