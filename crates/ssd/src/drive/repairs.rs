//! Figures on failed dies and their repair.

use crate::ssd::Ssd;
use outlast_controller::{PredictionCounts, RepairRecord};
use outlast_media::ConfigError;
use outlast_units::DieId;

impl Ssd {
    /// The dies that have failed over the drive's life, as far as firmware knows, in order of detection; none without
    /// `device.repair`.
    pub fn repairs(&self) -> &[RepairRecord] {
        self.context.watch.as_ref().map_or(&[], |watch| &watch.records)
    }

    /// Predictions of failing dies so far, and what became of them; absent without `device.repair.predict`.
    pub fn predictions(&self) -> Option<PredictionCounts> {
        self.context.watch.as_ref()?.predictions(|die| {
            let (core, local) = self.context.core_of_die(die);
            self.cores[core].faults().is_some_and(|faults| faults.die_is_dead(local))
        })
    }

    /// Error of the first policy of the user's that failed.
    pub fn policy_failure(&self) -> Option<ConfigError> {
        let first = self.cores.iter().find_map(|core| core.ftl().policy_failure());
        first.or_else(|| self.context.watch.as_ref()?.predictor.as_ref()?.policy_failure())
    }

    /// Units whose current copy is still on the failed die `die`. In time proportional to the die.
    pub fn failed_units(&self, die: u16) -> u64 {
        let (core, local) = self.context.core_of_die(DieId(die));
        self.cores[core].ftl().pages_on(local, false).count() as u64
    }

    /// True if nothing is left to be written again: `Op::LbaStatus` over the whole drive would find nothing. In time proportional to the
    /// drive.
    pub fn is_repaired(&self) -> bool {
        let lost = |unit: u64| {
            let (core, lpn) = self.directory().place_of(unit);
            self.cores[core].ftl().is_lost(lpn)
        };
        self.repairs().iter().all(|record| self.failed_units(record.die) == 0)
            && self.directory().left_behind_units().next().is_none()
            && !(0..self.context.size.units).any(lost)
    }

    /// Bytes of the controller's memory that lists of superblocks which are not full take (section 6.2 of Reparo: 12 MB for two open
    /// blocks on each of 512 dies). Zero where the identifier reads no lists.
    pub fn list_buffer_bytes(&self) -> u64 {
        let reads_lists = self.context.config.repair.as_ref().is_some_and(|own| own.identifier.reads_lists());
        if reads_lists {
            self.cores.iter().map(|core| core.ftl().space().list_buffer_bytes()).sum()
        } else {
            0
        }
    }
}
