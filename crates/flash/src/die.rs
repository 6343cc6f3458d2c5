//! The state of a die.

use crate::die_step::{CoreDemand, TurnReason};
use crate::op::{DieQueue, InternalTask, OpList};
use crate::op_kind::FlashOpKind;
use outlast_units::slab::NIL;
use outlast_units::{ChannelId, CoreId, Nanos};

/// Phase of the operation that a die works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub(crate) enum DiePhase {
    Idle,
    /// tR runs.
    Sensing,
    /// Data goes out over the channel.
    ReadTransfer,
    /// Reads, possibly several at once: see [`ReadPipe`](crate::pipe::ReadPipe).
    Reading,
    /// Data comes in, then tPROG or tBERS runs.
    Array,
    /// Waits until the array has suspended its operation and can read.
    Suspending,
}

/// A program or erase that reads have interrupted.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub(crate) struct SuspendedOp {
    pub(crate) op: u32,
    pub(crate) remaining: Nanos,
    pub(crate) times: u8,
    /// Reads that may still go before it is resumed.
    pub(crate) reads_left: u8,
}

/// One die: what it does now and what waits for it.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct FlashDie {
    #[persist(fixed)]
    pub(crate) channel: ChannelId,
    #[persist(fixed)]
    pub(crate) core: CoreId,
    pub(crate) phase: DiePhase,
    /// Tasks that have announced reads of it ([`Flash::add_task_reads`](crate::Flash::add_task_reads)), one bit each.
    pub(crate) tasks: u8,
    /// The operation under way.
    pub(crate) current: u32,
    /// Begin and end of the array part of a program or erase.
    pub(crate) array_start: Nanos,
    pub(crate) array_end: Nanos,
    /// Times that the current program or erase was suspended.
    pub(crate) suspensions: u8,
    pub(crate) suspended: Option<SuspendedOp>,
    pub(crate) reads: OpList,
    pub(crate) programs: OpList,
    /// Programs and erases of garbage collection.
    pub(crate) collection: OpList,
    /// Operations of background tasks.
    pub(crate) background: OpList,
    /// Host reads since the last host program, while one waited.
    pub(crate) reads_in_a_row: u8,
    /// Host operations since the last internal one, while internal ones were urgent.
    pub(crate) host_in_a_row: u8,
    /// Operations since the last one of a background task, while one was under way.
    pub(crate) since_background: u8,
    /// True while it is listed in `Flash::waiting`, until one more internal operation may start.
    pub(crate) waiting: bool,
    /// True if its event in the tree is one that has been handled: it is replaced by the next, or cleared when the die rests.
    pub(crate) stale_event: bool,
    /// The first read of the command being gathered.
    pub(crate) gathered: u32,
    pub(crate) busy_since: Nanos,
    busy: Nanos,
    /// Nanoseconds that its array has programmed and erased since the last reset, without the part under way. Below zero while a part that began
    /// before the reset is under way.
    pub(crate) worked: PerArrayWork<i64>,
}

/// A value for programs and one for erases: time of the array, or its share.
#[derive(Clone, Copy, Debug, Default, PartialEq, outlast_persist::Persist)]
#[allow(missing_docs, reason = "the names say it")]
pub struct PerArrayWork<N> {
    pub programs: N,
    pub erases: N,
}

impl FlashDie {
    pub(crate) fn new(channel: ChannelId, core: CoreId) -> Self {
        Self {
            channel,
            core,
            phase: DiePhase::Idle,
            tasks: 0,
            current: NIL,
            array_start: Nanos::ZERO,
            array_end: Nanos::ZERO,
            suspensions: 0,
            suspended: None,
            reads: OpList::default(),
            programs: OpList::default(),
            collection: OpList::default(),
            background: OpList::default(),
            reads_in_a_row: 0,
            host_in_a_row: 0,
            since_background: 0,
            waiting: false,
            stale_event: false,
            gathered: NIL,
            busy_since: Nanos::ZERO,
            busy: Nanos::ZERO,
            worked: PerArrayWork::default(),
        }
    }

    /// Counts the part of the array's work that has ended as planned.
    #[inline]
    pub(crate) fn count_whole_work(&mut self, kind: FlashOpKind) {
        self.count_work(kind, self.array_end);
    }

