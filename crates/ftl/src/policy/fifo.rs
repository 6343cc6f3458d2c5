//! FIFO: the superblock sealed longest ago, whatever it holds.

use super::{NO_CANDIDATE, View};
use outlast_units::SuperblockId;

pub(super) fn choose(view: &View<'_>) -> Option<SuperblockId> {
    let oldest = |accept: &dyn Fn(u32) -> bool| {
        let candidates =
            view.valid.iter().zip(view.sealed_order).enumerate().filter(|&(_, (&valid, _))| accept(valid));
        candidates.min_by_key(|&(_, (_, &at))| at).map(|(index, _)| SuperblockId(index as u32))
    };
    // Collecting a wholly valid superblock gains nothing, but order is order; only where nothing at all could be gained
    // is there no victim.
    if view.valid.iter().any(|&valid| valid < view.units) {
        oldest(&|valid| valid & NO_CANDIDATE == 0)
    } else {
        None
    }
}
