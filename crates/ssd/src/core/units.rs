//! What a flash core does for one unit of a command: look it up, read it, write it.

use super::{Due, WaitingWrite};
use crate::host::HostRequestId;
use crate::host::Part;
use crate::op::{OpKind, UnitWork};
use crate::ssd::Ssd;
use outlast_device::{Op as HostOp, Outcome};
use outlast_media::UnitBytes;
use outlast_settings::drive::Trims;
use outlast_units::{CoreId, Lpn, Nanos, SECTOR_BYTES, Stream};

impl Ssd {
    /// A flash core acts on one unit of a command.
    pub(crate) fn execute(&mut self, now: Nanos, core: CoreId, work: UnitWork) {
        debug_assert!(
            work.lpn == Lpn::NONE
                || u32::from(work.first) + u32::from(work.sectors) <= self.size.sectors_per_unit,
            "work of more than a unit"
        );
        // A die may have failed, or data have moved, since the master core sent it here.
        let moved = if self.redirection.is_some() { self.rerouted(core, work) } else { None };
        let (core, work) = moved.unwrap_or((core, work));
        self.note(move |ledger| ledger.acts(now, work.request));
        let command = *self.host.requests.command(work.request);
        match command.op {
            HostOp::Read => self.read_unit(now, core, work),
            HostOp::Write => self.write_unit(now, core, work),
            HostOp::Trim => {
                // A unit trimmed in part keeps its data: deallocation is advice (NVMe 2.0, Dataset Management).
                if u32::from(work.sectors) == self.size.sectors_per_unit {
                    self.cores[core].forget_read(work.lpn);
                    let ftl = &mut self.cores[core].ftl;
                    match self.config.controller.trims {
                        Trims::Kept => ftl.trim(work.lpn),
                        Trims::Volatile => ftl.trim_unsafely(work.lpn),
                    };
                    self.make_due(core, Due::Collect);
                    if self.redirection.is_some() {
                        self.drop_superseded(core, work.lpn);
                    }
                }
                self.finish_parts(now, work.request, 1);
            }
            HostOp::LbaStatus | HostOp::Flush => unreachable!("such a command has no units"),
        }
    }

    #[inline]
    fn read_unit(&mut self, now: Nanos, core: CoreId, work: UnitWork) {
        let ftl = &self.cores[core].ftl;
        let slot = ftl.lookup(work.lpn);
        if !slot.is_some() {
            if ftl.is_lost(work.lpn) {
                self.end_in_error(now, core, work);
                return;
            }
            self.counters.unmapped_reads += 1;
            self.data_moved(now, work.request, u64::from(work.sectors));
            self.finish_parts(now, work.request, 1);
            return;
        }
        if self.config.bytes {
            self.copy_out(core, work);
        }
        let ftl = &self.cores[core].ftl;
        if !ftl.is_programmed(slot) {
            self.counters.buffer_hits += 1;
            self.data_moved(now, work.request, u64::from(work.sectors));
            self.finish_parts(now, work.request, 1);
            return;
        }
        let of_pu = ftl.layout().pu_of(slot);
        if self.cores[core].finds_read(work.lpn) {
            self.counters.read_cache_hits += 1;
            self.data_moved(now, work.request, u64::from(work.sectors));
            self.finish_parts(now, work.request, 1);
            return;
        }
        self.enqueue_read(now, core, OpKind::HostRead, of_pu, work);
    }

    /// What a flash core takes to bring a unit into the parity that covers it: of its stripe, of its block, and of the blocks in
    /// which the stripe's parity lies.
    pub(crate) fn encode_time(&self, core: CoreId, work: UnitWork) -> Nanos {
        let ftl = &self.cores[core].ftl;
        let stream = self.stream_of_write(core, work);
        if !ftl.stream(stream).is_protected() {
            return Nanos::ZERO;
        }
        let code = ftl.parity().code_of_stream(stream);
        let across = u64::from(code.parity);
        let parities = if code.block.is_some() { 2 * across + 1 } else { across };
        Nanos(self.config.controller.encode_cost.0 * parities)
    }

    /// The stream of a unit that the host writes.
    #[inline]
    pub(crate) fn stream_of_write(&self, core: CoreId, work: UnitWork) -> Stream {
        let command = self.host.requests.command(work.request);
        let class = match &self.classifier {
            None => 0,
            Some(classifier) => classifier.class(command, self.first_sector(core, work.lpn)),
        };
        self.cores[core].ftl.streams().host(command.stream.0, class)
    }

