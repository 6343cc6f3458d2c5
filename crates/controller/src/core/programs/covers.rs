//! Covers of stripes that are not full: the translation layer says what they hold, `health/cover.rs` when they are covered.

use crate::core::{CoreContext, Due, FlashCore};
use crate::health::Look;
use outlast_ftl::StreamCause;
use outlast_units::{Nanos, Stream};

impl FlashCore {
    /// A program unit of `stream` has been filled, or a stripe ended, or a cover has come.
    pub(crate) fn note_exposed(&mut self, now: Nanos, context: &mut CoreContext, stream: Stream) {
        let (ftl, exposed) = (&self.ftl, self.ftl.stream(stream).exposed());
        if let Some(at) = self.covers.note_filled(now, stream, exposed, || ftl.stream(stream).takes_cover()) {
            context.call_housekeeping(at);
        }
    }

    /// Parity or partial parity of `stream` has come to flash.
    pub(crate) fn note_covered(&mut self, now: Nanos, stream: Stream) {
        // Partial parity of all streams lies in superblocks of one stream of its own.
        let of_all = self.ftl.streams().cause(stream) == StreamCause::Partial;
        for stream in self.ftl.streams().all().filter(|&other| of_all || other == stream) {
            self.covers.note_covered(now, stream, self.ftl.stream(stream).exposed());
        }
    }

    /// Covers the open stripes that have not grown for a while; returns when to look again.
    pub fn cover_what_is_due(&mut self, now: Nanos, context: &mut CoreContext) -> Nanos {
        let mut next = Nanos::MAX;
        if !context.striped {
            return next;
        }
        for stream in self.ftl.streams().all() {
            match self.covers.look(now, stream, self.ftl.stream(stream).exposed()) {
                Look::Done => {}
                Look::Later(at) => next = next.min(at),
                Look::Cover(again) => {
                    next = next.min(again);
                    self.cover(now, context, stream);
                }
            }
        }
        next
    }

    /// Covers what the open stripe of `stream` holds, the begun program unit included.
    pub fn cover(&mut self, now: Nanos, context: &mut CoreContext, stream: Stream) {
        let ftl = &mut self.ftl;
        if !ftl.stream(stream).takes_cover() || ftl.stream(stream).exposed() == 0 {
            return;
        }
        let units = ftl.stream(stream).begun_units();
        if let Some(pu) = ftl.pad(stream) {
            self.program_in(now, context, stream, pu, units);
            self.program_parity(now, context, stream);
        }
        debug_assert!(
            self.ftl.stream(stream).begun_pu().is_none(),
            "what is covered lies in full program units"
        );
        let covered = self.ftl.cover(stream);
        // What had been covered may have moved, whether or not this stripe found room.
        while let Some(pu) = self.ftl.take_cover() {
            // All in one queue: superblocks of partial parity are filled for several streams.
            self.program_host(now, context, pu, 0);
        }
        if covered {
            self.program_parity(now, context, stream);
        } else if !self.ftl.can_cover() {
            self.make_due(context, Due::Collect);
        }
    }

    /// Pages times seconds, since the last reset and up to `now`, for which data of class `class` had no parity though its code has some.
    pub fn unprotected_page_seconds(&self, now: Nanos, class: u8) -> f64 {
        let pages = f64::from(self.ftl.layout().pages_per_pu());
        let streams = self.ftl.streams();
        let of_class =
            streams.all().filter(|&stream| streams.class(stream) == class && Some(stream) != streams.map());
        of_class.map(|stream| self.covers.exposure(now, stream) as f64 * pages / 1e9).sum()
    }
}
