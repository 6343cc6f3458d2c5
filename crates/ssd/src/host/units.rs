//! Units of commands on their way to the flash cores: which core acts on a unit, and what a write needs from others before it enters a buffer.

use crate::ssd::Ssd;
use outlast_controller::{Due, HostRequestId, Op, OpKind, Part, UnitWork, WaitingWrite};
use outlast_device::{Op as HostOp, Outcome};
use outlast_media::UnitBytes;
use outlast_settings::drive::WriteCache;
use outlast_units::slab::NIL;
use outlast_units::{CoreId, Lpn, Nanos, SECTOR_BYTES, Stream};
use std::ops::ControlFlow;

impl Ssd {
    /// Flash core `core` acts on one unit of a command of kind `op`; where `BARE`, on all of it, in a drive that
    /// [passes units](outlast_controller::CoreContext::passes_units).
    #[allow(clippy::inline_always, reason = "the way of every command, whose parts are then in registers")]
    #[inline(always)]
    pub(crate) fn execute<const BARE: bool>(&mut self, now: Nanos, core: CoreId, op: HostOp, work: UnitWork) {
        debug_assert!(
            work.lpn == Lpn::NONE
                || u32::from(work.first) + u32::from(work.sectors) <= self.context.size.sectors_per_unit,
            "work of more than a unit"
        );
        // A die may have failed, or data have moved, since the master core sent it here.
        let has_homes = !BARE && self.context.homes.is_some();
        let moved = if has_homes { self.directory().rerouted(core, work) } else { None };
        let (core, work) = moved.unwrap_or((core, work));
        if !BARE {
            self.context.note(move |ledger| ledger.acts(now, work.request));
        }
        if BARE || self.context.config.ftl.map_cache.is_none() || !self.misses_map(now, core, op, work) {
            self.act::<BARE>(now, core, op, work);
        }
    }

    /// True if a unit that the host reads or writes waits for the page of the mapping table that has its entry. A trim does not: it only changes entries.
    #[inline(never)]
    fn misses_map(&mut self, now: Nanos, core: CoreId, op: HostOp, work: UnitWork) -> bool {
        op != HostOp::Trim && self.cores[core].awaits_map(now, &mut self.context, work)
    }

    /// Page `page` of the mapping table of core `core` has been read: the units that wait for it go on, in the order in which they came.
    pub(crate) fn map_read(&mut self, now: Nanos, core: CoreId, page: u32) {
        while let Some(work) = self.cores[core].take_mapped(now, &mut self.context, page) {
            let moved =
                if self.context.homes.is_some() { self.directory().rerouted(core, work) } else { None };
            let (core, work) = moved.unwrap_or((core, work));
            let op = self.context.commands.requests.command(work.request).op;
            self.act::<false>(now, core, op, work);
        }
    }

    /// Flash core `core` acts on one unit of a command of kind `op`, whose place it knows.
    #[allow(clippy::inline_always, reason = "as Ssd::execute")]
    #[inline(always)]
    fn act<const BARE: bool>(&mut self, now: Nanos, core: CoreId, op: HostOp, work: UnitWork) {
        match op {
            HostOp::Read if !BARE && self.context.zones.is_some() && self.reads_area(now, core, work) => {}
            HostOp::Read if BARE => self.cores[core].read_unit::<true>(now, &mut self.context, work),
            HostOp::Read => read_apart(self, now, core, work),
            HostOp::Write if BARE => self.write_unit::<true>(now, core, work),
            HostOp::Write | HostOp::Append => write_apart(self, now, core, work),
            HostOp::Trim => {
                // A unit trimmed in part keeps its data: deallocation is advice (NVMe 2.0, Dataset Management).
                if u32::from(work.sectors) == self.context.size.sectors_per_unit {
                    self.cores[core].trim_unit(&mut self.context, work);
                    if self.context.homes.is_some()
                        && let Some(former) = self.trimmed_at(core, work.lpn)
                    {
                        self.cores[former].make_due(&mut self.context, Due::Collect);
                    }
                }
                self.context.finish_parts(now, work.request, 1);
            }
            HostOp::LbaStatus | HostOp::Flush | HostOp::ManageZone => {
                unreachable!("such a command has no units")
            }
        }
    }

