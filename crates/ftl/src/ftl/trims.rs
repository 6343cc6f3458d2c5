//! Trims that a loss of power undoes.
//!
//! Where the drive says so, a trim is first known to the controller only: what it made stale is noted as the page's *former* copy. Whatever
//! makes the log of the mapping safe makes the trim safe, and nothing that a note leads to is erased before.

use super::Ftl;
use crate::origins::{LOST, is_copy};
use outlast_units::{Lpn, Ppn, SuperblockId};

impl Ftl {
    /// As [`Ftl::trim`], but a loss of power before [`Ftl::persist_trims`] undoes it.
    pub fn trim_unsafely(&mut self, lpn: Lpn) -> bool {
        let former = if self.is_lost(lpn) { LOST } else { self.lookup(lpn) };
        let had = self.trim(lpn);
        if let Some(origins) = &mut self.origins
            && former.is_some()
        {
            origins.trimmed.insert(lpn, former);
        }
        had
    }

    /// The log of the mapping is safe: no trim so far will be undone.
    pub fn persist_trims(&mut self) {
        if let Some(origins) = &mut self.origins {
            origins.trimmed.clear();
        }
    }

    /// `superblock` is about to be erased. If a trim could lead back to it, the log of the mapping is made safe first.
    pub fn persist_trims_of(&mut self, superblock: SuperblockId) {
        let Some(origins) = &self.origins else { return };
        let leads_there = |&at: &Ppn| is_copy(at) && self.layout.superblock_of(at) == superblock;
        if origins.trimmed.values().any(leads_there) {
            self.persist_trims();
        }
    }

    /// What page `lpn`, which has no copy, would come back to: its origin, if it is written now.
    #[inline]
    pub(super) fn take_trimmed(&mut self, lpn: Lpn) -> Ppn {
        let Some(origins) = &mut self.origins else { return Ppn::NONE };
        if origins.trimmed.is_empty() { Ppn::NONE } else { origins.trimmed.remove(&lpn).unwrap_or(Ppn::NONE) }
    }

    /// True if a loss of power would bring data of page `lpn` back, which has no copy.
    pub(super) fn is_trim_volatile(&self, lpn: Lpn) -> bool {
        let Some(origins) = &self.origins else { return false };
        let former = origins.trimmed.get(&lpn).copied().unwrap_or(Ppn::NONE);
        origins.on_flash(&self.layout, former, |at| self.is_programmed(at)).is_some()
    }

    /// Power failed: trims that were not safe are undone.
    pub(super) fn undo_trims(&mut self) {
        let Some(mut origins) = self.origins.take() else { return };
        for (lpn, former) in std::mem::take(&mut origins.trimmed) {
            debug_assert!(!self.lookup(lpn).is_some(), "page {lpn} was written after its trim");
            let at = origins.on_flash(&self.layout, former, |at| self.is_programmed(at));
            self.restore_copy(lpn, at);
        }
        self.origins = Some(origins);
    }
}
