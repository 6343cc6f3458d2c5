//! The host's side: commands from their arrival to their completion, what crosses the link, flushes, and bytes.
//!
//! [`HostSide`] is made of machines that do not know each other: the [link](Link), the [requests](Requests), the [flush epochs](Flushes),
//! the [completions](Completions) and the [bytes](HostBytes). What they return as an effect the drive carries out.

mod bytes;
mod commands;
mod completions;
mod door;
mod failures;
mod flush;
mod late;
mod link;
mod requests;

pub(crate) use bytes::Part;
pub(crate) use requests::{Progress, Then};

use crate::config::SsdConfig;
use bytes::HostBytes;
use completions::Completions;
use door::Door;
use failures::Failures;
use flush::Flushes;
use late::LateFlushes;
use link::Link;
use outlast_device::{Command, Completion, Op, Outcome, Tag};
use outlast_units::Nanos;
use requests::{Life, Request, Requests};
use std::collections::VecDeque;

/// A command as the host submits it, with the data of a write.
#[derive(Clone, Debug, outlast_persist::Persist)]
struct Submission {
    command: Command,
    tag: Tag,
    data: Vec<u8>,
}

/// What the drive keeps about the host's commands.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct HostSide {
    pub(crate) link: Link,
    pub(crate) requests: Requests,
    pub(crate) flushes: Flushes,
    pub(crate) completions: Completions,
    pub(crate) bytes: HostBytes,
    pub(crate) life: Life,
    /// Commands that wait for a place in the drive's queue, in which so many are.
    waiting: VecDeque<Submission>,
    door: Door,
    in_flight: u32,
    queue_depth: u32,
    /// Since when commands are in flight, and how long there were any before.
    busy_since: Nanos,
    busy: Nanos,
    pub(crate) failures: Failures,
    pub(crate) late: LateFlushes,
}

impl HostSide {
    pub(crate) fn new(config: &SsdConfig) -> Self {
        Self {
            link: Link::new(config.controller.link),
            requests: Requests::default(),
            flushes: Flushes::default(),
            late: LateFlushes::default(),
            completions: Completions::default(),
            bytes: HostBytes::default(),
            failures: Failures::default(),
            life: Life::default(),
            waiting: VecDeque::new(),
            door: Door::default(),
            in_flight: 0,
            queue_depth: config.controller.queue_depth,
            busy_since: Nanos::ZERO,
            busy: Nanos::ZERO,
        }
    }

    /// Takes a place in the drive's queue for a command; without one it waits, and this is false.
    #[inline]
    fn enter(&mut self, now: Nanos, command: Command, tag: Tag, data: &[u8]) -> bool {
        let enters = self.in_flight < self.queue_depth;
        if self.in_flight == 0 {
            self.busy_since = now;
        }
        if enters {
            self.in_flight += 1;
        } else {
            let queue = if self.door.is_closed() { &mut self.door.arrived } else { &mut self.waiting };
            queue.push_back(Submission { command, tag, data: data.to_vec() });
        }
        enters
    }

    /// All parts of `request` are done: its completion is due now, or when its data has left over the link or is ready.
    #[inline]
    fn complete(&mut self, now: Nanos, request: &Request) {
        let Request { command, tag, ready, outcome, .. } = *request;
        if command.op == Op::Read && (self.link.is_there() || ready > now) {
            self.completions.push_linked(Completion { at: ready.max(now), tag, outcome });
        } else {
            self.completions.push(Completion { at: now, tag, outcome });
        }
    }

    /// The next completion, and a command that takes its place.
    #[inline]
    fn emit(&mut self) -> Option<(Completion, Option<Submission>)> {
        let completion = self.completions.pop()?;
        debug_assert!(self.in_flight != 0, "a command completes that was not in flight");
        self.in_flight -= 1;
        let next = self.waiting.pop_front();
        self.in_flight += u32::from(next.is_some());
        if self.in_flight == 0 {
            self.busy += completion.at - self.busy_since;
        }
        Some((completion, next))
    }

    /// Commands received and not completed.
    pub(crate) fn in_flight(&self) -> u32 {
        self.in_flight + (self.waiting.len() + self.door.arrived.len()) as u32
    }

    /// Power has failed while commands were under way: they end now, and have been aborted. What had been done is still done.
    pub(crate) fn abort(&mut self, now: Nanos) {
        let mut aborted: Vec<Tag> = self.requests.of_the_host().map(|request| request.tag).collect();
        aborted.extend(self.completions.cut(now));
        let outside = self.waiting.drain(..).chain(self.door.arrived.drain(..));
        aborted.extend(outside.map(|waiting| waiting.tag));
        self.bytes.abort(&aborted);
        self.failures.abort(&aborted);
        self.completions.abort(now, &aborted);
        self.link.forget(now);
        self.flushes.forget();
        self.late.forget();
        self.in_flight = self.completions.len() as u32;
    }

    /// Power has failed: nothing is known of any command.
    pub(crate) fn forget(&mut self, now: Nanos) {
        self.busy = self.busy_time(now);
        self.link.forget(now);
        self.waiting.clear();
        self.door.arrived.clear();
        self.in_flight = 0;
        self.completions.clear();
        self.flushes.forget();
        self.late.forget();
        self.bytes.clear();
        self.failures = Failures::default();
    }

    /// How long commands were in flight until `now`.
    pub(crate) fn busy_time(&self, now: Nanos) -> Nanos {
        let since = if self.in_flight == 0 { now } else { self.busy_since };
        self.busy + now.saturating_sub(since)
    }

    /// Checks that no request, no barrier and no bytes are left over.
    pub(crate) fn self_check(&self) -> Result<(), String> {
        let (host, completions) = (self.requests.of_the_host().count(), self.completions.len());
        if host + completions != self.in_flight as usize {
            return Err(format!(
                "{} commands are in flight, but {host} are worked on and {completions} complete",
                self.in_flight
            ));
        }
        if self.flushes.waiting() > self.requests.len() {
            let requests = self.requests.len();
            return Err(format!("{} flushes wait, of {requests} requests", self.flushes.waiting()));
        }
        if let Some(request) = self.bytes.requests().find(|&request| !self.requests.is_live(request)) {
            return Err(format!("bytes are kept for request {request}, which has ended"));
        }
        if let Some(request) = self.failures.requests().find(|&request| !self.requests.is_live(request)) {
            return Err(format!("units of request {request} have failed, which has ended"));
        }
        Ok(())
    }
}

impl Request {
    /// Whether it ends before what it should have waited for.
    fn is_early(&self) -> bool {
        self.then == Then::FlushLater
    }

    fn is_good(&self) -> bool {
        self.outcome == Outcome::Ok
    }
}
