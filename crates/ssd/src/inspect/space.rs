//! Space and write amplification of the flash cores.

use crate::ssd::Ssd;
use outlast_ftl::{FtlFigures, ProgramCause, UnitsWritten};

impl Ssd {
    /// Units whose data lies in a core that they do not belong to any more. In time proportional to the units redirected.
    pub fn left_behind_units(&self) -> impl Iterator<Item = u64> {
        self.directory().left_behind_units()
    }

    /// The address beyond the host's by which Reparo calls the place of a unit that lives in another core than its own; see its Figure 8.
    pub fn extended_address(&self, unit: u64) -> Option<u64> {
        self.directory().extended_address(unit)
    }

    /// Each core's space utilisation (`U_i` of Reparo's section 5.2): the units that it is to hold by those that its remaining dies can,
    /// spare blocks aside.
    pub fn space_utilisation(&self) -> Vec<f64> {
        let of = |core: &outlast_controller::FlashCore| {
            core.ftl().space().logical_units() as f64 / core.ftl().space().physical_units() as f64
        };
        self.cores.iter().map(of).collect()
    }

    /// The space utilisation that all cores had before any die failed.
    pub fn space_utilisation_when_new(&self) -> f64 {
        let physical: u64 = self.cores.iter().map(|core| core.ftl().space().physical_units_when_new()).sum();
        self.context.size.units as f64 / physical.max(1) as f64
    }

    /// Units written for each one of the host's, by core, since the last reset; 0 where the host wrote nothing.
    pub fn write_amplification_by_core(&self) -> Vec<f64> {
        let of = |((now, joined), (base, joined_before)): ((UnitsWritten, u64), &(UnitsWritten, u64))| {
            let written = now - *base;
            match written[ProgramCause::Host] + joined - joined_before {
                0 => 0.0,
                host => written.total() as f64 / host as f64,
            }
        };
        self.by_core().zip(&self.at_reset.by_core).map(of).collect()
    }

    /// Units written by each core since the beginning, and those of the host's that took the place of older ones.
    pub(crate) fn by_core(&self) -> impl Iterator<Item = (UnitsWritten, u64)> {
        let of = |figures: FtlFigures| (figures.written, figures.coalesced);
        self.cores.iter().map(move |core| of(core.ftl().figures()))
    }
}
