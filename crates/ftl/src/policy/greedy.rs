//! Greedy: the fewest valid units.

use super::{Counts, Draws, View};
use outlast_units::SuperblockId;

/// A plain scan: superblocks are few (hundreds to thousands) and a scan comes once per superblock written, so it costs less
/// than keeping buckets at every overwrite. The flag of those that are no candidates makes them larger than any count.
pub(super) fn choose<C: Counts>(view: &View<'_, C>, _: &mut Draws<'_>) -> Option<SuperblockId> {
    let least = view.counts.all().min().filter(|&least| least < view.units)?;
    view.counts.all().position(|valid| valid == least).map(|index| SuperblockId(index as u32))
}
