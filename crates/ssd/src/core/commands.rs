//! Parts of commands that end, and what follows for the command: data to the link, failures, completions, flushes.

use crate::core::{CoreContext, Effect};
use crate::host::{HostRequestId, Progress, Request};
use crate::op::UnitWork;
use outlast_device::{Command, LatencyCause, Op as HostOp, Outcome, Tag};
use outlast_media::UnitBytes;
use outlast_settings::drive::FlushPolicy;
use outlast_units::{CoreId, Lpn, Nanos, SECTOR_BYTES};
use std::ops::Range;

impl CoreContext {
    /// Flushes whose programs have all ended go on.
    #[inline]
    pub(crate) fn end_barriers(&mut self, now: Nanos) {
        while let Some(request) = self.host.flushes.next_reached() {
            self.note_spent(now, request, LatencyCause::Program);
            self.finish_parts(now, request, 1);
        }
    }

    /// A program operation of flush epoch `epoch` has ended.
    pub(crate) fn count_out(&mut self, now: Nanos, epoch: u32) {
        self.host.flushes.count_out(epoch);
        self.end_barriers(now);
    }

    /// A unit that a command needs is known to be lost.
    #[cold]
    pub(crate) fn end_in_error(&mut self, now: Nanos, core: CoreId, work: UnitWork) {
        self.counters.medium_errors += 1;
        self.look_at_state();
        self.host.failures.note(work.request, self.unit_at(core, work.lpn));
        self.host.requests.fail(work.request, Outcome::MediumError);
        self.finish_parts(now, work.request, 1);
    }

    /// Puts the bytes of a unit, rebuilt from its stripe, where the read that asked for it returns them.
    pub(crate) fn deliver(&mut self, request: HostRequestId, core: CoreId, lpn: Lpn, unit: &UnitBytes) {
        let (start, command) = (self.first_sector(core, lpn), *self.host.requests.command(request));
        self.host.bytes.deliver(&command, request, start, u64::from(self.size.sectors_per_unit), unit);
    }

    /// The first host sector of the unit that core `core` knows by number `lpn`.
    pub(crate) fn first_sector(&self, core: CoreId, lpn: Lpn) -> u64 {
        self.unit_at(core, lpn) * u64::from(self.size.sectors_per_unit)
    }

    /// `units` units of request `request` are decoded and cross the link. Decoding is pipelined, so that its order does not matter: the link
    /// is booked as if it went first, and the request is ready so much later.
    #[inline(never)]
    pub(super) fn decode_then_send(&mut self, now: Nanos, request: HostRequestId, units: u32, decode: Nanos) {
        let sent = self.host.link.send(now, self.sectors_sent(request, units) * SECTOR_BYTES);
        let ready = sent.unwrap_or(now) + decode;
        self.note(move |ledger| ledger.decodes(request, ready, decode));
        self.host.requests.not_before(request, ready);
    }

    /// The units of a host read are in the controller, where decoding them takes `decode`.
    #[inline]
    pub(crate) fn host_read(&mut self, now: Nanos, request: HostRequestId, units: u32, decode: Nanos) {
        if decode != Nanos::ZERO {
            self.decode_then_send(now, request, units, decode);
        } else if self.host.link.is_there() {
            self.data_moved(now, request, self.sectors_sent(request, units));
        }
        self.finish_parts(now, request, units);
    }

    /// Sectors that cross the link for `units` units of a read.
    #[inline]
    pub(super) fn sectors_sent(&self, request: HostRequestId, units: u32) -> u64 {
        // Only the last unit of a command can be partial at its end; the link carries what was asked for.
        let asked = u64::from(self.host.requests.command(request).sectors);
        asked.min(u64::from(units) * u64::from(self.size.sectors_per_unit))
    }

    /// A command has ended that is to be on flash, and is not.
    #[cold]
    pub(crate) fn put_off_flush(&mut self, now: Nanos) {
        if let FlushPolicy::Late(by) = self.config.controller.flush {
            self.host.late.put_off(now + by);
            self.call_housekeeping(now + by);
        }
    }

    /// `cause` has kept all of `request` until now.
    #[inline]
    pub(crate) fn note_spent(&mut self, now: Nanos, request: HostRequestId, cause: LatencyCause) {
        self.note(move |ledger| ledger.spent(now, request, cause));
    }

    /// Data of a read has left the flash side; it now crosses the link.
    #[inline]
    pub(crate) fn data_moved(&mut self, now: Nanos, request: HostRequestId, sectors: u64) {
        if let Some(at) = self.host.link.send(now, sectors * SECTOR_BYTES) {
            self.host.requests.sent(request, at);
        }
    }

    /// `parts` units of a command are done; the last one completes it.
    #[inline]
    pub(crate) fn finish_parts(&mut self, now: Nanos, id: HostRequestId, parts: u32) {
        match self.host.requests.end_parts(id, parts) {
            Progress::UnderWay | Progress::Forgotten => {}
            Progress::Complete(request) => self.complete(now, id, &request),
            Progress::AwaitFlash => {
                self.note(move |ledger| ledger.is_buffered(now, id));
                self.host.flushes.call(id);
            }
            Progress::Moved(outcome) => self.move_ended(id, outcome),
        }
    }

    #[inline]
    fn complete(&mut self, now: Nanos, id: HostRequestId, request: &Request) {
        self.host.life.count(&request.command, request.outcome);
        self.note(move |ledger| ledger.is_done(now, id));
        if request.outcome != Outcome::Ok {
            // By its parts: a request that is passed on as a whole would be kept in memory for all that end well, too.
            let Command { lba, sectors, .. } = request.command;
            self.note_failure(id, lba.0..lba.0 + u64::from(sectors), request.tag, request.outcome);
        } else if request.command.op == HostOp::LbaStatus {
            let Command { lba, sectors, .. } = request.command;
            let command = Command::new(HostOp::LbaStatus, lba, sectors);
            self.unsettled.add_effect(Effect::StatusDone { request: id, command, tag: request.tag });
        }
        if self.config.bytes {
            self.host.bytes.end(id, request.tag, request.is_good());
        }
        self.host.complete(now, request);
        if request.is_early() {
            self.put_off_flush(now);
        }
    }

    #[cold]
    #[inline(never)]
    fn note_failure(&mut self, id: HostRequestId, asked: Range<u64>, tag: Tag, outcome: Outcome) {
        let per_unit = u64::from(self.size.sectors_per_unit);
        let runs = self.host.failures.end(id, asked, per_unit);
        if outcome == Outcome::MediumError {
            self.host.failures.keep(tag, runs);
        }
    }

    /// A move of the drive's own has ended.
    #[inline(never)]
    fn move_ended(&mut self, id: HostRequestId, outcome: Outcome) {
        self.host.failures.forget(id);
        self.moves.ended(outcome);
    }
}
