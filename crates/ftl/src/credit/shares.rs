//! Shares of room in the host's open superblocks.

use super::{CREDIT_PER_UNIT, VictimProgress};
use crate::ftl::Ftl;

/// Of the host's open superblocks, which have room for `room` units, the share that goes with `progress`, in 2^-16 units, such that they are full when the next one has
/// been gained. `kept_back` of them are kept back for the time of the erasure and of estimates that were off; then host writes go on at the pace of the estimate.
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

/// A sixteenth of a superblock.
#[inline]
pub(super) fn kept_back(ftl: &Ftl) -> u32 {
    ftl.layout().units_per_superblock() / 16
}
