//! Figures of a translation layer: counts of writes and reads, wear, bad blocks.

use crate::causes::{PagesRead, UnitsWritten};
use crate::ftl::Ftl;

/// Counts of a translation layer since the beginning, and of its present state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FtlFigures {
    /// Units written, by cause.
    pub written: UnitsWritten,
    /// Units that the host has written in place of older ones that were not programmed yet: they are not in `written`.
    pub coalesced: u64,
    /// Pages programmed.
    pub pages_programmed: u64,
    /// Program operations that used several planes at once. A program unit takes all planes of its lane, one operation for each of
    /// its rows, or of its word lines where these are programmed in one shot.
    pub multi_plane_programs: u64,
    /// Pages read by relocation in [untimed](Ftl::write_untimed) writes.
    pub untimed_reads: PagesRead,
    /// Superblocks relocated, and the valid units they held.
    pub victims: u64,
    /// See `victims`.
    pub victim_units: u64,
    /// Units of partial parity written again, in superblocks of their own, because the one that they were in was full.
    pub covers_moved: u64,
    /// Units written but still in the buffer: in program units begun, or full and not yet reported as programmed.
    pub buffered_units: u64,
    /// Flushes of the mapping table begun.
    pub map_flushes: u64,
    /// Logical pages whose data has been lost and that have been neither written nor trimmed since.
    pub lost_units: u64,
}

impl Ftl {
    /// Figures of this translation layer.
    pub fn figures(&self) -> FtlFigures {
        let (programmed, each) =
            (self.space.counts().pus_programmed(), u64::from(self.space.layout().programs_per_pu()));
        let (victims, victim_units) = self.space.superblocks().victims();
        FtlFigures {
            written: self.space.counts().written(),
            coalesced: self.space.counts().coalesced(),
            pages_programmed: programmed * u64::from(self.space.layout().pages_per_pu()),
            multi_plane_programs: if self.space.layout().planes_per_lane() > 1 {
                programmed * each
            } else {
                0
            },
            untimed_reads: self.space.counts().untimed_reads(),
            victims,
            victim_units,
            covers_moved: self.space.partials().moved(),
            buffered_units: self.space.counts().buffered(self.space.layout().units_per_pu()),
            map_flushes: self.pages.map_flushes(),
            lost_units: self.pages.lost_units(),
        }
    }
}
