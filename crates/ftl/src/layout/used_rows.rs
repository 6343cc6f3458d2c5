//! Rows of superblocks that are used: in each mode, and for lists.

use super::{LISTED_BYTES, SlotLayout, UsedRows};
use outlast_media::{CellMode, ConfigError, Geometry};
use outlast_units::{ModeId, PuWithin, to_count};

impl SlotLayout {
    /// Adds `modes`, in which superblocks have other numbers of rows.
    ///
    /// # Errors
    /// Rows that no block has.
    pub(crate) fn add_modes(&mut self, geometry: &Geometry, modes: &[CellMode]) -> Result<(), ConfigError> {
        for mode in modes {
            mode.validate(geometry, self.rows_per_pu)?;
            self.modes.push(UsedRows { superpages: mode.rows / self.rows_per_pu, lists: 0 });
        }
        Ok(())
    }

    /// Keeps as many superpages of every superblock as it takes to list the owners of a block's units, 4 bytes each, in another block
    /// (section 6.2 of Reparo; one superpage with the paper's blocks and pages).
    ///
    /// # Errors
    /// Blocks with too few pages for that.
    pub(crate) fn keep_lists(&mut self, geometry: &Geometry) -> Result<(), ConfigError> {
        let pu_bytes = u64::from(self.pages_per_pu()) * geometry.page_size.0;
        let units_per_pu = u64::from(self.units_per_pu);
        for UsedRows { superpages, lists } in self.modes.as_mut_slice() {
            let fits = |&rows: &u32| {
                let listed = u64::from(*superpages - rows) * units_per_pu;
                listed * LISTED_BYTES <= u64::from(rows) * pu_bytes
            };
            *lists = (1..*superpages).find(fits).ok_or_else(|| {
                let limit = "lists of a neighbouring block leave no page to the data: give blocks more pages";
                ConfigError::new("device.geometry.pages_per_block", geometry.pages_per_block, limit)
            })?;
        }
        Ok(())
    }

    /// True if superpages of every superblock are kept for lists.
    #[inline]
    pub fn has_lists(&self) -> bool {
        self.list_rows(ModeId::FIRST) != 0
    }

    /// Superpages of a superblock in `mode` that are kept for lists.
    #[inline]
    pub(crate) fn list_rows(&self, mode: ModeId) -> u32 {
        self.modes[mode].lists
    }

    /// Superpages of a superblock in `mode` that are not kept for lists.
    #[inline]
    pub(crate) fn data_superpages(&self, mode: ModeId) -> u32 {
        let UsedRows { superpages, lists } = self.modes[mode];
        superpages - lists
    }

    /// Program units of a superblock in `mode` that are not kept for lists: the first ones.
    #[inline]
    pub(crate) fn data_pus(&self, mode: ModeId) -> u32 {
        self.data_superpages(mode) * self.lane_count()
    }

    /// Program units of a superblock in `mode`: the first ones of the superblock.
    #[inline]
    pub(crate) fn used_pus(&self, mode: ModeId) -> u32 {
        self.modes[mode].superpages * self.lane_count()
    }

    /// Program units of a superblock in the mode with the fewest.
    pub(crate) fn least_used_pus(&self) -> u32 {
        self.modes.indices().map(|mode| self.used_pus(mode)).min().unwrap_or(0)
    }

    /// All modes.
    pub(crate) fn mode_ids(&self) -> impl Iterator<Item = ModeId> + use<> {
        self.modes.indices()
    }

    /// Number of modes.
    pub fn modes(&self) -> u32 {
        to_count(self.modes.len())
    }

    /// True if there are several modes.
    #[inline]
    pub fn has_modes(&self) -> bool {
        self.modes.len() > 1
    }

    /// The program units of any superblock in `mode`, counted within it.
    pub(crate) fn pus_within(&self, mode: ModeId) -> impl DoubleEndedIterator<Item = PuWithin> + Clone {
        PuWithin::each(PuWithin(0)..PuWithin(self.used_pus(mode)))
    }
}
