//! Commands under way, each with the parts that are still to be done.

use outlast_device::{Command, Op, Outcome, Tag};
use outlast_units::Nanos;
use outlast_units::slab::{NIL, Slab};

/// Number of a request while it is under way; free for another one when it has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, outlast_persist::Persist)]
pub(crate) struct HostRequestId(pub(crate) u32);

impl HostRequestId {
    /// No request.
    pub(crate) const NONE: Self = Self(NIL);
}

impl std::fmt::Display for HostRequestId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A command being worked on.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub(crate) struct Request {
    pub(crate) command: Command,
    pub(crate) tag: Tag,
    /// Parts that are not done: its units, and one more while it is being split or must still reach flash.
    left: u32,
    /// When the last of its data will have left over the link, or is ready.
    pub(crate) ready: Nanos,
    pub(crate) outcome: Outcome,
    pub(super) then: Then,
}

/// What follows when all parts of a request are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub(crate) enum Then {
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

/// What the end of some parts of a request leads to.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub(crate) enum Progress {
    /// Others are left.
    UnderWay,
    /// The host's command is complete, and its number free.
    Complete(Request),
    /// Nobody has waited for it; its number is free.
    Forgotten,
    /// All is in the buffer and must reach flash: one part is left, which ends when it has.
    AwaitFlash,
    /// A move of the drive's own has ended, and its number is free.
    Moved(Outcome),
}

/// All requests, by number.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(crate) struct Requests {
    slab: Slab<Request>,
}

impl Requests {
    /// A new request with one part, which is held until the command has been split, so that it cannot complete halfway.
    pub(crate) fn begin(
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
    pub(crate) fn command(&self, request: HostRequestId) -> &Command {
        &self.slab[request.0].command
    }

    #[inline]
    pub(crate) fn outcome(&self, request: HostRequestId) -> Outcome {
        self.slab[request.0].outcome
    }

    /// One more part of `request` is to be done.
    #[inline]
    pub(crate) fn add_part(&mut self, request: HostRequestId) {
        debug_assert!(self.slab[request.0].left != 0, "a request that has ended gets another part");
        self.slab[request.0].left += 1;
    }

    /// Request `request` will end in `outcome`.
    pub(crate) fn fail(&mut self, request: HostRequestId, outcome: Outcome) {
        self.slab[request.0].outcome = outcome;
    }

    /// The last of the request's data so far has left over the link at `at`.
    #[inline]
    pub(crate) fn sent(&mut self, request: HostRequestId, at: Nanos) {
        self.not_before(request, at);
    }

    /// The request's data is not ready before `at`.
    #[inline]
    pub(crate) fn not_before(&mut self, request: HostRequestId, at: Nanos) {
        let ready = &mut self.slab[request.0].ready;
        *ready = (*ready).max(at);
    }

    /// `parts` parts of `request` are done.
    #[inline]
    pub(crate) fn end_parts(&mut self, request: HostRequestId, parts: u32) -> Progress {
        let own = &mut self.slab[request.0];
        debug_assert!(own.left >= parts, "more parts of a request end than it has");
        own.left -= parts;
        if own.left != 0 {
            return Progress::UnderWay;
        }
        match own.then {
            Then::Complete | Then::FlushLater => {
                let own = *own;
                self.slab.remove(request.0);
                Progress::Complete(own)
            }
            Then::Forget => {
                self.slab.remove(request.0);
                Progress::Forgotten
            }
            Then::AwaitFlash => {
                own.then = Then::Complete;
                own.left = 1;
                Progress::AwaitFlash
            }
            Then::MoveOn => {
                let outcome = own.outcome;
                self.slab.remove(request.0);
                Progress::Moved(outcome)
            }
        }
    }

    /// The host's commands under way.
    pub(crate) fn of_the_host(&self) -> impl Iterator<Item = &Request> {
        self.slab.live().filter(|request| !matches!(request.then, Then::MoveOn | Then::Forget))
    }

    /// How many flushes that were put off are under way.
    pub(crate) fn of_nobody(&self) -> usize {
        self.slab.live().filter(|request| request.then == Then::Forget).count()
    }

    /// True if request `request` has not ended.
    pub(crate) fn is_live(&self, request: HostRequestId) -> bool {
        self.slab.slots().get(request.0 as usize).is_some_and(|own| own.left != 0)
    }

    /// How many requests are under way, those of the drive's own moves included.
    pub(crate) fn len(&self) -> usize {
        self.slab.used()
    }

    /// Nothing is under way any more.
    pub(crate) fn clear(&mut self) {
        self.slab = Slab::default();
    }
}

/// Commands carried out and sectors moved over the drive's life: reads, then writes.
#[derive(Clone, Copy, Debug, Default, outlast_persist::Persist)]
pub(crate) struct Life {
    pub(crate) commands: [u64; 2],
    pub(crate) sectors: [u64; 2],
    pub(crate) media_errors: u64,
    /// Commands that ended in an error.
    pub(crate) errors: u64,
}

impl Life {
    #[inline]
    pub(crate) fn count(&mut self, command: &Command, outcome: Outcome) {
        if outcome != Outcome::Ok {
            self.errors += 1;
            self.media_errors += u64::from(outcome == Outcome::MediumError);
        } else if matches!(command.op, Op::Read | Op::Write) {
            self.commands[command.op as usize] += 1;
            self.sectors[command.op as usize] += u64::from(command.sectors);
        }
    }
}
