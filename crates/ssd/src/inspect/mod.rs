//! Views of a drive from outside, and its checks of itself. Nothing here changes the drive, except counters, which can be reset.

mod check;
mod check_health;
mod check_zones;
mod extended_health;
mod extents;
mod figures;
mod groups;
mod handles;
mod health_log;
mod measures;
mod restored;
mod space;
mod superblock_map;
mod utilisation;
mod views;
mod zones;

pub use figures::RberLevels;
pub use groups::GroupFigures;
pub use handles::{HandleFigures, PlacementEvents, PlacementStatistics, PlacementView, sum_by_handle};
pub use superblock_map::{MapState, SuperblockMap};
pub use utilisation::Busy;
pub use views::{BufferView, DieState, DieView, SuperblockCounts};
