//! Which sectors made commands fail that ended in a medium error.

use super::requests::Request;
use outlast_device::{Outcome, SectorRun, Tag};
use outlast_units::Lba;
use std::collections::BTreeMap;

/// Units of commands under way that could not be read, and the runs of those that have ended. Empty unless something fails.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(crate) struct Failures {
    /// By request, in any order.
    units: BTreeMap<u32, Vec<u64>>,
    /// Until the host takes them, or another command with the tag fails.
    ended: BTreeMap<Tag, Vec<SectorRun>>,
}

impl Failures {
    /// Unit `unit` of request `request` cannot be read.
    #[cold]
    pub(crate) fn note(&mut self, request: u32, unit: u64) {
        self.units.entry(request).or_default().push(unit);
    }

    /// Request number `index` has not ended well; a unit has `per_unit` sectors.
    #[cold]
    pub(super) fn end(&mut self, index: u32, request: &Request, per_unit: u64) {
        let units = self.units.remove(&index).unwrap_or_default();
        let Request { command, tag, outcome: Outcome::MediumError, .. } = *request else { return };
        let (first, end) = (command.lba.0, command.lba.0 + u64::from(command.sectors));
        let within = |unit: u64| {
            let (from, to) = ((unit * per_unit).max(first), ((unit + 1) * per_unit).min(end));
            (from < to).then(|| SectorRun { lba: Lba(from), sectors: to - from })
        };
        let mut runs = SectorRun::joined(units.into_iter().filter_map(within).collect());
        if runs.is_empty() {
            // The place that could not be read has been erased and written again since, so that nobody knows whose it was.
            runs.push(SectorRun { lba: command.lba, sectors: end - first });
        }
        self.ended.insert(tag, runs);
    }

    /// Request `request` has ended, and nobody will ask.
    pub(super) fn forget(&mut self, request: u32) {
        self.units.remove(&request);
    }

    pub(crate) fn take(&mut self, tag: Tag) -> Option<Vec<SectorRun>> {
        self.ended.remove(&tag)
    }

    /// Power has failed: commands under way have no outcome, nor have `aborted` ones that were complete.
    pub(super) fn abort(&mut self, aborted: &[Tag]) {
        self.units.clear();
        for tag in aborted {
            self.ended.remove(tag);
        }
    }

    /// Requests of which something could not be read.
    pub(super) fn requests(&self) -> impl Iterator<Item = u32> {
        self.units.keys().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::super::requests::{Progress, Requests, Then};
    use super::*;
    use outlast_device::{Command, Op, StreamId};
    use outlast_units::Nanos;

    fn request(outcome: Outcome) -> Request {
        let command = Command { lba: Lba(20), sectors: 18, op: Op::Read, stream: StreamId(0), fua: false };
        let mut requests = Requests::default();
        let index = requests.begin(Nanos::ZERO, command, Tag(1), outcome, Then::Complete);
        let Progress::Complete(request) = requests.end_parts(index, 1) else { panic!("it had one part") };
        request
    }

    #[test]
    fn runs_are_what_failed_within_the_command() {
        let mut failures = Failures::default();
        for unit in [4, 2, 3] {
            failures.note(7, unit);
        }
        failures.end(7, &request(Outcome::MediumError), 8);
        assert_eq!(failures.take(Tag(1)), Some(vec![SectorRun { lba: Lba(20), sectors: 18 }]));
        failures.note(7, 9);
        failures.note(8, 3);
        failures.end(8, &request(Outcome::MediumError), 8);
        assert_eq!(failures.take(Tag(1)), Some(vec![SectorRun { lba: Lba(24), sectors: 8 }]));
        assert_eq!(failures.take(Tag(1)), None);
        failures.end(7, &request(Outcome::ReadOnly), 8);
        assert_eq!((failures.requests().count(), failures.take(Tag(1))), (0, None));
    }
}
