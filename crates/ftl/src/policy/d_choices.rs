//! d-choices ("random greedy"): the fewest valid units among d candidates drawn at random (Van Houdt, SIGMETRICS 2013).

use super::{Draws, NO_CANDIDATE, View, greedy};
use outlast_units::SuperblockId;

/// Draws that may all be wholly valid before every superblock is looked at.
const ROUNDS: u32 = 64;

pub(super) fn choose(view: &View<'_>, draws: &mut Draws<'_>) -> Option<SuperblockId> {
    // Collecting a wholly valid superblock gains nothing: then draw again.
    (0..ROUNDS).find_map(|_| draw(view, draws)).or_else(|| greedy::choose(view, draws))
}

/// The fewest valid units among so many random candidates; `None` when all drawn are wholly valid.
fn draw(view: &View<'_>, draws: &mut Draws<'_>) -> Option<SuperblockId> {
    let mut best: Option<(u32, SuperblockId)> = None;
    let mut drawn = 0;
    // Most superblocks are candidates; the bound only matters on a drive that is nearly empty.
    for _ in 0..draws.choices.saturating_mul(64) {
        let superblock = SuperblockId(draws.rng.below(u64::from(view.superblocks())) as u32);
        let valid = view.valid[superblock.0 as usize];
        if valid & NO_CANDIDATE != 0 {
            continue;
        }
        if best.is_none_or(|(least, _)| valid < least) {
            best = Some((valid, superblock));
        }
        drawn += 1;
        if drawn == draws.choices {
            break;
        }
    }
    best.filter(|&(valid, _)| valid < view.units).map(|(_, superblock)| superblock)
}
