//! The drive's health: what breaks and ages, what is done about it, and when.
//!
//! Each part owns its state, is told what has happened, and returns what it asks for; none of them calls another. `core/scrub/` and `drive/` show them the
//! rest of the drive and carries out what they ask for.
//!
//! Here are scheduled faults and ageing, changes of code and dies, covers, scrubbing, the detector of failed dies and prediction. Parts elsewhere follow the
//! same rule: the recovery ladder (`read/`); lists, queries and moves (`repair/`; decision 0032).

mod changes;
mod cover;
mod detector;
mod faults;
mod predict;
mod reasons;
mod redundancy;
pub(crate) mod scrub;
mod timer;

pub use changes::Change;
pub(crate) use changes::Changes;
pub(crate) use cover::{Covers, Look};
pub(crate) use detector::{Detected, Detector, DieLayout};
pub(crate) use faults::{FaultEvent, FaultSchedule};
pub(crate) use predict::Predictor;
pub(crate) use reasons::Decisions;
pub use reasons::{Decision, Reason};
pub(crate) use redundancy::Redundancy;
pub use redundancy::RedundancyLoss;
pub(crate) use scrub::{Row, Scrub, View};
pub(crate) use timer::Timer;
