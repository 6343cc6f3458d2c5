//! Changes of protection that are to be made at a time, or when the drive has come to a state.

use crate::config::ChangeConfig;
use crate::ssd::Ssd;
use outlast_units::{DieId, Nanos};

/// What has become of the changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    /// To be made at a time, the next one last.
    timed: Vec<ChangeConfig>,
    /// To be made in a state.
    waiting: Vec<ChangeConfig>,
    done: Vec<Change>,
}

/// A change that was due.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// When.
    pub at: Nanos,
    /// What was asked for.
    pub asked: ChangeConfig,
    /// Why it was not made.
    pub refused: Option<String>,
}

impl Changes {
    fn next(&self) -> Nanos {
        self.timed.last().and_then(|change| change.at).unwrap_or(Nanos::MAX)
    }

    pub(crate) fn left(&self) -> usize {
        self.timed.len() + self.waiting.len()
    }
}

impl Ssd {
    /// Has `changes` made when they are due.
    pub fn schedule_changes(&mut self, changes: &[ChangeConfig]) {
        let (timed, waiting): (Vec<_>, Vec<_>) =
            changes.iter().cloned().partition(|change| change.at.is_some());
        self.changes.timed.extend(timed.into_iter().rev());
        // The sort is stable: of equal times the first given stays last.
        self.changes.timed.sort_by_key(|change| std::cmp::Reverse(change.at));
        self.changes.waiting.extend(waiting);
        self.call_housekeeping(self.changes.next());
    }

    /// Changes that were due, made or refused.
    pub fn changes(&self) -> &[Change] {
        &self.changes.done
    }

    /// Makes the changes whose time has come; returns when the next one is due.
    pub(crate) fn keep_changing(&mut self, now: Nanos) -> Nanos {
        while self.changes.next() <= now {
            if let Some(change) = self.changes.timed.pop() {
                self.make(now, change);
            }
        }
        self.changes.next()
    }

    /// The drive has worn or failed a little more: is a change due?
    #[inline]
    pub(crate) fn look_at_state(&mut self, now: Nanos) {
        if !self.changes.waiting.is_empty() {
            self.change_by_state(now);
        }
    }

    #[cold]
    fn change_by_state(&mut self, now: Nanos) {
        let worn = self.cores.iter().map(|core| core.ftl.blocks().max_cycles()).max().unwrap_or(0);
        let errors = self.errors_before + self.counters.medium_errors + self.counters.lost_units;
        let is_due = |change: &ChangeConfig| {
            change.pe_cycles.is_some_and(|cycles| worn >= cycles)
                || change.medium_errors.is_some_and(|limit| errors >= limit)
        };
        while let Some(place) = self.changes.waiting.iter().position(is_due) {
            let change = self.changes.waiting.remove(place);
            self.make(now, change);
        }
    }

    fn make(&mut self, now: Nanos, asked: ChangeConfig) {
        let result = if asked.dies.is_empty() {
            let code = asked.code(self.code(asked.class));
            self.change_code(now, asked.class, code)
        } else {
            asked.dies.iter().try_for_each(|&die| self.join_die(now, DieId(die)))
        };
        let refused = result.err().map(|error| error.to_string());
        self.changes.done.push(Change { at: now, asked, refused });
    }
}
