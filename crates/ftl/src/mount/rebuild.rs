//! The mapping, from flash alone.

use super::OnFlash;
use super::journal::PageEvent;
use outlast_units::{Lpn, Ppn, SuperblockId};
use std::collections::BTreeSet;

/// The mapping that flash gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RebuiltMap {
    /// The newest copy of each logical page; [`Ppn::NONE`]: none.
    pub(crate) slots: Vec<Ppn>,
    /// Pages whose data has been lost.
    pub(crate) lost: BTreeSet<Lpn>,
    /// Superblocks that have been written since the checkpoint: their owners are read.
    pub(crate) read_superblocks: Vec<SuperblockId>,
    /// Further superblocks whose owners are read, to find the newer of two copies.
    pub(crate) compared_superblocks: BTreeSet<SuperblockId>,
}

/// Finds the newest copy of each of `pages` logical pages: of all records of a page the one with the highest number. With `dump` units that were not
/// on flash count, too.
pub(crate) fn rebuild(flash: OnFlash<'_>, pages: usize, dump: bool) -> RebuiltMap {
    let mut search = MapSearch::new(flash, pages);
    search.read_new_owners();
    if dump {
        for (slot, lpn, number) in flash.in_memory() {
            search.take_copy(lpn, slot, number);
        }
    }
    search.read_journal();
    search.rebuilt
}

/// The highest number among the copies of each logical page that are on flash; 0 where there is none.
pub(crate) fn newest_on_flash(flash: OnFlash<'_>, pages: usize) -> Vec<u64> {
    let mut newest = vec![0; pages];
    for (_, lpn, number) in flash.superblocks().flat_map(|superblock| flash.spare_areas(superblock)) {
        let entry: &mut u64 = &mut newest[lpn.index()];
        *entry = number.max(*entry);
    }
    newest
}

/// Number of a page's newest record that stands for the checkpoint.
const AS_BEFORE: u64 = 0;

struct MapSearch<'a> {
    flash: OnFlash<'a>,
    /// Number of the newest record of each page.
    numbers: Vec<u64>,
    /// Number of the checkpoint, and the first number that may be newer than its content.
    checkpoint: u64,
    from: u64,
    rebuilt: RebuiltMap,
}

impl<'a> MapSearch<'a> {
    /// A search that begins with the copies of the checkpoint that have not been erased since.
    fn new(flash: OnFlash<'a>, pages: usize) -> Self {
        let mut slots = vec![Ppn::NONE; pages];
        let (mut lost, mut checkpoint, mut from) = (BTreeSet::new(), 0, 0);
        if let Some(before) = flash.checkpoint() {
            (checkpoint, from) = (before.at, before.from);
            lost.clone_from(&before.lost);
            for (slot, &kept) in slots.iter_mut().zip(&before.slots).filter(|(_, kept)| kept.is_some()) {
                // A page whose copy has been erased since has a newer copy, or was trimmed.
                let header = flash.header(flash.superblock_of(kept));
                if header.is_some_and(|header| header.opened < checkpoint) {
                    *slot = kept;
                }
            }
        }
        let rebuilt =
            RebuiltMap { slots, lost, read_superblocks: Vec::new(), compared_superblocks: BTreeSet::new() };
        Self { flash, numbers: vec![AS_BEFORE; pages], checkpoint, from, rebuilt }
    }

    /// Reads the owners of the superblocks that have been written since the checkpoint.
    fn read_new_owners(&mut self) {
        let checkpoint = self.checkpoint;
        for superblock in self.flash.superblocks() {
            let Some(header) = self.flash.header(superblock) else { continue };
            if header.closed.is_some_and(|closed| closed < checkpoint) {
                continue;
            }
            self.rebuilt.read_superblocks.push(superblock);
            for (slot, lpn, number) in self.flash.spare_areas(superblock) {
                self.take_copy(lpn, slot, number);
            }
        }
    }

    /// Takes the copy of `lpn` in `slot`, written as `number`, if it is newer.
    fn take_copy(&mut self, lpn: Lpn, slot: Ppn, number: u64) {
        if self.rebuilt.slots[lpn.index()] != slot && self.is_newer(lpn, number) {
            self.rebuilt.slots[lpn.index()] = slot;
            self.rebuilt.lost.remove(&lpn);
            self.numbers[lpn.index()] = number;
        }
    }

    /// True if event `number` came after the newest record of `lpn`.
    fn is_newer(&mut self, lpn: Lpn, number: u64) -> bool {
        if number < self.from {
            return false;
        }
        let newest = self.numbers[lpn.index()];
        if newest != AS_BEFORE || number > self.checkpoint {
            return number > newest;
        }
        // The unit was on its way to flash when the checkpoint was made: the copy that this has may be the newer one.
        let kept = self.rebuilt.slots[lpn.index()];
        if !kept.is_some() {
            return true;
        }
        let superblock = self.flash.superblock_of(kept);
        let closed = self.flash.header(superblock).and_then(|header| header.closed);
        if closed.is_some_and(|closed| closed < self.checkpoint) {
            self.rebuilt.compared_superblocks.insert(superblock);
        }
        self.flash.number(kept).is_none_or(|kept| number > kept)
    }

    /// Applies the trims and losses of the journal.
    fn read_journal(&mut self) {
        for entry in self.flash.journal() {
            for (lpn, number) in entry.pages() {
                if !self.is_newer(lpn, number) {
                    continue;
                }
                self.rebuilt.slots[lpn.index()] = Ppn::NONE;
                self.numbers[lpn.index()] = number;
                match entry.event {
                    PageEvent::Trimmed => self.rebuilt.lost.remove(&lpn),
                    PageEvent::Lost => self.rebuilt.lost.insert(lpn),
                };
            }
        }
    }
}
