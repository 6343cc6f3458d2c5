//! Detection of a drive that goes in circles, by what it does and not by a clock: commands wait, and event follows event without any of them completing. Then
//! the run ends with a broken invariant instead of never.
//!
//! A deadlock is excluded before: a configuration is refused unless some sealed superblock still has stale units when the superblocks of all streams are open
//! and those for relocation are held back (`Ftl::new`). Random configurations are run to their end in `crates/engine/tests/refusals.rs`, where each livelock
//! that was found is a named test, and random scenarios of all settings in `tests/random_scenarios/` (decision 0104).

/// Events for each mapping unit of the host's that may come between two completions. The longest wait of a command that ends is for the whole drive
/// to be read, moved and erased, which takes a few events for each unit.
const EVENTS_FOR_EACH: u64 = 64;

/// Counts the events of one call of the host's, or the turns of one event.
#[derive(Debug)]
pub(crate) struct LivelockWatch {
    /// Events since the last look.
    steps: u32,
    /// Looks since the last completion.
    looks: u64,
    /// Completions at the last look.
    seen: usize,
}

impl LivelockWatch {
    /// Events between two looks: so many that counting is all that they cost.
    pub(crate) const BETWEEN_LOOKS: u32 = 1 << 20;

    /// A call begins, to which `completions` were handed that it does not count.
    #[inline]
    pub(crate) fn new(completions: usize) -> Self {
        Self { steps: 0, looks: 0, seen: completions }
    }

    /// One more event; returns whether to [look](LivelockWatch::look).
    #[inline]
    pub(crate) fn step(&mut self) -> bool {
        self.steps += 1;
        self.steps == Self::BETWEEN_LOOKS
    }

    /// Looks whether anything has completed, of a drive of `units` mapping units with `waiting` commands in flight.
    ///
    /// # Panics
    /// If it goes in circles.
    #[cold]
    pub(crate) fn look(&mut self, completions: usize, waiting: u32, units: u64) {
        self.steps = 0;
        if completions != self.seen || waiting == 0 {
            (self.looks, self.seen) = (0, completions);
            return;
        }
        self.looks += 1;
        let events = self.looks.saturating_mul(u64::from(Self::BETWEEN_LOOKS));
        assert!(
            events - u64::from(Self::BETWEEN_LOOKS) <= units.saturating_mul(EVENTS_FOR_EACH),
            "livelock: {events} events, and none of {waiting} commands in flight has completed"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Events until the watch panics, at most `most`, where `completions` tells how many commands have completed by an event.
    fn events(units: u64, waiting: u32, most: u64, completions: impl Fn(u64) -> usize) -> Option<u64> {
        let mut watch = LivelockWatch::new(completions(0));
        (1..=most).find(|&event| {
            watch.step()
                && std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    watch.look(completions(event), waiting, units);
                }))
                .is_err()
        })
    }

    #[test]
    fn a_drive_that_goes_in_circles_is_stopped_after_a_number_of_events_that_goes_with_its_size() {
        for (units, looks) in [(0, 2), (1 << 13, 2), (1 << 14, 3), (1 << 16, 6)] {
            assert_eq!(events(units, 1, 1 << 24, |_| 0), Some(looks << 20), "{units} units");
        }
    }

    #[test]
    fn what_completes_now_and_then_or_has_nobody_waiting_goes_on() {
        assert_eq!(events(1, 3, 1 << 23, |event| (event >> 20) as usize), None);
        assert_eq!(events(1, 0, 1 << 23, |_| 7), None);
    }
}
