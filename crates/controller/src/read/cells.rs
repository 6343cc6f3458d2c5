//! State of the cells of one flash core.

use super::places::{block_and_row, units};
use outlast_ftl::{Ftl, PuPlace, SlotLayout};
use outlast_media::{CellsConfig, ConfigError, FlashCells, Geometry};
use outlast_settings::drive::{ReliabilityConfig, SsdConfig};
use outlast_units::{BlockIndex, Group, IndexVec, Lpn, Nanos, Ppn, Pu, SuperblockId};

/// The cells of a flash core, and what the controller remembers of them.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub struct CoreCells {
    /// Wear, age and reads of every block.
    pub cells: FlashCells,
    /// The re-read that last worked on each block; empty where no history is kept.
    #[persist(each)]
    steps: IndexVec<BlockIndex, u16>,
    /// Re-reads of each superblock since its erasure, in pages.
    #[persist(each)]
    rereads: IndexVec<SuperblockId, u32>,
    /// The same of each block; empty where scrubbing moves superblocks.
    #[persist(each)]
    block_rereads: IndexVec<BlockIndex, u32>,
    /// The group that was written first in each superblock.
    #[persist(each)]
    oldest: IndexVec<SuperblockId, Group>,
    /// Groups of a superblock: its superpages.
    #[persist(skip)]
    superpages: u32,
}

impl CoreCells {
    /// Resident bytes of all that is kept about the blocks of a core.
    pub fn bytes(config: &SsdConfig, reliability: &ReliabilityConfig, layout: &SlotLayout) -> u64 {
        let geometry = &config.geometry;
        let blocks = blocks_of(geometry, layout);
        let superblocks = u64::from(layout.superblocks());
        let groups = superblocks * u64::from(layout.superpages());
        let steps = if reliability.reread_history { blocks * 2 } else { 0 };
        FlashCells::bytes(blocks, u64::from(geometry.pages_per_block), groups, reliability.read_scope)
            + steps
            + if config.scrubs_blocks() { blocks * 4 } else { 0 }
            + superblocks * 8
    }

    /// Cells of the dies of `layout`, the first of which is die `first` of the drive.
    ///
    /// # Errors
    /// A setting of the error model that cannot work.
    pub fn new(
        config: &SsdConfig,
        reliability: &ReliabilityConfig,
        layout: &SlotLayout,
        first_die: u16,
        seed: u64,
    ) -> Result<Self, ConfigError> {
        let geometry = &config.geometry;
        let model = reliability.rber_model()?;
        let cells_config = CellsConfig {
            model: &model,
            variation: reliability.variation,
            page_types: reliability.page_types(),
            scope: reliability.read_scope,
            modes: &config.modes(),
        };
        let blocks = blocks_of(geometry, layout);
        let superpages = layout.superpages();
        let groups = layout.superblocks() * superpages;
        let first_block = u64::from(first_die) * (blocks / u64::from(layout.dies()));
        let mut cells = FlashCells::new(&cells_config, geometry, layout.dies(), first_block, groups, seed);
        (0..groups).map(Group).for_each(|group| cells.forget(group));
        let steps = if reliability.reread_history { blocks as usize } else { 0 };
        Ok(Self {
            cells,
            steps: IndexVec::filled(0, steps),
            rereads: IndexVec::filled(0, layout.superblocks() as usize),
            block_rereads: IndexVec::filled(0, if config.scrubs_blocks() { blocks as usize } else { 0 }),
            oldest: (0..layout.superblocks()).map(|superblock| Group(superblock * superpages)).collect(),
            superpages,
        })
    }

    /// Brings the cells into the state in which the run begins: the blocks of `ftl` are as worn as it says, and what it has written is as old
    /// as `reliability` says.
    pub fn begin(&mut self, ftl: &Ftl, reliability: &ReliabilityConfig) {
        for superblock in self.oldest.indices() {
            let view = ftl.superblock(superblock);
            view.blocks().for_each(|block| self.cells.set_mode(block, view.mode()));
        }
        self.cells.begin(ftl.space().blocks().all_cycles().as_slice(), &reliability.initial, Nanos::ZERO);
        self.rereads.as_mut_slice().fill(0);
        self.block_rereads.as_mut_slice().fill(0);
        self.steps.as_mut_slice().fill(0);
        let layout = ftl.layout();
        debug_assert_eq!(layout.superpages(), self.superpages, "the cells of another core");
        let slots = layout.units_per_superblock() / self.superpages;
        for group in 0..layout.superblocks() * self.superpages {
            if (group * slots..(group + 1) * slots).all(|slot| !ftl.space().pus().is_programmed(Ppn(slot))) {
                self.cells.forget(Group(group));
            }
        }
        for superblock in self.oldest.indices() {
            let age = |&group: &Group| self.cells.days(group, Nanos::ZERO);
            // The first of equals: what is written later is younger.
            let oldest = self.groups(superblock).rev().max_by(|a, b| age(a).total_cmp(&age(b)));
            self.oldest[superblock] = oldest.unwrap_or(self.first_group(superblock));
        }
    }

