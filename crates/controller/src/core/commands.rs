//! Parts of commands that end, and what follows for the command: data to the link, failures, completions, flushes.

use crate::commands::{HostRequestId, Request, Then};
use crate::core::{CoreContext, Effect};
use crate::op::UnitWork;
use outlast_device::{Command, LatencyCause, Op as HostOp, Outcome, Tag};
use outlast_media::UnitBytes;
use outlast_settings::drive::FlushPolicy;
use outlast_units::{CoreId, Lpn, Nanos, SECTOR_BYTES};
use std::ops::Range;

impl CoreContext {
    /// Flushes whose programs have all ended go on.
    #[inline]
    pub fn end_barriers(&mut self, now: Nanos) {
        while let Some(request) = self.commands.flushes.next_reached() {
            self.note_spent(now, request, LatencyCause::Program);
            self.finish_parts(now, request, 1);
        }
    }

    /// A program operation of flush epoch `epoch` has ended.
    #[inline]
    pub(crate) fn count_out(&mut self, now: Nanos, epoch: u32) {
        self.commands.flushes.count_out(epoch);
        self.end_barriers(now);
    }

    /// A unit that a command needs is known to be lost.
    #[cold]
    pub fn end_in_error(&mut self, now: Nanos, core: CoreId, work: UnitWork) {
        self.counters.medium_errors += 1;
        self.look_at_state();
        self.commands.failures.note(work.request, self.unit_at(core, work.lpn));
        self.commands.requests.fail(work.request, Outcome::MediumError);
        self.finish_parts(now, work.request, 1);
    }

    /// Puts the bytes of a unit, rebuilt from its stripe, where the read that asked for it returns them.
    pub(crate) fn deliver(&mut self, request: HostRequestId, core: CoreId, lpn: Lpn, unit: &UnitBytes) {
        let (start, command) = (self.first_sector(core, lpn), *self.commands.requests.command(request));
        self.commands.bytes.deliver(&command, request, start, u64::from(self.size.sectors_per_unit), unit);
    }

    /// The first host sector of the unit that core `core` knows by number `lpn`.
    pub fn first_sector(&self, core: CoreId, lpn: Lpn) -> u64 {
        self.unit_at(core, lpn) * u64::from(self.size.sectors_per_unit)
    }

    /// `units` units of request `request` are decoded and cross the link. Decoding is pipelined, so that its order does not matter: the link
    /// is booked as if it went first, and the request is ready so much later.
    #[inline(never)]
    pub(super) fn decode_then_send(&mut self, now: Nanos, request: HostRequestId, units: u32, decode: Nanos) {
        let sent = self.commands.link.send(now, self.sectors_sent(request, units) * SECTOR_BYTES);
        let ready = sent.unwrap_or(now) + decode;
        self.note(move |ledger| ledger.decodes(request, ready, decode));
        self.commands.requests.not_before(request, ready);
    }

    /// The units of a host read are in the controller, where decoding them takes `decode`.
    #[allow(clippy::inline_always, reason = "once for each read, in the frame of its end")]
    #[inline(always)]
    pub(crate) fn host_read(&mut self, now: Nanos, request: HostRequestId, units: u32, decode: Nanos) {
        if decode != Nanos::ZERO {
            self.decode_then_send(now, request, units, decode);
        } else if self.commands.link.is_there() {
            self.data_moved(now, request, self.sectors_sent(request, units));
        }
        finish_parts_here(self, now, request, units);
    }

    /// Sectors that cross the link for `units` units of a read.
    #[inline]
    pub(super) fn sectors_sent(&self, request: HostRequestId, units: u32) -> u64 {
        // Only the last unit of a command can be partial at its end; the link carries what was asked for.
        let asked = u64::from(self.commands.requests.command(request).sectors);
        asked.min(u64::from(units) * u64::from(self.size.sectors_per_unit))
    }

    /// A command has ended that is to be on flash, and is not.
    #[cold]
    pub(crate) fn put_off_flush(&mut self, now: Nanos) {
        if let FlushPolicy::Late(by) = self.config.controller.flush {
            self.commands.late.put_off(now + by);
            self.call_housekeeping(now + by);
        }
    }

    /// `cause` has kept all of `request` until now.
    #[inline]
    pub fn note_spent(&mut self, now: Nanos, request: HostRequestId, cause: LatencyCause) {
        self.note(move |ledger| ledger.spent(now, request, cause));
    }

    /// Data of a read has left the flash side; it now crosses the link.
    #[inline]
    pub fn data_moved(&mut self, now: Nanos, request: HostRequestId, sectors: u64) {
        if let Some(at) = self.commands.link.send(now, sectors * SECTOR_BYTES) {
            self.commands.requests.sent(request, at);
        }
    }

