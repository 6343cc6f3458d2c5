//! Changes of protection that are to be made at a time, or when the drive has come to a state.

use outlast_settings::drive::ChangeConfig;
use outlast_units::Nanos;
use std::cmp::Reverse;

/// The changes that are still to be made, and what has become of the others.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(crate) struct Changes {
    /// To be made at a time, the next one last.
    timed: Vec<ChangeConfig>,
    /// To be made in a state, in the order given.
    waiting: Vec<ChangeConfig>,
    done: Vec<Change>,
}

/// A change that was due.
#[derive(Clone, Debug, PartialEq, outlast_persist::Persist)]
pub struct Change {
    /// When.
    pub at: Nanos,
    /// What was asked for.
    pub asked: ChangeConfig,
    /// Why it was not made.
    pub refused: Option<String>,
}

impl Changes {
    /// Has `changes` made when they are due; of equal times the first given first.
    pub(crate) fn schedule(&mut self, changes: &[ChangeConfig]) {
        let (timed, waiting): (Vec<_>, Vec<_>) =
            changes.iter().cloned().partition(|change| change.at.is_some());
        // The next change stands last, and the sort is stable: of equal times the last given has to come first.
        self.timed.splice(0..0, timed.into_iter().rev());
        self.timed.sort_by_key(|change| Reverse(change.at));
        self.waiting.extend(waiting);
    }

    /// When the next change is due by its time; [`Nanos::MAX`] where none is.
    pub(crate) fn next(&self) -> Nanos {
        self.timed.last().and_then(|change| change.at).unwrap_or(Nanos::MAX)
    }

    /// The next change of time `now` or before.
    pub(crate) fn due(&mut self, now: Nanos) -> Option<ChangeConfig> {
        self.timed.pop_if(|change| change.at.is_some_and(|at| at <= now))
    }

    /// True if a change waits for a state of the drive.
    #[inline]
    pub(crate) fn waits_for_state(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// The first change that waits for a state which has come: `worn` is how often the most worn block has been erased, `errors` the
    /// units lost to the host or to the drive over its life.
    pub(crate) fn due_by_state(&mut self, worn: u32, errors: u64) -> Option<ChangeConfig> {
        let is_due = |change: &ChangeConfig| {
            debug_assert!(change.at.is_none(), "a change with a time does not wait for a state");
            change.pe_cycles.is_some_and(|cycles| worn >= cycles)
                || change.medium_errors.is_some_and(|limit| errors >= limit)
        };
        let place = self.waiting.iter().position(is_due)?;
        Some(self.waiting.remove(place))
    }

    /// A change has been made, or refused.
    pub(crate) fn note(&mut self, change: Change) {
        debug_assert!(
            self.done.last().is_none_or(|last| last.at <= change.at),
            "changes are made in order of time"
        );
        self.done.push(change);
    }

    /// Changes that were due, in the order in which they were made or refused.
    pub(crate) fn done(&self) -> &[Change] {
        &self.done
    }

    /// Changes still to be made, in no order.
    pub(crate) fn left(&self) -> impl Iterator<Item = &ChangeConfig> {
        self.timed.iter().chain(&self.waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A change to be told from others by its class.
    fn at(time: u64, class: u8) -> ChangeConfig {
        ChangeConfig { at: Some(Nanos(time)), class, ..ChangeConfig::default() }
    }

    proptest! {
        /// The oracle is one list in the order given, sorted by time.
        #[test]
        fn changes_come_in_order_of_time_and_of_equal_times_as_given(
            batches in prop::collection::vec(prop::collection::vec(0u64..10, 0..6), 0..4),
            looks in prop::collection::btree_set(0u64..10, 0..10),
        ) {
            let (mut changes, mut plain) = (Changes::default(), Vec::new());
            for batch in &batches {
                let numbered = (plain.len() as u8..).zip(batch);
                let given: Vec<ChangeConfig> = numbered.map(|(number, &time)| at(time, number)).collect();
                changes.schedule(&given);
                plain.extend(given);
            }
            plain.sort_by_key(|change| change.at);
            let mut plain = plain.into_iter().peekable();
            for now in looks.into_iter().chain([10]).map(Nanos) {
                while let Some(change) = changes.due(now) {
                    prop_assert_eq!(plain.next_if(|own| own.at <= Some(now)), Some(change));
                }
                prop_assert!(plain.peek().is_none_or(|own| own.at > Some(now)), "a change was left out");
                prop_assert_eq!(changes.left().count(), plain.len());
                prop_assert!(changes.next() > now);
            }
        }
    }

    #[test]
    fn a_change_by_state_waits_until_wear_or_errors_reach_its_limit() {
        let worn = ChangeConfig { pe_cycles: Some(100), class: 1, ..ChangeConfig::default() };
        let failing = ChangeConfig { medium_errors: Some(3), class: 2, ..ChangeConfig::default() };
        let mut changes = Changes::default();
        changes.schedule(&[worn.clone(), failing.clone()]);
        assert!(changes.waits_for_state() && changes.next() == Nanos::MAX && changes.due(Nanos(9)).is_none());
        assert_eq!(changes.due_by_state(99, 2), None);
        assert_eq!(changes.due_by_state(99, 3), Some(failing));
        assert_eq!(changes.due_by_state(100, 9), Some(worn));
        assert_eq!(
            (changes.due_by_state(1000, 9), changes.waits_for_state(), changes.left().count()),
            (None, false, 0)
        );
    }
}
