//! The host's side: commands from their arrival to their completion, what crosses the link, flushes, and bytes.
//!
//! [`HostSide`] is what a command passes before the drive works on it; then it is one of the [`HostCommands`], which flash cores see, too.
//!
//! With `host_latency`, a command first spends time in [`Arrivals`] and a completion in `Completions`. A drive that mounts, wakes up or is too warm keeps commands at
//! its [`Door`]. A command takes one of `queue_depth` places, or waits for one, in one line or in its submission queue ([`Waiting`]); `arbiter.rs` selects the
//! queue that is served when a place becomes free. The engine gives each job of a fio file a queue. Accepted commands book the link and the master core; with
//! `in_order`, [`InOrder`] holds them back before they are split for as long as an earlier write waits for room. Commands on their way in share the event of
//! the link.
//!
//! `passage.rs` connects the drive with the host, and `commands.rs` these machines with the flash cores. A feature that is not set costs one comparison for
//! each command and one for each completion (decision 0057).

mod arbiter;
mod arrivals;
mod commands;
mod door;
mod flushing;
mod hand_over;
mod in_order;
mod passage;
mod rest;
mod units;
mod waiting;

pub(crate) use commands::CommandSplit;

use arrivals::Arrivals;
use door::Door;
use in_order::InOrder;
use outlast_controller::{HostCommands, HostRequestId};
use outlast_device::{Command, LatencyCause, Op, Tag};
use outlast_settings::drive::{ControllerConfig, SsdConfig};
use outlast_units::Nanos;
use rest::Rest;
use waiting::Waiting;

/// A command as the host submits it, with the data of a write.
#[derive(Clone, Debug, outlast_persist::Persist)]
struct Submission {
    command: Command,
    tag: Tag,
    data: Vec<u8>,
}

/// Commands of the host before the drive works on them, and how many the drive may take.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct HostSide {
    arrivals: Arrivals,
    /// What commands cost the master core; absent: nothing.
    #[persist(fixed)]
    costs: Option<CommandTimes>,
    /// Commands that wait for a place in the drive's queue, in which so many are.
    waiting: Waiting,
    /// Present where firmware hands commands over in order.
    in_order: Option<InOrder>,
    /// True if commands that have come are split at once: neither do they cost anything, nor is there an order to keep.
    #[persist(fixed)]
    is_direct: bool,
    door: Door,
    rest: Rest,
    in_flight: u32,
    queue_depth: u32,
    /// Since when commands are in flight, and how long there were any before.
    busy_since: Nanos,
    busy: Nanos,
}

