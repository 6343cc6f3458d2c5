//! The core of the host that the jobs of a run share. Each polls for its completions and never gives the core up, so all run in turns of a time slice.
//!
//! Turns change only in the account: time is advanced to the beginning of a turn only where a job has something to see or to do in it.

use outlast_device::Completion;
use outlast_units::Nanos;
use std::collections::VecDeque;

/// A core and the jobs that take turns on it.
pub(super) struct SharedCore {
    slice: Nanos,
    /// Jobs that have begun and not ended, in the order of their turns.
    members: Vec<u32>,
    /// Index in `members` of the job whose turn it is, and the end of the turn.
    turn: usize,
    ends: Nanos,
    /// By job: completions that it has not seen, in order.
    unseen: Vec<VecDeque<Completion>>,
    /// By job: true if it is to be asked for its next step in its turn.
    is_due: Vec<bool>,
}

impl SharedCore {
    pub(super) fn new(slice: Nanos, jobs: usize) -> Self {
        Self {
            slice,
            members: Vec::new(),
            turn: 0,
            ends: Nanos::ZERO,
            unseen: vec![VecDeque::new(); jobs],
            is_due: vec![false; jobs],
        }
    }

    /// Ends the turns that are over at `now`.
    fn catch_up(&mut self, now: Nanos) {
        if now < self.ends || self.members.len() < 2 {
            return;
        }
        let turns = (now - self.ends).0 / self.slice.0 + 1;
        self.turn = (self.turn + (turns % self.members.len() as u64) as usize) % self.members.len();
        self.ends += Nanos(turns * self.slice.0);
    }

    /// True if `job`, which has begun, runs at `now`.
    pub(super) fn runs(&mut self, job: u32, now: Nanos) -> bool {
        self.catch_up(now);
        if !self.members.contains(&job) {
            self.members.push(job);
            if self.members.len() <= 2 {
                // Alone it needed no turns; they begin with the second.
                self.ends = now + self.slice;
            }
        }
        self.members[self.turn] == job
    }

    /// Keeps `completion` until `job` runs; false if it runs now.
    pub(super) fn hold(&mut self, job: u32, completion: &Completion) -> bool {
        let waits = !self.runs(job, completion.at) || !self.unseen[job as usize].is_empty();
        if waits {
            self.unseen[job as usize].push_back(*completion);
        }
        waits
    }

    /// Keeps `job` from being asked at `now` until it runs; false if it runs now.
    pub(super) fn defer(&mut self, job: u32, now: Nanos) -> bool {
        let waits = !self.runs(job, now);
        self.is_due[job as usize] |= waits;
        waits
    }

    /// `job` has ended at `now`: the next one takes over at once.
    pub(super) fn leave(&mut self, job: u32, now: Nanos) {
        self.catch_up(now);
        let Some(index) = self.members.iter().position(|member| *member == job) else { return };
        self.members.remove(index);
        match index.cmp(&self.turn) {
            std::cmp::Ordering::Less => self.turn -= 1,
            std::cmp::Ordering::Equal => {
                self.turn = if index == self.members.len() { 0 } else { index };
                self.ends = now + self.slice;
            }
            std::cmp::Ordering::Greater => {}
        }
    }

    fn has_work(&self, job: u32) -> bool {
        self.is_due[job as usize] || !self.unseen[job as usize].is_empty()
    }

    /// The next moment at which a job runs that has something to see or to do.
    pub(super) fn next_turn(&self) -> Option<Nanos> {
        let count = self.members.len();
        let first = (0..count).find(|&ahead| self.has_work(self.members[(self.turn + ahead) % count]))?;
        // The job of this turn has work only if the turn has just begun.
        Some(match first {
            0 => self.ends.saturating_sub(self.slice),
            _ => self.ends + Nanos((first as u64 - 1) * self.slice.0),
        })
    }

    /// Gives the job that runs at `now` what it has not seen, as of `now`, into `completions`; returns it if it is to be asked.
    pub(super) fn begin_turn(&mut self, now: Nanos, completions: &mut Vec<Completion>) -> Option<u32> {
        self.catch_up(now);
        let job = *self.members.get(self.turn)?;
        let unseen = self.unseen[job as usize].drain(..);
        completions.extend(unseen.map(|completion| Completion { at: now, ..completion }));
        std::mem::take(&mut self.is_due[job as usize]).then_some(job)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outlast_device::{Outcome, Tag};
    use proptest::prelude::*;

    /// Turns nanosecond by nanosecond.
    #[derive(Default)]
    struct SlowTurns {
        members: Vec<u32>,
        turn: usize,
        left: u64,
    }

    impl SlowTurns {
        fn pass(&mut self, slice: u64, nanoseconds: u64) {
            for _ in 0..nanoseconds {
                if self.members.len() < 2 {
                    continue;
                }
                self.left -= 1;
                if self.left == 0 {
                    (self.turn, self.left) = ((self.turn + 1) % self.members.len(), slice);
                }
            }
        }

        fn join(&mut self, job: u32, slice: u64) {
            self.members.push(job);
            if self.members.len() <= 2 {
                self.left = slice;
            }
        }

        fn leave(&mut self, job: u32, slice: u64) {
            let Some(index) = self.members.iter().position(|own| *own == job) else { return };
            let running = self.members[self.turn];
            self.members.remove(index);
            if running == job {
                (self.turn, self.left) = (if index < self.members.len() { index } else { 0 }, slice);
            } else {
                self.turn = self.members.iter().position(|own| *own == running).expect("it runs on");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

        /// Turns, and the next turn of a job that waits, are those of a count of nanoseconds.
        #[test]
        fn turns_are_those_of_a_count(
            slice in 1_u64..9,
            steps in prop::collection::vec((0_u32..4, 0_u32..5, 0_u64..30), 1..60),
        ) {
            let mut core = SharedCore::new(Nanos(slice), 4);
            let mut slow = SlowTurns::default();
            let mut now = 0;
            for (job, deed, time) in steps {
                // No time passes beyond the turn of a job that waits for it, as in a run.
                let due = core.next_turn().map_or(u64::MAX, |at| at.0.max(now));
                let pause = time.min(due - now);
                slow.pass(slice, pause);
                now += pause;
                if now == due {
                    let mut seen = Vec::new();
                    core.begin_turn(Nanos(now), &mut seen);
                    prop_assert!(!core.has_work(slow.members[slow.turn]));
                    prop_assert!(seen.iter().all(|completion| completion.at == Nanos(now)));
                }
                if slow.members.contains(&job) && deed == 0 {
                    core.leave(job, Nanos(now));
                    slow.leave(job, slice);
                    core.unseen[job as usize].clear();
                    core.is_due[job as usize] = false;
                    continue;
                }
                if !slow.members.contains(&job) {
                    slow.join(job, slice);
                }
                let runs = slow.members[slow.turn] == job;
                if deed == 1 {
                    prop_assert_eq!(core.defer(job, Nanos(now)), !runs);
                } else {
                    let completion = Completion::new(Nanos(now), Tag(0), Outcome::Ok);
                    prop_assert_eq!(core.hold(job, &completion), !runs);
                }
                // The next turn of each job that waits, by counting on.
                if let Some(next) = core.next_turn() {
                    let mut ahead = SlowTurns { members: slow.members.clone(), ..slow };
                    let mut at = now;
                    while !core.has_work(ahead.members[ahead.turn]) {
                        ahead.pass(slice, 1);
                        at += 1;
                    }
                    prop_assert_eq!(next.0.max(now), at);
                }
            }
        }
    }
}
