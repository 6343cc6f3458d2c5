//! In and out: commands from the host to the drive's queue, completions from there to the host.

use super::Submission;
use crate::ssd::Ssd;
use outlast_controller::DriveSource;
use outlast_device::{Command, Completion, LatencyCause, Tag};
use outlast_units::Nanos;

impl Ssd {
    /// The host submits a command.
    #[allow(clippy::inline_always, reason = "as Ssd::arrive")]
    #[inline(always)]
    pub(crate) fn receive(&mut self, now: Nanos, command: Command, tag: Tag, data: &[u8]) {
        if self.host.arrivals.take_time() {
            self.set_out(now, Submission { command, tag, data: data.to_vec() });
        } else {
            self.arrive(now, command, tag, data);
        }
    }

    #[inline(never)]
    fn set_out(&mut self, now: Nanos, submission: Submission) {
        self.host.arrivals.set_out(now, submission);
        self.context.events.set(DriveSource::Link, self.host.next_in(&self.context.commands));
    }

    /// A command that was kept outside by `cause` until now is at the drive.
    #[inline(never)]
    fn arrive_late(&mut self, now: Nanos, submission: &Submission, cause: LatencyCause) {
        self.context.note(move |ledger| ledger.kept_out(now, submission.tag, cause));
        self.arrive(now, submission.command, submission.tag, &submission.data);
    }

    /// A command is at the drive.
    #[allow(clippy::inline_always, reason = "the way of every command, and of no other: see arrive_late")]
    #[inline(always)]
    fn arrive(&mut self, now: Nanos, command: Command, tag: Tag, data: &[u8]) {
        if self.host.enter(now, command, tag, data) {
            self.accept(now, command, tag, data);
        } else if self.host.is_closed() {
            let at = self.host.knock(now);
            self.context.call_housekeeping(at);
        }
    }

    /// The drive is ready, if it is time: commands that have waited for that come in.
    pub(crate) fn let_in(&mut self, now: Nanos) {
        if self.host.is_paced() {
            return self.let_in_by_pace(now);
        }
        for submission in self.host.open(now) {
            self.arrive_late(now, &submission, self.host.why_closed());
            self.settle(now);
        }
    }

    /// Lets in those commands whose turn it is while the host is throttled.
    #[cold]
    fn let_in_by_pace(&mut self, now: Nanos) {
        while let Some((waited, submission)) = self.host.next_paced(now) {
            self.context.note(move |ledger| ledger.kept_out(now, waited, LatencyCause::Throttle));
            if let Some(Submission { command, tag, data }) = submission {
                self.accept(now, command, tag, &data);
                self.settle(now);
            }
        }
    }

    /// The data of a command is all there, or a command is; of both at once the data, which set out before.
    #[inline(never)]
    pub(crate) fn link_event(&mut self, now: Nanos) {
        if self.host.arrivals.next() < self.context.commands.link.next() {
            let arrived = self.host.arrivals.arrived();
            let submission = arrived.expect("the event of the way in has a command");
            self.context.events.set(DriveSource::Link, self.host.next_in(&self.context.commands));
            return self.arrive_late(now, &submission, LatencyCause::Link);
        }
        let request = self.context.commands.link.arrived().expect("the link's event has a command");
        self.context.events.set(DriveSource::Link, self.host.next_in(&self.context.commands));
        self.context.note_spent(now, request, LatencyCause::Link);
        self.fetched(now, request);
    }

    /// Hands out the next completion, or has it set out, and lets in a command that waits for its place in the queue.
    #[allow(clippy::inline_always, reason = "as Ssd::step")]
    #[inline(always)]
    pub(crate) fn emit(&mut self, completions: &mut Vec<Completion>) {
        if self.context.commands.completions.take_time() {
            return self.emit_late(completions);
        }
        if let Some((at, tag)) = self.context.commands.completions.hand_out(completions) {
            self.context.note(move |ledger| ledger.completes(at, tag));
            self.leave(at, tag);
        }
    }

    /// As [`Ssd::emit`], where the way to the host takes time.
    #[inline(never)]
    fn emit_late(&mut self, completions: &mut Vec<Completion>) {
        if let Some(heard) = self.context.commands.completions.heard() {
            completions.push(heard);
            self.context.note(move |ledger| ledger.completes(heard.at, heard.tag));
            return;
        }
        let Some(completion) = self.context.commands.completions.pop() else { return };
        self.context.commands.completions.set_out(completion);
        self.leave(completion.at, completion.tag);
    }

    /// Command `tag` has left the drive's queue at `at`: one that waits takes its place.
    #[inline]
    fn leave(&mut self, at: Nanos, tag: Tag) {
        if self.host.leave(at, tag) {
            self.take_place(at);
        }
    }

    #[inline(never)]
    fn take_place(&mut self, at: Nanos) {
        // The command enters when the slot became free, also where the caller advances late.
        if let Some(Submission { command, tag, data }) = self.host.take_waiting() {
            self.accept(at, command, tag, &data);
        }
    }

    /// Commands submitted whose completion the host does not have: those on their way in or out included.
    pub fn commands_in_flight(&self) -> u32 {
        self.host.in_flight(&self.context.commands)
    }
}
