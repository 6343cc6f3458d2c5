//! Stripes that are not full: how long their data has no parity, and when they get some.

use crate::core::Due;
use crate::ssd::Ssd;
use outlast_ftl::{Cause, Stream};
use outlast_units::Nanos;

/// What is known about the open stripe of a stream.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OpenStripe {
    /// Program units that no parity protects, since when; and what that came to before, in program units times nanoseconds.
    exposed: u32,
    since: Nanos,
    sum: u128,
    /// When a program unit was last filled.
    filled: Nanos,
    /// Whether a timer will look at it.
    timed: bool,
}

impl OpenStripe {
    fn update(&mut self, now: Nanos, exposed: u32) {
        self.sum += u128::from(self.exposed) * u128::from((now.0).saturating_sub(self.since.0));
        self.since = now;
        self.exposed = exposed;
    }
}

impl Ssd {
    /// A program unit of `stream` has been filled, or a stripe ended, or a cover has come.
    pub(crate) fn note_exposed(&mut self, now: Nanos, core: usize, stream: Stream) {
        let state = &mut self.cores[core];
        let exposed = state.ftl.exposed(stream);
        let open = &mut state.stripes[usize::from(stream.0)];
        open.update(now, exposed);
        open.filled = now;
        if exposed != 0 && !open.timed && state.ftl.takes_cover(stream) {
            open.timed = true;
            self.call_housekeeping(now + self.cover_after);
        }
    }

    /// Parity has come for an open stripe, perhaps.
    pub(crate) fn note_covered(&mut self, now: Nanos, core: usize, stream: Stream) {
        let state = &mut self.cores[core];
        // Partial parity lies in superblocks of no stripe's stream.
        let streams = if state.ftl.cause_of(stream) == Cause::Partial {
            0..state.ftl.streams()
        } else {
            stream.0..stream.0 + 1
        };
        for stream in streams.map(Stream) {
            let exposed = state.ftl.exposed(stream);
            state.stripes[usize::from(stream.0)].update(now, exposed);
        }
    }

    /// Covers the open stripes that have not grown for a while; returns when to look again.
    pub(crate) fn keep_covering(&mut self, now: Nanos, core: usize) -> Nanos {
        let mut next = Nanos::MAX;
        if !self.striped {
            return next;
        }
        for stream in (0..self.cores[core].ftl.streams()).map(Stream) {
            let exposed = self.cores[core].ftl.exposed(stream);
            let open = &mut self.cores[core].stripes[usize::from(stream.0)];
            if !open.timed {
                continue;
            }
            let due = open.filled + self.cover_after;
            if exposed == 0 {
                open.timed = false;
            } else if due <= now {
                // If it cannot be covered now, for want of room, then perhaps after as long again.
                open.filled = now;
                next = next.min(now + self.cover_after);
                self.cover(now, core, stream);
            } else {
                next = next.min(due);
            }
        }
        next
    }

    /// Covers what the open stripe of `stream` holds, the program unit begun included.
    pub(crate) fn cover(&mut self, now: Nanos, core: usize, stream: Stream) {
        let ftl = &mut self.cores[core].ftl;
        if !ftl.takes_cover(stream) || ftl.exposed(stream) == 0 {
            return;
        }
        let units = ftl.begun_units(stream);
        if let Some(pu) = ftl.pad(stream) {
            self.program_in(now, core, stream, pu, units);
            self.program_parity(now, core, stream);
        }
        let covered = self.cores[core].ftl.cover(stream);
        // What had been covered may have moved, whether or not this stripe found room.
        while let Some(pu) = self.cores[core].ftl.take_cover() {
            // All in one queue: superblocks of partial parity are filled for several streams.
            self.program_host(now, core, pu, 0);
        }
        if covered {
            self.program_parity(now, core, stream);
        } else if !self.cores[core].ftl.can_cover() {
            self.make_due(core, Due::Collect);
        }
    }

    /// Pages times seconds, up to `now`, that data of class `class` on flash had no parity though its code promises some: its stripe
    /// was not full, and nothing covered it. Since the last reset.
    pub fn unprotected_page_seconds(&self, now: Nanos, class: u8) -> f64 {
        let of = |core: &crate::core::Core| -> f64 {
            let pages = f64::from(core.ftl.layout().pages_per_pu());
            (0..core.ftl.streams())
                .map(Stream)
                .filter(|&stream| core.ftl.class_of(stream) == class)
                .map(|stream| {
                    let mut open = core.stripes[usize::from(stream.0)];
                    open.update(now, 0);
                    open.sum as f64 * pages / 1e9
                })
                .sum()
        };
        self.cores.iter().map(of).sum()
    }

    pub(crate) fn reset_exposed(&mut self, now: Nanos) {
        for open in self.cores.iter_mut().flat_map(|core| &mut core.stripes) {
            open.update(now, open.exposed);
            open.sum = 0;
        }
    }
}
