//! When firmware knows that a die has failed: section 4.2.1 of Reparo.
//!
//! Nobody tells it. An operation that fails makes its block bad; then the blocks beside it are looked at, one after the other, by
//! reading their first page, until one can be read, or so many blocks are bad that the die counts as failed. A die that no command and
//! no task touches therefore stays broken and unknown: patrol reads of scrubbing bound that time.
//!
//! What an operation shows is only noted while it ends; it is acted upon by housekeeping, at the same time.

use super::lists::Lists;
use super::record::RepairRecord;
use crate::config::WriteCache;
use crate::core::Core;
use crate::op::{Op, OpKind, Task};
use crate::read::units;
use crate::ssd::Ssd;
use outlast_units::Nanos;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What is known about the dies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    pub(super) dies: Vec<Health>,
    /// The dies of each core, in the core's order, and the blocks of each.
    of_core: Vec<Vec<u16>>,
    blocks_per_die: u32,
    /// Bad blocks to be looked at: die, and block as its core numbers it.
    found: Vec<(u16, u32)>,
    /// Dies that are being probed.
    probed: Vec<u16>,
    pub(super) records: Vec<RepairRecord>,
    /// Pages of each core that lists have named: one bit each.
    pub(super) marks: Vec<Vec<u64>>,
    /// Queries that wait for lists to be read.
    pub(super) waiting: Vec<u32>,
    /// Queries under way, by request.
    pub(super) queries: BTreeMap<u32, super::identifier::Query>,
}

/// What is known about a die.
#[derive(Clone, Debug, Default)]
pub(super) struct Health {
    /// When something of it broke that may be all of it.
    broken_at: Option<Nanos>,
    bad: BTreeSet<u32>,
    first_bad_at: Nanos,
    probe: Option<Probe>,
    probes: u32,
    /// When its latest units could not be had, as many as the predictor asks for.
    pub(super) uncorrectable: VecDeque<Nanos>,
    /// Whether the host has been told that it is expected to fail, and whether its data is moved away.
    pub(super) warned: bool,
    pub(super) leaving: bool,
    pub(super) failed: bool,
    pub(super) lists: Lists,
}

impl Health {
    pub(super) fn bad_blocks(&self) -> u32 {
        self.bad.len() as u32
    }
}

/// Looking at the blocks beside a bad one.
#[derive(Clone, Copy, Debug)]
struct Probe {
    around: u32,
    tried: u32,
    /// The block being read, and what came of it.
    reading: Option<u32>,
    fails: Option<bool>,
}

impl Watch {
    pub(crate) fn new(cores: &[Core], dies: usize) -> Self {
        let blocks = cores[0].ftl.blocks().all_cycles().len() / cores[0].dies.len();
        Self {
            dies: vec![Health::default(); dies],
            of_core: cores.iter().map(|core| core.dies.clone()).collect(),
            blocks_per_die: blocks as u32,
            marks: vec![Vec::new(); cores.len()],
            ..Self::default()
        }
    }

    /// Die `die`, or a plane of it, has broken; firmware does not know.
    pub(crate) fn note_broken(&mut self, now: Nanos, die: u16) {
        self.dies[usize::from(die)].broken_at.get_or_insert(now);
    }

    /// Whether firmware knows that a die has failed.
    pub(crate) fn is_failed(&self, die: u16) -> bool {
        self.dies[usize::from(die)].failed
    }

    /// Whether a die is expected to fail and has not yet: what it holds can be read.
    pub(crate) fn is_leaving(&self, die: u16) -> bool {
        let health = &self.dies[usize::from(die)];
        health.leaving && !health.failed
    }

    fn die_of(&self, core: usize, block: u32) -> u16 {
        self.of_core[core][(block / self.blocks_per_die) as usize]
    }

    /// Whether a block, just erased, is to be replaced, given what its operations said (`failed`). Not while its die is under suspicion:
    /// replacing all blocks of a failed die one by one would give up superblocks that can go on without it.
    pub(crate) fn must_retire(&self, core: usize, block: u32, failed: bool) -> bool {
        let die = self.die_of(core, block);
        let health = &self.dies[usize::from(die)];
        let suspected = health.probe.is_some() || self.found.iter().any(|&(other, _)| other == die);
        (failed || health.bad.contains(&block)) && !suspected
    }
}

