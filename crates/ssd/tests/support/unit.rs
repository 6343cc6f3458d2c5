//! What a mapping unit may hold, and a command that is under way.

use outlast_device::Command;
use outlast_units::Nanos;

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
