//! Counters of a translation layer.

use crate::causes::{PagesRead, ProgramCause, ReadCause, UnitsWritten};

/// Counters since the beginning.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(crate) struct FtlCounts {
    /// Units that the host has written: the clock by which superblocks age.
    clock: u64,
    written: UnitsWritten,
    /// Units that the host has written in place of older ones that were not programmed yet; not in `written`.
    coalesced: u64,
    programmed: u64,
    failed: u64,
    /// Pages read while relocating without time.
    reads: PagesRead,
}

impl FtlCounts {
    /// Counts a unit that the host has written.
    #[inline]
    pub(crate) fn count_host_unit(&mut self) {
        self.clock += 1;
        self.written[ProgramCause::Host] += 1;
    }

    /// Counts a unit that the host has written in place of an older one.
    pub(crate) fn count_coalesced(&mut self) {
        self.coalesced += 1;
    }

    pub(crate) fn coalesced(&self) -> u64 {
        self.coalesced
    }

    /// Counts the unit written last as handed over by another core, not as the host's.
    pub(crate) fn count_as_migrated(&mut self) {
        debug_assert!(self.written[ProgramCause::Host] != 0, "no unit was written");
        self.written[ProgramCause::Host] -= 1;
        self.written[ProgramCause::Migrated] += 1;
    }

    /// Counts `units` units written for `cause`.
    #[inline]
    pub(crate) fn count_units(&mut self, cause: ProgramCause, units: u32) {
        self.written[cause] += u64::from(units);
    }

    /// Counts `count` program units that have been programmed.
    #[inline]
    pub(crate) fn count_programmed(&mut self, count: u32) {
        self.programmed += u64::from(count);
    }

    /// Counts a program unit that will never be programmed, though units were put there.
    pub(crate) fn count_failed(&mut self) {
        self.failed += 1;
    }

    /// Counts `pages` pages read without time.
    pub(crate) fn count_read(&mut self, cause: ReadCause, pages: u64) {
        self.reads[cause] += pages;
    }

    #[inline]
    pub(crate) fn clock(&self) -> u64 {
        self.clock
    }

    pub(crate) fn written(&self) -> UnitsWritten {
        self.written
    }

    /// Program units programmed so far.
    pub(crate) fn pus_programmed(&self) -> u64 {
        self.programmed
    }

    pub(crate) fn untimed_reads(&self) -> PagesRead {
        self.reads
    }

    /// Units written that are still in the buffer: neither programmed nor of program units that failed. `units`: units of a program unit.
    pub(crate) fn buffered(&self, units: u32) -> u64 {
        debug_assert!(
            self.written.total() >= (self.programmed + self.failed) * u64::from(units),
            "more has been programmed than was written"
        );
        self.written.total() - (self.programmed + self.failed) * u64::from(units)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_neither_programmed_nor_spoilt_is_buffered() {
        let mut counts = FtlCounts::default();
        (0..6).for_each(|_| counts.count_host_unit());
        counts.count_units(ProgramCause::Gc, 4);
        counts.count_programmed(1);
        counts.count_failed();
        assert_eq!((counts.buffered(4), counts.clock()), (2, 6));
        counts.count_as_migrated();
        assert_eq!((counts.written()[ProgramCause::Host], counts.written()[ProgramCause::Migrated]), (5, 1));
        assert_eq!(counts.buffered(4), 2);
    }
}
