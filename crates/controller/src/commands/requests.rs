//! Commands under way, each with the parts that are still to be done.

use outlast_device::{Command, Op, Outcome, PlacementId, Tag};
use outlast_units::Nanos;
use outlast_units::slab::{NIL, Slab};

/// Number of a request while it is under way; free for another one when it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, outlast_persist::Persist)]
pub struct HostRequestId(pub u32);

impl HostRequestId {
    /// No request.
    pub const NONE: Self = Self(NIL);
}

impl std::fmt::Display for HostRequestId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A command being worked on.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub struct Request {
    pub command: Command,
    pub tag: Tag,
    /// Parts that are not done: its units, and one more while it is being split or must still reach flash.
    left: u32,
    /// When the last of its data will have left over the link, or is ready.
    pub ready: Nanos,
    pub outcome: Outcome,
    pub then: Then,
}

/// What follows when all parts of a request are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub enum Then {
    /// The host's command is complete.
    Complete,
    /// It still has to wait for its data to reach flash.
    AwaitFlash,
    /// It is complete, and once it is, what it should have waited for is put off.
    FlushLater,
    /// It was a flush of the drive's own, put off, of which the host knows nothing; it has no data.
    Forget,
    /// It was a move of the drive's own, of which the host knows nothing.
    MoveOn,
}

/// All requests, by number.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub struct Requests {
    slab: Slab<Request>,
}

impl Requests {
    /// A new request with one part, which is held until the command has been split, so that it cannot complete halfway.
    #[inline]
    pub fn begin(
        &mut self,
        now: Nanos,
        command: Command,
        tag: Tag,
        outcome: Outcome,
        then: Then,
    ) -> HostRequestId {
        HostRequestId(self.slab.insert(Request { command, tag, left: 1, ready: now, outcome, then }))
    }

    #[inline]
    pub fn command(&self, request: HostRequestId) -> &Command {
        &self.slab[request.0].command
    }

    #[inline]
    pub fn outcome(&self, request: HostRequestId) -> Outcome {
        self.slab[request.0].outcome
    }

    /// One more part of `request` is to be done.
    #[inline]
    pub fn add_part(&mut self, request: HostRequestId) {
        debug_assert!(self.slab[request.0].left != 0, "a request that has ended gets another part");
        self.slab[request.0].left += 1;
    }

    /// Writes of request `request` go to the stream of `placement`.
    pub(crate) fn place(&mut self, request: HostRequestId, placement: PlacementId) {
        self.slab[request.0].command.placement = placement;
    }

    /// Request `request` will end in `outcome`.
    pub fn fail(&mut self, request: HostRequestId, outcome: Outcome) {
        self.slab[request.0].outcome = outcome;
    }

    /// The last of the request's data so far has left over the link at `at`.
    #[inline]
    pub fn sent(&mut self, request: HostRequestId, at: Nanos) {
        self.not_before(request, at);
    }

    /// The request's data is not ready before `at`.
    #[inline]
    pub(crate) fn not_before(&mut self, request: HostRequestId, at: Nanos) {
        let ready = &mut self.slab[request.0].ready;
        *ready = (*ready).max(at);
    }

    /// Counts `parts` parts of `request` as done; true if none is left, so that it is to [end](Requests::end).
    #[inline]
    pub(crate) fn end_parts(&mut self, request: HostRequestId, parts: u32) -> bool {
        let own = &mut self.slab[request.0];
        debug_assert!(own.left >= parts, "more parts of a request end than it has");
        own.left -= parts;
        own.left == 0
    }

    /// True if one part of `request` is left.
    #[inline]
    pub(crate) fn has_one_part(&self, request: HostRequestId) -> bool {
        self.slab[request.0].left == 1
    }

    /// Step that follows once no part of `request` is left.
    #[inline]
    pub(crate) fn then(&self, request: HostRequestId) -> Then {
        self.slab[request.0].then
    }

