//! Greedy: the fewest valid units.

use outlast_decisions::{RandomDraws, SuperblockColumns};
use outlast_units::{SuperblockId, to_count};

/// A plain scan: superblocks are few (hundreds to thousands) and a scan comes once per superblock written, so it costs less
/// than keeping buckets at every overwrite. The flag of those that are no candidates makes them larger than any count.
pub(super) fn choose(view: &SuperblockColumns<'_>, _: &mut RandomDraws<'_>) -> Option<SuperblockId> {
    let least = view.valid.iter().copied().min().filter(|&least| least < view.units)?;
    view.valid.iter().position(|&valid| valid == least).map(|index| SuperblockId(to_count(index)))
}
