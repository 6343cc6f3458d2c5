//! Commands, as far as they need no device: Connect, properties, administration, and what I/O commands ask for.

use super::{HostQueue, QueueLink, RefusedCommand};
use crate::admin::{self, AdminStep};
use crate::entry::SubmissionEntry;
use crate::fabrics::{self, ConnectRequest};
use crate::facts::EVENT_REQUESTS;
use crate::io;
use crate::placement_identifiers;
use crate::plan::{CommandPlan, PlanEnd, PlannedOp, PlannedRequest};
use crate::properties::PropertyChange;
use crate::status::NvmeStatus;
use crate::target::{ConnectedQueue, SharedLogs};

impl HostQueue {
    /// Carries a command out, as far as it needs no device.
    pub(super) fn step(&mut self, entry: &SubmissionEntry, data: &[u8]) -> Result<AdminStep, RefusedCommand> {
        let plain = |status| (status, 0);
        if entry.opcode() == fabrics::FABRICS {
            return self.fabrics(entry, data);
        }
        self.transfer(entry).map_err(plain)?;
        // Fabrics know SGLs only, and no fused operations here.
        if entry.fuse() != 0 || !matches!(entry.data_pointer_kind(), 1 | 2) {
            return Err(plain(NvmeStatus::INVALID_FIELD));
        }
        let is_full = self.event_requests.len() == EVENT_REQUESTS;
        let link = self.link.as_ref().ok_or(plain(NvmeStatus::SEQUENCE_ERROR))?;
        let is_io = link.queue > 0;
        if !is_io && entry.opcode() == admin::EVENT_REQUEST && is_full {
            return Err(plain(NvmeStatus::EVENT_LIMIT));
        }
        let (offer, id) = (&self.offer, link.key.id);
        let step = self.target.with(link.key, |controller| {
            if !controller.properties.is_ready() {
                return Err(NvmeStatus::SEQUENCE_ERROR);
            }
            if !is_io {
                return admin::begin(entry, data, id, controller, offer);
            }
            let facts = link.facts.as_ref().ok_or(NvmeStatus::SEQUENCE_ERROR)?;
            if facts.has_zones() && !controller.properties.has_all_sets() {
                return Err(NvmeStatus::INVALID_COMMAND_SET);
            }
            let has_cache = controller.features.has_write_cache();
            io::plan(entry, data, facts, has_cache).map(AdminStep::Device)
        });
        let step = step.unwrap_or(Err(NvmeStatus::SEQUENCE_ERROR)).map_err(plain)?;
        if is_io {
            self.note_identifiers(entry, data);
        }
        Ok(step)
    }

    /// Notes by which identifiers a command writes or updates handles, as far as events will name them.
    fn note_identifiers(&self, entry: &SubmissionEntry, data: &[u8]) {
        let Some((link, facts)) = self.link.as_ref().and_then(|link| Some((link, link.facts.as_ref()?)))
        else {
            return;
        };
        let (Some(placement), Ok(namespace)) = (&facts.placement, facts.namespace(entry.namespace())) else {
            return;
        };
        let number = entry.namespace();
        let handle_of = |identifier: u16| placement.handles.get(usize::from(identifier)).copied();
        let first = namespace.identifiers.first().and_then(|&first| handle_of(first));
        // A write with an identifier that its namespace does not have goes through the first handle.
        if let Some((value, handle)) = io::unknown_identifier(entry, namespace).zip(first) {
            let work = |logs: &mut SharedLogs| logs.placement.note_invalid(handle, (number, value));
            self.target.with_logs(link.key, work);
        }
        for value in io::updated_identifiers(entry, data) {
            let own = placement_identifiers::known(namespace, value);
            if let Some((own, handle)) = own.and_then(|own| Some((own, handle_of(own)?))) {
                let unit = (handle, own % namespace.reclaim_groups.max(1));
                let work = |logs: &mut SharedLogs| logs.placement.note_update(unit, (number, value));
                self.target.with_logs(link.key, work);
            }
        }
    }

    fn fabrics(&mut self, entry: &SubmissionEntry, data: &[u8]) -> Result<AdminStep, RefusedCommand> {
        let done = |result| AdminStep::Done(result, Vec::new());
        if entry.fabrics_type() == fabrics::CONNECT {
            return self.connect(entry, data).map(done);
        }
        let gone = (NvmeStatus::SEQUENCE_ERROR, 0);
        let link = self.link.as_mut().filter(|link| link.queue == 0).ok_or(gone)?;
        let (offset, is_long) = (entry.dword(11), entry.dword(10) & 7 == 1);
        match entry.fabrics_type() {
            fabrics::PROPERTY_GET => {
                let value = self.target.with(link.key, |controller| {
                    let has_zones = controller.facts.as_ref().is_some_and(|facts| facts.has_zones());
                    controller.properties.get(offset, is_long, has_zones)
                });
                value.ok_or(gone)?.map(done).map_err(|status| (status, 0))
            }
            fabrics::PROPERTY_SET => {
                let change = self.target.with(link.key, |controller| {
                    let change = controller.properties.set(offset, is_long, entry.two_dwords(12))?;
                    let is_writable = controller.facts.as_ref().is_some_and(|facts| facts.is_writable());
                    if change == PropertyChange::ShutDown && !is_writable {
                        controller.properties.shut_down();
                        return Ok(PropertyChange::Nothing);
                    }
                    Ok(change)
                });
                match change.ok_or(gone)?.map_err(|status| (status, 0))? {
                    PropertyChange::Nothing => {}
                    PropertyChange::Reset => {
                        link.key = self.target.reset(link.key);
                        self.was_reset = true;
                        // Commands of a controller that is reset get no completions.
                        self.event_requests.clear();
                    }
                    PropertyChange::ShutDown => {
                        let flush = PlannedRequest::whole(PlannedOp::Flush);
                        return Ok(AdminStep::Device(CommandPlan::new([flush], PlanEnd::ShutDown, 0)));
                    }
                }
                Ok(done(0))
            }
            _ => Err((NvmeStatus::INVALID_OPCODE, 0)),
        }
    }

    fn connect(&mut self, entry: &SubmissionEntry, data: &[u8]) -> Result<u64, RefusedCommand> {
        if self.link.is_some() {
            return Err((NvmeStatus::SEQUENCE_ERROR, 0));
        }
        let request = ConnectRequest::read(entry, data)?;
        let ConnectedQueue { key, facts } = self.target.connect(&request, &self.offer)?;
        self.opened = facts.as_ref().map(|&(place, _)| place);
        let head = (!request.without_flow_control).then_some(1 % request.entries);
        let facts = facts.map(|(_, facts)| facts);
        self.link = Some(QueueLink { key, queue: request.queue, entries: request.entries, head, facts });
        Ok(key.id.into())
    }
}
