//! Where the chunks of a stripe lie, as data: a table over a period of stripes.

mod moves;
mod shares;
mod spread;
mod table;

pub use moves::ShiftPlan;
pub use shares::{MEMBERS_MAX, Shares};
pub use spread::spread;
pub(crate) use table::by_rank;
pub use table::{ParityLayout, Placement};