    fn write_unit(&mut self, now: Nanos, core: CoreId, work: UnitWork) {
        if self.classifier.is_some() {
            let sector = self.first_sector(core, work.lpn);
            if let Some(classifier) = &mut self.classifier {
                classifier.note(sector);
            }
        }
        let stream = self.stream_of_write(core, work);
        let ftl = &self.cores[core].ftl;
        if ftl.is_read_only() && !self.awaits_room(core) {
            self.host.requests.fail(work.request, Outcome::ReadOnly);
            self.finish_parts(now, work.request, 1);
            return;
        }
        if u32::from(work.sectors) != self.size.sectors_per_unit {
            self.counters.partial_writes += 1;
            self.counters.partial_bytes +=
                u64::from(self.size.sectors_per_unit - u32::from(work.sectors)) * SECTOR_BYTES;
            if self.is_rest_lost(core, work) {
                self.end_in_error(now, core, work);
                return;
            }
            let (core, work) = self.holder_of_rest(core, work);
            let ftl = &self.cores[core].ftl;
            let slot = ftl.lookup(work.lpn);
            if slot.is_some() && ftl.is_programmed(slot) {
                // The read's time is spent now; its content is merged when the write enters the buffer, with what is
                // current then, so that two partial writes of one unit cannot lose each other's sectors.
                let of_pu = ftl.layout().pu_of(slot);
                self.enqueue_read(now, core, OpKind::RmwRead, of_pu, work);
                return;
            }
        }
        self.queue_write(now, core, WaitingWrite { work, stream });
    }

    /// Whether a write covers only a part of a unit the rest of which cannot be read: nothing whole could be written.
    #[inline]
    pub(super) fn is_rest_lost(&self, core: CoreId, work: UnitWork) -> bool {
        u32::from(work.sectors) != self.size.sectors_per_unit && {
            let (core, work) = self.holder_of_rest(core, work);
            self.cores[core].ftl.is_lost(work.lpn)
        }
    }

    /// A unit that a command needs is known to be lost.
    #[cold]
    pub(super) fn end_in_error(&mut self, now: Nanos, core: CoreId, work: UnitWork) {
        self.counters.medium_errors += 1;
        self.look_at_state(now);
        self.host.failures.note(work.request, self.unit_at(core, work.lpn));
        self.host.requests.fail(work.request, Outcome::MediumError);
        self.finish_parts(now, work.request, 1);
    }

    fn copy_out(&mut self, core: CoreId, work: UnitWork) {
        let (start, command) = (self.first_sector(core, work.lpn), *self.host.requests.command(work.request));
        let ftl = &self.cores[core].ftl;
        let Some(unit) = ftl.load(ftl.lookup(work.lpn)) else { return };
        self.host.bytes.copy_out(&command, start, work, unit);
    }

    /// Puts the bytes of a unit, rebuilt from its stripe, where the read that asked for it returns them.
    pub(crate) fn deliver(&mut self, request: HostRequestId, core: CoreId, lpn: Lpn, unit: &UnitBytes) {
        let (start, command) = (self.first_sector(core, lpn), *self.host.requests.command(request));
        self.host.bytes.deliver(&command, request, start, u64::from(self.size.sectors_per_unit), unit);
    }

    /// The unit's new content: the old one under the sectors written. What comes without bytes leaves the unit as it is.
    pub(super) fn merged(&mut self, core: CoreId, work: UnitWork) -> Option<UnitBytes> {
        let unit = self.unit_at(core, work.lpn);
        let sectors = match self.host.bytes.store(work.request, unit) {
            Some(Part::Whole(whole)) => {
                debug_assert!(
                    u32::from(work.sectors) == self.size.sectors_per_unit,
                    "a whole unit is written"
                );
                return Some(whole.with_tag(work.lpn.0));
            }
            Some(Part::Sectors(sectors)) => Some(sectors),
            None => None,
        };
        let (holder, old) = self.holder_of_rest(core, work);
        let ftl = &self.cores[holder].ftl;
        let slot = ftl.lookup(old.lpn);
        let old = if slot.is_some() { ftl.load(slot).cloned() } else { None };
        let old = old.unwrap_or(UnitBytes::zero(work.lpn.0));
        let Some(sectors) = sectors else { return Some(old.with_tag(work.lpn.0)) };
        let mut blank = self.cores[core].ftl.blank()?;
        let (bytes, from) = (blank.bytes_mut(), usize::from(work.first) * SECTOR_BYTES as usize);
        old.copy_to(0, bytes);
        bytes[from..from + sectors.len()].copy_from_slice(&sectors);
        Some(blank.into_unit(work.lpn.0))
    }

    /// The first host sector of the unit that core `core` knows by number `lpn`.
    fn first_sector(&self, core: CoreId, lpn: Lpn) -> u64 {
        self.unit_at(core, lpn) * u64::from(self.size.sectors_per_unit)
    }
}