    /// `parts` units of a command are done; the last one completes it.
    #[inline]
    pub fn finish_parts(&mut self, now: Nanos, id: HostRequestId, parts: u32) {
        if self.commands.requests.end_parts(id, parts) {
            self.request_ended(now, id);
        }
    }

    /// All parts of request `id` are done.
    #[inline(never)]
    fn request_ended(&mut self, now: Nanos, id: HostRequestId) {
        match self.commands.requests.then(id) {
            Then::Complete | Then::FlushLater => {
                let request = self.commands.requests.end(id);
                if self.zones.is_some() {
                    self.complete::<true>(now, id, &request);
                } else {
                    self.complete::<false>(now, id, &request);
                }
            }
            Then::Forget => {
                self.commands.requests.end(id);
            }
            Then::AwaitFlash => {
                self.commands.requests.await_flash(id);
                self.note(move |ledger| ledger.is_buffered(now, id));
                self.commands.flushes.call(id);
                self.look_at_commands();
            }
            // A move of the drive's own has ended.
            Then::MoveOn => {
                let outcome = self.commands.requests.end(id).outcome;
                self.commands.failures.forget(id);
                self.moves.ended(outcome);
                self.look_at_commands();
            }
        }
    }

    /// Completes a request, of a drive with zones where `ZONED`: there it is passed on as a whole, and so is kept in memory.
    #[allow(clippy::inline_always, reason = "once for each command, in the frame of its last part's end")]
    #[inline(always)]
    fn complete<const ZONED: bool>(&mut self, now: Nanos, id: HostRequestId, request: &Request) {
        self.commands.life.count(&request.command, request.outcome);
        self.note(move |ledger| ledger.is_done(now, id));
        if !request.is_good() {
            // By its parts: a request that is passed on as a whole would be kept in memory for all that end well, too.
            let Command { lba, sectors, .. } = request.command;
            self.note_failure(id, lba.0..lba.0 + u64::from(sectors), request.tag, request.outcome);
        } else if request.command.op == HostOp::LbaStatus {
            let Command { lba, sectors, .. } = request.command;
            let command = Command::new(HostOp::LbaStatus, lba, sectors);
            self.unsettled.add_effect(Effect::StatusDone { request: id, command, tag: request.tag });
        }
        if self.config.bytes {
            self.commands.bytes.end(id, request.command.sectors, request.tag, request.is_good());
        }
        if ZONED {
            return self.complete_in_zone(now, id, request);
        }
        self.commands.complete(now, request);
        if request.is_early() {
            self.put_off_flush(now);
        }
    }

    /// Completes a request of a drive with zones, where what waited for it may go on.
    #[cold]
    fn complete_in_zone(&mut self, now: Nanos, id: HostRequestId, request: &Request) {
        let CoreContext { zones, commands, unsettled, .. } = self;
        let Some(zones) = zones else { return };
        let is_refused = matches!(
            request.outcome,
            Outcome::Zone(_) | Outcome::OutOfRange | Outcome::InvalidNamespace | Outcome::InvalidOpcode
        );
        if is_refused {
            commands.complete(now, request);
        } else {
            let (result, later) =
                zones.ended(id, (&request.command, request.outcome), &mut commands.requests);
            commands.complete_later(now, request, result, later);
        }
        if zones.goes_on() {
            unsettled.add_effect(Effect::ZonesGoOn);
        }
        if request.is_early() {
            self.put_off_flush(now);
        }
    }

    #[cold]
    #[inline(never)]
    fn note_failure(&mut self, id: HostRequestId, asked: Range<u64>, tag: Tag, outcome: Outcome) {
        let per_unit = u64::from(self.size.sectors_per_unit);
        let runs = self.commands.failures.end(id, asked, per_unit);
        if outcome == Outcome::MediumError {
            self.commands.failures.keep(tag, runs);
        }
    }
}

/// [`CoreContext::finish_parts`] in the frame of the caller.
#[allow(clippy::inline_always, reason = "once for each read and write of the host")]
#[inline(always)]
pub(super) fn finish_parts_here(context: &mut CoreContext, now: Nanos, id: HostRequestId, parts: u32) {
    if !context.commands.requests.end_parts(id, parts) {
        return;
    }
    if context.zones.is_none() && context.commands.requests.then(id) == Then::Complete {
        let request = context.commands.requests.end(id);
        context.complete::<false>(now, id, &request);
    } else {
        context.request_ended(now, id);
    }
}
