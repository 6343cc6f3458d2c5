//! Shares of room in the host's open superblocks.

use super::{CREDIT_PER_UNIT, VictimProgress};
use crate::ftl::Ftl;

/// Part of the host's room of `room` units that goes with `progress`, in 2^-16 units: all of it is granted by the time the next superblock has been
/// gained. `kept_back` units are for the erasure, during which nothing is granted, and for estimates of the work that were too low.
#[inline]
pub(super) fn share_of(room: u32, kept_back: u32, progress: VictimProgress) -> u64 {
    let VictimProgress { units, work } = progress;
    debug_assert!(units <= work, "collection has done {units} of {work} units");
    let spendable = u64::from(room.saturating_sub(kept_back));
    spendable * CREDIT_PER_UNIT * u64::from(units) / u64::from(work)
}

/// Room in the open superblocks of the host's streams.
#[inline]
pub(super) fn host_room(ftl: &Ftl) -> u32 {
    ftl.streams().hosts().map(|stream| ftl.stream(stream).room()).sum()
}

/// Units that are kept back: a sixteenth of a superblock. A rule of thumb, small against the room of an open superblock.
#[inline]
pub(super) fn kept_back(ftl: &Ftl) -> u32 {
    ftl.layout().units_per_superblock() / 16
}
