//! States of rest, which a drive enters when the host pauses.

use outlast_settings::drive::IdleState;
use outlast_units::Nanos;

/// Pauses of the host, and the states of rest in them. Without states it is never asked for anything but [`Rest::from`].
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(super) struct Rest {
    /// For each state: after which pause it is entered, and how long a command then waits.
    #[persist(fixed)]
    states: Vec<(Nanos, Nanos)>,
    /// Since when the host pauses.
    since: Nanos,
    /// When the first state of this pause is entered; [`Nanos::MAX`] while commands are in progress, and without states.
    from: Nanos,
    /// Time in each state, this pause not included.
    spent: Vec<Nanos>,
    wakes: u64,
}

impl Rest {
    /// A host that pauses from the beginning.
    pub(super) fn new(states: &[IdleState]) -> Self {
        let states: Vec<_> = states.iter().map(|state| (state.after, state.exit)).collect();
        let from = states.first().map_or(Nanos::MAX, |&(after, _)| after);
        Self { spent: vec![Nanos::ZERO; states.len()], states, since: Nanos::ZERO, from, wakes: 0 }
    }

    /// When the first state is entered, if the host pauses until then.
    #[inline]
    pub(super) fn from(&self) -> Nanos {
        self.from
    }

    /// The host pauses from `at` on.
    #[inline]
    pub(super) fn begin(&mut self, at: Nanos) {
        if let Some(&(after, _)) = self.states.first() {
            (self.since, self.from) = (at, at + after);
        }
    }

    /// A command comes in at `now`. Returns how long it waits for the drive to be ready.
    pub(super) fn end(&mut self, now: Nanos) -> Nanos {
        if self.from == Nanos::MAX || now < self.from {
            self.from = Nanos::MAX;
            return Nanos::ZERO;
        }
        self.spent = self.spent(now);
        self.from = Nanos::MAX;
        self.wakes += 1;
        let pause = now - self.since;
        self.states.iter().rev().find(|(after, _)| *after <= pause).map_or(Nanos::ZERO, |&(_, exit)| exit)
    }

    /// Time in each state until `now`.
    pub(super) fn spent(&self, now: Nanos) -> Vec<Nanos> {
        let pause = if self.from == Nanos::MAX { Nanos::ZERO } else { now.saturating_sub(self.since) };
        let ends = self.states.iter().skip(1).map(|&(after, _)| after).chain([Nanos::MAX]);
        let own = self.states.iter().zip(ends).map(|(&(after, _), end)| pause.min(end).saturating_sub(after));
        self.spent.iter().zip(own).map(|(&before, own)| before + own).collect()
    }

    /// Pauses that were long enough for a state of rest and have ended.
    pub(super) fn wakes(&self) -> u64 {
        self.wakes
    }

    /// Counts wakes anew.
    pub(super) fn reset(&mut self) {
        self.wakes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_pause_is_a_deeper_state_with_a_longer_way_out() {
        let state = |after, exit| IdleState { after: Nanos(after), watts: 0.1, exit: Nanos(exit) };
        let mut rest = Rest::new(&[state(100, 5), state(1000, 50)]);
        rest.begin(Nanos(10));
        assert_eq!((rest.from(), rest.end(Nanos(109))), (Nanos(110), Nanos::ZERO));
        rest.begin(Nanos(200));
        assert_eq!(rest.end(Nanos(300)), Nanos(5));
        rest.begin(Nanos(400));
        assert_eq!(rest.spent(Nanos(1600)), [Nanos(900), Nanos(200)]);
        assert_eq!((rest.end(Nanos(1600)), rest.wakes()), (Nanos(50), 2));
        assert_eq!(rest.spent(Nanos(9999)), [Nanos(900), Nanos(200)]);
    }
}