impl HostSide {
    pub(crate) fn new(config: &SsdConfig) -> Self {
        Self {
            arrivals: Arrivals::new(config.controller.host_latency.submit),
            costs: CommandTimes::new(&config.controller),
            waiting: Waiting::new(config.controller.queues.as_ref()),
            in_order: config.controller.in_order.then(InOrder::default),
            is_direct: !config.controller.in_order && CommandTimes::new(&config.controller).is_none(),
            door: Door::default(),
            rest: Rest::new(config.energy.as_ref().map_or(&[], |energy| &energy.states)),
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
        if self.in_flight == 0 {
            self.busy_since = now;
            if now >= self.rest.from() {
                self.wake(now);
            }
        }
        let enters = self.in_flight < self.queue_depth && self.waiting.passes(command.queue, tag);
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

    /// Command `tag` has left the drive's queue at `at`. Returns whether any waits, of which one may [take its place](HostSide::take_waiting).
    #[inline]
    fn leave(&mut self, at: Nanos, tag: Tag) -> bool {
        debug_assert!(self.in_flight != 0, "a command completes that was not in flight");
        self.in_flight -= 1;
        self.waiting.left(tag);
        let any_waits = self.waiting.len() != 0;
        if self.in_flight == 0 && !any_waits {
            self.busy += at - self.busy_since;
            self.rest.begin(at);
        }
        any_waits
    }

    /// The host ends a pause in which the drive may have been at rest: then it takes a while until commands are let in.
    #[cold]
    #[inline(never)]
    fn wake(&mut self, now: Nanos) {
        let takes = self.rest.end(now);
        if takes != Nanos::ZERO {
            self.close_for(LatencyCause::Throttle, self.door.ready_at().max(now + takes));
        }
    }

    /// Time in each state of rest until `now`.
    pub(crate) fn rested(&self, now: Nanos) -> Vec<Nanos> {
        self.rest.spent(now)
    }

    /// Commands that found the drive in a state of rest since the last reset.
    pub(crate) fn wakes(&self) -> u64 {
        self.rest.wakes()
    }

    /// Counts wakes anew.
    pub(crate) fn reset_wakes(&mut self) {
        self.rest.reset();
    }

    /// The command that gets the place of one that has left.
    fn take_waiting(&mut self) -> Option<Submission> {
        let next = self.waiting.pop();
        self.in_flight += u32::from(next.is_some());
        next
    }

    /// Commands that are held up for their order.
    pub(crate) fn held(&self) -> impl Iterator<Item = HostRequestId> {
        self.in_order.iter().flat_map(InOrder::requests)
    }

    /// When something next comes in: a command, or the data of one.
    #[inline]
    pub(crate) fn next_in(&self, commands: &HostCommands) -> Nanos {
        commands.link.next().min(self.arrivals.next())
    }

    /// Since when commands were in flight last, or are.
    pub(crate) fn busy_since(&self) -> Nanos {
        self.busy_since
    }

    /// Commands submitted whose completion the host does not have.
    pub(crate) fn in_flight(&self, commands: &HostCommands) -> u32 {
        let outside = self.waiting.len() + self.door.arrived.len();
        self.in_flight + (outside + self.arrivals.len() + commands.completions.on_their_way()) as u32
    }

    /// Of these, the commands that the drive is at: those before a closed door wait until it opens, whatever the drive does meanwhile.
    pub(crate) fn worked_on(&self, commands: &HostCommands) -> u32 {
        if self.door.is_closed() { self.in_flight } else { self.in_flight(commands) }
    }

    /// Power has failed while commands were under way: they end now, and have been aborted. What had been done is still done. Returns those
    /// commands.
    pub(crate) fn abort(&mut self, now: Nanos, commands: &mut HostCommands) -> Vec<Tag> {
        let mut aborted = commands.cut(now);
        aborted.extend(self.waiting.cut());
        aborted.extend(self.door.arrived.drain(..).map(|waiting| waiting.tag));
        aborted.extend(self.arrivals.cut());
        commands.abort(now, &aborted);
        self.in_order.as_mut().into_iter().for_each(InOrder::forget);
        let busy = self.busy_time(now);
        self.in_flight = commands.completions.count() as u32;
        if self.in_flight == 0 {
            self.busy = busy;
        }
        self.rest.end(now);
        if self.in_flight == 0 {
            self.rest.begin(now);
        }
        aborted
    }

    /// Power has failed: nothing is known of any command.
    pub(crate) fn forget(&mut self, now: Nanos) {
        self.busy = self.busy_time(now);
        drop(self.arrivals.cut());
        drop(self.waiting.cut());
        self.in_order.as_mut().into_iter().for_each(InOrder::forget);
        self.door.arrived.clear();
        self.in_flight = 0;
        self.rest.end(now);
        self.rest.begin(now);
    }

    /// How long commands were in flight until `now`.
    pub(crate) fn busy_time(&self, now: Nanos) -> Nanos {
        let since = if self.in_flight == 0 { now } else { self.busy_since };
        self.busy + now.saturating_sub(since)
    }

    /// Checks that as many commands are in flight as the drive works on, and that none waits without need.
    pub(crate) fn self_check(&self, commands: &HostCommands) -> Result<(), String> {
        if commands.count() != self.in_flight as usize {
            let in_drive = commands.count();
            return Err(format!("{} commands are in flight, but {in_drive} in the drive", self.in_flight));
        }
        if !self.door.is_closed() {
            self.waiting.self_check(self.in_flight, self.queue_depth)?;
        }
        commands.self_check()
    }
}

/// Time of the master core by command.
#[derive(Clone, Copy, Debug, PartialEq, outlast_persist::Persist)]
struct CommandTimes([Nanos; 7]);

impl CommandTimes {
    fn new(config: &ControllerConfig) -> Option<Self> {
        let ops = [Op::Read, Op::Write, Op::Trim, Op::Flush, Op::LbaStatus, Op::Append, Op::ManageZone];
        let costs = config.command_costs;
        let times = ops.map(|op| {
            let own = match op {
                Op::Read => costs.read,
                Op::Write => costs.write,
                Op::Append => costs.append.or(costs.write),
                Op::Trim | Op::Flush | Op::LbaStatus | Op::ManageZone => None,
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
    /// Commands of which the host has not heard the end, with their sectors where those are known.
    pub(crate) fn under_way(&self, commands: &HostCommands) -> Vec<(Tag, Option<u32>)> {
        let before = self.waiting.iter().chain(&self.door.arrived).chain(self.arrivals.iter());
        let before = before.map(|submission| (submission.tag, Some(submission.command.sectors)));
        commands.under_way().chain(before).collect()
    }
}
