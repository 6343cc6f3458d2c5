//! The next action of a recovery in place.

use super::ActiveRepair;
use outlast_decisions::RepairWay;

/// The limits of a recovery in place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RepairLimits {
    /// Ranges of a member.
    pub(crate) ranges: u32,
    /// Ranges under way at once.
    pub(crate) queries: usize,
    /// All lost rows are identified before any is recovered.
    pub(crate) identify_first: bool,
    /// Operations under way at once.
    pub(crate) window: u32,
}

/// The next action of a recovery in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RepairAction {
    /// Wait for commands under way; also of recoveries that are not in place.
    Wait,
    /// Query the next range.
    Ask,
    /// Recover the next rows.
    Recover,
    /// Flush the member: everything is recovered.
    Flush,
}

impl ActiveRepair {
    /// The next action. Queries go before recovery, so that there are always rows to recover.
    pub(crate) fn next_action(&self, limits: &RepairLimits) -> RepairAction {
        if self.way != RepairWay::Die || self.flushing {
            return RepairAction::Wait;
        }
        // If everything is identified first, only open queries count: ranges with listed rows wait for the others.
        let under_way = if limits.identify_first { self.queries.len() } else { self.spans.len() };
        let is_identified = self.next_range.0 == limits.ranges && self.queries.is_empty();
        if self.next_range.0 < limits.ranges && under_way < limits.queries {
            RepairAction::Ask
        } else if is_identified && self.items.is_empty() && self.ops == 0 {
            RepairAction::Flush
        } else if self.ops >= limits.window
            || limits.identify_first && !is_identified
            || self.items.is_empty()
        {
            RepairAction::Wait
        } else {
            RepairAction::Recover
        }
    }
}
