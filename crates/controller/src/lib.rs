//! A flash core of a drive: admission of host writes, programs, collection, reading and its ladder, scrub, and dies that fail.
//!
//! A [`FlashCore`] owns its translation layer, write buffer, internal tasks, cells and faults; its fields are private to `core/`. A handler gets the time
//! and a [`CoreContext`]: the parts that all flash cores of a drive share. What concerns other cores or the host it returns as an [`Effect`].
//! No handler sees the drive.

mod commands;
mod core;
mod counters;
mod events;
mod groups;
mod health;
mod homes;
mod ledger;
mod op;
mod places;
mod read;
mod repair;
mod size;
mod zones;

pub use commands::*;
pub use core::*;
pub use counters::*;
pub use events::*;
pub use groups::*;
pub use health::*;
pub use homes::*;
pub use ledger::*;
pub use op::*;
pub use places::*;
pub use read::*;
pub use repair::*;
pub use size::*;
pub use zones::{
    AreaCommit, ZoneCounts, ZoneFill, ZoneRange, Zones, random_write_areas, zone_layout, zone_streams,
};
