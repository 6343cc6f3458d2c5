//! Commands of the host that a drive works on: their parts, bytes, failures and completions, flush epochs, and the link that their data crosses.
//!
//! [`HostCommands`] is made of machines that do not know each other: the [link](Link), the [requests](Requests), the [flush epochs](Flushes), the
//! [completions](Completions) and the [bytes](HostBytes). Flash cores end parts of commands here; how commands come in is the drive's.

mod bytes;
mod completions;
mod failures;
mod flush;
mod late;
mod link;
mod requests;

pub use bytes::HostBytes;
pub use bytes::Part;
pub use completions::Completions;
pub use failures::Failures;
pub use flush::Flushes;
pub use late::LateFlushes;
pub use link::Link;
pub use requests::{HostRequestId, Then};
pub(crate) use requests::{Life, Request, Requests};

use outlast_device::{CommandResult, Completion, Op, Outcome, Tag};
use outlast_settings::drive::SsdConfig;
use outlast_units::Nanos;

/// Commands of the host under way in a drive.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub struct HostCommands {
    /// Transfers between host and drive.
    pub link: Link,
    /// Commands that are worked on, with their parts.
    pub requests: Requests,
    /// Flush epochs and the commands that wait for them.
    pub flushes: Flushes,
    /// Commands that have ended, until the host has been told.
    pub completions: Completions,
    /// Data that commands bring and take.
    pub bytes: HostBytes,
    /// Commands and sectors over the life of the drive.
    pub life: Life,
    /// Units of commands that could not be read.
    pub failures: Failures,
    /// Flushes that are put off.
    pub late: LateFlushes,
}

impl HostCommands {
    /// No commands, of a drive with these settings.
    pub fn new(config: &SsdConfig) -> Self {
        Self {
            link: Link::new(config.controller.link),
            requests: Requests::default(),
            flushes: Flushes::default(),
            late: LateFlushes::default(),
            completions: Completions::new(config.controller.host_latency.complete),
            bytes: HostBytes::default(),
            failures: Failures::default(),
            life: Life::default(),
        }
    }

    /// All parts of `request` are done: its completion is due now, or when its data has left over the link or is ready.
    #[allow(clippy::inline_always, reason = "once for each command, in the frame of its last part's end")]
    #[inline(always)]
    pub fn complete(&mut self, now: Nanos, request: &Request) {
        let Request { command, tag, ready, outcome, .. } = *request;
        if command.op == Op::Read && (self.link.is_there() || ready > now) {
            self.completions.push_linked(Completion::new(ready.max(now), tag, outcome));
        } else {
            self.completions.push(Completion::new(now, tag, outcome));
        }
    }

    /// As [`HostCommands::complete`] of a command to a zone: with `result`, and later by `later`.
    pub(crate) fn complete_later(
        &mut self,
        now: Nanos,
        request: &Request,
        result: CommandResult,
        later: Nanos,
    ) {
        let at = request.ready.max(now + later);
        let completion = Completion { result, ..Completion::new(at, request.tag, request.outcome) };
        self.completions.push_linked(completion);
    }

    /// Power fails at `now`: tags of the commands that have not ended by then.
    pub fn cut(&mut self, now: Nanos) -> Vec<Tag> {
        let mut cut: Vec<Tag> = self.requests.of_the_host().map(|request| request.tag).collect();
        cut.extend(self.completions.cut(now));
        cut
    }

    /// Ends the commands `aborted`, which power has cut off at `now`.
    pub fn abort(&mut self, now: Nanos, aborted: &[Tag]) {
        self.bytes.abort(aborted);
        self.failures.abort(aborted);
        self.completions.abort(now, aborted);
        self.link.forget(now);
        self.flushes.forget();
        self.late.forget();
    }

    /// Power has failed: nothing is known of any command.
    pub fn forget(&mut self, now: Nanos) {
        self.link.forget(now);
        self.completions.clear();
        self.flushes.forget();
        self.late.forget();
        self.bytes.clear();
        self.failures = Failures::default();
    }

    /// Commands of the host in the drive: worked on, or complete.
    pub fn count(&self) -> usize {
        self.requests.of_the_host().count() + self.completions.count()
    }

    /// Tags of the commands in the drive, with their sectors where those are known.
    pub fn under_way(&self) -> impl Iterator<Item = (Tag, Option<u32>)> {
        let requests =
            self.requests.of_the_host().map(|request| (request.tag, Some(request.command.sectors)));
        requests.chain(self.completions.iter().map(|ended| (ended.tag, self.bytes.sectors_read(ended.tag))))
    }

    /// Checks that what reads have so far is as long as their commands.
    ///
    /// # Errors
    /// The first read for which it is not.
    pub fn check_restored(&self) -> Result<(), String> {
        let requests = &self.requests;
        let sectors_of = |request| requests.is_live(request).then(|| requests.command(request).sectors);
        self.bytes.check_restored(sectors_of)
    }

    /// Checks that no barrier and no bytes are left over.
    ///
    /// # Errors
    /// The record that belongs to no command.
    pub fn self_check(&self) -> Result<(), String> {
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
    /// True if it ends before what it should have waited for.
    pub(crate) fn is_early(&self) -> bool {
        self.then == Then::FlushLater
    }

    /// True if it has not failed.
    pub(crate) fn is_good(&self) -> bool {
        matches!(self.outcome, Outcome::Ok)
    }
}
