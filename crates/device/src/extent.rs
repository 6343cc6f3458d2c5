//! What a device tells at once about ranges of its sectors: whether anything is stored there, and whether it is well.

use outlast_units::Lba;
use serde::{Deserialize, Serialize};

/// A run of sectors of which a device says the same: the answer to [`Device::extents`](crate::Device::extents) is a list of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// First sector.
    pub lba: Lba,
    /// Number of sectors; not 0.
    pub sectors: u64,
    /// What the device says of them.
    pub state: ExtentState,
}

/// What a device says of a sector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools, reason = "independent facts, each named where it is found")]
pub struct ExtentState {
    /// Whether anything is stored there. Sectors of which that is false read as zeroes; others may, too.
    pub allocated: bool,
    /// Reading fails by all means that the device has, until the sector is written again. Errors by chance are not foreseen.
    pub lost: bool,
    /// It can be read, but not from where it belongs, and is to be written again: a drive asks its host for that (a "fake failure" of
    /// Reparo, section 5.2.3), an array does it itself.
    pub misplaced: bool,
    /// The newest acknowledged state, a deallocation included, is nowhere but in a buffer that forgets: a loss of power now would undo it.
    pub volatile: bool,
}

impl ExtentState {
    /// Nothing is stored there.
    pub const HOLE: Self = Self { allocated: false, lost: false, misplaced: false, volatile: false };
    /// Something is stored there, and nothing bad is known of it.
    pub const GOOD: Self = Self { allocated: true, ..Self::HOLE };
}

/// Runs in order of address, neighbours that are alike joined.
#[derive(Clone, Debug, Default)]
pub struct Extents(Vec<Extent>);

impl Extents {
    /// The next `sectors` sectors, from `lba` on, are in `state`.
    pub fn push(&mut self, lba: Lba, sectors: u64, state: ExtentState) {
        debug_assert!(
            self.0.last().is_none_or(|last| last.lba.0 + last.sectors == lba.0),
            "runs follow each other"
        );
        match self.0.last_mut() {
            Some(last) if last.state == state => last.sectors += sectors,
            _ if sectors == 0 => {}
            _ => self.0.push(Extent { lba, sectors, state }),
        }
    }

    /// The runs.
    pub fn into_vec(self) -> Vec<Extent> {
        self.0
    }
}

/// A run of sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, outlast_persist::Persist)]
pub struct SectorRun {
    /// First sector.
    pub lba: Lba,
    /// Number of sectors; not 0.
    pub sectors: u64,
}

impl SectorRun {
    /// Runs in order of address that do not touch, of runs in any order that may overlap.
    pub fn joined(mut runs: Vec<Self>) -> Vec<Self> {
        runs.sort_unstable_by_key(|run| run.lba);
        let mut joined: Vec<Self> = Vec::with_capacity(runs.len());
        for run in runs {
            match joined.last_mut() {
                Some(last) if run.lba.0 <= last.lba.0 + last.sectors => {
                    last.sectors = last.sectors.max(run.lba.0 + run.sectors - last.lba.0);
                }
                _ => joined.push(run),
            }
        }
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_that_are_alike_are_one_run() {
        let mut extents = Extents::default();
        let lost = ExtentState { lost: true, ..ExtentState::GOOD };
        for (lba, sectors, state) in [(8, 2, lost), (10, 3, lost), (13, 0, lost), (13, 1, ExtentState::HOLE)]
        {
            extents.push(Lba(lba), sectors, state);
        }
        let runs: Vec<_> = extents.into_vec().iter().map(|run| (run.lba.0, run.sectors)).collect();
        assert_eq!(runs, [(8, 5), (13, 1)]);
    }

    #[test]
    fn runs_are_joined_whatever_their_order() {
        let run = |lba, sectors| SectorRun { lba: Lba(lba), sectors };
        let joined = SectorRun::joined(vec![run(20, 4), run(8, 8), run(10, 2), run(16, 4), run(30, 1)]);
        assert_eq!(joined, [run(8, 16), run(30, 1)]);
    }
}
