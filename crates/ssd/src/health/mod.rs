//! Faults and changes of protection that are to come, at their times or by the drive's state.

mod changes;
mod faults;

pub use changes::Change;
pub(crate) use changes::Changes;
pub(crate) use faults::{FaultEvent, FaultSchedule};