    /// The time that a flash core takes to bring a unit into the parity that covers it: of its stripe, of its block, and of the blocks in
    /// which the stripe's parity lies.
    pub(crate) fn encode_time(&self, core: CoreId, work: UnitWork) -> Nanos {
        let ftl = self.cores[core].ftl();
        let stream = self.stream_of_write(core, work);
        if !ftl.stream(stream).is_protected() {
            return Nanos::ZERO;
        }
        let code = ftl.parity().code_of_stream(stream);
        let across = u64::from(code.parity);
        let parities = if code.block.is_some() { 2 * across + 1 } else { across };
        Nanos(self.context.config.controller.encode_cost.0 * parities)
    }

    /// The stream of a unit that the host writes.
    #[allow(clippy::inline_always, reason = "as Ssd::queue_write")]
    #[inline(always)]
    pub(crate) fn stream_of_write(&self, core: CoreId, work: UnitWork) -> Stream {
        let command = self.context.commands.requests.command(work.request);
        let class = match &self.classifier {
            None => 0,
            Some(classifier) => classifier.class(command, self.context.first_sector(core, work.lpn)),
        };
        self.cores[core].ftl().streams().host(command.placement.0, class)
    }

    #[allow(clippy::inline_always, reason = "the way of every write of a unit")]
    #[inline(always)]
    fn write_unit<const BARE: bool>(&mut self, now: Nanos, core: CoreId, work: UnitWork) {
        if !BARE && self.context.zones.is_some() && self.enters_area(now, core, work) {
            return;
        }
        if self.classifier.is_some() {
            let sector = self.context.first_sector(core, work.lpn);
            if let Some(classifier) = &mut self.classifier {
                classifier.note(sector);
            }
        }
        let stream = self.stream_of_write(core, work);
        let ftl = self.cores[core].ftl();
        if ftl.is_read_only() && !self.cores[core].awaits_room(&self.context) {
            self.context.commands.requests.fail(work.request, Outcome::ReadOnly);
            self.context.finish_parts(now, work.request, 1);
            return;
        }
        if u32::from(work.sectors) != self.context.size.sectors_per_unit {
            self.context.counters.partial_writes += 1;
            self.context.counters.partial_bytes +=
                u64::from(self.context.size.sectors_per_unit - u32::from(work.sectors)) * SECTOR_BYTES;
            if self.is_rest_lost(core, work) {
                self.context.end_in_error(now, core, work);
                return;
            }
            let (core, work) = self.directory().holder_of_rest(core, work);
            let ftl = self.cores[core].ftl();
            let slot = ftl.lookup(work.lpn);
            if slot.is_some() && ftl.space().pus().is_programmed(slot) {
                // The read's time is spent now; its content is merged when the write enters the buffer, with what is
                // current then, so that two partial writes of one unit cannot lose each other's sectors.
                let of_pu = ftl.layout().pu_of(slot);
                self.cores[core].enqueue_read::<false>(now, &mut self.context, OpKind::RmwRead, of_pu, work);
                return;
            }
        }
        self.queue_write(now, core, WaitingWrite { work, stream });
    }

    /// The old data of a partly written unit is in the controller.
    pub(crate) fn old_data_read(&mut self, now: Nanos, op: &Op) {
        let (mut core, mut work) = (op.core, UnitWork { story: NIL, ..op.work });
        if self.context.homes.is_some()
            && let Some(home) = self.directory().rerouted(core, work)
        {
            (core, work) = home;
        }
        let stream = self.stream_of_write(core, work);
        self.queue_write(now, core, WaitingWrite { work, stream });
    }

    /// True if a write covers only a part of a unit the rest of which cannot be read: nothing whole could be written.
    #[inline]
    pub(super) fn is_rest_lost(&self, core: CoreId, work: UnitWork) -> bool {
        u32::from(work.sectors) != self.context.size.sectors_per_unit && {
            let (core, work) = self.directory().holder_of_rest(core, work);
            self.cores[core].ftl().is_lost(work.lpn)
        }
    }

