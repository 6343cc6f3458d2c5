//! Checks of a drive whose state was read: what follows from its settings, and what a drive takes for granted.

use super::handles::PlacementView;
use crate::ssd::Ssd;
use outlast_controller::{FlashCore, OpKind, check_restored_operations, cores_free_at};
use outlast_device::Device;
use outlast_flash::flash_busy_until;
use outlast_persist::Extents;
use outlast_units::{BlockId, ChannelId, CoreId, DieId, Idx, ModeId, Nanos, Pu};

impl Ssd {
    /// How far the numbers of its parts reach.
    pub(crate) fn extents(&self, outer: &Extents) -> Extents {
        let pus =
            |core: &FlashCore| core.ftl().layout().superblocks() * core.ftl().layout().pus_per_superblock();
        let counts: [(Option<usize>, u64); 6] = [
            (BlockId::KIND, self.context.config.geometry.blocks_per_plane.into()),
            (CoreId::KIND, self.cores.len() as u64),
            (DieId::KIND, self.context.places.len() as u64),
            (ChannelId::KIND, self.context.config.geometry.channels.into()),
            (ModeId::KIND, self.cores[CoreId(0)].ftl().layout().modes().into()),
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
            core.ftl().check_restored()?;
        }
        // Before anything asks for the place of a unit.
        self.check_groups()?;
        check_restored_operations(&self.context, &self.cores)?;
        self.check_order_of_programs()?;
        self.check_host_ops()?;
        self.check_parts()?;
        self.context.commands.check_restored()?;
        check_times(self)?;
        self.check_counts()?;
        self.check_power_watch()?;
        self.self_check()
    }

    /// Checks that reads for the host are for commands that there are, and its programs of flush epochs that have begun and not ended.
    fn check_host_ops(&self) -> Result<(), String> {
        let mut reads = self.context.flash.reads().map(|(_, op)| op.tag);
        let orphan = reads.find(|tag| {
            tag.kind == OpKind::HostRead
                && !tag.has_record
                && !self.context.commands.requests.is_live(tag.request())
        });
        if let Some(tag) = orphan {
            return Err(format!("a read is for request {}, which has ended", tag.cookie));
        }
        let mut programs = self.context.flash.programs().map(|(_, op)| op.tag);
        let flushes = &self.context.commands.flushes;
        match programs.find(|tag| tag.kind == OpKind::HostProgram && !flushes.has_epoch(tag.cookie)) {
            Some(tag) => Err(format!("a program is of flush epoch {}, which is not open", tag.cookie)),
            None => Ok(()),
        }
    }

    /// Checks that nothing was counted before the last reset that was not counted since the beginning, and that cells are as old as their blocks.
    fn check_counts(&self) -> Result<(), String> {
        PlacementView::of(self).check()?;
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
            let mut blocks = core.ftl().space().blocks().all_cycles().iter_indexed();
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
            core.ftl().space().pus().check_order(units)?;
        }
        Ok(())
    }
}

/// Checks that nothing is busy up to the horizon of events, beyond which none can be due: a run ends a day before it.
fn check_times(ssd: &Ssd) -> Result<(), String> {
    let commands = &ssd.context.commands;
    let others = [
        flash_busy_until(&ssd.context.flash),
        ssd.master.free_at(),
        commands.link.free_at(),
        commands.requests.ready(),
    ];
    let latest = others.into_iter().fold(cores_free_at(&ssd.cores), Nanos::max);
    if latest <= ssd.horizon().saturating_sub(Nanos::secs(3600)) {
        return Ok(());
    }
    Err(format!("something is busy until {latest}, of {}", ssd.horizon()))
}
