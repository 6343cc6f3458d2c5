//! Flushes of the mapping table: when they are due, and that only so many programs of one are under way at a time.

use crate::core::{CoreContext, Due, FlashCore};
use crate::op::InternalTask;
use outlast_units::{Nanos, Ppn, Pu};

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

    /// True if one is due at `now`; of several that have become due meanwhile there is only one.
    pub(crate) fn take(&mut self, now: Nanos) -> bool {
        let is_due = self.next <= now;
        if is_due {
            let past = (now.0 - self.next.0) / self.interval.0 + 1;
            self.next = Nanos(self.next.0.saturating_add(past.saturating_mul(self.interval.0)));
        }
        is_due
    }
}

impl FlashCore {
    /// True if a flush of the mapping table is not to begin yet: collection runs, and gains for the host what the last flush has taken.
    fn puts_off_map_flush(&self) -> bool {
        self.tasks.runs(InternalTask::Gc) && self.ftl.awaits_host_writes()
    }

    /// A flush of the mapping table is due by time.
    pub fn request_map_flush(&mut self, context: &mut CoreContext) {
        self.ftl.request_map_flush();
        self.make_due(context, Due::MapFlush);
    }

    /// The host is about to write: a flush may have become due by what it has written before.
    #[inline(never)]
    pub fn look_at_maps(&mut self, context: &mut CoreContext) {
        let is_free = if context.flash.passes().are_on() {
            self.maps.in_flight < self.most_map_programs(context)
        } else {
            !self.maps.any_in_flight()
        };
        if is_free && self.ftl.needs_map_flush() {
            self.make_due(context, Due::MapFlush);
        }
    }

    /// Programs of a flush of the mapping table that may be under way at a time: one on each lane, beside those that wait there for their fine pass.
    fn most_map_programs(&self, context: &CoreContext) -> u32 {
        self.ftl.layout().lanes().len() as u32 * (1 + context.flash.passes().distance())
    }

    /// Programs more of the mapping table: a program unit on each lane at most at a time, so that what else the dies do goes on beside.
    pub(crate) fn flush_map(&mut self, now: Nanos, context: &mut CoreContext) {
        let most = self.most_map_programs(context);
        let (mut begun, awaited_room) = (false, self.ftl.map_awaits_room());
        while self.maps.in_flight < most && !self.puts_off_map_flush() {
            let Some((stream, pu)) = self.ftl.flush_map() else { break };
            self.program_map(now, context, pu);
            self.program_parity(now, context, stream);
            begun = true;
        }
        // Superblocks may have been opened, or none may be left to be opened.
        if begun || self.ftl.needs_map_flush() {
            self.make_due(context, Due::Collect);
        }
        if awaited_room && !self.ftl.map_awaits_room() {
            // The host has left it a superblock, and may have the next: it has begun this one, or has nothing left to write.
            self.make_due(context, Due::Admit);
        }
    }

    /// Programs `pu` of the mapping table, or parity of it: the table is in the controller's memory, and takes no room in the buffer.
    pub(crate) fn program_map(&mut self, now: Nanos, context: &mut CoreContext, pu: Pu) {
        self.maps.in_flight += 1;
        let epoch = context.commands.flushes.open_epoch();
        self.program_host_in(now, context, pu, 0, epoch);
    }

    /// A program through the host's queue has ended: that of `pu`, which may be of the mapping table.
    #[cold]
    pub(crate) fn note_map_programmed(&mut self, context: &mut CoreContext, pu: Pu) {
        let stream = self.ftl.superblock(self.ftl.layout().place(pu).superblock).stream();
        if Some(stream) == self.ftl.streams().map() {
            self.maps.in_flight -= 1;
            if self.ftl.needs_map_flush() {
                self.make_due(context, Due::MapFlush);
            }
        }
    }

    /// The program of `pu` has failed: what it holds of the mapping table is dirty again, as the controller still has it.
    pub(crate) fn drop_map_pages(&mut self, pu: Pu) {
        let ftl = &mut self.ftl;
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
