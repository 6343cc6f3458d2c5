//! What is known about each failure of a die.

use crate::ssd::Ssd;
use outlast_units::{Lpn, Nanos};

/// A die that has failed, and what finding its data took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RepairRecord {
    /// The die, numbered channel by channel.
    pub die: u16,
    /// Its flash core.
    pub core: u16,
    /// When it, or a plane of it, broke; `None` where bad blocks came one by one.
    pub failed_at: Option<Nanos>,
    /// When the first of its bad blocks was found.
    pub first_bad_at: Nanos,
    /// When firmware knew that the die had failed.
    pub detected_at: Nanos,
    /// Its bad blocks at that time.
    pub bad_blocks: u32,
    /// Blocks read to see whether they are bad.
    pub probes: u32,
    /// Units whose current copy was on it when that was detected.
    pub failed_units: u64,
    /// Queries answered since it was detected.
    pub queries: u64,
    /// The sum of their latencies, from the master core on.
    pub identify_busy: Nanos,
    /// Pages read that list its units.
    pub lists_read: u64,
    /// Units marked as failed for what lists say.
    pub marked: u64,
    /// Whether the mapping table was searched all the same, since a list was gone.
    pub searched: bool,
}

impl RepairRecord {
    /// How long detection took since the first bad block was found.
    pub fn detection(&self) -> Nanos {
        self.detected_at.saturating_sub(self.first_bad_at)
    }
}

impl Ssd {
    /// The dies that have failed over the drive's life, as far as firmware knows, in order of detection; none without
    /// `device.repair`.
    pub fn repairs(&self) -> &[RepairRecord] {
        self.watch.as_ref().map_or(&[], |watch| &watch.records)
    }

    /// Units whose current copy is still on the failed die `die`. In time proportional to the die.
    pub fn failed_units(&self, die: u16) -> u64 {
        let (core, local) = self.core_of_die(die);
        self.cores[core].ftl.pages_on(local, false).count() as u64
    }

    /// Whether nothing is left to be written again: `Op::LbaStatus` over the whole drive would find nothing. In time proportional to the
    /// drive.
    pub fn is_repaired(&self) -> bool {
        let lost = |unit: u64| {
            let (core, lpn) = self.place_of(unit);
            self.cores[core].ftl.is_lost(Lpn(lpn))
        };
        self.repairs().iter().all(|record| self.failed_units(record.die) == 0)
            && self.left_behind_units().next().is_none()
            && !(0..self.units).any(lost)
    }

    /// Bytes of the controller's memory that lists of superblocks which are not full take (section 6.2 of Reparo: 12 MB for two open
    /// blocks on each of 512 dies). Zero where the identifier reads no lists.
    pub fn list_buffer_bytes(&self) -> u64 {
        let reads_lists = self.config.repair.as_ref().is_some_and(|own| own.identifier.reads_lists());
        if reads_lists { self.cores.iter().map(|core| core.ftl.list_buffer_bytes()).sum() } else { 0 }
    }
}
