//! Answers to commands on zones.

use super::{HostQueue, QueueLink, RunningCommand};
use crate::device::DeviceFailure;
use crate::plan::PlanEnd;
use crate::status::NvmeStatus;
use crate::zone_reports;
use crate::zones::{self, ZoneRefusal, ZoneReports};

impl RunningCommand {
    /// True if an action on a zone has failed that Select All has listed, and whose state does not call for the action any more: another host was first.
    pub(super) fn is_past_action(&self, failure: DeviceFailure) -> bool {
        matches!(self.plan.end, PlanEnd::ManageZones(_))
            && failure == DeviceFailure::Zone(ZoneRefusal::InvalidTransition)
    }

    /// Takes a list of zones: those that Select All concerns are acted on, others are reported at the end.
    pub(super) fn take_zones(&mut self, list: ZoneReports, link: Option<&QueueLink>) {
        let facts = link.and_then(|link| link.facts.as_ref());
        match (&self.plan.end, facts.map(|facts| facts.namespace(self.entry.namespace()))) {
            (&PlanEnd::ManageZones(action), Some(Ok(facts))) => {
                self.plan.requests.extend(zones::actions(action, &list, facts));
            }
            _ => self.zones = list,
        }
    }
}

impl HostQueue {
    /// Ends a command with the place of what was appended, or with a report.
    pub(super) fn end_in_zones(&mut self, running: &RunningCommand) {
        let entry = running.entry;
        let link = self.link.as_ref().and_then(|link| link.facts.clone());
        let Some(Ok(facts)) = link.as_ref().map(|facts| facts.namespace(entry.namespace())) else {
            return self.fail(&entry, NvmeStatus::INVALID_NAMESPACE, 0);
        };
        if let PlanEnd::ReportZones(request) = running.plan.end {
            let page = zone_reports::report(request, &running.zones, facts);
            self.succeed(entry.command_id(), 0, page);
        } else {
            let block = (running.place - facts.offset) / u64::from(facts.block_bytes);
            self.succeed(entry.command_id(), block, Vec::new());
        }
    }
}
