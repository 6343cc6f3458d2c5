//! Answers of the device to requests of commands.

use super::{HostQueue, QueueLink, RunningCommand};
use crate::device::{DeviceAnswer, DeviceFailure, LostRange};
use crate::plan::{PlanEnd, PlannedOp, PlannedRequest};
use crate::status::NvmeStatus;
use crate::{lba_status, log_pages};

impl RunningCommand {
    /// Takes lost ranges. Once a list has more than it has room for, no more is asked: what a drive has lost may fill any memory.
    fn take_lost(&mut self, ranges: Vec<LostRange>, link: Option<&QueueLink>) {
        self.lost.extend(ranges);
        let facts = link.and_then(|link| link.facts.as_ref());
        if let (&PlanEnd::ListLost { room }, Some(Ok(facts))) =
            (&self.plan.end, facts.map(|facts| facts.namespace(self.entry.namespace())))
            && lba_status::is_more_than(&self.lost, room, facts)
        {
            self.plan.requests.clear();
        }
    }
}

impl HostQueue {
    /// Takes the answer to the request `tag`: the command goes on with its next request, or ends.
    pub fn answer(&mut self, tag: u32, answer: DeviceAnswer) {
        let Some(running) = self.running.get_mut(tag) else { return };
        let failure = match answer {
            DeviceAnswer::Failed(failure) if running.is_past_action(failure) => None,
            DeviceAnswer::Failed(failure) => Some(failure),
            DeviceAnswer::Done => None,
            DeviceAnswer::Data(data) => {
                match running.plan.end {
                    PlanEnd::CopyTo { .. } => running.gathered.extend(data),
                    PlanEnd::Nothing => {}
                    _ => running.gathered = data,
                }
                None
            }
            DeviceAnswer::Lost(ranges) => {
                running.take_lost(ranges, self.link.as_ref());
                None
            }
            DeviceAnswer::Health(page) => {
                running.health = Some(page);
                None
            }
            DeviceAnswer::Placement(report) => {
                running.placement = Some(report);
                None
            }
            DeviceAnswer::Appended(place) => {
                running.place = place;
                None
            }
            DeviceAnswer::Zones(list) => {
                running.take_zones(list, self.link.as_ref());
                None
            }
        };
        if failure.is_none() && !running.plan.requests.is_empty() {
            self.due.push_back(tag);
            return;
        }
        if failure.is_none() && self.write_copy(tag) {
            return;
        }
        if let Some(running) = self.running.take(tag) {
            self.end(running, failure);
        }
    }

    /// Ends a command with all the answers that it has had; `failure` is that of the last.
    fn end(&mut self, running: RunningCommand, failure: Option<DeviceFailure>) {
        self.held -= running.cost();
        let entry = running.entry;
        // A drive that cannot be flushed does not keep its host from leaving.
        if let Some(failure) = failure.filter(|_| !matches!(running.plan.end, PlanEnd::ShutDown)) {
            // A Copy that still reads has another end.
            let is_write = entry.opcode() & 3 == 1
                && matches!(running.plan.end, PlanEnd::Nothing | PlanEnd::ReturnPlace);
            return self.fail(&entry, status_of(failure, is_write), 0);
        }
        let id = entry.command_id();
        match running.plan.end {
            PlanEnd::Nothing | PlanEnd::CopyTo { .. } | PlanEnd::ManageZones(_) => {
                self.succeed(id, 0, Vec::new());
            }
            PlanEnd::ShutDown => {
                if let Some(link) = &self.link {
                    self.target.with(link.key, |controller| controller.properties.shut_down());
                }
                self.succeed(id, 0, Vec::new());
            }
            PlanEnd::Return => self.succeed(id, 0, running.gathered),
            PlanEnd::Compare if running.gathered == running.data => self.succeed(id, 0, Vec::new()),
            PlanEnd::Compare => self.fail(&entry, NvmeStatus::COMPARE_FAILURE, 0),
            PlanEnd::ListLost { room } => {
                let facts = self.link.as_ref().and_then(|link| link.facts.as_ref());
                match facts.map(|facts| facts.namespace(entry.namespace())) {
                    Some(Ok(facts)) => {
                        let page = lba_status::list(&running.lost, room, facts);
                        self.succeed(id, 0, page);
                    }
                    _ => self.fail(&entry, NvmeStatus::INVALID_NAMESPACE, 0),
                }
            }
            PlanEnd::LbaStatusLog(request) => {
                let link = self.link.as_ref().and_then(|link| Some((link.key, link.facts.clone()?)));
                let page = link.and_then(|(key, facts)| {
                    self.target.with_logs(key, |logs| logs.lba_status.page(&running.lost, &facts))
                });
                self.succeed_with(
                    &entry,
                    page.ok_or(NvmeStatus::SEQUENCE_ERROR).and_then(|page| request.part(&page)),
                );
            }
            PlanEnd::Health(request) => {
                let page = running.health.map_or_else(Vec::new, |page| page.to_vec());
                let clears_event = request.page == log_pages::HEALTH && !request.retains_event;
                if let (Some(&warning), Some(link), true) = (page.first(), &self.link, clears_event) {
                    self.target.with(link.key, |controller| controller.events.health_read(warning));
                }
                self.succeed_with(&entry, request.part(&page));
            }
            PlanEnd::ReturnPlace | PlanEnd::ReportZones(_) => self.end_in_zones(&running),
            end => self.end_placement(&entry, end, &running.placement.unwrap_or_default(), running.health),
        }
    }

    /// Has the data that a Copy has read written, which ends the command; false for other commands.
    fn write_copy(&mut self, tag: u32) -> bool {
        let Some(running) = self.running.get_mut(tag) else { return false };
        let PlanEnd::CopyTo { offset, fua, identifier } = running.plan.end else { return false };
        let cost = running.cost();
        running.data = std::mem::take(&mut running.gathered);
        let length = running.data.len() as u64;
        running.plan.end = PlanEnd::Nothing;
        running.plan.cost = cost.saturating_sub(length);
        let op = PlannedOp::Write { fua, identifier };
        running.plan.requests.extend([PlannedRequest { offset, length, op }]);
        self.held = self.held - cost + running.cost();
        self.due.push_back(tag);
        true
    }
}

/// Status of a command that has failed at the device.
fn status_of(failure: DeviceFailure, is_write: bool) -> NvmeStatus {
    match failure {
        // Of a write: old data of the same mapping unit could not be read.
        DeviceFailure::Unreadable(_) if is_write => NvmeStatus::WRITE_FAULT,
        DeviceFailure::Unreadable(_) => NvmeStatus::UNRECOVERED_READ,
        DeviceFailure::ReadOnly => NvmeStatus::READ_ONLY,
        DeviceFailure::OutOfRange => NvmeStatus::LBA_OUT_OF_RANGE,
        DeviceFailure::Zone(refusal) => refusal.status(),
        DeviceFailure::Unavailable => NvmeStatus::NOT_READY,
        DeviceFailure::Internal => NvmeStatus::INTERNAL,
    }
}
