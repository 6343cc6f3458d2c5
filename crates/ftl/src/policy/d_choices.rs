//! d-choices ("random greedy"): the fewest valid units among d candidates drawn at random (Van Houdt, SIGMETRICS 2013).

use super::{NO_CANDIDATE, View, greedy};
use outlast_units::SuperblockId;
use outlast_units::rng::SplitMix;

/// Draws that may all be wholly valid before every superblock is looked at.
const ROUNDS: u32 = 64;

pub(super) fn choose(view: &View<'_>, choices: u32, rng: &mut SplitMix) -> Option<SuperblockId> {
    // Collecting a wholly valid superblock gains nothing: then draw again.
    (0..ROUNDS).find_map(|_| draw(view, choices, rng)).or_else(|| greedy::choose(view))
}

/// The fewest valid units among so many random candidates; `None` when all drawn are wholly valid.
fn draw(view: &View<'_>, choices: u32, rng: &mut SplitMix) -> Option<SuperblockId> {
    let mut best: Option<(u32, u32)> = None;
    let mut drawn = 0;
    // Most superblocks are candidates; the bound only matters on a drive that is nearly empty.
    for _ in 0..choices.saturating_mul(64) {
        let index = rng.below(view.valid.len() as u64) as u32;
        let valid = view.valid[index as usize];
        if valid & NO_CANDIDATE != 0 {
            continue;
        }
        if best.is_none_or(|(least, _)| valid < least) {
            best = Some((valid, index));
        }
        drawn += 1;
        if drawn == choices {
            break;
        }
    }
    best.filter(|&(valid, _)| valid < view.units).map(|(_, index)| SuperblockId(index))
}
