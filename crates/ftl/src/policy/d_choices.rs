//! d-choices ("random greedy"): the fewest valid units among d candidates drawn at random (Van Houdt, SIGMETRICS 2013).

use super::greedy;
use outlast_decisions::{NO_CANDIDATE, RandomDraws, SuperblockColumns};
use outlast_units::SuperblockId;

/// Rounds of draws before every superblock is looked at.
const ROUNDS: u32 = 64;
/// Draws of one round for each candidate that it looks for, or for each superblock if these are fewer. Most superblocks are candidates; the bound only
/// matters on a drive that is nearly empty.
const DRAWS_FOR_EACH: u32 = 64;
/// Draws of all rounds after the first one, for each superblock. That many miss a given superblock once in three thousand times (e^-8).
const DRAWS_OF_EACH: u32 = 8;

/// Most draws of one choice among `superblocks`. The search ends after the round that reaches it, and a look at every superblock follows.
#[cfg(test)]
pub(super) fn most_draws(choices: u32, superblocks: u32) -> u32 {
    2 * DRAWS_FOR_EACH * choices.min(superblocks) + DRAWS_OF_EACH * superblocks
}

pub(super) fn choose(view: &SuperblockColumns<'_>, draws: &mut RandomDraws<'_>) -> Option<SuperblockId> {
    // A scan costs less than the draws that would find nothing, and a core whose writes wait asks after each of its events.
    if !view.gains() {
        return None;
    }
    let mut left = DRAWS_OF_EACH * view.superblocks();
    for round in 0..ROUNDS {
        let (victim, drawn) = draw(view, draws);
        // Collecting a wholly valid superblock gains nothing: then draw again.
        if victim.is_some() {
            return victim;
        }
        if round > 0 {
            left = left.saturating_sub(drawn);
        }
        if left == 0 {
            break;
        }
    }
    greedy::choose(view, draws)
}

/// The fewest valid units among so many random candidates, `None` when all drawn are wholly valid; and how many draws it took.
#[allow(clippy::cast_possible_truncation, reason = "below the number of superblocks")]
fn draw(view: &SuperblockColumns<'_>, draws: &mut RandomDraws<'_>) -> (Option<SuperblockId>, u32) {
    let mut best: Option<(u32, SuperblockId)> = None;
    let (mut candidates, mut drawn) = (0, 0);
    let most = DRAWS_FOR_EACH * draws.choices.min(view.superblocks());
    while candidates < draws.choices && drawn < most {
        drawn += 1;
        let superblock = SuperblockId(draws.rng.below(u64::from(view.superblocks())) as u32);
        let valid = view.valid[superblock.0 as usize];
        if valid & NO_CANDIDATE != 0 {
            continue;
        }
        if best.is_none_or(|(least, _)| valid < least) {
            best = Some((valid, superblock));
        }
        candidates += 1;
    }
    (best.filter(|&(valid, _)| valid < view.units).map(|(_, superblock)| superblock), drawn)
}