impl Ssd {
    /// A read has ended and its units in `op.failing` could not be had.
    #[cold]
    pub(crate) fn note_failed_read(&mut self, now: Nanos, op: &Op) {
        if op.kind == OpKind::ProbeRead {
            return;
        }
        let core = usize::from(op.core);
        let state = &self.cores[core];
        let layout = state.ftl.layout();
        let place = layout.place(op.pu);
        let is_last = self.retries.all().is_none_or(|all| u32::from(op.step) >= all);
        let (mut broken, mut soft) = (Vec::new(), Vec::new());
        for unit in units(op.failing) {
            for page in layout.pages_of_unit(unit) {
                let (plane, row) = layout.page_place(place, page);
                let block = state.ftl.block_index(place.superblock, place.lane.local_die, plane);
                let readable = state.faults.as_ref().is_none_or(|faults| faults.is_readable(block, row));
                if readable { soft.push(block) } else { broken.push(block) }
            }
        }
        // What patrol finds too many errors in can still be had; and where re-reads are left, it is not over.
        let blocks = if !broken.is_empty() {
            broken
        } else if is_last && op.kind != OpKind::PatrolRead {
            soft
        } else {
            return;
        };
        self.note_uncorrectable(now, place.lane.die.0, op.failing.count_ones());
        self.note_bad(now, core, blocks);
    }

    /// A program or an erasure has failed, or its blocks may not be written any more.
    #[cold]
    pub(crate) fn note_failed_write(&mut self, now: Nanos, op: &Op) {
        let core = usize::from(op.core);
        let state = &self.cores[core];
        let (Some(faults), Some(_)) = (&state.faults, &self.watch) else { return };
        let place = state.ftl.layout().place(op.pu);
        let planes = place.lane.first_plane..place.lane.first_plane + place.lane.planes;
        let blocks = planes.map(|at| state.ftl.block_index(place.superblock, place.lane.local_die, at));
        let blocks = blocks.filter(|&block| faults.block_must_retire(block)).collect();
        self.note_bad(now, core, blocks);
    }

    fn note_bad(&mut self, now: Nanos, core: usize, blocks: Vec<u32>) {
        let Some(watch) = &mut self.watch else { return };
        for block in blocks {
            let die = watch.die_of(core, block);
            let health = &watch.dies[usize::from(die)];
            if !health.failed && !health.bad.contains(&block) && !watch.found.contains(&(die, block)) {
                watch.found.push((die, block));
            }
        }
        self.call_housekeeping(now);
    }

    /// Everything that the detector has to do by now.
    pub(crate) fn keep_watching(&mut self, now: Nanos) {
        let Some(watch) = &mut self.watch else { return };
        for (die, block) in std::mem::take(&mut watch.found) {
            self.add_bad(now, die, block);
        }
        let Some(watch) = &self.watch else { return };
        for die in watch.probed.clone() {
            self.go_on_probing(now, die);
        }
        self.look_for_signs(now);
    }

    /// A block of die `die` is bad. Is the die?
    fn add_bad(&mut self, now: Nanos, die: u16, block: u32) {
        let (core, _) = self.core_of_die(die);
        let layout = self.cores[core].ftl.layout();
        let in_use = layout.superblocks() * u32::from(layout.planes_per_die());
        let (Some(watch), Some(repair)) = (&mut self.watch, &self.config.repair) else { return };
        let health = &mut watch.dies[usize::from(die)];
        if health.failed || !health.bad.insert(block) {
            return;
        }
        if health.bad.len() == 1 {
            health.first_bad_at = now;
        }
        if health.bad_blocks() > repair.bad_blocks || health.bad_blocks() >= in_use {
            self.declare(now, die);
        } else if health.probe.is_none() {
            health.probe = Some(Probe { around: block, tried: 0, reading: None, fails: None });
            watch.probed.push(die);
        }
    }

    /// Takes note of the block that has been read, and reads the next.
    fn go_on_probing(&mut self, now: Nanos, die: u16) {
        let Some(watch) = &mut self.watch else { return };
        let Some(probe) = &mut watch.dies[usize::from(die)].probe else { return };
        if let Some(block) = probe.reading {
            let Some(fails) = probe.fails.take() else { return };
            probe.reading = None;
            if !fails {
                self.end_probe(die);
                return;
            }
            self.add_bad(now, die, block);
        }
        if let Some((block, pu, mask)) = self.next_to_probe(die) {
            let (core, _) = self.core_of_die(die);
            if let Some(watch) = &mut self.watch {
                let health = &mut watch.dies[usize::from(die)];
                health.probes += 1;
                if let Some(probe) = &mut health.probe {
                    probe.reading = Some(block);
                }
            }
            let units = mask.count_ones() as u16;
            self.queue_read(now, Op { units, mask, ..Op::new(OpKind::ProbeRead, Task::Gc, core, pu) });
        } else {
            self.end_probe(die);
        }
    }

