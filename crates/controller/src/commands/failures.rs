//! Which sectors made commands fail that ended in a medium error.

use crate::commands::HostRequestId;
use outlast_device::{SectorRun, Tag};
use outlast_units::{Lba, ListMap};
use std::ops::Range;

/// Units of commands under way that could not be read, and the runs of those that have ended. Empty unless something fails.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub struct Failures {
    /// By request, in any order.
    units: ListMap<HostRequestId, Vec<u64>>,
    /// Until the host takes them, or another command with the tag fails.
    ended: ListMap<Tag, Vec<SectorRun>>,
}

impl Failures {
    /// Unit `unit` of request `request` cannot be read.
    #[cold]
    #[inline(never)]
    pub fn note(&mut self, request: HostRequestId, unit: u64) {
        self.units.or_default(request).push(unit);
    }

    /// Request number `index`, for sectors `asked`, has not ended well: returns those of them that could not be read. A unit has `per_unit`
    /// sectors.
    #[inline(never)]
    pub fn end(&mut self, request: HostRequestId, asked: Range<u64>, per_unit: u64) -> Vec<SectorRun> {
        let units = self.units.remove(request).unwrap_or_default();
        let within = |unit: u64| {
            let (from, to) = ((unit * per_unit).max(asked.start), ((unit + 1) * per_unit).min(asked.end));
            (from < to).then(|| SectorRun { lba: Lba(from), sectors: to - from })
        };
        let runs = SectorRun::joined(units.into_iter().filter_map(within).collect());
        if runs.is_empty() {
            // The place that could not be read has been erased and written again since, so that nobody knows whose it was.
            return vec![SectorRun { lba: Lba(asked.start), sectors: asked.end - asked.start }];
        }
        runs
    }

    /// Command `tag` failed for these.
    pub fn keep(&mut self, tag: Tag, runs: Vec<SectorRun>) {
        self.ended.insert(tag, runs);
    }

    /// Request `request` has ended, and nobody will ask.
    #[cold]
    #[inline(never)]
    pub fn forget(&mut self, request: HostRequestId) {
        self.units.remove(request);
    }

    /// Takes the runs of sectors of command `tag` that could not be read.
    pub fn take(&mut self, tag: Tag) -> Option<Vec<SectorRun>> {
        self.ended.remove(tag)
    }

    /// Power has failed: commands under way have no outcome, nor have `aborted` ones that were complete.
    pub(super) fn abort(&mut self, aborted: &[Tag]) {
        self.units.clear();
        for &tag in aborted {
            self.ended.remove(tag);
        }
    }

    /// Requests of which something could not be read.
    pub(super) fn requests(&self) -> impl Iterator<Item = HostRequestId> {
        self.units.keys()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_what_failed_within_the_command() {
        let mut failures = Failures::default();
        for unit in [4, 2, 3] {
            failures.note(HostRequestId(7), unit);
        }
        let run = |lba, sectors| SectorRun { lba: Lba(lba), sectors };
        assert_eq!(failures.end(HostRequestId(7), 20..38, 8), [run(20, 18)]);
        failures.note(HostRequestId(7), 9);
        failures.note(HostRequestId(8), 3);
        let runs = failures.end(HostRequestId(8), 20..38, 8);
        assert_eq!(runs, [run(24, 8)]);
        failures.keep(Tag(1), runs);
        assert_eq!((failures.take(Tag(1)), failures.take(Tag(1))), (Some(vec![run(24, 8)]), None));
        assert_eq!(failures.requests().collect::<Vec<_>>(), [HostRequestId(7)]);
        failures.forget(HostRequestId(7));
        assert_eq!(failures.requests().count(), 0);
    }
}
