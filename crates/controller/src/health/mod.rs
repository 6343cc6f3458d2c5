//! The drive's health: what breaks and ages, what is done about it, and when.
//!
//! Each part owns its state, is told what has happened, and returns what it asks for; none of them calls another. `core/scrub/` and `drive/` show them the
//! rest of the drive and carries out what they ask for.
//!
//! Here are scheduled faults and ageing, changes of code and dies, covers, scrubbing, the detector of failed dies and prediction. Parts elsewhere follow the
//! same rule: the recovery ladder (`read/`); lists, queries and moves (`repair/`; decision 0032).

mod cover;
mod detector;
mod predict;
mod reasons;
mod redundancy;
pub mod scrub;
mod timer;

pub(crate) use cover::{Covers, Look};
pub use detector::Detector;
pub use detector::{Detected, DieLayout};
pub use predict::Predictor;
pub use reasons::{Decision, Decisions, Reason};
pub use redundancy::{Redundancy, RedundancyLoss};
pub use scrub::View;
pub use scrub::{RowReads, Scrub};
pub(crate) use timer::Timer;
