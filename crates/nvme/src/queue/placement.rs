//! Ends of commands on flexible data placement.

use super::HostQueue;
use crate::device::{HEALTH_BYTES, PlacementReport};
use crate::entry::SubmissionEntry;
use crate::placement;
use crate::plan::PlanEnd;
use crate::status::NvmeStatus;
use crate::target::SharedLogs;

impl HostQueue {
    /// Ends a command with what the device has reported.
    pub(super) fn end_placement(
        &mut self,
        entry: &SubmissionEntry,
        end: PlanEnd,
        report: &PlacementReport,
        health: Option<Box<[u8; HEALTH_BYTES]>>,
    ) {
        let Some((key, facts)) = self.link.as_ref().and_then(|link| Some((link.key, link.facts.clone()?)))
        else {
            return self.fail(entry, NvmeStatus::SEQUENCE_ERROR, 0);
        };
        let logs = |work: &mut dyn FnMut(&mut SharedLogs) -> Vec<u8>| {
            self.target.with_logs(key, work).ok_or(NvmeStatus::SEQUENCE_ERROR)
        };
        let data = match end {
            PlanEnd::PlacementStatistics(request) => request.part(&placement::statistics(report)),
            PlanEnd::PlacementEvents(request) => {
                let is_host = request.parameter & 1 != 0;
                logs(&mut |logs| logs.placement.page(&facts, report, is_host))
                    .and_then(|page| request.part(&page))
            }
            PlanEnd::EnduranceGroup(request) => {
                let health = health.unwrap_or_else(|| Box::new([0; HEALTH_BYTES]));
                request.part(&placement::endurance_group(&health, report, &facts))
            }
            PlanEnd::HandleStatus { room } => facts.namespace(entry.namespace()).and_then(|namespace| {
                let own = facts.placement.as_ref().ok_or(NvmeStatus::INVALID_FIELD)?;
                Ok(placement::handle_status(report, (namespace, own), room))
            }),
            PlanEnd::EventTypes { handle, most, room } => {
                let types = logs(&mut |logs| logs.placement.supported(handle));
                let result = types.map(|mut types| {
                    types.truncate(2 * most);
                    let count = types.len() as u64 / 2;
                    types.resize(room, 0);
                    (count, types)
                });
                return match result {
                    Ok((count, types)) => self.succeed(entry.command_id(), count, types),
                    Err(status) => self.fail(entry, status, 0),
                };
            }
            PlanEnd::EnableEvents { handle, kinds, is_enabled } => logs(&mut |logs| {
                logs.placement.enable(&facts, report, handle, (&kinds, is_enabled));
                Vec::new()
            }),
            _ => Ok(Vec::new()),
        };
        self.succeed_with(entry, data);
    }
}
