//! Modes of superblocks beside that of the drive's settings.

use crate::reliability::{PageTypes, RberModel};
use crate::{ConfigError, Geometry, PageTimes};

/// How the cells of a superblock are used from its opening to its erasure, as data: one bit a cell (SLC) in a drive of three, for one. Each room takes its
/// share of it: the translation layer rows and endurance, flash the times, the cells their error rates.
#[derive(Clone, Debug, PartialEq)]
pub struct CellMode {
    /// Page rows of a block that are used: the first ones.
    pub rows: u32,
    /// Page rows that are programmed together.
    pub one_shot: u32,
    /// tR.
    pub read: PageTimes,
    /// tPROG; one time where several rows are programmed together.
    pub program: PageTimes,
    /// Mean error rate; absent: that of the first mode. Ignored in a drive without bit errors.
    pub rber: Option<RberModel>,
    /// Factors of page types; absent: page types do not differ.
    pub page_types: Option<PageTypes>,
    /// P/E cycles after which a block that was used in this mode is retired; absent: never.
    pub endurance: Option<u32>,
}

impl CellMode {
    /// Checks its rows against the blocks of `geometry`, of which a program unit takes `rows_per_pu` rows.
    ///
    /// # Errors
    /// No rows, more than a block has, or no whole number of program units.
    pub fn validate(&self, geometry: &Geometry, rows_per_pu: u32) -> Result<(), ConfigError> {
        let is_whole = self.rows != 0 && self.rows.is_multiple_of(rows_per_pu);
        if is_whole && self.rows <= geometry.pages_per_block {
            return Ok(());
        }
        let limit = format!(
            "must be a multiple of {rows_per_pu}, the rows of a program unit, and at most {}, those of a block",
            geometry.pages_per_block
        );
        Err(ConfigError::new("device.modes.rows", self.rows, limit))
    }
}