    /// Counts the work of the array from the beginning of the part under way until `until`. Time before `array_start`, in which data comes in, does
    /// not count.
    #[inline]
    pub(crate) fn count_work(&mut self, kind: FlashOpKind, until: Nanos) {
        let spent = until.min(self.array_end).saturating_sub(self.array_start).0.cast_signed();
        match kind {
            FlashOpKind::Program => self.worked.programs += spent,
            FlashOpKind::Erase => self.worked.erases += spent,
            FlashOpKind::Read => {}
        }
    }

    /// True if the array works, or is about to be interrupted.
    pub(crate) fn is_array_at_work(&self) -> bool {
        matches!(self.phase, DiePhase::Array | DiePhase::Suspending)
    }

    #[inline]
    pub(crate) fn list(&mut self, queue: DieQueue) -> &mut OpList {
        match queue {
            DieQueue::Reads => &mut self.reads,
            DieQueue::Programs => &mut self.programs,
            DieQueue::Internal(InternalTask::Gc) => &mut self.collection,
            DieQueue::Internal(_) => &mut self.background,
        }
    }

    /// True if an internal operation waits for it, or a task has announced reads of it.
    #[inline]
    pub(crate) fn has_internal_work(&self) -> bool {
        self.tasks != 0 || !self.collection.is_empty() || !self.background.is_empty()
    }

    /// True if it is idle, and nothing waits for it.
    #[inline]
    pub(crate) fn has_nothing_to_do(&self) -> bool {
        self.phase == DiePhase::Idle
            && self.suspended.is_none()
            && self.reads.is_empty()
            && self.programs.is_empty()
            && !self.has_internal_work()
    }

    /// Counts a read of the host that begins where nothing else waits, with these demands of the core.
    #[inline]
    pub(crate) fn count_only_read(&mut self, demand: CoreDemand) {
        self.since_background = self.since_background.saturating_add(u8::from(demand.background));
        self.reads_in_a_row = 0;
        self.host_in_a_row = if demand.urgent { self.host_in_a_row.saturating_add(1) } else { 0 };
    }

    /// Resets the count of operations that went before internal work, which has begun for reason `reason`.
    #[inline]
    pub(crate) fn reset_passed_over(&mut self, reason: TurnReason) {
        match reason {
            TurnReason::Overdue(_) => self.since_background = 0,
            TurnReason::Urgent | TurnReason::Collection => self.host_in_a_row = 0,
            TurnReason::Background => {}
        }
    }

    /// Takes up operation `op`.
    #[inline]
    pub(crate) fn begin(&mut self, now: Nanos, op: u32) {
        if self.phase == DiePhase::Idle {
            self.busy_since = now;
        }
        self.current = op;
        self.stale_event = false;
    }

    /// Takes up `op`, a program or erase, whose array part runs from `start` to `end` unless it is suspended.
    #[inline]
    pub(crate) fn begin_array(&mut self, now: Nanos, op: u32, start: Nanos, end: Nanos) {
        self.begin(now, op);
        self.suspensions = 0;
        self.run_array(start, end);
    }

    /// Begins or resumes the array part of the operation under way.
    #[inline]
    pub(crate) fn run_array(&mut self, start: Nanos, end: Nanos) {
        debug_assert!(start <= end, "an array that works from {start} to {end}");
        self.phase = DiePhase::Array;
        self.array_start = start;
        self.array_end = end;
    }

    /// Ends the operation under way. Its event stays in the tree until it is clear that nothing follows: one update of the tree instead of two.
    #[inline]
    pub(crate) fn release(&mut self, now: Nanos) {
        self.phase = DiePhase::Idle;
        self.stale_event = true;
        self.busy += now.saturating_sub(self.busy_since);
    }

    /// Time that it was busy until `now`.
    pub(crate) fn busy_until(&self, now: Nanos) -> Nanos {
        let current =
            if self.phase == DiePhase::Idle { Nanos::ZERO } else { now.saturating_sub(self.busy_since) };
        self.busy + current
    }

    /// Counts anew from `now` on.
    pub(crate) fn reset_busy(&mut self, now: Nanos) {
        self.busy = Nanos::ZERO;
        self.busy_since = self.busy_since.max(now);
    }

    /// Drops the operation under way and all that wait: power has failed.
    pub(crate) fn cut_power(&mut self, now: Nanos) {
        let worked = self.worked;
        *self = Self { busy: self.busy_until(now), worked, ..Self::new(self.channel, self.core) };
    }
}
