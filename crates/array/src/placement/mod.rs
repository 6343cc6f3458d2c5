//! Placement of the chunks of a stripe, as data: a table over a period of stripes.

mod layouts;
mod moves;
mod spread;
mod table;

pub use moves::ShiftPlan;
pub use spread::spread;
pub use table::ParityPlacement;
pub(crate) use table::by_rank;
