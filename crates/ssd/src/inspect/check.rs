//! The self-check: what the parts of a drive count must be what is there. It takes the whole drive, and changes nothing.

use crate::core::FlashCore;
use crate::op::OpKind;
use crate::ssd::Ssd;
use outlast_device::Device;
use outlast_persist::Extents;
use outlast_units::slab::NIL;
use outlast_units::{BlockId, ChannelId, CoreId, DieId, Idx, Pu};

impl Ssd {
    /// How far the numbers of its parts reach.
    pub(crate) fn extents(&self, outer: &Extents) -> Extents {
        let pus =
            |core: &FlashCore| core.ftl().layout().superblocks() * core.ftl().layout().pus_per_superblock();
        let counts: [(Option<usize>, u64); 5] = [
            (BlockId::KIND, self.context.config.geometry.blocks_per_plane.into()),
            (CoreId::KIND, self.cores.len() as u64),
            (DieId::KIND, self.context.places.len() as u64),
            (ChannelId::KIND, self.context.config.geometry.channels.into()),
            (Pu::KIND, self.cores.iter().map(pus).max().unwrap_or(0).into()),
        ];
        let known = counts.into_iter().filter_map(|(kind, count)| Some((kind?, count)));
        known.fold(*outer, |extents, (kind, count)| extents.with(kind, count))
    }

    /// True if state that has been read is that of a drive: everything that [`Device::self_check`] sees, and what it takes for granted.
    pub(crate) fn check_restored(&self) -> Result<(), String> {
        for (die, place) in self.context.places.iter_indexed() {
            if self.cores[place.core].dies().get(place.local) != Some(&die) {
                return Err(format!("die {die} is not die {} of core {}", place.local, place.core));
            }
        }
        self.context.flash.check_restored()?;
        self.context.events.check()?;
        for core in &self.cores {
            core.ftl().check_contents()?;
        }
        self.check_order_of_programs()?;
        self.check_host_reads()?;
        self.check_counts()?;
        self.self_check()
    }

    /// Checks that reads for the host are for commands that there are.
    fn check_host_reads(&self) -> Result<(), String> {
        let mut reads = self.context.flash.reads().map(|(_, op)| op.tag);
        match reads.find(|tag| {
            tag.kind == OpKind::HostRead
                && !tag.has_record
                && !self.context.host.requests.is_live(tag.request())
        }) {
            Some(tag) => Err(format!("a read is for request {}, which has ended", tag.cookie)),
            None => Ok(()),
        }
    }

    /// Checks that nothing was counted before the last reset that was not counted since the beginning, and that cells are as old as their blocks.
    fn check_counts(&self) -> Result<(), String> {
        let (all, before) = (self.totals(), &self.at_reset.totals);
        let pairs = [
            (all.coalesced, before.coalesced),
            (all.programs, before.programs),
            (all.multi_plane_programs, before.multi_plane_programs),
            (all.erases, before.erases),
            (all.victims, before.victims),
            (all.victim_units, before.victim_units),
        ];
        let units =
            all.written.iter().zip(before.written.iter()).map(|((_, all), (_, before))| (all, before));
        let reads = all.untimed_reads.iter().zip(before.untimed_reads.iter());
        let reads = reads.map(|((_, all), (_, before))| (all, before));
        if let Some((all, before)) =
            pairs.into_iter().chain(units).chain(reads).find(|(all, before)| before > all)
        {
            return Err(format!("{before} were counted at the last reset, of {all}"));
        }
        if self.at_reset.by_core.len() != self.cores.len() {
            return Err(format!(
                "{} flash cores were counted at the last reset",
                self.at_reset.by_core.len()
            ));
        }
        for (index, core) in self.cores.iter_indexed() {
            let Some(cells) = core.cells() else { continue };
            let mut blocks = core.ftl().blocks().all_cycles().iter_indexed();
            if let Some((block, cycles)) = blocks.find(|&(block, &cycles)| cells.cells.cycles(block) > cycles)
            {
                return Err(format!(
                    "core {index}: the cells of block {block} are older than its {cycles} cycles"
                ));
            }
        }
        Ok(())
    }

    /// Checks that programs under way are of program units that are not on flash, each once.
    fn check_order_of_programs(&self) -> Result<(), String> {
        for (index, core) in self.cores.iter_indexed() {
            let units = self.context.programs_in_flight(index).map(|op| op.tag.pu);
            core.ftl().check_order(units)?;
        }
        Ok(())
    }

    /// Checks that nothing is due: between events the drive is settled.
    pub(crate) fn check_settled(&self) -> Result<(), String> {
        if !self.context.unsettled.is_empty() || self.cores.iter().any(|core| !core.is_settled()) {
            return Err("something is due that no event will do".into());
        }
        Ok(())
    }

    /// Checks that the requests under way are the host's commands, flushes that were put off and the drive's own moves, and that every flush waits for programs that
    /// there are.
    pub(crate) fn check_requests(&self) -> Result<(), String> {
        self.context.host.self_check()?;
        self.check_order()?;
        let requests = self.context.host.requests.len() - self.context.host.requests.of_nobody();
        let (host, moves) =
            (self.context.host.requests.of_the_host().count(), self.context.moves.in_flight());
        if requests != host + moves as usize {
            return Err(format!("{requests} requests are under way, of {host} commands and {moves} moves"));
        }
        if let Some(ledger) = &self.context.ledger {
            ledger.self_check(host)?;
        }
        let counted = self.context.host.flushes.outstanding();
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

    /// Checks that there is a record for every read in the flash room that has one, and no other.
    pub(crate) fn check_records(&self) -> Result<(), String> {
        let mut records = 0;
        for (die, op) in self.context.flash.reads().filter(|(_, op)| op.tag.has_record) {
            records += 1;
            let record = &self.context.reads[op.tag.cookie];
            if (record.kind, record.pu) != (op.tag.kind, op.tag.pu) {
                return Err(format!("record {} is of another read than the one on die {die}", op.tag.cookie));
            }
        }
        if records != self.context.reads.used() {
            return Err(format!(
                "{records} reads have records, of which there are {}",
                self.context.reads.used()
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

    /// Units for which room is kept while they are being read from a victim.
    fn units_being_relocated(&self, core: CoreId) -> u64 {
        let reads =
            self.context.flash.reads_under_way().filter(|(die, _)| self.context.places[*die].core == core);
        let relocations = reads.filter(|(_, op)| op.tag.kind == OpKind::RelocationRead);
        let units = relocations.map(|(_, op)| {
            if !op.tag.has_record {
                return op.units();
            }
            let read = &self.context.reads[op.tag.cookie];
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
