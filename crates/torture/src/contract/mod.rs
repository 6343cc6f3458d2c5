//! The states that the contract allows: which there are, each content once.
//!
//! At a cut with many open writes there are more subsets than can be looked at. What is enumerated, at every cut: nothing lost; all that may be
//! lost; each write alone lost; each write alone kept; all writes from one on lost; a write torn, with its last pieces lost; and subsets of
//! pieces drawn at random. States of equal content with the same last mark are one.

mod content;
mod kinds;
mod sweep;

pub use kinds::{Candidate, Kind};

use crate::history::History;
use crate::pieces::Pieces;
use crate::state::CrashState;
use outlast_units::rng::SplitMix;
use std::collections::BTreeMap;

/// Sectors of a piece: 4 KiB.
pub const PIECE: u64 = 8;
/// Candidates that are looked at, at most.
const CANDIDATES: u64 = 4_000_000;
/// Sectors that are looked at for them, at most.
const LOOKS: u64 = 400_000_000;

/// Which states are enumerated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Cuts after so many events, from the first to the second, both among them.
    pub window: (usize, usize),
    /// Sectors of a piece: what a device writes whole.
    pub piece: u64,
    /// Random subsets at every cut.
    pub random: u32,
    /// What they are drawn by.
    pub seed: u64,
}

/// All states of a history, each content once.
#[derive(Debug)]
pub struct States {
    /// One for each content, of those that have it the one with the least lost, then the earliest.
    pub distinct: Vec<Candidate>,
    /// Cuts that were looked at.
    pub cuts: u64,
    /// Cuts that there are.
    pub all_cuts: u64,
    /// States that were looked at.
    pub candidates: u64,
}

/// Enumerates the states. Where there would be too many, cuts drawn by the seed are looked at instead of all.
pub fn states(history: &History, settings: &Settings) -> States {
    let all_cuts = (settings.window.1 - settings.window.0) as u64 + 1;
    let (candidates, looks) = sweep::effort(history, settings);
    let share = (CANDIDATES as f64 / candidates as f64).min(LOOKS as f64 / looks as f64);
    let mut draw = SplitMix::new(settings.seed, "torture cuts");
    let mut found: BTreeMap<(u128, usize), Candidate> = BTreeMap::new();
    let (mut cuts, mut candidates) = (0, 0);
    sweep::each_cut(history, settings, |cut| {
        // The last cut is where nothing is lost if no power fails.
        if share < 1.0 && cut.events < settings.window.1 && draw.unit() >= share {
            return;
        }
        cuts += 1;
        let mark = history.marks_at(cut.events).count();
        cut.candidates(|content, candidate| {
            candidates += 1;
            let best = found.entry((content, mark)).or_insert(candidate);
            if candidate.rank() < best.rank() {
                *best = candidate;
            }
        });
    });
    let mut distinct: Vec<Candidate> = found.into_values().collect();
    distinct.sort_unstable();
    States { distinct, cuts, all_cuts, candidates }
}

/// The state that a candidate stands for.
pub fn state(history: &History, settings: &Settings, candidate: Candidate) -> CrashState {
    let lost = kinds::lost(history, settings, candidate);
    CrashState::of(history, candidate.cut as usize, Pieces::new(lost))
}
