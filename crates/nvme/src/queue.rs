//! A queue of a host: commands in, requests to the device and completions out.

mod answers;
mod ends;
mod placement;
mod running;
mod steps;
mod zones;

use std::collections::VecDeque;
use std::sync::Arc;

use crate::admin::{self, AdminStep};
use crate::device::{DeviceRequest, HEALTH_BYTES, PlacementReport};
use crate::entry::{CommandEnd, SubmissionEntry};
use crate::fabrics;
use crate::facts::SubsystemFacts;
use crate::io;
use crate::plan::CommandPlan;
use crate::status::NvmeStatus;
use crate::target::{ControllerKey, NvmeTarget, TargetOffer};
use crate::zones::ZoneReports;
use running::RunningCommands;

/// Data that a command moves, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataTransfer {
    /// None.
    None,
    /// From the host, with the command or after it.
    FromHost(u32),
    /// To the host, before the completion.
    ToHost(u32),
}

/// An event of a queue.
#[derive(Debug, PartialEq, Eq)]
pub enum QueueEvent<'a> {
    /// Connect has succeeded for a namespace: the place of its subsystem in the offer.
    Opened(usize),
    /// The controller was reset: its other queues are over.
    Reset,
    /// A request to the device, in flight until it is answered.
    Request(DeviceRequest<'a>),
}

/// A command under way, with its data.
#[derive(Debug)]
struct RunningCommand {
    entry: SubmissionEntry,
    data: Vec<u8>,
    plan: CommandPlan,
    /// What answers have brought so far.
    gathered: Vec<u8>,
    lost: Vec<crate::device::LostRange>,
    health: Option<Box<[u8; HEALTH_BYTES]>>,
    placement: Option<Box<PlacementReport>>,
    /// The first byte that an append has written.
    place: u64,
    zones: ZoneReports,
}

impl RunningCommand {
    fn cost(&self) -> u64 {
        self.data.len() as u64 + self.plan.cost
    }
}

/// The queue's place in a controller.
#[derive(Debug)]
struct QueueLink {
    key: ControllerKey,
    queue: u16,
    entries: u16,
    /// Head of the submission queue; not kept without flow control.
    head: Option<u16>,
    facts: Option<Arc<SubsystemFacts>>,
}

/// A queue of a host, from before Connect until it is dropped. A controller is as old as its admin queue.
#[derive(Debug)]
pub struct HostQueue {
    target: NvmeTarget,
    offer: TargetOffer,
    link: Option<QueueLink>,
    opened: Option<usize>,
    /// Set from a reset until it is told.
    was_reset: bool,
    running: RunningCommands,
    /// Commands with a request for the device.
    due: VecDeque<u32>,
    ends: VecDeque<CommandEnd>,
    /// Identifiers of event requests.
    event_requests: VecDeque<u16>,
    held: u64,
}

/// Failure of a command, with the result to return.
type RefusedCommand = (NvmeStatus, u64);

impl HostQueue {
    /// A queue of a host that has just connected to `target`.
    pub fn new(target: NvmeTarget, offer: TargetOffer) -> Self {
        Self {
            target,
            offer,
            link: None,
            opened: None,
            was_reset: false,
            running: RunningCommands::default(),
            due: VecDeque::new(),
            ends: VecDeque::new(),
            event_requests: VecDeque::new(),
            held: 0,
        }
    }

    /// True for an admin queue, also before Connect.
    pub fn is_admin(&self) -> bool {
        self.link.as_ref().is_none_or(|link| link.queue == 0)
    }

    /// True if the queue can be used no more: its controller is gone, or has been reset.
    pub fn is_over(&self) -> bool {
        self.link.as_ref().is_some_and(|link| self.target.with(link.key, |_| ()).is_none())
    }

    /// Most commands that the host may have in flight.
    pub fn entries(&self) -> u16 {
        self.link.as_ref().map_or(1, |link| link.entries)
    }

    /// Number of commands in flight, event requests included.
    pub fn in_flight(&self) -> usize {
        self.running() + self.event_requests.len()
    }

    /// Number of commands whose device works on them.
    pub fn running(&self) -> usize {
        self.running.len()
    }

    /// Bytes held for commands in flight, with those that their answers will take.
    pub fn held(&self) -> u64 {
        self.held
    }

    /// Longest time in milliseconds for which the host may be silent, if it is limited: twice the keep-alive time-out.
    pub fn silence_limit(&self) -> Option<u64> {
        let link = self.link.as_ref().filter(|link| link.queue == 0)?;
        let limit = self.target.with(link.key, |controller| controller.features.keep_alive())?;
        (limit > 0).then_some(2 * u64::from(limit))
    }

