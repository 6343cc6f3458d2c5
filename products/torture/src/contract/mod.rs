//! States that the contract of a device with a volatile cache allows, each content once.
//!
//! A cut with many open writes has more subsets than can be examined. Enumerated at every cut are: nothing lost; all lost that may be lost; each
//! write lost alone; each write kept alone; all writes from one on lost; a write torn, with its last pieces lost; and random subsets of pieces.
//! States of equal content with the same last mark are one.

mod content;
mod losses;
mod sweep;

pub use losses::{CandidateState, LossKind};

use crate::history::CommandHistory;
use crate::pieces::WritePieces;
use crate::state::CrashState;
use outlast_units::rng::SplitMix;
use std::collections::BTreeMap;

/// Default number of sectors that a device writes as a whole: 4 KiB.
pub const PIECE_SECTORS: u64 = 8;
/// Limit of candidates examined.
const MAX_CANDIDATES: u64 = 4_000_000;
/// Limit of sectors visited for the candidates.
const MAX_SECTOR_VISITS: u64 = 400_000_000;

/// Settings of the enumeration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContractSettings {
    /// First and last cut, both included, in events before the cut.
    pub window: (usize, usize),
    /// Sectors of a piece, which a device writes as a whole.
    pub piece: u64,
    /// Number of random subsets at every cut.
    pub random: u32,
    /// Seed of the random subsets.
    pub seed: u64,
}

/// States of a history, each content once.
#[derive(Debug)]
pub struct ContractStates {
    /// For each content the candidate of the lowest rank, which is the simplest, then the earliest.
    pub distinct: Vec<CandidateState>,
    /// Number of cuts examined.
    pub cuts: u64,
    /// Number of cuts in the window.
    pub all_cuts: u64,
    /// Number of candidates examined.
    pub candidates: u64,
}

/// Enumerates the states. If all cuts would exceed the limits, cuts are drawn by the seed.
pub fn contract_states(history: &CommandHistory, settings: &ContractSettings) -> ContractStates {
    let all_cuts = (settings.window.1 - settings.window.0) as u64 + 1;
    let (candidates, visits) = sweep::estimate_effort(history, settings);
    let share = (MAX_CANDIDATES as f64 / candidates as f64).min(MAX_SECTOR_VISITS as f64 / visits as f64);
    let mut draw = SplitMix::new(settings.seed, "torture cuts");
    let mut by_content: BTreeMap<(u128, usize), CandidateState> = BTreeMap::new();
    let (mut cuts, mut candidates) = (0, 0);
    sweep::visit_cuts(history, settings, |cut| {
        // The last cut is always examined: it is the state without a loss of power.
        if share < 1.0 && cut.events < settings.window.1 && draw.unit() >= share {
            return;
        }
        cuts += 1;
        let mark = history.marks_at(cut.events).count();
        cut.candidates(|content, candidate| {
            candidates += 1;
            let best = by_content.entry((content, mark)).or_insert(candidate);
            if candidate.rank() < best.rank() {
                *best = candidate;
            }
        });
    });
    let mut distinct: Vec<CandidateState> = by_content.into_values().collect();
    distinct.sort_unstable();
    ContractStates { distinct, cuts, all_cuts, candidates }
}

/// Makes the state of a candidate.
pub fn contract_state(
    history: &CommandHistory,
    settings: &ContractSettings,
    candidate: CandidateState,
) -> CrashState {
    let lost = losses::lost_pieces(history, settings, candidate);
    CrashState::of(history, candidate.cut as usize, WritePieces::new(lost))
}
