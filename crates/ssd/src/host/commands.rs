//! The way of a command: over the link, through the master core, unit by unit to the flash cores, and out again.

use super::{Part, Progress, Request, Then};
use crate::core::CoreContext;
use crate::core::FlashCore;
use crate::core::{CoreWork, Effect};
use crate::events::DriveSource;
use crate::host::HostRequestId;
use crate::op::UnitWork;
use crate::ssd::Ssd;
use outlast_device::{Command, LatencyCause, Op as HostOp, Outcome, Tag};
use outlast_settings::drive::WriteCache;
use outlast_units::{CoreId, Lpn, Nanos, SECTOR_BYTES};
use std::ops::Range;

impl FlashCore {
    /// Sees that flash core `core` acts when it has done the first piece of its work.
    #[inline]
    pub(crate) fn schedule_core(&mut self, context: &mut CoreContext) {
        let next = self.cpu.next();
        context.events.set(DriveSource::Core(self.id), next);
    }
}

impl CoreContext {
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

impl Ssd {
    pub(super) fn accept(&mut self, now: Nanos, command: Command, tag: Tag, data: &[u8]) {
        let end = command.lba.0.checked_add(u64::from(command.sectors));
        let in_range = command.op == HostOp::Flush || end.is_some_and(|end| end <= self.context.size.sectors);
        let outcome = if in_range { Outcome::Ok } else { Outcome::OutOfRange };
        let must_reach_flash = match command.op {
            HostOp::Flush => self.has_to_flush(),
            HostOp::Write => match self.context.write_cache() {
                WriteCache::Protected => false,
                WriteCache::Volatile => command.fua,
                WriteCache::Off => true,
            },
            HostOp::Read | HostOp::Trim | HostOp::LbaStatus => false,
        };
        let then = if must_reach_flash && in_range { self.then_to_flash() } else { Then::Complete };
        let request = self.context.host.requests.begin(now, command, tag, outcome, then);
        self.context.note(move |ledger| ledger.accepted(now, request, tag));
        let is_write = command.op == HostOp::Write && in_range;
        if self.context.config.bytes && is_write {
            self.take_in(request, &command, data);
        }
        if is_write && self.context.host.link.receive(now, &command, request) {
            self.context.events.set(DriveSource::Link, self.context.host.next_in());
        } else {
            self.fetched(now, request);
        }
    }

    /// Keeps the bytes that write `request` brings, if it has come with any.
    fn take_in(&mut self, request: HostRequestId, command: &Command, data: &[u8]) {
        let whole = u64::from(command.sectors) * SECTOR_BYTES;
        assert!(
            data.is_empty() || data.len() as u64 == whole,
            "a write of {whole} bytes has come with {}",
            data.len()
        );
        let unit_bytes = self.context.config.ftl.mapping_unit.0 as usize;
        let (mut unit, offset) = self.unit_of(command.lba.0);
        let (mut rest, mut room) = (data, unit_bytes - offset as usize * SECTOR_BYTES as usize);
        while !rest.is_empty() {
            let (own, others) = rest.split_at(rest.len().min(room));
            let (core, lpn) = self.context.core_of(unit);
            let part = if own.len() == unit_bytes {
                let made = self.cores[core].ftl.make_unit(lpn, own);
                Part::Whole(made.expect("a drive that keeps bytes makes units"))
            } else {
                Part::Sectors(own.into())
            };
            self.context.host.bytes.bring(request, unit, part);
            (unit, rest, room) = (unit + 1, others, unit_bytes);
        }
    }

    #[inline]
    pub(super) fn fetched(&mut self, now: Nanos, request: HostRequestId) {
        if self.context.host.is_direct {
            self.split_now(now, request);
        } else {
            self.fetched_indirectly(now, request);
        }
    }

    #[inline(never)]
    fn fetched_indirectly(&mut self, now: Nanos, request: HostRequestId) {
        match self.context.host.costs {
            None => self.split(now, request),
            Some(costs) => {
                self.occupy_master(now, request, costs.of(self.context.host.requests.command(request).op))
            }
        }
    }

    fn occupy_master(&mut self, now: Nanos, request: HostRequestId, cost: Nanos) {
        if cost == Nanos::ZERO && self.master.is_free(now) {
            return self.split(now, request);
        }
        self.master.take(now, cost, request);
        self.context.events.set(DriveSource::Master, self.master.next());
    }

    pub(crate) fn master_event(&mut self, now: Nanos) {
        let request = self.master.done().expect("the master core's event has work");
        self.context.events.set(DriveSource::Master, self.master.next());
        self.context.note_spent(now, request, LatencyCause::Firmware);
        self.split(now, request);
    }

    /// Splits a command into its units and hands them to their flash cores, unless it is held up.
    fn split(&mut self, now: Nanos, request: HostRequestId) {
        if self.context.host.in_order.is_none() || !self.is_held_up(request) {
            self.split_now(now, request);
        }
    }

