//! Flushes of the mapping table: when they are due, and that only so many programs of one are under way at a time.

use super::{Core, Due};
use crate::op::InternalTask;
use crate::ssd::Ssd;
use outlast_units::{CoreId, Nanos, Ppn, Pu};

/// Programs of the mapping table on their way to flash, of one core.
#[derive(Clone, Copy, Debug, Default, outlast_persist::Persist)]
pub(crate) struct MapPrograms {
    in_flight: u32,
}

impl MapPrograms {
    #[inline]
    pub(crate) fn any_in_flight(self) -> bool {
        self.in_flight != 0
    }

    /// Power has failed, and none of them comes to its end.
    pub(crate) fn forget(&mut self) {
        self.in_flight = 0;
    }
}

/// When a flush of the mapping table is due by time.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub(crate) struct MapTimer {
    #[persist(fixed)]
    interval: Nanos,
    next: Nanos,
}

impl MapTimer {
    /// Every `interval`, for the first time after one; never, where there is none.
    pub(crate) fn new(interval: Option<Nanos>) -> Self {
        let interval = interval.unwrap_or(Nanos::MAX);
        Self { interval, next: interval }
    }

    /// When the next one is due; [`Nanos::MAX`]: never.
    pub(crate) fn next(self) -> Nanos {
        self.next
    }

    /// Whether one is due at `now`; of several that have become due meanwhile there is only one.
    fn take(&mut self, now: Nanos) -> bool {
        let is_due = self.next <= now;
        if is_due {
            let past = (now.0 - self.next.0) / self.interval.0 + 1;
            self.next = Nanos(self.next.0.saturating_add(past.saturating_mul(self.interval.0)));
        }
        is_due
    }
}

impl Core {
    /// Whether a flush of the mapping table is not to begin yet: collection runs, and gains for the host what the last flush has taken.
    fn puts_off_map_flush(&self) -> bool {
        self.tasks.runs(InternalTask::Gc) && self.ftl.awaits_host_writes()
    }
}

impl Ssd {
    /// Calls for flushes of the mapping table that are due by time; returns when the next is.
    pub(crate) fn call_map_flushes(&mut self, now: Nanos) -> Nanos {
        if self.map_timer.next() != Nanos::MAX && self.map_timer.take(now) {
            for core in self.cores.indices() {
                self.cores[core].ftl.request_map_flush();
                self.make_due(core, Due::MapFlush);
            }
        }
        self.map_timer.next()
    }

    /// The host is about to write: a flush may have become due by what it has written before.
    #[inline(never)]
    pub(crate) fn look_at_maps(&mut self, core: CoreId) {
        let state = &self.cores[core];
        if !state.maps.any_in_flight() && state.ftl.needs_map_flush() {
            self.make_due(core, Due::MapFlush);
        }
    }

    /// Programs more of the mapping table: a program unit on each lane at most at a time, so that what else the dies do goes on beside.
    pub(crate) fn flush_map(&mut self, now: Nanos, core: CoreId) {
        let most = self.cores[core].ftl.layout().lanes().len() as u32;
        let (mut begun, awaited_room) = (false, self.cores[core].ftl.map_awaits_room());
        while self.cores[core].maps.in_flight < most && !self.cores[core].puts_off_map_flush() {
            let Some((stream, pu)) = self.cores[core].ftl.flush_map() else { break };
            self.program_map(now, core, pu);
            self.program_parity(now, core, stream);
            begun = true;
        }
        // Superblocks may have been opened, or none may be left to be opened.
        if begun || self.cores[core].ftl.needs_map_flush() {
            self.make_due(core, Due::Collect);
        }
        if awaited_room && !self.cores[core].ftl.map_awaits_room() {
            // The host has left it a superblock, and may have the next: it has begun this one, or has nothing left to write.
            self.make_due(core, Due::Admit);
        }
    }

    /// Programs `pu` of the mapping table, or parity of it: the table is in the controller's memory, and takes no room in the buffer.
    pub(crate) fn program_map(&mut self, now: Nanos, core: CoreId, pu: Pu) {
        self.cores[core].maps.in_flight += 1;
        let epoch = self.host.flushes.open_epoch();
        self.program_host_in(now, core, pu, 0, epoch);
    }

    /// A program through the host's queue has ended: that of `pu`, which may be of the mapping table.
    #[cold]
    pub(crate) fn note_map_programmed(&mut self, core: CoreId, pu: Pu) {
        let state = &mut self.cores[core];
        let stream = state.ftl.superblock(state.ftl.layout().place(pu).superblock).stream();
        if Some(stream) == state.ftl.streams().map() {
            state.maps.in_flight -= 1;
            if state.ftl.needs_map_flush() {
                self.make_due(core, Due::MapFlush);
            }
        }
    }

    /// The program of `pu` has failed: what it holds of the mapping table is dirty again, as the controller still has it.
    pub(crate) fn drop_map_pages(&mut self, core: CoreId, pu: Pu) {
        let ftl = &mut self.cores[core].ftl;
        for slot in Ppn::each(ftl.layout().slots_of(pu)) {
            ftl.lose(slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_that_was_not_looked_at_for_long_is_due_once() {
        let mut timer = MapTimer::new(Some(Nanos(10)));
        assert!(!timer.take(Nanos(9)) && timer.take(Nanos(10)) && !timer.take(Nanos(10)));
        assert_eq!(timer.next(), Nanos(20));
        assert!(timer.take(Nanos(45)));
        assert_eq!(timer.next(), Nanos(50));
        assert_eq!(MapTimer::new(None).next(), Nanos::MAX);
    }
}