    /// Ends `request`, of which no part is left: its number is free.
    #[inline]
    pub(crate) fn end(&mut self, request: HostRequestId) -> Request {
        let own = self.slab[request.0];
        debug_assert!(own.left == 0, "a request ends with {} parts left", own.left);
        debug_assert!(own.then != Then::AwaitFlash, "a request ends that still awaits flash");
        self.slab.remove(request.0);
        own
    }

    /// All of `request` is in the buffer and must reach flash: one part is left, which ends when it has.
    pub(crate) fn await_flash(&mut self, request: HostRequestId) {
        let own = &mut self.slab[request.0];
        debug_assert!(own.left == 0, "a request awaits flash with {} parts left", own.left);
        (own.then, own.left) = (Then::Complete, 1);
    }

    /// The host's commands under way.
    pub fn of_the_host(&self) -> impl Iterator<Item = &Request> {
        self.slab.live().filter(|request| !matches!(request.then, Then::MoveOn | Then::Forget))
    }

    /// When the last of the data of all requests is ready.
    pub fn ready(&self) -> Nanos {
        self.slab.live().map(|request| request.ready).fold(Nanos::ZERO, Nanos::max)
    }

    /// How many flushes that were put off are under way.
    pub fn of_nobody(&self) -> usize {
        self.slab.live().filter(|request| request.then == Then::Forget).count()
    }

    /// True if request `request` has not ended.
    pub fn is_live(&self, request: HostRequestId) -> bool {
        self.slab.slots().get(request.0 as usize).is_some_and(|own| own.left != 0)
    }

    /// Checks that of each request as many parts are left as are named by `parts`.
    ///
    /// # Errors
    /// The first request of which there are more or fewer.
    pub fn check_parts(&self, parts: impl Iterator<Item = (HostRequestId, u32)>) -> Result<(), String> {
        let mut named = vec![0_u64; self.slab.slots().len()];
        for (request, count) in parts {
            let own = named.get_mut(request.0 as usize);
            *own.ok_or_else(|| format!("request {request} has parts, but never began"))? += u64::from(count);
        }
        for &free in self.slab.free() {
            if named[free as usize] != 0 {
                return Err(format!("something is to be done for request {free}, which has ended"));
            }
        }
        let mut is_free = vec![false; named.len()];
        self.slab.free().iter().for_each(|&free| is_free[free as usize] = true);
        let own = self.slab.slots().iter().zip(named).enumerate();
        match own.into_iter().find(|&(at, (request, named))| !is_free[at] && u64::from(request.left) != named)
        {
            None => Ok(()),
            Some((at, (request, named))) => {
                Err(format!("{} parts of request {at} are left, and {named} under way", request.left))
            }
        }
    }

    /// How many requests are under way, those of the drive's own moves included.
    pub fn len(&self) -> usize {
        self.slab.used()
    }

    /// Nothing is under way any more.
    pub fn clear(&mut self) {
        self.slab = Slab::default();
    }
}

/// Commands carried out and sectors moved over the drive's life: reads, then writes.
#[derive(Clone, Copy, Debug, Default, outlast_persist::Persist)]
pub struct Life {
    pub commands: [u64; 2],
    pub sectors: [u64; 2],
    pub media_errors: u64,
    /// Commands that ended in an error.
    pub errors: u64,
}

impl Life {
    #[allow(clippy::inline_always, reason = "once for each command, in the frame of its last part's end")]
    #[inline(always)]
    pub fn count(&mut self, command: &Command, outcome: Outcome) {
        if !matches!(outcome, Outcome::Ok) {
            self.count_failed(outcome);
        } else if matches!(command.op, Op::Read | Op::Write) {
            self.add(command.op as usize, command.sectors);
        } else if command.op == Op::Append {
            self.add(Op::Write as usize, command.sectors);
        }
    }

    // Out of line, so that the kind of an outcome is not worked out for commands that succeed.
    #[cold]
    #[inline(never)]
    fn count_failed(&mut self, outcome: Outcome) {
        self.errors += 1;
        self.media_errors += u64::from(outcome == Outcome::MediumError);
    }

    #[inline]
    fn add(&mut self, kind: usize, sectors: u32) {
        self.commands[kind] += 1;
        self.sectors[kind] += u64::from(sectors);
    }
}
