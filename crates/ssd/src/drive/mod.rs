//! Events that concern the whole drive: failures of dies and of power, redirection between flash cores, changes, housekeeping.
//!
//! Methods of [`Ssd`](crate::Ssd) that need several flash cores, or parts of the drive that no core sees.

mod codes;
mod detection;
mod dies;
mod directory;
mod every_core;
mod failures;
mod groups;
mod handles;
mod housekeeping;
mod idle;
mod mount;
mod moves;
mod power;
mod prospects;
mod queries;
mod redirection;
mod redundancy;
mod repairs;
mod zone_areas;
mod zones;

pub(crate) use groups::{group_count, groups_of};
pub(crate) use handles::HostHandles;
pub(crate) use idle::IdleWatch;
pub use mount::Mounts;
pub use redundancy::DriveRedundancy;
pub(crate) use zones::{ZoneSplit, zones_of};
