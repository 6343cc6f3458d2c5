//! Maps of the superblocks over time, from which the report shows collection as it goes.

use super::{OverTime, UtilisationSample};
use crate::drives::DriveSet;
use crate::table::{ResultColumn, ResultTable};
use outlast_ssd::{MapState, Ssd, SuperblockMap};

/// Most cells of a sample, over all drives; a page shows no more beside each other.
const MOST_CELLS: usize = 256;
/// Least cells of a drive, however many members an array has.
const LEAST_CELLS: usize = 8;
/// Most samples in the table: every so many of those taken, counted from the last one.
const MOST_FRAMES: usize = 64;

/// Map of each drive, with the number of its member.
pub(super) fn maps(drives: &[(u64, &Ssd)]) -> Vec<(u64, SuperblockMap)> {
    let cells = (MOST_CELLS / drives.len().max(1)).max(LEAST_CELLS);
    drives.iter().map(|&(member, ssd)| (member, ssd.superblock_map(cells))).collect()
}

impl OverTime {
    /// Table of the state and the valid share of each cell of the map, for at most 64 samples.
    pub(super) fn superblocks(&self, drives: &DriveSet<'_>) -> ResultTable {
        let step = self.samples.len().div_ceil(MOST_FRAMES).max(1);
        let mut frames: Vec<&UtilisationSample> = self.samples.iter().rev().step_by(step).collect();
        frames.reverse();
        let (mut at_s, mut members, mut cells, mut held) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut states, mut valid, mut slc) = (Vec::new(), Vec::new(), Vec::new());
        for sample in frames {
            for (member, map) in &sample.maps {
                let mut in_slc = map.slc.iter().copied().peekable();
                for (cell, (state, share)) in map.states.iter().zip(&map.valid).enumerate() {
                    at_s.push(sample.at.as_secs_f64());
                    members.push(*member);
                    cells.push(cell as u64);
                    held.push(map.per_cell as u64);
                    states.push(MapState::name(*state).to_owned());
                    valid.push(f64::from(*share) / 100.0);
                    slc.push(u64::from(in_slc.next_if_eq(&cell).is_some()));
                }
            }
        }
        let mut table = ResultTable::default();
        table.push("at_s", ResultColumn::F64(at_s));
        if drives.array.is_some() {
            table.push("device", ResultColumn::U64(members));
        }
        table.push("cell", ResultColumn::U64(cells));
        table.push("superblocks", ResultColumn::U64(held));
        table.push("state", ResultColumn::Text(states));
        table.push("valid", ResultColumn::F64(valid));
        table.push("slc", ResultColumn::U64(slc));
        table
    }
}
