//! Requests of a job with `zonemode=zbd`: each is placed in a zone when it is drawn, and holds the zone until it is reaped.

use super::{JobPhase, RunningJob};
use crate::fio::flow::FlowGroup;
use crate::fio::offsets::{ByteRange, READ, TRIM, WRITE};
use crate::fio::zbd::{Asked, HostZones, PlaceStage, Placed};
use crate::job::JobStep;
use outlast_device::{Command, ZoneAction};
use outlast_units::{Lba, Nanos, SECTOR_BYTES};
use std::collections::VecDeque;

/// State of a job with `zonemode=zbd` beside that of any job.
#[derive(Debug)]
pub(super) struct ZonedRequests {
    /// The request that is being placed, and where the search goes on.
    drawn: ByteRange,
    stage: PlaceStage,
    /// Places of completed requests that have not been reaped, in order, and of those reaped whose zones are still held.
    completed: VecDeque<ByteRange>,
    reaped: Vec<(usize, ByteRange)>,
}

impl ZonedRequests {
    pub(super) fn new() -> Self {
        Self {
            drawn: ByteRange { offset: 0, bytes: 0 },
            stage: PlaceStage::Begin,
            completed: VecDeque::new(),
            reaped: Vec::new(),
        }
    }

    /// A request of `bytes` at `lba` of the file has completed.
    pub(super) fn completed(&mut self, lba: Lba, bytes: u64) {
        self.completed.push_back(ByteRange { offset: lba.0 * SECTOR_BYTES, bytes });
    }

    /// The first of the completed requests, in direction `ddir`, is reaped.
    pub(super) fn reap(&mut self, ddir: usize) {
        if let Some(range) = self.completed.pop_front() {
            self.reaped.push((ddir, range));
        }
    }
}

impl RunningJob {
    /// [`RunningJob::advance`] of a job with `zonemode=zbd`.
    pub(super) fn advance_in_zones(
        &mut self,
        now: Nanos,
        zones: &mut HostZones,
        flow: Option<&mut FlowGroup>,
    ) -> Option<JobStep> {
        let step = match self.phase {
            JobPhase::Fill { ddir } => {
                self.draw_in_zones(ddir, zones);
                None
            }
            JobPhase::Place { ddir } => self.place(ddir, zones),
            JobPhase::PlaceDrain { ddir } => {
                if self.is_drained() {
                    self.phase = JobPhase::Place { ddir };
                    None
                } else {
                    Some(JobStep::Wait)
                }
            }
            JobPhase::ZoneReset { ddir, zone } => {
                if std::mem::take(&mut self.flush_done) {
                    zones.was_reset(zone);
                    self.set_stage(PlaceStage::Write { zone });
                    self.phase = JobPhase::Place { ddir };
                    None
                } else {
                    Some(JobStep::Wait)
                }
            }
            before => {
                let step = self.advance(now, flow);
                if let (JobPhase::Pass | JobPhase::Finish, JobPhase::Top, Some(plan)) =
                    (before, self.phase, &self.plan.zbd)
                    && self.plan.writes()
                {
                    zones.begin_pass(plan);
                }
                step
            }
        };
        self.let_go_reaped(zones);
        step
    }

    /// Zones of requests that have been reaped are held no more.
    fn let_go_reaped(&mut self, zones: &mut HostZones) {
        let read_beyond = self.plan.zbd.as_ref().is_some_and(|plan| plan.read_beyond_wp);
        let Some(zoned) = &mut self.zoned else { return };
        for (ddir, range) in zoned.reaped.drain(..) {
            if !(ddir == READ && read_beyond) {
                zones.reaped(self.number, ddir, range);
            }
        }
    }

    fn set_stage(&mut self, stage: PlaceStage) {
        if let Some(zoned) = &mut self.zoned {
            zoned.stage = stage;
        }
    }

    /// Draws a request, which is then placed.
    fn draw_in_zones(&mut self, ddir: usize, zones: &HostZones) {
        let mut ddir = ddir;
        if self.plan.mixed() {
            self.mix = ddir;
            if ddir == READ && self.plan.zbd.as_ref().is_some_and(|plan| !zones.may_read(plan)) {
                ddir = WRITE;
            }
        }
        if ddir == WRITE && !self.plan.access.random {
            self.offsets.go_on_at(ddir, |end| zones.skip_gap(end));
        }
        let Some(range) = self.offsets.draw(ddir) else {
            self.phase = self.end_file();
            return;
        };
        if let Some(zoned) = &mut self.zoned {
            (zoned.drawn, zoned.stage) = (range, PlaceStage::Begin);
        }
        self.phase = JobPhase::Place { ddir };
    }

    /// Looks for the place of the request that was drawn.
    fn place(&mut self, ddir: usize, zones: &mut HostZones) -> Option<JobStep> {
        let (Some(zoned), Some(plan)) = (&self.zoned, &self.plan.zbd) else { return None };
        let asked = Asked { job: self.number, access: &self.plan.access, plan, ddir, range: zoned.drawn };
        match zones.place(&asked, zoned.stage) {
            Placed::At(range) => {
                let drawn = zoned.drawn.offset;
                if range.offset + range.bytes > self.plan.access.device {
                    self.phase = self.end_file();
                    return None;
                }
                // As in fio, the map knows the request by where it was drawn.
                let range = ByteRange { bytes: self.offsets.mark(ddir, drawn, range.bytes), ..range };
                zones.issued(ddir, range);
                self.offsets.was_placed(ddir, range);
                let command = self.issue(ddir, range);
                let reset = Command::manage_zone(ZoneAction::Reset, command.lba);
                return Some(JobStep::Issue(if ddir == TRIM { reset } else { command }));
            }
            Placed::Drain(stage) => {
                self.set_stage(stage);
                self.phase = JobPhase::PlaceDrain { ddir };
            }
            Placed::Held(stage) => {
                self.set_stage(stage);
                if self.is_drained() {
                    return Some(JobStep::Wait);
                }
                self.phase = JobPhase::PlaceDrain { ddir };
            }
            Placed::Reset(zone) => {
                self.accounting |= !self.ramping;
                self.phase = JobPhase::ZoneReset { ddir, zone };
                let reset = Command::manage_zone(ZoneAction::Reset, zones.start_lba(zone));
                return Some(JobStep::Issue(self.plan.on_device(reset)));
            }
            Placed::End => self.phase = self.end_file(),
        }
        None
    }
}
