//! The self-check: what the parts of a drive count must be what is there. It takes the whole drive, and changes nothing.

use crate::ssd::Ssd;
use outlast_controller::{FlashCore, OpKind};
use outlast_units::CoreId;
use outlast_units::slab::NIL;

impl Ssd {
    /// Checks that nothing is due: between events the drive is settled.
    pub(crate) fn check_settled(&self) -> Result<(), String> {
        if !self.context.has_nothing_due() || self.cores.iter().any(|core| !core.is_settled()) {
            return Err("something is due that no event will do".into());
        }
        Ok(())
    }

    /// Checks that the requests under way are the host's commands, flushes that were put off and the drive's own moves, and that every flush waits for programs that
    /// there are.
    pub(crate) fn check_requests(&self) -> Result<(), String> {
        self.host.self_check(&self.context.commands)?;
        self.check_order()?;
        let requests = self.context.commands.requests.len() - self.context.commands.requests.of_nobody();
        let (host, moves) =
            (self.context.commands.requests.of_the_host().count(), self.context.moves.in_flight());
        if requests != host + moves as usize {
            return Err(format!("{requests} requests are under way, of {host} commands and {moves} moves"));
        }
        self.check_parts()?;
        let counted = self.context.commands.flushes.outstanding();
        let programs = |core| {
            self.context.programs_in_flight(core).filter(|op| op.tag.kind == OpKind::HostProgram).count()
        };
        let of_host: u64 = self.cores.indices().map(|core| programs(core) as u64).sum();
        let moved_in: u64 = self.cores.iter().map(|core| core.buffer().epochs_moved_in()).sum();
        if counted != of_host + moved_in {
            return Err(format!(
                "flushes count {counted} programs, but {of_host} host programs are under way and {moved_in} waited for elsewhere"
            ));
        }
        Ok(())
    }

    /// Checks that of each request as many parts are left as the drive is at work on: one for itself until it has been split, and one for each unit.
    pub(super) fn check_parts(&self) -> Result<(), String> {
        let of_cores = self.cores.iter().flat_map(FlashCore::named_parts);
        let of_host = self.host.held().chain(self.master.works().copied()).map(|request| (request, 1));
        let parts = of_cores.chain(of_host).chain(self.context.named_parts());
        self.context.commands.requests.check_parts(parts)
    }

    /// Checks that there is a record for every read in the flash room that has one, and no other.
    pub(crate) fn check_records(&self) -> Result<(), String> {
        let mut records = 0;
        for (die, op) in self.context.flash.reads().filter(|(_, op)| op.tag.has_record) {
            records += 1;
            let record = self.context.read_record(op.tag.cookie);
            if (record.kind, record.pu) != (op.tag.kind, op.tag.pu) {
                return Err(format!("record {} is of another read than the one on die {die}", op.tag.cookie));
            }
        }
        if records != self.context.recorded_read_count() {
            return Err(format!(
                "{records} reads have records, of which there are {}",
                self.context.recorded_read_count()
            ));
        }
        Ok(())
    }

    pub(crate) fn check_buffers(&self) -> Result<(), String> {
        for (index, core) in self.cores.iter_indexed() {
            let kept = core.ftl().figures().buffered_units;
            let padding = self.padding_in_flight(index);
            let counted = u64::from(core.buffer().held()) + u64::from(core.tasks().relocating()) + padding
                - self.units_being_relocated(index)
                - u64::from(core.tasks().recovering());
            if kept != counted {
                return Err(format!(
                    "core {index}: {kept} units await programming, the buffers count {counted}"
                ));
            }
        }
        Ok(())
    }

    /// Units for which room is kept while they are being read from a victim. A read that is repeated waits in the queue of its die where its plane
    /// is taken.
    fn units_being_relocated(&self, core: CoreId) -> u64 {
        let reads = self.context.flash.reads().filter(|(die, _)| self.context.places[*die].core == core);
        let relocations = reads.filter(|(_, op)| op.tag.kind == OpKind::RelocationRead);
        let units = relocations.map(|(_, op)| {
            if !op.tag.has_record {
                return op.units();
            }
            let read = self.context.read_record(op.tag.cookie);
            // What is being recovered is counted apart.
            if read.recovery == NIL { u32::from(read.units) } else { 0 }
        });
        units.map(u64::from).sum()
    }

    fn padding_in_flight(&self, core: CoreId) -> u64 {
        let per_pu = u64::from(self.cores[core].ftl().layout().units_per_pu());
        self.context.programs_in_flight(core).map(|op| per_pu - u64::from(op.units())).sum()
    }
}
