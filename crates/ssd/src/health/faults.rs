//! Faults and their times: scheduled faults, faults by chance, and leaps of age.

use outlast_media::{DriveFault, HazardClock, UnitTear};
use outlast_units::Nanos;
use std::cmp::Reverse;

/// What has become due.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum FaultEvent {
    /// Something breaks.
    Break(DriveFault),
    /// The data on flash has become older by this much at once.
    Aged(Nanos),
}

/// What is still to break, and how much older than the time that has passed the data is.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(crate) struct FaultSchedule {
    /// Scheduled faults, the next one last.
    faults: Vec<(Nanos, DriveFault)>,
    /// Scheduled leaps of age and their lengths, the next one last.
    leaps: Vec<(Nanos, Nanos)>,
    /// Faults by chance; absent where there are none.
    hazards: Option<HazardClock>,
    injected: u64,
    /// What the next loss of power leaves of what is being programmed then.
    tear: UnitTear,
}

impl FaultSchedule {
    /// Has `faults` happen at their times; of equal times the first given first.
    pub(crate) fn schedule(&mut self, faults: &[(Nanos, DriveFault)]) {
        // The next fault stands last, and the sort is stable: of equal times the last given has to come first.
        self.faults.splice(0..0, faults.iter().rev().copied());
        self.faults.sort_by_key(|&(at, _)| Reverse(at));
    }

    /// Has the data become older by `by` at time `at`.
    pub(crate) fn schedule_leap(&mut self, at: Nanos, by: Nanos) {
        self.leaps.push((at, by));
        self.leaps.sort_by_key(|&(at, _)| Reverse(at));
    }

    /// Faults by chance come from `hazards`.
    pub(crate) fn begin_hazards(&mut self, hazards: HazardClock) {
        assert!(self.hazards.is_none(), "hazards begin once, when the drive is built");
        self.hazards = Some(hazards);
    }

    /// The next event of time `now` or before: all scheduled faults, then those by chance, then leaps of age.
    pub(crate) fn due(&mut self, now: Nanos) -> Option<FaultEvent> {
        if let Some((_, fault)) = self.faults.pop_if(|&mut (at, _)| at <= now) {
            return Some(FaultEvent::Break(fault));
        }
        if let Some(hazards) = self.hazards.as_mut().filter(|hazards| hazards.next() <= now) {
            return Some(FaultEvent::Break(hazards.draw()));
        }
        let (_, by) = self.leaps.pop_if(|&mut (at, _)| at <= now)?;
        Some(FaultEvent::Aged(by))
    }

    /// When [`FaultSchedule::due`] next has something to return; [`Nanos::MAX`] where it never has.
    pub(crate) fn next(&self) -> Nanos {
        let fault = self.faults.last().map_or(Nanos::MAX, |&(at, _)| at);
        let leap = self.leaps.last().map_or(Nanos::MAX, |&(at, _)| at);
        let hazard = self.hazards.as_ref().map_or(Nanos::MAX, HazardClock::next);
        fault.min(leap).min(hazard)
    }

    /// Numbers of scheduled faults and of leaps of age that have not happened yet.
    pub(crate) fn left(&self) -> (usize, usize) {
        (self.faults.len(), self.leaps.len())
    }

    /// The next loss of power leaves `tear` of what is being programmed then.
    pub(crate) fn tear_next(&mut self, tear: UnitTear) {
        self.tear = tear;
    }

    /// Power fails: what it leaves. The one after that leaves nothing.
    pub(crate) fn take_tear(&mut self) -> UnitTear {
        std::mem::take(&mut self.tear)
    }

    /// A fault has been injected.
    pub(crate) fn count_injected(&mut self) {
        self.injected += 1;
    }

    /// Faults injected over the drive's life.
    pub(crate) fn injected(&self) -> u64 {
        self.injected
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outlast_media::DieDamage;
    use proptest::prelude::*;

    /// A fault that its number tells from all others.
    fn fault(number: u16) -> DriveFault {
        DriveFault { die: number, damage: DieDamage::Die }
    }

    proptest! {
        /// The oracle is one list in the order given, sorted by time.
        #[test]
        fn faults_come_in_order_of_time_and_of_equal_times_as_given(
            batches in prop::collection::vec(prop::collection::vec(0u64..20, 0..6), 0..4),
            leaps in prop::collection::vec((0u64..20, 1u64..100), 0..6),
            looks in prop::collection::btree_set(0u64..20, 0..10),
        ) {
            let (mut schedule, mut plain) = (FaultSchedule::default(), Vec::new());
            for batch in &batches {
                let numbered = (plain.len() as u16..).zip(batch);
                let faults: Vec<(Nanos, DriveFault)> = numbered.map(|(number, &at)| (Nanos(at), fault(number))).collect();
                schedule.schedule(&faults);
                plain.extend(faults);
            }
            for &(at, by) in &leaps {
                schedule.schedule_leap(Nanos(at), Nanos(by));
            }
            plain.sort_by_key(|&(at, _)| at);
            let mut plain = plain.into_iter().peekable();
            let mut aged = 0;
            for now in looks.into_iter().chain([20]).map(Nanos) {
                let mut leapt = false;
                while let Some(event) = schedule.due(now) {
                    match event {
                        FaultEvent::Break(fault) => {
                            prop_assert!(!leapt, "faults come before leaps");
                            prop_assert_eq!(plain.next_if(|&(at, _)| at <= now).map(|(_, own)| own), Some(fault));
                        }
                        FaultEvent::Aged(by) => (leapt, aged) = (true, aged + by.0),
                    }
                }
                prop_assert!(plain.peek().is_none_or(|&(at, _)| at > now), "a fault was left out");
                let past = leaps.iter().filter(|&&(at, _)| Nanos(at) <= now);
                prop_assert_eq!(aged, past.map(|&(_, by)| by).sum::<u64>());
                prop_assert!(schedule.next() > now);
            }
            prop_assert_eq!((schedule.left(), schedule.next()), ((0, 0), Nanos::MAX));
        }
    }

    /// Faults given later turned round the order of earlier ones of the same time.
    #[test]
    fn faults_given_in_two_batches_keep_their_order() {
        let mut schedule = FaultSchedule::default();
        schedule.schedule(&[(Nanos(5), fault(0)), (Nanos(5), fault(1))]);
        schedule.schedule(&[(Nanos(5), fault(2))]);
        let events: Vec<FaultEvent> = std::iter::from_fn(|| schedule.due(Nanos(5))).collect();
        assert_eq!(events, [0, 1, 2].map(|number| FaultEvent::Break(fault(number))));
    }
}
