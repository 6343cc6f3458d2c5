//! The host's side: commands from their arrival to their completion, what crosses the link, flushes, and bytes.
//!
//! [`HostSide`] is made of machines that do not know each other: the [way in](Arrivals), the [link](Link), the [requests](Requests), the [flush epochs](Flushes),
//! the [completions](Completions) and the [bytes](HostBytes). What they return as an effect the drive carries out.
//!
//! With `host_latency`, a command first spends time in [`Arrivals`] and a completion in [`Completions`]. A drive that is still mounting keeps commands at its
//! [`Door`]. A command takes one of `queue_depth` places, or waits for one, in one line or in its submission queue ([`Waiting`]); `arbiter.rs` selects the
//! queue that is served when a place becomes free. The engine gives each job of a fio file a queue. Accepted commands book the link and the master core; with
//! `in_order`, [`InOrder`] holds them back before they are split for as long as an earlier write waits for room. Commands on their way in share the event of
//! the link.
//!
//! `passage.rs` connects the drive with the host, and `commands.rs` these machines with the flash cores. A feature that is not set costs one comparison for
//! each command and one for each completion (decision 0057).

mod arbiter;
mod arrivals;
mod bytes;
mod commands;
mod completions;
mod door;
mod failures;
mod flush;
mod flushing;
mod in_order;
mod late;
mod link;
mod passage;
mod requests;
mod units;
mod waiting;

pub(crate) use bytes::Part;
pub(crate) use requests::{HostRequestId, Progress, Request, Then};

