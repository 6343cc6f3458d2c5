//! The extended health log of a drive.

use crate::ssd::Ssd;
use outlast_controller::Reason;
use outlast_device::Device;
use outlast_device::extended_health::ExtendedHealth;
use outlast_ftl::{BlockWear, StreamCause};
use outlast_settings::drive::WriteCache;
use outlast_units::Stream;

impl Ssd {
    /// The extended health log. At a cost proportional to the blocks.
    pub fn extended_health(&self) -> ExtendedHealth {
        let page = self.context.config.geometry.page_size.0;
        let totals = self.totals();
        let reads = totals.untimed_reads + self.at_reset.reads + self.context.counters.reads;
        let read = self.at_reset.corrections + self.context.corrections();
        let worn: BlockWear = self.ftls().map(|ftl| ftl.space().worn()).sum();
        let is_protected = self.context.write_cache() == WriteCache::Protected;
        ExtendedHealth {
            media_bytes_written: totals.programs * page,
            media_bytes_read: reads.total() * page,
            bad_blocks: self.ftls().map(|ftl| ftl.space().bad_blocks()).sum(),
            available_spare: self.smart().available_spare,
            stripe_recoveries: read.stripe_attempts,
            uncorrectable_reads: read.uncorrectable,
            soft_errors: read.reread + read.stripe + read.block + read.uncorrectable,
            refreshed: self.at_reset.refreshed + self.refreshed(),
            most_cycles: worn.most,
            // Without blocks in use, `least` is the largest number there is.
            fewest_cycles: worn.least.min(worn.most),
            free_percent: self.free_percent(),
            capacitor_health: if is_protected { 100 } else { 0 },
        }
    }

    /// Superblocks that scrubbing began to move since the last reset.
    pub(super) fn refreshed(&self) -> u64 {
        let scrubbing = Reason::ALL.into_iter().filter(|reason| reason.cause() == StreamCause::Scrub);
        scrubbing.map(|reason| self.moved_for(reason)).sum()
    }

    /// Erased superblocks in percent of those that are not needed for the host's units, as the code is now in which the host writes.
    fn free_percent(&self) -> u8 {
        let counts = self.superblock_counts();
        let each = self.ftls().next().map_or(1, |ftl| u64::from(ftl.stream(Stream(0)).data_units()));
        let needed = self.units().div_ceil(each.max(1));
        let pool = (counts.total - counts.retired).saturating_sub(needed);
        (counts.free * 100).checked_div(pool).map_or(0, |percent| percent.min(100) as u8)
    }
}
