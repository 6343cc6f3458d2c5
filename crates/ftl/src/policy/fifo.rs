//! FIFO: the superblock sealed longest ago, whatever it holds.

use outlast_decisions::{RandomDraws, SuperblockColumns};
use outlast_units::SuperblockId;

pub(super) fn choose(view: &SuperblockColumns<'_>, _: &mut RandomDraws<'_>) -> Option<SuperblockId> {
    let oldest = view.candidates().min_by_key(|&(superblock, _)| view.order(superblock))?.0;
    // Collecting a wholly valid superblock gains nothing, but order is order; only where nothing at all could be gained
    // is there no victim.
    view.candidates().any(|(_, valid)| valid < view.units).then_some(oldest)
}