    /// Data that a command moves.
    ///
    /// # Errors
    /// The command is refused, whatever its data.
    pub fn transfer(&self, entry: &SubmissionEntry) -> Result<DataTransfer, NvmeStatus> {
        if entry.opcode() == fabrics::FABRICS {
            let is_connect = entry.fabrics_type() == fabrics::CONNECT;
            return Ok(if is_connect {
                DataTransfer::FromHost(fabrics::CONNECT_BYTES as u32)
            } else {
                DataTransfer::None
            });
        }
        let link = self.link.as_ref().ok_or(NvmeStatus::SEQUENCE_ERROR)?;
        match &link.facts {
            Some(facts) if link.queue > 0 => io::transfer(entry, facts),
            facts => admin::transfer(entry, facts.as_deref()),
        }
    }

    /// Bytes that a command that moves `transfer` will hold while it is under way, with its answer.
    pub fn cost(&self, entry: &SubmissionEntry, transfer: Result<DataTransfer, NvmeStatus>) -> u64 {
        match transfer {
            Ok(DataTransfer::FromHost(bytes) | DataTransfer::ToHost(bytes)) => {
                u64::from(bytes) + if self.is_admin() { 0 } else { io::extra_cost(entry.opcode(), bytes) }
            }
            Ok(DataTransfer::None) if !self.is_admin() => io::extra_cost(entry.opcode(), 0),
            _ => 0,
        }
    }

    /// True if [`HostQueue::poll`] has an event.
    pub fn has_event(&self) -> bool {
        self.opened.is_some() || self.was_reset || !self.due.is_empty()
    }

    /// Begins a command, with the data that [`HostQueue::transfer`] has named.
    pub fn begin(&mut self, entry: &SubmissionEntry, data: Vec<u8>) {
        self.take_entry();
        let id = entry.command_id();
        let is_taken = self.running.has(id) || self.event_requests.contains(&id);
        let step = if is_taken { Err((NvmeStatus::ID_CONFLICT, 0)) } else { self.step(entry, &data) };
        match step {
            Ok(AdminStep::Done(result, data)) => self.succeed(id, result, data),
            Ok(AdminStep::Event) => {
                self.event_requests.push_back(id);
                self.report_events();
            }
            Ok(AdminStep::Device(plan)) => self.run(entry, data, plan),
            Err((status, result)) => self.fail(entry, status, result),
        }
    }

    /// Ends a command of which the transport has found something wrong.
    pub fn refuse(&mut self, entry: &SubmissionEntry, status: NvmeStatus) {
        self.take_entry();
        self.fail(entry, status, 0);
    }

    /// The next event.
    pub fn poll(&mut self) -> Option<QueueEvent<'_>> {
        if let Some(place) = self.opened.take() {
            return Some(QueueEvent::Opened(place));
        }
        if std::mem::take(&mut self.was_reset) {
            return Some(QueueEvent::Reset);
        }
        let tag = self.due.pop_front()?;
        let running = self.running.get_mut(tag)?;
        let request = running.plan.requests.pop()?;
        Some(QueueEvent::Request(request.with_data(tag, &running.data)))
    }

    /// The next command that has ended.
    pub fn take_end(&mut self) -> Option<CommandEnd> {
        self.ends.pop_front()
    }

    /// Notes what the device tells unasked: the critical warning of its health log.
    pub fn report_warning(&mut self, critical_warning: u8) {
        let Some(link) = self.link.as_ref().filter(|link| link.queue == 0 && link.facts.is_some()) else {
            return;
        };
        self.target.with(link.key, |controller| {
            controller.events.report_warnings(critical_warning, controller.features.reported_warnings());
        });
        self.report_events();
    }

    /// Ends event requests for which there is an event.
    fn report_events(&mut self) {
        while let Some(link) = self.link.as_ref().filter(|_| !self.event_requests.is_empty()) {
            let event = self.target.with(link.key, |controller| controller.events.take()).flatten();
            let Some(event) = event else { return };
            let id = self.event_requests.pop_front().expect("there is a request");
            self.succeed(id, event, Vec::new());
        }
    }

    fn take_entry(&mut self) {
        if let Some(QueueLink { head: Some(head), entries, .. }) = &mut self.link {
            *head = (*head + 1) % *entries;
        }
    }

    /// Hands a command to the device.
    fn run(&mut self, entry: &SubmissionEntry, data: Vec<u8>, plan: CommandPlan) {
        if plan.requests.is_empty() {
            return self.succeed(entry.command_id(), 0, Vec::new());
        }
        let running = RunningCommand {
            entry: *entry,
            data,
            plan,
            gathered: Vec::new(),
            lost: Vec::new(),
            health: None,
            placement: None,
            place: 0,
            zones: ZoneReports::default(),
        };
        self.held += running.cost();
        let tag = self.running.insert(running);
        self.due.push_back(tag);
    }
}

impl Drop for HostQueue {
    fn drop(&mut self) {
        if let Some(link) = &self.link {
            self.target.leave(link.key, link.queue);
        }
    }
}