    pub(super) fn split_now(&mut self, now: Nanos, request: HostRequestId) {
        let command = *self.context.host.requests.command(request);
        if self.context.host.requests.outcome(request) == Outcome::Ok {
            match command.op {
                HostOp::Flush => {}
                HostOp::LbaStatus => self.begin_status(now, request),
                HostOp::Read | HostOp::Write | HostOp::Trim => self.split_units(now, request, &command),
            }
        }
        self.context.finish_parts(now, request, 1);
    }

    fn split_units(&mut self, now: Nanos, request: HostRequestId, command: &Command) {
        let (is_read, controller) = (command.op == HostOp::Read, &self.context.config.controller);
        let cost = if is_read { controller.read_cost } else { controller.write_cost };
        let encodes = controller.encode_cost != Nanos::ZERO && command.op == HostOp::Write;
        if self.context.config.bytes && is_read && command.sectors != 0 {
            self.context.host.bytes.begin_read(request, command.sectors);
        }
        let (mut unit, mut offset) = self.unit_of(command.lba.0);
        let mut rest = command.sectors;
        let gathers = is_read && rest > self.context.size.sectors_per_unit - offset;
        if gathers {
            self.context.flash.begin_gathering();
        }
        while rest != 0 {
            let sectors = rest.min(self.context.size.sectors_per_unit - offset);
            // A read goes to where the data is, all else to where it belongs.
            let (mut core, mut lpn) = self.context.core_of(unit);
            if self.context.redirection.is_some() && is_read {
                (core, lpn) = self.place_of(unit);
            }
            self.context.host.requests.add_part(request);
            let work = UnitWork::new(request, lpn, offset as u16, sectors as u16);
            let cost = if encodes { cost + self.encode_time(core, work) } else { cost };
            self.hand_over(now, core, cost, work);
            self.settle(now);
            rest -= sectors;
            offset = 0;
            unit += 1;
        }
        if gathers {
            self.end_gathering(now);
        }
    }

    /// Hands `work` to flash core `core`, which takes `cost` before it acts on it.
    #[inline]
    pub(crate) fn hand_over(&mut self, now: Nanos, core: CoreId, cost: Nanos, work: UnitWork) {
        if cost == Nanos::ZERO && self.cores[core].cpu.is_free(now) {
            self.execute(now, core, work);
        } else {
            if self.is_of_page_before(core, work) {
                self.cores[core].cpu.take_another_unit(now, cost);
            } else {
                self.cores[core].cpu.take(now, cost, CoreWork::Units { first: work, units: 1 });
            }
            self.cores[core].schedule_core(&mut self.context);
        }
    }

    /// Whether `work` reads the unit after those that core `core` was given last, in the same program unit: firmware looks up all
    /// that a command wants of a page, then has the page read.
    fn is_of_page_before(&self, core: CoreId, work: UnitWork) -> bool {
        let Some(&CoreWork::Units { first: before, units }) = self.cores[core].cpu.last() else {
            return false;
        };
        if before.request != work.request
            || before.lpn + units != work.lpn
            || self.context.host.requests.command(work.request).op != HostOp::Read
            || self.context.redirection.is_some()
        {
            return false;
        }
        let ftl = &self.cores[core].ftl;
        let (last, this) = (ftl.lookup(Lpn(work.lpn.0 - 1)), ftl.lookup(work.lpn));
        last.is_some() && this.is_some() && ftl.layout().pu_of(last).0 == ftl.layout().pu_of(this).0
    }

    pub(crate) fn cpu_event(&mut self, now: Nanos, core: CoreId) {
        let work = self.cores[core].cpu.done().expect("a processor's event has work");
        self.cores[core].schedule_core(&mut self.context);
        match work {
            CoreWork::Units { first, units: 1 } => self.execute(now, core, first),
            CoreWork::Units { first, units } => self.execute_page(now, core, first, units),
            CoreWork::Search { request } => self.context.finish_parts(now, request, 1),
            CoreWork::Mark { request } => {
                self.cores[core].marked(now, &mut self.context, request);
                self.go_on_with_lists(now);
            }
        }
    }

    /// A flash core acts on neighbouring units of a read that lie in one program unit.
    fn execute_page(&mut self, now: Nanos, core: CoreId, first: UnitWork, units: u32) {
        debug_assert!(units > 1, "a page of one unit");
        let command = self.context.host.requests.command(first.request);
        let end = command.lba.0 + u64::from(command.sectors);
        self.context.flash.begin_gathering();
        self.execute(now, core, first);
        for lpn in Lpn::each(first.lpn + 1..first.lpn + units) {
            let start = self.context.unit_at(core, lpn) * u64::from(self.context.size.sectors_per_unit);
            let sectors = u64::from(self.context.size.sectors_per_unit).min(end - start) as u16;
            self.execute(now, core, UnitWork { lpn, first: 0, sectors, ..first });
        }
        self.end_gathering(now);
    }
}
