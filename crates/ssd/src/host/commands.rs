//! The way of a command: over the link, through the master core, unit by unit to the flash cores, and out again.

use crate::ssd::Ssd;
use outlast_controller::{DriveSource, HostRequestId, Part, Then};
use outlast_device::{Command, LatencyCause, NamespaceId, Op as HostOp, Outcome, Tag};
use outlast_settings::drive::WriteCache;
use outlast_units::{Nanos, SECTOR_BYTES};

/// A command that is being split into its units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandSplit {
    pub(crate) request: HostRequestId,
    op: HostOp,
    /// The next unit, and the first sector in it.
    unit: u64,
    offset: u32,
    /// Sectors that are left.
    pub(crate) rest: u32,
    /// True if reads are gathered, so that units of one program unit are read together.
    gathers: bool,
}

impl Ssd {
    #[allow(clippy::inline_always, reason = "the way of every command, whose parts are then in registers")]
    #[inline(always)]
    pub(super) fn accept(&mut self, now: Nanos, command: Command, tag: Tag, data: &[u8]) {
        if self.context.zones.is_some() {
            accept_zoned(self, now, command, tag, data);
        } else {
            self.accept_as::<false>(now, command, tag, data);
        }
    }

    /// Accepts a command, of a drive with zones where `ZONED`: there it is rewritten, and so is in memory and not in registers.
    #[allow(clippy::inline_always, reason = "the way of every command, whose parts are then in registers")]
    #[inline(always)]
    fn accept_as<const ZONED: bool>(&mut self, now: Nanos, mut command: Command, tag: Tag, data: &[u8]) {
        let end = command.lba.0.checked_add(u64::from(command.sectors));
        let in_range = command.op == HostOp::Flush || end.is_some_and(|end| end <= self.context.size.sectors);
        let is_known = command.namespace == NamespaceId::FIRST;
        let outcome = match (is_known, in_range) {
            (false, _) => Outcome::InvalidNamespace,
            (true, _) if ZONED => self.context.accept_in_zone(&mut command, tag),
            (true, false) => Outcome::OutOfRange,
            (true, true) if command.op > HostOp::LbaStatus => Outcome::InvalidOpcode,
            (true, true) => Outcome::Ok,
        };
        let in_range = if ZONED { outcome == Outcome::Ok } else { in_range };
        let must_reach_flash = match command.op {
            HostOp::Flush => self.has_to_flush(),
            HostOp::Write | HostOp::Append => match self.context.write_cache() {
                WriteCache::Protected => false,
                WriteCache::Volatile => command.fua,
                WriteCache::Off => true,
            },
            HostOp::Read | HostOp::Trim | HostOp::LbaStatus | HostOp::ManageZone => false,
        };
        let then = if must_reach_flash && in_range { self.then_to_flash() } else { Then::Complete };
        let request = self.context.commands.requests.begin(now, command, tag, outcome, then);
        self.context.note(move |ledger| ledger.accepted(now, request, tag));
        let is_write = command.op.writes() && in_range;
        if ZONED && outcome == Outcome::Ok {
            self.context.begin_in_zone(request, &command);
        }
        if is_write {
            self.handles.note_write(command.placement);
        }
        if self.context.config.bytes && is_write {
            self.take_in(request, &command, data);
        }
        if is_write && self.context.commands.link.receive(now, &command, request) {
            self.context.events.set(DriveSource::Link, self.host.next_in(&self.context.commands));
        } else if !ZONED && self.host.is_direct && outcome == Outcome::Ok && then == Then::Complete {
            self.split_or_hand_over(now, request, &command);
        } else {
            self.fetched_apart(now, request);
        }
    }

    /// [`Ssd::fetched`], out of the way of commands that are one unit.
    #[inline(never)]
    pub(super) fn fetched_apart(&mut self, now: Nanos, request: HostRequestId) {
        self.fetched(now, request);
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
        let (mut unit, offset) = self.context.size.unit_of(command.lba.0);
        let (mut rest, mut room) = (data, unit_bytes - offset as usize * SECTOR_BYTES as usize);
        while !rest.is_empty() {
            let (own, others) = rest.split_at(rest.len().min(room));
            let (core, lpn) = self.context.core_of(unit);
            let part = if own.len() == unit_bytes {
                let made = self.cores[core].ftl_mut().make_unit(lpn, own);
                Part::Whole(made.expect("a drive that keeps bytes makes units"))
            } else {
                Part::Sectors(own.into())
            };
            self.context.commands.bytes.bring(request, unit, part);
            (unit, rest, room) = (unit + 1, others, unit_bytes);
        }
    }