    /// The unit's new content: of one that is committed, what a random write area holds.
    fn committed_or_merged(&mut self, core: CoreId, work: UnitWork) -> Option<UnitBytes> {
        if let Some(zones) = &self.context.zones
            && zones.is_fill(work.request)
            && let Some(held) = zones.area_content(self.context.unit_at(core, work.lpn))
        {
            return Some(held.clone());
        }
        self.merged(core, work)
    }

    /// The unit's new content: the old one under the sectors written. What comes without bytes leaves the unit as it is.
    pub(crate) fn merged(&mut self, core: CoreId, work: UnitWork) -> Option<UnitBytes> {
        let unit = self.context.unit_at(core, work.lpn);
        let sectors = match self.context.commands.bytes.store(work.request, unit) {
            Some(Part::Whole(whole)) => {
                debug_assert!(
                    u32::from(work.sectors) == self.context.size.sectors_per_unit,
                    "a whole unit is written"
                );
                return Some(whole.with_tag(work.lpn.0));
            }
            Some(Part::Sectors(sectors)) => Some(sectors),
            None => None,
        };
        let (holder, old) = self.directory().holder_of_rest(core, work);
        let ftl = self.cores[holder].ftl();
        let slot = ftl.lookup(old.lpn);
        let old = if slot.is_some() { ftl.load(slot).cloned() } else { None };
        let old = old.unwrap_or(UnitBytes::zero(work.lpn.0));
        let Some(sectors) = sectors else { return Some(old.with_tag(work.lpn.0)) };
        let mut blank = self.cores[core].ftl_mut().blank()?;
        let (bytes, from) = (blank.bytes_mut(), usize::from(work.first) * SECTOR_BYTES as usize);
        old.copy_to(0, bytes);
        bytes[from..from + sectors.len()].copy_from_slice(&sectors);
        Some(blank.into_unit(work.lpn.0))
    }

