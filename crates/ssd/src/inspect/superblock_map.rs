//! Map of the superblocks of a drive: what each is, and how much of it is valid, for people who watch collection.

use crate::ssd::Ssd;
use outlast_decisions::SuperblockState;
use outlast_units::{ModeId, SuperblockId};
use serde::Serialize;

/// State that a cell of the map shows. Of the superblocks in a cell, the variant that comes last here decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MapState {
    /// Given up.
    Retired,
    /// Erased.
    Free,
    /// Filled.
    Sealed,
    /// Being filled.
    Open,
    /// Being relocated or erased.
    Victim,
}

/// Superblocks of a drive in order of core and number, several in a cell where a drive has many.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SuperblockMap {
    /// Superblocks in each cell; the last one may hold fewer.
    pub per_cell: usize,
    /// State of each cell.
    pub states: Vec<MapState>,
    /// Valid units of each cell, in percent of what its superblocks hold in the mode for all bits of a memory cell, rounded down.
    pub valid: Vec<u8>,
    /// Cells with a superblock that is in SLC mode and neither free nor given up, in ascending order.
    pub slc: Vec<usize>,
}

impl MapState {
    /// Name in results and on pages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Retired => "retired",
            Self::Free => "free",
            Self::Sealed => "sealed",
            Self::Open => "open",
            Self::Victim => "victim",
        }
    }
}

impl From<SuperblockState> for MapState {
    fn from(state: SuperblockState) -> Self {
        match state {
            SuperblockState::Free => Self::Free,
            SuperblockState::Open => Self::Open,
            SuperblockState::Sealed => Self::Sealed,
            SuperblockState::Collecting => Self::Victim,
            SuperblockState::Retired => Self::Retired,
        }
    }
}

impl Ssd {
    /// Map of at most `most_cells` cells; at a cost proportional to the superblocks.
    ///
    /// # Panics
    /// If `most_cells` is 0.
    pub fn superblock_map(&self, most_cells: usize) -> SuperblockMap {
        let total: usize = self.ftls().map(|ftl| ftl.layout().superblocks() as usize).sum();
        let per_cell = total.div_ceil(most_cells).max(1);
        let mut map = SuperblockMap { per_cell, ..SuperblockMap::default() };
        let (mut valid, mut units) = (0, 0);
        let all = self
            .ftls()
            .flat_map(|ftl| (0..ftl.layout().superblocks()).map(move |id| (ftl, SuperblockId(id))));
        for (at, (ftl, id)) in all.enumerate() {
            let (view, cell) = (ftl.superblock(id), at / per_cell);
            let state = MapState::from(view.state());
            if at % per_cell == 0 {
                map.states.push(state);
                map.valid.push(0);
                (valid, units) = (0, 0);
            }
            map.states[cell] = map.states[cell].max(state);
            valid += u64::from(view.valid());
            units += u64::from(ftl.layout().units_per_superblock());
            map.valid[cell] = (100 * valid / units.max(1)).min(100) as u8;
            let is_slc = view.mode() != ModeId::FIRST && state > MapState::Free;
            if is_slc && map.slc.last() != Some(&cell) {
                map.slc.push(cell);
            }
        }
        map
    }
}