    #[allow(clippy::inline_always, reason = "the way of every command, whose parts are then in registers")]
    #[inline(always)]
    pub(super) fn fetched(&mut self, now: Nanos, request: HostRequestId) {
        if self.host.is_direct {
            self.split_now(now, request);
        } else {
            self.fetched_indirectly(now, request);
        }
    }

    #[inline(never)]
    fn fetched_indirectly(&mut self, now: Nanos, request: HostRequestId) {
        match self.host.costs {
            None => self.split(now, request),
            Some(costs) => {
                self.occupy_master(
                    now,
                    request,
                    costs.of(self.context.commands.requests.command(request).op),
                );
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
    #[inline(never)]
    fn split(&mut self, now: Nanos, request: HostRequestId) {
        if self.host.in_order.is_none() || !self.is_held_up(request) {
            self.split_now(now, request);
        }
    }

    /// Splits a command, and has the drive settle after each of its units.
    #[allow(clippy::inline_always, reason = "the way of every command, whose parts are then in registers")]
    #[inline(always)]
    pub(super) fn split_now(&mut self, now: Nanos, request: HostRequestId) {
        if self.context.zones.is_some() && self.context.waits_in_zone(request) {
            return;
        }
        if let Some(mut split) = self.begin_split(now, request) {
            while split.rest != 0 {
                self.hand_over_next(now, &mut split);
                self.settle(now);
            }
            self.end_split(now, &split);
        }
        self.context.finish_parts(now, request, 1);
    }

    /// Begins to split a command; `None` if it has no units.
    #[allow(clippy::inline_always, reason = "the way of every command, whose split is then in registers")]
    #[inline(always)]
    pub(crate) fn begin_split(&mut self, now: Nanos, request: HostRequestId) -> Option<CommandSplit> {
        let command = *self.context.commands.requests.command(request);
        if self.context.commands.requests.outcome(request) != Outcome::Ok {
            return None;
        }
        match command.op {
            HostOp::Flush => return None,
            HostOp::LbaStatus => {
                self.begin_status(now, request);
                return None;
            }
            HostOp::ManageZone => {
                self.act_on_zone(now, request);
                return None;
            }
            HostOp::Read | HostOp::Write | HostOp::Trim | HostOp::Append => {}
        }
        let is_read = command.op == HostOp::Read;
        if self.context.config.bytes && is_read && command.sectors != 0 {
            self.context.commands.bytes.begin_read(request, command.sectors);
        }
        let ((unit, offset), rest) = (self.context.size.unit_of(command.lba.0), command.sectors);
        let gathers = is_read && rest > self.context.size.sectors_per_unit - offset;
        if gathers {
            self.context.flash.begin_gathering();
        }
        Some(CommandSplit { request, op: command.op, unit, offset, rest, gathers })
    }

    /// Hands the next unit of a command to its flash core.
    #[allow(clippy::inline_always, reason = "the way of every command, whose split is then in registers")]
    #[inline(always)]
    pub(crate) fn hand_over_next(&mut self, now: Nanos, split: &mut CommandSplit) {
        let CommandSplit { request, op, unit, offset, rest, .. } = *split;
        let sectors = rest.min(self.context.size.sectors_per_unit - offset);
        self.context.commands.requests.add_part(request);
        self.hand_over_unit::<false>(now, request, op, (unit, offset, sectors));
        (split.rest, split.offset, split.unit) = (rest - sectors, 0, unit + 1);
    }

    /// All units of a command have been handed over.
    #[allow(clippy::inline_always, reason = "the way of every command, whose split is then in registers")]
    #[inline(always)]
    pub(crate) fn end_split(&mut self, now: Nanos, split: &CommandSplit) {
        if split.gathers {
            self.end_gathering(now);
        }
    }
}

/// Accepts a command of a drive with zones, out of the way of all others.
#[cold]
#[inline(never)]
fn accept_zoned(ssd: &mut Ssd, now: Nanos, command: Command, tag: Tag, data: &[u8]) {
    ssd.accept_as::<true>(now, command, tag, data);
}
