//! Faults and changes of protection that are to come, at their times or by the drive's state.

mod changes;
mod faults;

use std::ops::AddAssign;

pub use changes::Change;
pub(crate) use changes::Changes;
pub(crate) use faults::{FaultEvent, FaultSchedule};

/// Numbers of what was scheduled and has not happened yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scheduled {
    /// Faults.
    pub faults: usize,
    /// Leaps of age.
    pub leaps: usize,
    /// Changes of protection.
    pub changes: usize,
    /// Updates of placement handles.
    pub handle_updates: usize,
}

impl AddAssign for Scheduled {
    fn add_assign(&mut self, other: Self) {
        self.faults += other.faults;
        self.leaps += other.leaps;
        self.changes += other.changes;
        self.handle_updates += other.handle_updates;
    }
}
