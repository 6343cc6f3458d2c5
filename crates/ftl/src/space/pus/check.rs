//! Checks of programmed bits against blocks.

use crate::space::PuStates;
use outlast_decisions::SuperblockState;
use outlast_units::{Pu, SuperblockId};
use std::collections::BTreeMap;

impl PuStates {
    /// Checks that `programs`, which are under way, are of rows of open superblocks that have not been programmed, each once, and in order of the rows
    /// where the lane has not failed.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check_order(&self, programs: impl Iterator<Item = Pu>) -> Result<(), String> {
        let mut rows: BTreeMap<_, Vec<u32>> = BTreeMap::new();
        for pu in programs {
            let (superblock, within) = self.layout.within_superblock(pu);
            let (row, lane) = self.layout.row_and_lane(within);
            rows.entry((superblock, lane)).or_default().push(row);
        }
        for ((superblock, lane), mut rows) in rows {
            let next = self.physical.programmed(&self.layout, superblock, lane);
            let follows = if self.lanes.is_dead(lane) || self.lanes.is_given_up(superblock, lane) {
                // Programs of a die that has failed are dropped.
                rows.sort_unstable();
                rows[0] >= next && rows.windows(2).all(|pair| pair[0] != pair[1])
            } else {
                rows.iter().zip(next..).all(|(&row, next)| row == next)
            };
            if !follows || self.superblocks.state(superblock) != SuperblockState::Open {
                return Err(format!(
                    "rows {rows:?} of lane {lane} of superblock {superblock} are programmed, where row {next} is next"
                ));
            }
        }
        Ok(())
    }

    /// Checks the programmed bits of `superblock` against the progress of programming on its lanes.
    pub(crate) fn check_programs(&self, superblock: SuperblockId) -> Result<(), String> {
        let state = self.superblocks.state(superblock);
        for lane in self.lanes.erasable(superblock) {
            let rows = self.physical.programmed(&self.layout, superblock, lane);
            if state == SuperblockState::Free && rows != 0 {
                return Err(format!("superblock {superblock} is free, lane {lane} programmed to row {rows}"));
            }
            if matches!(state, SuperblockState::Free | SuperblockState::Retired) {
                continue;
            }
            let mut of_lane = self.pus_on(superblock, lane).skip(rows as usize);
            if let Some(pu) = of_lane.find(|&pu| self.superblocks.is_programmed(pu)) {
                return Err(format!("program unit {pu} is on flash, its lane is programmed to row {rows}"));
            }
        }
        Ok(())
    }
}
