//! Records for a mount: the mapping compared with what flash alone says of it, and the reads of a mount.

use crate::mount::{ENTRY_BYTES, MAPPED_BYTES, OWNER_BYTES, OnFlash, rebuild};
use crate::pages::PageTable;
use crate::space::FlashSpace;
use outlast_decisions::SuperblockState;
use outlast_units::{BlockIndex, Bytes, Lpn, Ppn, Pu, SuperblockId, to_count, to_length};

/// Settings by which a mount finds the mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MountOptions {
    /// Bytes programmed between two checkpoints of the mapping; absent: none is made.
    pub checkpoint_every: Option<Bytes>,
    /// True if a superblock that is full keeps the owners of its units in one list; else the spare areas of all its pages are read.
    pub lists: bool,
    /// True if the mapping table does not fit in memory.
    pub reads_table: bool,
}

/// Reads of a mount. Pages outside superblocks are spread over the dies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MountReads {
    /// Pages of the journal, and of the list of blocks that were given up.
    pub journal: u64,
    /// Pages of the checkpoint.
    pub checkpoint: u64,
    /// Headers of superblocks: erased, open or full.
    pub headers: u64,
    /// Pages with the owners of units in superblocks that are full, one list after another.
    pub lists: u64,
    /// Program units whose spare areas are read, one by one.
    pub spare_areas: Vec<Pu>,
    /// Pages to which the buffer was written when power failed.
    pub dump: u64,
    /// Pages with the directory of a mapping table that does not fit in memory: the place of each of its pages.
    pub directory: u64,
    /// Slots of those pages of the table whose entries have changed since: what is found elsewhere is put into them.
    pub map_pages: Vec<Ppn>,
}

impl PageTable {
    /// Checks that flash alone gives the tables: the slot of each page, lost pages, erased, open and full superblocks, the blocks of each, and bad
    /// blocks. With `dump`, units that are not on flash count.
    ///
    /// # Errors
    /// The first disagreement.
    pub(crate) fn check_mount(&self, space: &FlashSpace, dump: bool) -> Result<(), String> {
        let Some(records) = &self.records else { return Ok(()) };
        let flash = records.on_flash(space.layout());
        let rebuilt = rebuild(flash, to_length(self.map.pages()), dump);
        for (index, &rebuilt_slot) in rebuilt.slots.iter().enumerate() {
            let lpn = Lpn(to_count(index));
            let slot = self.lookup(lpn);
            if rebuilt_slot != slot {
                return Err(format!(
                    "page {lpn} is in slot {slot} by the tables, in slot {rebuilt_slot} by what is on flash"
                ));
            }
            if rebuilt.lost.contains(&lpn) != self.is_lost(lpn) {
                return Err(format!(
                    "page {lpn} is lost: {}, which what is on flash denies",
                    self.is_lost(lpn)
                ));
            }
        }
        Self::check_blocks(space, flash)?;
        for superblock in space.superblocks().ids() {
            let state = space.superblocks().state(superblock);
            let header = flash.header(superblock);
            let agree = match (state, header) {
                (SuperblockState::Free | SuperblockState::Retired, None) => true,
                (SuperblockState::Open, Some(header)) => header.closed.is_none(),
                (SuperblockState::Sealed | SuperblockState::Collecting, Some(header)) => {
                    header.closed.is_some()
                }
                _ => false,
            };
            let stream = space.superblocks().opened_by(superblock);
            if !agree || header.is_some_and(|header| header.stream != stream) {
                return Err(format!(
                    "superblock {superblock} is {state:?}, of {stream:?}; flash says {header:?}"
                ));
            }
        }
        Ok(())
    }

    fn check_blocks(space: &FlashSpace, flash: OnFlash<'_>) -> Result<(), String> {
        let (blocks, members) = flash.marks().rebuild(flash.retired_blocks());
        let in_use = space.physical().blocks();
        if let Some(index) = in_use
            .all_bad()
            .zip(blocks.all_bad())
            .position(|(is_bad, is_bad_on_flash)| is_bad != is_bad_on_flash)
        {
            let at = blocks.address(BlockIndex(to_count(index)));
            return Err(format!(
                "{at:?} is {} on flash alone",
                if blocks.is_bad(at) { "bad" } else { "good" }
            ));
        }
        match space.physical().members().difference(&members) {
            None => Ok(()),
            Some(difference) => Err(format!("{difference} on flash alone")),
        }
    }

    /// Reads of a mount by `options`, with pages of `page_bytes`, in the present state. With `dump` the buffer has been written to flash.
    ///
    /// # Panics
    /// If nothing has been recorded.
    pub(crate) fn mount_reads(
        &self,
        space: &FlashSpace,
        options: MountOptions,
        page_bytes: u64,
        dump: bool,
    ) -> MountReads {
        let records = self.records.as_ref().expect("what flash says has been recorded");
        let flash = records.on_flash(space.layout());
        let rebuilt = rebuild(flash, to_length(self.map.pages()), dump);
        let pages = |bytes: u64| bytes.div_ceil(page_bytes);
        let list = pages(u64::from(space.layout().units_per_superblock()) * OWNER_BYTES);
        let mut reads = MountReads {
            journal: 1 + pages((flash.journal().len() + flash.retired_blocks().len()) as u64 * ENTRY_BYTES),
            ..MountReads::default()
        };
        reads.headers = match flash.checkpoint() {
            None => u64::from(space.layout().superblocks()),
            Some(_) => rebuilt.read_superblocks.len() as u64,
        };
        reads.checkpoint = flash.checkpoint().map_or(0, |_| pages(self.map.pages() * MAPPED_BYTES));
        for &superblock in rebuilt.read_superblocks.iter().chain(&rebuilt.compared_superblocks) {
            let is_full = flash.header(superblock).is_some_and(|header| header.closed.is_some());
            if is_full && options.lists {
                reads.lists += list;
            } else {
                reads.spare_areas.extend(Self::used_up(space, superblock));
            }
        }
        if options.reads_table {
            reads.directory = pages(u64::from(self.map_pages()) * MAPPED_BYTES);
            reads.map_pages = self.stale_map_pages(space).collect();
        }
        if dump {
            let units = flash.in_memory().count() as u64;
            reads.dump = pages(units * (space.config().mapping_unit.0 + OWNER_BYTES));
        }
        reads
    }

    /// The program units of a superblock that are not blank.
    fn used_up(space: &FlashSpace, superblock: SuperblockId) -> impl Iterator<Item = Pu> {
        let alive = |pu: &Pu| !space.pus().is_dead_lane(*pu);
        Pu::each(space.layout().pus_of(superblock)).filter(alive).filter(|&pu| space.pus().is_used_up(pu))
    }

    /// Checkpoints made so far, and the pages of `page_bytes` that one takes.
    pub(crate) fn checkpoints(&self, page_bytes: u64) -> (u64, u64) {
        let made = self.records.as_ref().map_or(0, |records| records.checkpoints());
        (made, (self.map.pages() * MAPPED_BYTES).div_ceil(page_bytes))
    }
}