    fn end_probe(&mut self, die: u16) {
        if let Some(watch) = &mut self.watch {
            watch.dies[usize::from(die)].probe = None;
            watch.probed.retain(|&other| other != die);
        }
    }

    /// The next block beside the one that a probe began with: first of the same plane, those behind before those in front, then of
    /// the others. With the program unit that holds its first page, and the units there.
    fn next_to_probe(&mut self, die: u16) -> Option<(u32, u32, u64)> {
        let (core, local) = self.core_of_die(die);
        let ftl = &self.cores[core].ftl;
        let layout = ftl.layout();
        let watch = self.watch.as_mut()?;
        let all = watch.blocks_per_die;
        let per_plane = all / u32::from(layout.planes_per_die());
        let health = &mut watch.dies[usize::from(die)];
        let probe = health.probe.as_mut()?;
        let (first, around) = (probe.around / all * all, probe.around % all);
        while probe.tried + 1 < all {
            probe.tried += 1;
            let plane = (around / per_plane + probe.tried / per_plane) % u32::from(layout.planes_per_die());
            let block = first + plane * per_plane + (around + probe.tried) % per_plane;
            if health.bad.contains(&block) {
                continue;
            }
            // Spare blocks hold nothing.
            let Some(superblock) = ftl.superblock_of_block(block) else { continue };
            let lanes = layout.lanes_of_die(local).iter();
            let lane = lanes.copied().find(|&lane| {
                let lane = layout.lanes()[lane as usize];
                (u32::from(lane.first_plane)..u32::from(lane.first_plane + lane.planes)).contains(&plane)
            })?;
            let page = plane - u32::from(layout.lanes()[lane as usize].first_plane);
            let on_page = |&unit: &u32| layout.pages_of_unit(unit).contains(&page);
            let mask = (0..layout.units_per_pu()).filter(on_page).fold(0u64, |mask, unit| mask | 1 << unit);
            return Some((block, superblock.0 * layout.pus_per_superblock() + lane, mask));
        }
        None
    }

    /// The first page of a block has been read, or not.
    pub(crate) fn probe_read(&mut self, now: Nanos, op: &Op) {
        let state = &self.cores[usize::from(op.core)];
        let die = state.ftl.layout().lane_of_pu(op.pu).die.0;
        let Some(watch) = &mut self.watch else { return };
        let Some(probe) = &mut watch.dies[usize::from(die)].probe else { return };
        let Some(block) = probe.reading else { return };
        let broken = state.faults.as_ref().is_some_and(|faults| !faults.is_readable(block, 0));
        // An empty page has no bits to be wrong; a unit over several pages does not say which of them is.
        let programmed = state.ftl.programmed_rows(block) != 0;
        let wrong = op.failing != 0 && programmed && state.ftl.layout().pages_per_unit() == 1;
        probe.fails = Some(broken || wrong);
        self.call_housekeeping(now);
    }

    /// Die `die` has failed, as far as firmware knows.
    fn declare(&mut self, now: Nanos, die: u16) {
        self.end_probe(die);
        let (core, local) = self.core_of_die(die);
        let failed_units = self.failed_units(die);
        let Some(watch) = &mut self.watch else { return };
        let health = &mut watch.dies[usize::from(die)];
        health.failed = true;
        watch.records.push(RepairRecord {
            die,
            core: core as u16,
            failed_at: health.broken_at,
            first_bad_at: health.first_bad_at,
            detected_at: now,
            bad_blocks: health.bad_blocks(),
            probes: health.probes,
            failed_units,
            ..RepairRecord::default()
        });
        self.give_up(now, core, local, None);
        self.repair_die(now, die);
    }

    /// Firmware looks at every die at once, without time: for drives that are used without it, where nothing would ever be noticed.
    pub fn detect_untimed(&mut self, now: Nanos) {
        for die in 0..self.places.len() as u16 {
            let (core, local) = self.core_of_die(die);
            let faults = self.cores[core].faults.as_ref();
            let is_dead = faults.is_some_and(|faults| faults.die_is_dead(local));
            if is_dead && self.watch.as_ref().is_some_and(|watch| !watch.is_failed(die)) {
                self.declare(now, die);
            }
        }
    }

    /// Power has failed: reads under way are forgotten, and those who wait for them.
    pub(crate) fn forget_queries(&mut self, now: Nanos) {
        let falls_back = self.write_cache() != WriteCache::Protected;
        let Some(watch) = &mut self.watch else { return };
        watch.waiting.clear();
        watch.queries.clear();
        for health in &mut watch.dies {
            health.lists.forget_reads(falls_back);
            if let Some(probe) = &mut health.probe {
                (probe.reading, probe.fails) = (None, None);
            }
        }
        self.call_housekeeping(now);
    }
}
