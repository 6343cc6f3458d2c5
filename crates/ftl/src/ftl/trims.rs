//! Trims that a loss of power undoes.
//!
//! On drives with volatile trims only the controller knows of a trim at first: the copy that it made stale is kept as the page's *former* copy. The
//! trim is safe once the log of the mapping is, and no former copy is erased before.

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

    /// Makes all trims so far safe, as the log of the mapping is.
    pub fn persist_trims(&mut self) {
        if let Some(origins) = &mut self.origins {
            origins.trimmed.clear();
        }
    }

    /// Makes trims safe before `superblock` is erased, if a former copy is in it.
    pub fn persist_trims_of(&mut self, superblock: SuperblockId) {
        let Some(origins) = &self.origins else { return };
        let leads_there = |&at: &Ppn| is_copy(at) && self.layout.superblock_of(at) == superblock;
        if origins.trimmed.values().any(leads_there) {
            self.persist_trims();
        }
    }

    /// Takes the former copy of page `lpn`, which has no copy: its origin, if it is written now.
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

    /// Undoes trims that were not safe, as power failed.
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
