//! Work that is due on a flash core, and its order.

use crate::core::Effect;
use crate::op::InternalTask;
use outlast_flash::TaskReadQuery;
use outlast_units::{CoreId, DieId, DrainedQueue};
use std::collections::VecDeque;

/// Something that an event may have made due on a flash core; in the order in which it is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Due {
    /// Victims that wait for their data to be on flash may be erased.
    Formers,
    /// The victim of garbage collection, of wear levelling, or of scrubbing may have been moved, and is then erased.
    GcVictim,
    /// The victim of wear levelling may have been moved, and is then erased.
    WearVictim,
    /// The victim of scrubbing may have been moved, and is then erased.
    ScrubVictim,
    /// Wear levelling may have something to move.
    Wear,
    /// Space may be short.
    Collect,
    /// Scrubbing may have something to move.
    Scrub,
    /// Host writes that wait may enter the buffer.
    Admit,
    /// A flush of the mapping table may begin, or go on.
    MapFlush,
}

impl Due {
    const ALL: [Self; 9] = [
        Self::Formers,
        Self::GcVictim,
        Self::WearVictim,
        Self::ScrubVictim,
        Self::Wear,
        Self::Collect,
        Self::Scrub,
        Self::Admit,
        Self::MapFlush,
    ];

    /// The look at the victim of `task`.
    #[inline]
    pub fn victim(task: InternalTask) -> Self {
        match task {
            InternalTask::Gc => Self::GcVictim,
            InternalTask::WearLeveling => Self::WearVictim,
            InternalTask::Scrub => Self::ScrubVictim,
        }
    }

    #[inline]
    fn bit(self) -> u16 {
        1 << self as u8
    }
}

/// Work that is due on a flash core: a set, and another that follows when nothing of the first is left.
#[derive(Clone, Copy, Debug, Default, outlast_persist::Persist)]
pub(crate) struct Dirty {
    now: u16,
    then: u16,
    /// True if the drive knows that something is due.
    listed: bool,
}

impl Dirty {
    #[inline]
    pub(crate) fn is_clean(self) -> bool {
        self.now | self.then == 0
    }

    /// True if anything is due that comes before admission.
    #[inline]
    pub(crate) fn is_before_admission(self) -> bool {
        self.now & (Due::Admit.bit() - 1) != 0
    }

    /// Takes what is looked at next; it is due no more.
    #[inline]
    fn take(&mut self) -> Option<Due> {
        if self.now == 0 {
            if self.then == 0 {
                return None;
            }
            self.now = std::mem::take(&mut self.then);
        }
        let first = Due::ALL.get(self.now.trailing_zeros() as usize).copied();
        self.now &= self.now - 1;
        first
    }
}

/// Work that is due over the drive.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(crate) struct Unsettled {
    /// The flash cores of which something is due, in the order in which they came to it.
    cores: DrainedQueue<CoreId>,
    /// Questions of idle dies about reads that turned out to be stale: they look again when it is known what comes of that.
    asks: DrainedQueue<(DieId, TaskReadQuery)>,
    /// Effects that the drive is to apply.
    #[persist(skip)]
    effects: VecDeque<Effect>,
    /// How many cores, asks and effects there are, one more while dies that wait to start an internal operation may go on, and one while a flush or a
    /// move is due: one look tells whether anything is due.
    pending: u32,
    leave: bool,
    /// True if a flush begins, or a move of the drive's own may. Never between events.
    #[persist(skip)]
    command: bool,
    /// While they do: internal operations that were under way when the last one did, and how many dies are left to be asked.
    last_leave: Option<(u32, usize)>,
}

impl Unsettled {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        debug_assert!(
            self.pending as usize
                == self.cores.len()
                    + self.asks.len()
                    + self.effects.len()
                    + usize::from(self.leave)
                    + usize::from(self.command),
            "{} are said to be pending in {self:?}",
            self.pending
        );
        self.pending == 0
    }

    /// `due` is due on core `core`, of which `dirty` says what is.
    #[inline]
    pub(crate) fn add(&mut self, core: CoreId, dirty: &mut Dirty, due: Due) {
        dirty.now |= due.bit();
        self.list(core, dirty);
    }

    /// `due` is due on core `core` when nothing else is left that is due now, or that comes of it.
    #[inline]
    pub(crate) fn add_then(&mut self, core: CoreId, dirty: &mut Dirty, due: Due) {
        dirty.then |= due.bit();
        self.list(core, dirty);
    }

    #[inline]
    fn list(&mut self, core: CoreId, dirty: &mut Dirty) {
        if !dirty.listed {
            debug_assert!(!self.cores.as_slice().contains(&core), "core {core} is listed twice");
            dirty.listed = true;
            self.pending += 1;
            self.cores.push(core);
        }
    }

    /// A flush begins or a move of the drive's own may, if `is_due`; else none does.
    #[inline]
    pub(crate) fn set_command(&mut self, is_due: bool) {
        self.pending = self.pending - u32::from(self.command) + u32::from(is_due);
        self.command = is_due;
    }

    /// True if a flush begins, or a move of the drive's own may.
    #[inline]
    pub(crate) fn is_command_due(&self) -> bool {
        self.command
    }

    /// An internal operation has ended, or relocated data has left the buffer: dies that waited for that may go on.
    #[inline]
    pub(crate) fn add_leave(&mut self) {
        self.pending += u32::from(!self.leave);
        self.leave = true;
    }

    /// True if the next of the `waiting` dies that wait may go on, with `internal` internal operations under way: one after the other, until one
    /// of them has begun another.
    #[inline]
    pub(crate) fn take_leave(&mut self, internal: u32, waiting: usize) -> bool {
        debug_assert!(self.leave, "dies go on that may not");
        let (before, left) = self.last_leave.unwrap_or((internal, waiting));
        self.leave = before == internal && left != 0;
        self.pending -= u32::from(!self.leave);
        self.last_leave = self.leave.then(|| (internal, left - 1));
        self.leave
    }

    /// The drive is to apply `effect` when the handler that asks for it has returned.
    pub(crate) fn add_effect(&mut self, effect: Effect) {
        self.pending += 1;
        self.effects.push_back(effect);
    }

    /// True if an effect is to be applied.
    #[inline]
    pub(crate) fn any_effect(&self) -> bool {
        !self.effects.is_empty()
    }

    /// The first effect, which is applied now.
    #[inline]
    pub(crate) fn take_effect(&mut self) -> Option<Effect> {
        let first = self.effects.pop_front()?;
        self.pending -= 1;
        Some(first)
    }

    /// Die `die` has asked for something that turned out to be stale.
    pub(crate) fn add_ask(&mut self, die: DieId, ask: TaskReadQuery) {
        self.pending += 1;
        self.asks.push((die, ask));
    }

    /// The next die that looks again, when nothing is due on any core.
    #[inline]
    pub(crate) fn take_ask(&mut self) -> Option<(DieId, TaskReadQuery)> {
        let first = self.asks.pop()?;
        self.pending -= 1;
        Some(first)
    }

    /// The first core of which something is due.
    #[inline]
    pub(crate) fn first(&self) -> Option<CoreId> {
        self.cores.first().copied()
    }

    /// Takes what is looked at next on the first core, of which `dirty` says what is due; with nothing left, the next core is the first.
    #[inline]
    pub(crate) fn take(&mut self, dirty: &mut Dirty) -> Option<Due> {
        debug_assert!(dirty.listed, "the first core is not listed");
        let due = dirty.take();
        if due.is_none() {
            dirty.listed = false;
            self.pending -= 1;
            self.cores.pass();
        }
        due
    }
}

#[cfg(test)]
mod tests;