    /// Program unit `pu` is on flash: its blocks are used in the mode of their superblock.
    #[cold]
    pub(crate) fn set_mode(&mut self, ftl: &Ftl, pu: Pu) {
        let PuPlace { superblock, lane, .. } = ftl.layout().place(pu);
        for plane in lane.first_plane..lane.first_plane + lane.planes {
            let block = ftl.space().block_index(superblock, lane.local_die, plane);
            self.cells.set_mode(block, ftl.superblock(superblock).mode());
        }
    }

    /// Program unit `from` is copied to `to` without correction, plane by plane: it is read once, and its wrong bits come along.
    #[cold]
    pub(crate) fn copy(&mut self, ftl: &Ftl, from: Pu, to: Pu, now: Nanos) {
        let layout = ftl.layout();
        if layout.has_modes() {
            self.set_mode(ftl, to);
        }
        let ((source, group), target) = (layout.place_and_group(from), layout.place(to));
        for page in 0..layout.pages_per_pu() {
            let (block, row) = block_and_row(ftl, &source, page);
            let rate = self.cells.sense(block, row, group, now).ln_rber.exp();
            self.cells.inherit(block_and_row(ftl, &target, page).0, rate);
        }
    }

    /// Has what sensings of logical pages will look up brought into the processor's cache. The mapping's entries of them should be there, or on
    /// their way.
    pub fn touch(&self, ftl: &Ftl, lpns: &[Lpn]) {
        let (layout, pages) = (ftl.layout(), ftl.mapped_pages());
        for &lpn in lpns.iter().filter(|lpn| u64::from(lpn.0) < pages) {
            let slot = ftl.lookup(lpn);
            if slot.is_some() {
                let (pu, unit) = layout.pu_of(slot);
                let (place, group) = layout.place_and_group(pu);
                let (block, _) = block_and_row(ftl, &place, layout.pages_of_unit(unit).start);
                self.cells.prefetch(block, group);
            }
        }
    }

    /// A superblock has been erased; its blocks and their P/E cycles.
    pub fn erased(&mut self, superblock: SuperblockId, blocks: impl Iterator<Item = (BlockIndex, u32)>) {
        self.oldest[superblock] = self.first_group(superblock);
        self.rereads[superblock] = 0;
        for group in self.groups(superblock) {
            self.cells.forget(group);
        }
        for (block, cycles) in blocks {
            debug_assert!(cycles >= self.cells.cycles(block), "block {block} has become younger");
            self.cells.erased(block, cycles);
            self.remember_step(block, 0);
            if !self.block_rereads.is_empty() {
                self.block_rereads[block] = 0;
            }
        }
    }

    /// The pages of program unit `pu` that hold its units `failing` have been read again. Returns the block of the first of them.
    pub(crate) fn count_rereads(&mut self, ftl: &Ftl, pu: Pu, failing: u64) -> BlockIndex {
        let layout = ftl.layout();
        let place = layout.place(pu);
        let (pages, _) = layout.program_unit().sensed(failing);
        let sum = &mut self.rereads[place.superblock];
        *sum = sum.saturating_add(pages as u32);
        let first = layout.pages_of_unit(failing.trailing_zeros()).start;
        if !self.block_rereads.is_empty() {
            let mut last = u32::MAX;
            for page in units(failing).flat_map(|unit| layout.pages_of_unit(unit)) {
                if page != last {
                    let sum = &mut self.block_rereads[block_and_row(ftl, &place, page).0];
                    *sum = sum.saturating_add(1);
                    last = page;
                }
            }
        }
        block_and_row(ftl, &place, first).0
    }

    /// Re-reads of a block since its erasure, in pages, where they are counted.
    pub(crate) fn block_rereads(&self, block: BlockIndex) -> u32 {
        self.block_rereads.get(block).copied().unwrap_or(0)
    }

    /// Re-reads of a superblock since its erasure, in pages.
    pub(crate) fn rereads(&self, superblock: SuperblockId) -> u32 {
        self.rereads[superblock]
    }

    /// The group that was written first in a superblock.
    pub fn oldest(&self, superblock: SuperblockId) -> Group {
        self.oldest[superblock]
    }

    /// The re-read that last worked on a block; 0: none was needed, or no history is kept.
    pub(super) fn step(&self, block: BlockIndex) -> u16 {
        self.steps.get(block).copied().unwrap_or(0)
    }

    /// Re-read `step` has worked on a block.
    pub(super) fn remember_step(&mut self, block: BlockIndex, step: u16) {
        if !self.steps.is_empty() {
            self.steps[block] = step;
        }
    }

    fn first_group(&self, superblock: SuperblockId) -> Group {
        Group(superblock.0 * self.superpages)
    }

    fn groups(&self, superblock: SuperblockId) -> impl DoubleEndedIterator<Item = Group> + use<> {
        let first = self.first_group(superblock).0;
        (first..first + self.superpages).map(Group)
    }
}

/// Blocks of a core.
fn blocks_of(geometry: &Geometry, layout: &SlotLayout) -> u64 {
    u64::from(layout.dies()) * u64::from(geometry.planes_per_die) * u64::from(geometry.blocks_per_plane)
}