    /// A write that needs no (more) old data enters the buffer of its core, or waits its turn.
    #[allow(
        clippy::inline_always,
        reason = "the way of every write of the host, whose parts are in registers"
    )]
    #[inline(always)]
    pub(crate) fn queue_write(&mut self, now: Nanos, core: CoreId, write: WaitingWrite) {
        let own = &mut self.cores[core];
        if !own.buffer().any_waits() && own.may_enter(now, &write) {
            self.admit(now, core, write);
        } else {
            own.wait_for_room(now, &mut self.context, write);
        }
    }

    /// A write enters the buffer of its core before all that wait.
    pub(crate) fn queue_first(&mut self, now: Nanos, core: CoreId, write: WaitingWrite) {
        if self.cores[core].may_admit(now, write) {
            self.admit(now, core, write);
        } else {
            self.cores[core].wait_first(now, &mut self.context, write);
        }
    }

    /// Lets writes in that wait for room on core `core`, as far as there is some, or until one of them has made something due that comes first.
    pub(crate) fn admit_waiting(&mut self, now: Nanos, core: CoreId) {
        loop {
            let own = &mut self.cores[core];
            let Some(write) = own.buffer().first_waiting() else { break };
            if own.may_enter(now, &write) {
                own.end_waiting(now, &mut self.context, &write.work);
                self.admit(now, core, write);
            } else if own.is_hopeless(now, &mut self.context, write) {
                own.end_waiting(now, &mut self.context, &write.work);
                self.context.commands.requests.fail(write.work.request, Outcome::ReadOnly);
                if self.context.zones.is_some() {
                    self.context.left_queue(now, core, write.work, true);
                }
                self.context.finish_parts(now, write.work.request, 1);
            } else {
                own.note_blocked(now, &mut self.context, write.stream);
                return;
            }
            let own = &mut self.cores[core];
            if own.is_due_before_admission(&self.context) {
                own.make_due(&mut self.context, Due::Admit);
                return;
            }
        }
        self.cores[core].unblock(now, &mut self.context);
    }

    /// `write` enters the buffer of core `core`, unless what it completes is lost, of a move out of date, or goes to another reclaim group.
    #[allow(clippy::inline_always, reason = "as Ssd::queue_write")]
    #[inline(always)]
    fn admit(&mut self, now: Nanos, core: CoreId, write: WaitingWrite) {
        debug_assert!(self.cores[core].may_enter(now, &write), "a write enters for which there is no room");
        self.cores[core].unblock(now, &mut self.context);
        let is_whole = u32::from(write.work.sectors) == self.context.size.sectors_per_unit;
        // Where a write is whole and all that the checks look for is absent there is nothing to do before it enters.
        if is_whole && self.context.homes.is_none() && !self.context.heeds_writes() {
            self.cores[core].enter::<true>(now, &mut self.context, write, None);
        } else {
            let ControlFlow::Continue(unit) = self.prepare_entry(now, core, write.work) else { return };
            enter_apart(self, now, core, (write, unit));
        }
        if self.handles.has_limit() {
            self.note_unit(now, core, write.stream);
        }
        if self.context.zones.is_some() {
            self.context.left_queue(now, core, write.work, false);
        }
    }

    /// Does what comes before write `work` enters the buffer of core `core`. Goes on with its content, where bytes are kept, unless it ends here, as
    /// what it completes is lost or, of a move, out of date.
    #[inline(never)]
    fn prepare_entry(
        &mut self,
        now: Nanos,
        core: CoreId,
        work: UnitWork,
    ) -> ControlFlow<(), Option<UnitBytes>> {
        if self.context.homes.is_some() {
            if self.context.groups().is_some() {
                if self.goes_elsewhere(now, core, work) {
                    return ControlFlow::Break(());
                }
            } else if self.is_out_of_date(core, work) {
                self.context.finish_parts(now, work.request, 1);
                return ControlFlow::Break(());
            }
        }
        if self.is_rest_lost(core, work) {
            // Lost while the write waited.
            self.context.end_in_error(now, core, work);
            return ControlFlow::Break(());
        }
        if self.context.heeds_writes() {
            self.cores[core].look_at_maps(&mut self.context);
        }
        let unit = if self.context.config.bytes { self.committed_or_merged(core, work) } else { None };
        if self.context.homes.is_some() {
            self.supersede(core, work);
        }
        ControlFlow::Continue(unit)
    }

    /// A write of `work` enters the buffer of core `core`: what is elsewhere of its unit is out of date.
    #[cold]
    fn supersede(&mut self, core: CoreId, work: UnitWork) {
        if self.context.groups().is_some() {
            let placement = self.context.commands.requests.command(work.request).placement;
            return self.enter_group(core, work.lpn, placement);
        }
        if work.sectors == 0 {
            self.cores[core].count_move(&mut self.context);
        }
        self.drop_superseded(core, work.lpn);
    }

    /// All of a command's data is in the buffers, but it must reach flash: programs what is begun, padded, and waits for
    /// every program issued so far.
    pub(crate) fn begin_barrier(&mut self, now: Nanos, request: HostRequestId) {
        assert!(self.context.write_cache() != WriteCache::Protected, "a protected buffer needs no barrier");
        for core in self.cores.indices() {
            self.cores[core].flush_buffer(now, &mut self.context);
        }
        self.context.commands.flushes.bar(request);
        self.context.end_barriers(now);
    }
}

/// [`FlashCore::read_unit`](outlast_controller::FlashCore::read_unit) of units that are not all of a command, or of a drive where they pass something.
#[inline(never)]
fn read_apart(ssd: &mut Ssd, now: Nanos, core: CoreId, work: UnitWork) {
    ssd.cores[core].read_unit::<false>(now, &mut ssd.context, work);
}

/// [`Ssd::write_unit`], as [`read_apart`].
#[inline(never)]
fn write_apart(ssd: &mut Ssd, now: Nanos, core: CoreId, work: UnitWork) {
    ssd.write_unit::<false>(now, core, work);
}

/// [`FlashCore::enter`](outlast_controller::FlashCore::enter) of a write that something heeds.
#[inline(never)]
fn enter_apart(ssd: &mut Ssd, now: Nanos, core: CoreId, (write, unit): (WaitingWrite, Option<UnitBytes>)) {
    ssd.cores[core].enter::<false>(now, &mut ssd.context, write, unit);
}
