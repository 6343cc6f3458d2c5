//! What a mapping unit may hold, and a command that is under way.

use outlast_device::Command;
use outlast_units::Nanos;
use std::collections::BTreeSet;

/// The content of a unit: the version of each of its sectors; 0 is "zeroes".
pub(crate) type Content = Vec<u64>;

/// What a unit may hold. Only one command at a time changes it.
#[derive(Clone)]
pub(crate) struct Unit {
    /// What it may fall back to, oldest first: when it was acknowledged, and the contents, of which one is the true one. Only the
    /// last is current.
    pub(crate) possible: Vec<(u64, Vec<Content>)>,
    pub(crate) pending: Option<Content>,
    /// Counts changes, so that a read knows whether there was one while it was under way.
    pub(crate) changes: u64,
}

impl Unit {
    pub(crate) fn current(&self) -> &[Content] {
        &self.possible.last().unwrap().1
    }

    /// What was to become its content was refused: some of it may have been written all the same.
    pub(crate) fn refused(&mut self, seq: u64) {
        let content = self.pending.take().unwrap();
        let mut contents = self.current().to_vec();
        if !contents.contains(&content) {
            contents.push(content);
        }
        self.possible.push((seq, contents));
        // A read under way may have had either.
        self.changes += 1;
    }

    /// Power failed: what it may fall back to, and what was being written, are what it may hold. Each once: a unit that nobody can read
    /// is never known again, and what it may hold would double with each command that is refused.
    pub(crate) fn cut(&mut self, seq: u64) {
        let mut seen = BTreeSet::new();
        // Newest first, so that a unit that has fallen back is told from one that has not.
        let older = self.possible.drain(..).rev().flat_map(|(_, all)| all);
        let contents = self
            .pending
            .take()
            .into_iter()
            .chain(older)
            .filter(|content| seen.insert(content.clone()))
            .collect();
        self.possible.push((seq, contents));
        self.changes += 1;
    }
}

#[test]
fn what_a_unit_may_hold_grows_by_what_was_refused() {
    let mut unit = Unit { possible: vec![(0, vec![vec![0]])], pending: None, changes: 0 };
    for command in 1..=200 {
        // Trims as well: several times the same content.
        unit.pending = Some(vec![if command % 4 == 0 { 0 } else { command }]);
        unit.refused(2 * command);
        unit.pending = Some(vec![0]);
        unit.cut(2 * command + 1);
    }
    let (mut held, newest) = (unit.current().to_vec(), unit.current()[0].clone());
    held.sort_unstable();
    let written = (0..=200).filter(|command| command % 4 != 0 || *command == 0);
    assert_eq!(held, written.map(|command| vec![command]).collect::<Vec<_>>());
    assert_eq!(newest, [0], "what was being written last");
}

#[derive(Clone)]
pub(crate) struct Pending {
    pub(crate) command: Command,
    pub(crate) first: usize,
    pub(crate) end: usize,
    /// Acknowledged before a flush was submitted.
    pub(crate) seq: u64,
    /// What a read may return, and the changes of each unit when it began.
    pub(crate) allowed: Vec<(Vec<Content>, u64)>,
    pub(crate) at: Nanos,
}
