//! Units of commands on their way to the flash cores, and what these do when they have had time for them.

use crate::ssd::Ssd;
use outlast_controller::{CoreWork, HostRequestId, UnitWork};
use outlast_device::{Command, Op as HostOp};
use outlast_units::{CoreId, Lpn, Nanos};

impl Ssd {
    /// Splits `request`, which waits for nothing else. A read or a write within one unit is handed over as a whole where nothing is on the way: the part that is
    /// held until a command has been split is then that unit's.
    #[allow(clippy::inline_always, reason = "the way of every command, whose parts are then in registers")]
    #[inline(always)]
    pub(super) fn split_or_hand_over(&mut self, now: Nanos, request: HostRequestId, command: &Command) {
        let (unit, offset) = self.context.size.unit_of(command.lba.0);
        let Command { op, sectors, .. } = *command;
        let is_within_one = sectors != 0 && sectors <= self.context.size.sectors_per_unit - offset;
        let is_bare = match op {
            HostOp::Read | HostOp::Write => is_within_one && self.context.passes_units(op == HostOp::Read),
            _ => false,
        };
        if !is_bare {
            return self.fetched_apart(now, request);
        }
        self.hand_over_unit::<true>(now, request, op, (unit, offset, sectors));
    }

    /// Hands `sectors` sectors of unit `unit` from `offset` on to the flash core; where `BARE`, all of a command, in a drive that [passes
    /// units](outlast_controller::CoreContext::passes_units).
    #[allow(clippy::inline_always, reason = "as Ssd::hand_over_next")]
    #[inline(always)]
    pub(super) fn hand_over_unit<const BARE: bool>(
        &mut self,
        now: Nanos,
        request: HostRequestId,
        op: HostOp,
        (unit, offset, sectors): (u64, u32, u32),
    ) {
        let controller = &self.context.config.controller;
        let (is_read, encode_cost) = (op == HostOp::Read, controller.encode_cost);
        let mut cost = Nanos::ZERO;
        if !BARE {
            cost = if is_read { controller.read_cost } else { controller.write_cost };
            cost += self.context.config.ftl.map_cache.map_or(Nanos::ZERO, |cache| cache.host_lookup);
        }
        // A read goes to where the data is, all else to where it belongs.
        let (mut core, mut lpn) = self.context.core_of(unit);
        if !BARE && self.context.homes.is_some() {
            (core, lpn) = self.place_of_part(request, unit);
        }
        let work = UnitWork::new(request, lpn, offset as u16, sectors as u16);
        let encodes = !BARE && encode_cost != Nanos::ZERO && op.writes();
        let cost = if encodes { cost + self.encode_time(core, work) } else { cost };
        self.hand_over::<BARE>(now, core, cost, (op, work));
    }

    /// The place that unit `unit` of command `request` is handed to.
    #[cold]
    fn place_of_part(&self, request: HostRequestId, unit: u64) -> (CoreId, Lpn) {
        let command = self.context.commands.requests.command(request);
        match command.op {
            HostOp::Read => self.directory().place_of(unit),
            HostOp::Write => self.directory().place_of_write(unit, command.placement),
            _ => self.context.core_of(unit),
        }
    }

    /// Hands `work`, of a command of kind `op`, to flash core `core`, which takes `cost` before it acts on it.
    #[allow(clippy::inline_always, reason = "a comparison, mostly, for every unit of a command")]
    #[inline(always)]
    fn hand_over<const BARE: bool>(
        &mut self,
        now: Nanos,
        core: CoreId,
        cost: Nanos,
        (op, work): (HostOp, UnitWork),
    ) {
        let units = || CoreWork::Units { first: work, units: 1 };
        if self.cores[core].take_work(now, &mut self.context, cost, units) {
            self.execute::<BARE>(now, core, op, work);
        }
    }

    /// Flash core `core` has done the first piece of its work.
    pub(crate) fn cpu_event(&mut self, now: Nanos, core: CoreId) {
        match self.cores[core].end_work(&mut self.context) {
            CoreWork::Units { first, units: 1 } => {
                let op = self.context.commands.requests.command(first.request).op;
                self.execute::<false>(now, core, op, first);
            }
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
        let command = self.context.commands.requests.command(first.request);
        let (op, end) = (command.op, command.lba.0 + u64::from(command.sectors));
        self.context.flash.begin_gathering();
        self.execute::<false>(now, core, op, first);
        for lpn in Lpn::each(first.lpn + 1..first.lpn + units) {
            let start = self.context.unit_at(core, lpn) * u64::from(self.context.size.sectors_per_unit);
            let sectors = u64::from(self.context.size.sectors_per_unit).min(end - start) as u16;
            self.execute::<false>(now, core, op, UnitWork { lpn, first: 0, sectors, ..first });
        }
        self.end_gathering(now);
    }
}
