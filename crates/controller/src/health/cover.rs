//! Stripes that are not full: for how long their data has no parity, and when a cover is due.

use outlast_units::{Nanos, Stream};

/// What is known about the open stripe of a stream.
#[derive(Clone, Copy, Debug, Default, outlast_persist::Persist)]
struct OpenStripe {
    /// Program units without parity, and since when there are so many.
    exposed: u32,
    since: Nanos,
    /// Program units without parity, times the nanoseconds that each was so, until `since`.
    exposure: u128,
    /// When a program unit was last filled, or a cover last tried.
    filled: Nanos,
    /// True if a timer will look at it.
    timed: bool,
}

impl OpenStripe {
    fn update(&mut self, now: Nanos, exposed: u32) {
        self.exposure += u128::from(self.exposed) * u128::from(now.saturating_sub(self.since).0);
        self.since = now;
        self.exposed = exposed;
    }
}

/// What the timer found at an open stripe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// Nothing to cover: the timer need not come back.
    Done,
    /// Look again at that time.
    Later(Nanos),
    /// It has not grown for long enough: cover it, and look again at that time, as there may be no room for the cover now.
    Cover(Nanos),
}

/// The open stripes of one flash core.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct Covers {
    stripes: Vec<OpenStripe>,
    /// After how long a pause an open stripe is covered.
    #[persist(fixed)]
    after: Nanos,
}

impl Covers {
    /// Of a core with `streams` streams, whose open stripes are covered after a pause of `after`; [`Nanos::MAX`]: never.
    pub(crate) fn new(streams: u8, after: Nanos) -> Self {
        Self { stripes: vec![OpenStripe::default(); usize::from(streams)], after }
    }

    fn stripe(&mut self, stream: Stream) -> &mut OpenStripe {
        &mut self.stripes[usize::from(stream.0)]
    }

    /// A program unit of `stream` has been filled, or its stripe has ended, or a cover has come; `exposed` program units have no parity
    /// now. Returns when the timer is to look at the stripe, if it does not already.
    pub(crate) fn note_filled(
        &mut self,
        now: Nanos,
        stream: Stream,
        exposed: u32,
        takes_cover: impl FnOnce() -> bool,
    ) -> Option<Nanos> {
        let after = self.after;
        let stripe = self.stripe(stream);
        debug_assert!(stripe.since <= now, "stripes are filled in order of time");
        stripe.update(now, exposed);
        stripe.filled = now;
        if exposed == 0 || stripe.timed || !takes_cover() {
            return None;
        }
        stripe.timed = true;
        Some(now + after)
    }

    /// Parity may have come for the open stripe of `stream`: `exposed` program units have none now.
    pub(crate) fn note_covered(&mut self, now: Nanos, stream: Stream, exposed: u32) {
        self.stripe(stream).update(now, exposed);
    }

    /// The timer looks at the open stripe of `stream`, of which `exposed` program units have no parity.
    pub(crate) fn look(&mut self, now: Nanos, stream: Stream, exposed: u32) -> Look {
        let after = self.after;
        let stripe = self.stripe(stream);
        if !stripe.timed {
            return Look::Done;
        }
        let due = stripe.filled + after;
        if exposed == 0 {
            stripe.timed = false;
            Look::Done
        } else if due <= now {
            stripe.filled = now;
            Look::Cover(now + after)
        } else {
            Look::Later(due)
        }
    }

    /// Program units of `stream` without parity, times the nanoseconds that each was so, from the last reset to `now`.
    pub(crate) fn exposure(&self, now: Nanos, stream: Stream) -> u128 {
        let mut stripe = self.stripes[usize::from(stream.0)];
        stripe.update(now, 0);
        stripe.exposure
    }

    /// Counting begins anew.
    pub(crate) fn reset(&mut self, now: Nanos) {
        for stripe in &mut self.stripes {
            stripe.update(now, stripe.exposed);
            stripe.exposure = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const AFTER: u64 = 10;

    proptest! {
        /// The oracle counts every nanosecond by itself, and keeps the time of the last fill.
        #[test]
        fn exposure_is_the_sum_of_all_moments_and_covers_come_after_the_pause(
            events in prop::collection::vec((0u64..8, 0u32..4, prop::bool::ANY), 0..60),
        ) {
            let (stream, mut covers) = (Stream(0), Covers::new(1, Nanos(AFTER)));
            let (mut now, mut exposed, mut exposure, mut filled) = (0u64, 0u32, 0u128, 0u64);
            let mut timer = None;
            for (pause, count, fills) in events {
                for _ in 0..pause {
                    exposure += u128::from(exposed);
                    now += 1;
                    if timer.is_some_and(|at| at <= now) {
                        timer = match covers.look(Nanos(now), stream, exposed) {
                            Look::Done => {
                                prop_assert_eq!(exposed, 0);
                                None
                            }
                            Look::Later(at) => {
                                prop_assert!(exposed != 0 && now < filled + AFTER && at.0 == filled + AFTER);
                                Some(at.0)
                            }
                            Look::Cover(at) => {
                                prop_assert!(exposed != 0 && now >= filled + AFTER && at.0 == now + AFTER);
                                filled = now;
                                Some(at.0)
                            }
                        };
                    }
                    prop_assert!(exposed == 0 || timer.is_some(), "data without parity that nobody looks at");
                }
                exposed = count;
                if fills {
                    filled = now;
                    let at = covers.note_filled(Nanos(now), stream, exposed, || true);
                    prop_assert_eq!(at.is_some(), timer.is_none() && exposed != 0);
                    timer = timer.or(at.map(|at| at.0));
                } else {
                    // Parity never leaves more program units without it.
                    exposed = 0;
                    covers.note_covered(Nanos(now), stream, 0);
                }
                prop_assert_eq!(covers.exposure(Nanos(now), stream), exposure);
            }
            covers.reset(Nanos(now));
            prop_assert_eq!(covers.exposure(Nanos(now + 7), stream), 7 * u128::from(exposed));
        }
    }
}