use arrivals::Arrivals;
use bytes::HostBytes;
use completions::Completions;
use door::Door;
use failures::Failures;
use flush::Flushes;
use in_order::InOrder;
use late::LateFlushes;
use link::Link;
use outlast_device::{Command, Completion, Op, Outcome, Tag};
use outlast_settings::drive::{ControllerConfig, SsdConfig};
use outlast_units::Nanos;
use requests::{Life, Requests};
use waiting::Waiting;

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
    arrivals: Arrivals,
    pub(crate) link: Link,
    /// What commands cost the master core; absent: nothing.
    #[persist(fixed)]
    costs: Option<CommandTimes>,
    pub(crate) requests: Requests,
    pub(crate) flushes: Flushes,
    pub(crate) completions: Completions,
    pub(crate) bytes: HostBytes,
    pub(crate) life: Life,
    /// Commands that wait for a place in the drive's queue, in which so many are.
    waiting: Waiting,
    /// Present where firmware hands commands over in order.
    in_order: Option<InOrder>,
    /// True if commands that have come are split at once: neither do they cost anything, nor is there an order to keep.
    #[persist(fixed)]
    is_direct: bool,
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
            arrivals: Arrivals::new(config.controller.host_latency.submit),
            link: Link::new(config.controller.link),
            costs: CommandTimes::new(&config.controller),
            requests: Requests::default(),
            flushes: Flushes::default(),
            late: LateFlushes::default(),
            completions: Completions::new(config.controller.host_latency.complete),
            bytes: HostBytes::default(),
            failures: Failures::default(),
            life: Life::default(),
            waiting: Waiting::new(config.controller.queues.as_ref()),
            in_order: config.controller.in_order.then(InOrder::default),
            is_direct: !config.controller.in_order && CommandTimes::new(&config.controller).is_none(),
            door: Door::default(),
            in_flight: 0,
            queue_depth: config.controller.queue_depth,
            busy_since: Nanos::ZERO,
            busy: Nanos::ZERO,
        }
    }

    /// Takes a place in the drive's queue for a command; without one it waits, and this is false.
    #[allow(clippy::inline_always, reason = "the way of every command, and of no other")]
    #[inline(always)]
    fn enter(&mut self, now: Nanos, command: Command, tag: Tag, data: &[u8]) -> bool {
        let enters = self.in_flight < self.queue_depth && self.waiting.passes(command.queue, tag);
        if self.in_flight == 0 {
            self.busy_since = now;
        }
        if enters {
            self.in_flight += 1;
        } else {
            let submission = Submission { command, tag, data: data.to_vec() };
            if self.door.is_closed() {
                self.door.arrived.push_back(submission);
            } else {
                self.waiting.push(submission);
            }
        }
        enters
    }

    /// All parts of `request` are done: its completion is due now, or when its data has left over the link or is ready.
    #[inline]
    pub(crate) fn complete(&mut self, now: Nanos, request: &Request) {
        let Request { command, tag, ready, outcome, .. } = *request;
        if command.op == Op::Read && (self.link.is_there() || ready > now) {
            self.completions.push_linked(Completion { at: ready.max(now), tag, outcome });
        } else {
            self.completions.push(Completion { at: now, tag, outcome });
        }
    }

    /// Command `tag` has left the drive's queue at `at`. Returns whether any waits, of which one may [take its place](HostSide::take_waiting).
    #[inline]
    fn leave(&mut self, at: Nanos, tag: Tag) -> bool {
        debug_assert!(self.in_flight != 0, "a command completes that was not in flight");
        self.in_flight -= 1;
        self.waiting.left(tag);
        let any_waits = self.waiting.len() != 0;
        if self.in_flight == 0 && !any_waits {
            self.busy += at - self.busy_since;
        }
        any_waits
    }

    /// The command that gets the place of one that has left.
    fn take_waiting(&mut self) -> Option<Submission> {
        let next = self.waiting.pop();
        self.in_flight += u32::from(next.is_some());
        next
    }

    /// When something next comes in: a command, or the data of one.
    #[inline]
    pub(crate) fn next_in(&self) -> Nanos {
        self.link.next().min(self.arrivals.next())
    }

    /// Commands submitted whose completion the host does not have.
    pub(crate) fn in_flight(&self) -> u32 {
        let outside = self.waiting.len() + self.door.arrived.len();
        self.in_flight + (outside + self.arrivals.len() + self.completions.on_their_way()) as u32
    }

    /// Power has failed while commands were under way: they end now, and have been aborted. What had been done is still done. Returns those
    /// commands.
    pub(crate) fn abort(&mut self, now: Nanos) -> Vec<Tag> {
        let mut aborted: Vec<Tag> = self.requests.of_the_host().map(|request| request.tag).collect();
        aborted.extend(self.completions.cut(now));
        aborted.extend(self.waiting.cut());
        aborted.extend(self.door.arrived.drain(..).map(|waiting| waiting.tag));
        aborted.extend(self.arrivals.cut());
        self.bytes.abort(&aborted);
        self.failures.abort(&aborted);
        self.completions.abort(now, &aborted);
        self.link.forget(now);
        self.flushes.forget();
        self.late.forget();
        self.in_order.as_mut().into_iter().for_each(InOrder::forget);
        let busy = self.busy_time(now);
        self.in_flight = self.completions.len() as u32;
        if self.in_flight == 0 {
            self.busy = busy;
        }
        aborted
    }

    /// Power has failed: nothing is known of any command.
    pub(crate) fn forget(&mut self, now: Nanos) {
        self.busy = self.busy_time(now);
        self.link.forget(now);
        drop(self.arrivals.cut());
        drop(self.waiting.cut());
        self.in_order.as_mut().into_iter().for_each(InOrder::forget);
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
        if !self.door.is_closed() {
            self.waiting.self_check(self.in_flight, self.queue_depth)?;
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

/// Time of the master core by command.
#[derive(Clone, Copy, Debug, PartialEq, outlast_persist::Persist)]
struct CommandTimes([Nanos; 5]);

impl CommandTimes {
    fn new(config: &ControllerConfig) -> Option<Self> {
        let ops = [Op::Read, Op::Write, Op::Trim, Op::Flush, Op::LbaStatus];
        let costs = config.command_costs;
        let times = ops.map(|op| {
            let own = match op {
                Op::Read => costs.read,
                Op::Write => costs.write,
                Op::Trim | Op::Flush | Op::LbaStatus => None,
            };
            own.unwrap_or(config.master_cost)
        });
        times.iter().any(|&time| time != Nanos::ZERO).then_some(Self(times))
    }

    fn of(self, op: Op) -> Nanos {
        self.0[op as usize]
    }
}

impl HostSide {
    /// The host's commands that it has not heard the end of, with their sectors where those are known.
    pub(crate) fn under_way(&self) -> Vec<(Tag, Option<u32>)> {
        let worked_on = self.requests.of_the_host().map(|own| (own.tag, Some(own.command.sectors)));
        let complete = self.completions.iter().map(|own| (own.tag, self.bytes.sectors_read(own.tag)));
        let before = self.waiting.iter().chain(&self.door.arrived).chain(self.arrivals.iter());
        let before = before.map(|own| (own.tag, Some(own.command.sectors)));
        worked_on.chain(complete).chain(before).collect()
    }
}

impl Request {
    /// True if it ends before what it should have waited for.
    pub(crate) fn is_early(&self) -> bool {
        self.then == Then::FlushLater
    }

    pub(crate) fn is_good(&self) -> bool {
        self.outcome == Outcome::Ok
    }
}
