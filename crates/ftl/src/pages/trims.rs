//! Trims that a loss of power undoes.
//!
//! On drives with volatile trims only the controller knows of a trim at first: the copy that it made stale is kept as the page's *former* copy. The
//! trim is safe once the log of the mapping is, and no former copy is erased before.

use crate::origins::{LOST, is_copy};
use crate::pages::PageTable;
use crate::space::FlashSpace;
use outlast_units::{Lpn, Ppn, SuperblockId};

impl PageTable {
    /// Deallocates a logical page so that a loss of power before [`PageTable::persist_trims`] undoes it; true when there was data.
    pub(crate) fn trim_unsafely(&mut self, space: &mut FlashSpace, lpn: Lpn) -> bool {
        let former = if self.is_lost(lpn) { LOST } else { self.lookup(lpn) };
        let had = self.trim(space, lpn);
        if let Some(origins) = &mut self.origins
            && former.is_some()
        {
            origins.trimmed.insert(lpn, former);
        }
        had
    }

    /// Makes all trims so far safe, as the log of the mapping is.
    pub(crate) fn persist_trims(&mut self) {
        if let Some(origins) = &mut self.origins {
            origins.trimmed.clear();
        }
    }

    /// Makes trims safe before `superblock` is erased, if a former copy is in it.
    pub(crate) fn persist_trims_of(&mut self, space: &FlashSpace, superblock: SuperblockId) {
        let Some(origins) = &self.origins else { return };
        let leads_there = |&at: &Ppn| is_copy(at) && space.layout().superblock_of(at) == superblock;
        if origins.trimmed.values().any(leads_there) {
            self.persist_trims();
        }
    }

    /// Takes the former copy of page `lpn`, which has no copy: its origin, if it is written now.
    #[inline]
    pub(crate) fn take_trimmed(&mut self, lpn: Lpn) -> Ppn {
        let Some(origins) = &mut self.origins else { return Ppn::NONE };
        if origins.trimmed.is_empty() { Ppn::NONE } else { origins.trimmed.remove(&lpn).unwrap_or(Ppn::NONE) }
    }

    /// True if a loss of power would bring data of page `lpn` back, which has no copy.
    pub(crate) fn is_trim_volatile(&self, space: &FlashSpace, lpn: Lpn) -> bool {
        let Some(origins) = &self.origins else { return false };
        let former = origins.trimmed.get(&lpn).copied().unwrap_or(Ppn::NONE);
        origins.on_flash(space.layout(), former, |at| space.pus().is_programmed(at)).is_some()
    }

    /// Undoes trims that were not safe, as power failed.
    pub(crate) fn undo_trims(&mut self, space: &mut FlashSpace) {
        let Some(mut origins) = self.origins.take() else { return };
        for (lpn, former) in std::mem::take(&mut origins.trimmed) {
            debug_assert!(!self.lookup(lpn).is_some(), "page {lpn} was written after its trim");
            let at = origins.on_flash(space.layout(), former, |at| space.pus().is_programmed(at));
            self.restore_copy(space, lpn, at);
        }
        self.origins = Some(origins);
    }
}
