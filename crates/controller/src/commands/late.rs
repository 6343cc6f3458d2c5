//! Flushes that were acknowledged before they are carried out.

use outlast_units::Nanos;
use std::collections::VecDeque;

/// When flushes that the host believes to be done are to begin.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub struct LateFlushes(VecDeque<Nanos>);

impl LateFlushes {
    /// A flush is to begin at `at`, which is not before any other.
    pub(crate) fn put_off(&mut self, at: Nanos) {
        debug_assert!(self.0.back().is_none_or(|&last| last <= at), "flushes are put off in order of time");
        self.0.push_back(at);
    }

    /// True if one is to begin at `now`; of several, one does for all.
    pub fn take_due(&mut self, now: Nanos) -> bool {
        let mut is_due = false;
        while self.0.pop_front_if(|at| *at <= now).is_some() {
            is_due = true;
        }
        is_due
    }

    /// When the next one is to begin; [`Nanos::MAX`]: never.
    pub fn next(&self) -> Nanos {
        self.0.front().copied().unwrap_or(Nanos::MAX)
    }

    /// Power has failed.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_flush_does_for_all_that_are_due() {
        let mut late = LateFlushes::default();
        [3, 5, 9].map(Nanos).into_iter().for_each(|at| late.put_off(at));
        assert!(!late.take_due(Nanos(2)) && late.take_due(Nanos(5)) && !late.take_due(Nanos(8)));
        assert_eq!(late.next(), Nanos(9));
        late.forget();
        assert_eq!(late.next(), Nanos::MAX);
    }
}
