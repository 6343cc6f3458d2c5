//! Issue of a request: its range, its counts and its command.

use super::{JobPhase, RunningJob};
use crate::fio::offsets::{ByteRange, WRITE};
use crate::job::JobStep;
use outlast_device::{Command, Op, PlacementId};
use outlast_units::{Lba, SECTOR_BYTES};

impl RunningJob {
    /// Draws and issues a request in a direction.
    pub(super) fn fill(&mut self, ddir: usize) -> Option<JobStep> {
        if self.plan.mixed() {
            self.mix = ddir;
        }
        let ddir = if self.plan.trims_first() { self.offsets.trim_or_write() } else { ddir };
        let Some(range) = self.offsets.next(ddir) else {
            self.phase = self.end_file();
            return None;
        };
        Some(JobStep::Issue(self.issue(ddir, range)))
    }

    /// The command of the request at `range`, which is issued.
    pub(super) fn issue(&mut self, ddir: usize, range: ByteRange) -> Command {
        self.accounting |= !self.ramping;
        self.issues[ddir] += 1;
        self.issue_bytes += range.bytes;
        if ddir == WRITE {
            self.write_bytes += range.bytes;
        }
        self.rate_bytes[ddir] += range.bytes;
        if !self.plan.synchronous {
            self.pass_issued += range.bytes;
        }
        if self.plan.checks_rate() {
            self.rate_next[ddir] = self.next_due(ddir);
        }
        self.depth += 1;
        self.phase = JobPhase::Issued { ddir: Some(ddir) };
        let op = [Op::Read, Op::Write, Op::Trim][ddir];
        let placement = match &mut self.placement {
            Some(placement) if op == Op::Write => placement.id(range.offset),
            _ => PlacementId::default(),
        };
        self.plan.on_device(Command {
            fua: self.plan.fua && op == Op::Write,
            placement,
            ..Command::new(op, Lba(range.offset / SECTOR_BYTES), (range.bytes / SECTOR_BYTES) as u32)
        })
    }
}
