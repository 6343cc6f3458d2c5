//! Covers of stripes that are not full: the translation layer says what they hold, `health/cover.rs` when they are covered.

use crate::core::Due;
use crate::health::Look;
use crate::ssd::Ssd;
use outlast_ftl::StreamCause;
use outlast_units::{CoreId, Nanos, Stream};

impl Ssd {
    /// A program unit of `stream` has been filled, or a stripe ended, or a cover has come.
    pub(crate) fn note_exposed(&mut self, now: Nanos, core: CoreId, stream: Stream) {
        let state = &mut self.cores[core];
        let (ftl, exposed) = (&state.ftl, state.ftl.stream(stream).exposed());
        if let Some(at) = state.covers.note_filled(now, stream, exposed, || ftl.stream(stream).takes_cover())
        {
            self.call_housekeeping(at);
        }
    }

    /// Parity or partial parity of `stream` has come to flash.
    pub(crate) fn note_covered(&mut self, now: Nanos, core: CoreId, stream: Stream) {
        let state = &mut self.cores[core];
        // Partial parity of all streams lies in superblocks of one stream of its own.
        let of_all = state.ftl.streams().cause(stream) == StreamCause::Partial;
        for stream in state.ftl.streams().all().filter(|&other| of_all || other == stream) {
            state.covers.note_covered(now, stream, state.ftl.stream(stream).exposed());
        }
    }

    /// Covers the open stripes that have not grown for a while; returns when to look again.
    pub(crate) fn cover_what_is_due(&mut self, now: Nanos, core: CoreId) -> Nanos {
        let mut next = Nanos::MAX;
        if !self.striped {
            return next;
        }
        for stream in self.cores[core].ftl.streams().all() {
            let state = &mut self.cores[core];
            match state.covers.look(now, stream, state.ftl.stream(stream).exposed()) {
                Look::Done => {}
                Look::Later(at) => next = next.min(at),
                Look::Cover(again) => {
                    next = next.min(again);
                    self.cover(now, core, stream);
                }
            }
        }
        next
    }

    /// Covers what the open stripe of `stream` holds, the begun program unit included.
    pub(crate) fn cover(&mut self, now: Nanos, core: CoreId, stream: Stream) {
        let ftl = &mut self.cores[core].ftl;
        if !ftl.stream(stream).takes_cover() || ftl.stream(stream).exposed() == 0 {
            return;
        }
        let units = ftl.stream(stream).begun_units();
        if let Some(pu) = ftl.pad(stream) {
            self.program_in(now, core, stream, pu, units);
            self.program_parity(now, core, stream);
        }
        debug_assert!(
            self.cores[core].ftl.stream(stream).begun_pu().is_none(),
            "what is covered lies in full program units"
        );
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

    /// Pages times seconds, since the last reset and up to `now`, for which data of the host of class `class` on flash had no parity though its code
    /// has some: the stripe was not full, and nothing covered it.
    pub fn unprotected_page_seconds(&self, now: Nanos, class: u8) -> f64 {
        let of = |core: &crate::core::Core| -> f64 {
            let pages = f64::from(core.ftl.layout().pages_per_pu());
            let streams = core.ftl.streams().all();
            let (of, map) = (core.ftl.streams(), core.ftl.streams().map());
            let own = streams.filter(|&stream| of.class(stream) == class && Some(stream) != map);
            own.map(|stream| core.covers.exposure(now, stream) as f64 * pages / 1e9).sum()
        };
        self.cores.iter().map(of).sum()
    }

    pub(crate) fn reset_exposed(&mut self, now: Nanos) {
        for core in &mut self.cores {
            core.covers.reset(now);
        }
    }
}
