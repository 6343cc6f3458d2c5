//! Data that the flash does not have: lost, or in the controller's memory after its program operation failed.

use outlast_media::UnitBytes;
use outlast_units::{Lpn, Ppn};
use std::collections::{BTreeMap, BTreeSet};

/// Logical pages whose data has been lost, and bytes of units that are written again.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(crate) struct LostData {
    /// Lost pages, until they are written or trimmed.
    pages: BTreeSet<Lpn>,
    /// Units of slots whose program operation failed, while they are written again.
    unwritten: BTreeMap<Ppn, UnitBytes>,
    /// Slots of stale copies that cannot be read, while what superseded them may be in a buffer that a loss of power empties.
    stale: BTreeSet<Ppn>,
}

impl LostData {
    /// Marks the data of `lpn` as lost.
    pub(crate) fn lose(&mut self, lpn: Lpn) {
        self.pages.insert(lpn);
    }

    #[inline]
    pub(crate) fn is_lost(&self, lpn: Lpn) -> bool {
        !self.pages.is_empty() && self.pages.contains(&lpn)
    }

    /// Forgets the loss of `lpn`, which is written or trimmed; true if its data had been lost.
    #[inline]
    pub(crate) fn forget(&mut self, lpn: Lpn) -> bool {
        !self.pages.is_empty() && self.pages.remove(&lpn)
    }

    /// Marks the stale copy in `slot` as lost.
    pub(crate) fn lose_stale(&mut self, slot: Ppn) {
        self.stale.insert(slot);
    }

    /// True if the copy in `slot` was lost when it was stale.
    #[inline]
    pub(crate) fn is_lost_stale(&self, slot: Ppn) -> bool {
        !self.stale.is_empty() && self.stale.contains(&slot)
    }

    /// Forgets lost stale copies in slots from `first` up to `end`, which are erased.
    #[inline]
    pub(crate) fn forget_stale(&mut self, first: Ppn, end: Ppn) {
        if !self.stale.is_empty() {
            self.stale.retain(|slot| !(first..end).contains(slot));
        }
    }

    /// Pages that are lost.
    pub(crate) fn count(&self) -> u64 {
        self.pages.len() as u64
    }

    /// Keeps the unit of `slot`, whose program operation failed, in the controller's memory.
    pub(crate) fn keep(&mut self, slot: Ppn, unit: UnitBytes) {
        let before = self.unwritten.insert(slot, unit);
        debug_assert!(before.is_none(), "the program operation of slot {slot} failed twice");
    }

    /// Takes the unit of `slot` from the controller's memory.
    pub(crate) fn take(&mut self, slot: Ppn) -> Option<UnitBytes> {
        self.unwritten.remove(&slot)
    }

    /// The slots that it names.
    pub(crate) fn slots(&self) -> impl Iterator<Item = Ppn> {
        self.unwritten.keys().chain(&self.stale).copied()
    }

    /// Drops units kept in the controller's memory: all have been written again.
    pub(crate) fn drop_unwritten(&mut self) {
        self.unwritten.clear();
    }

    /// Checks that no lost page has data.
    ///
    /// # Errors
    /// The first lost page that has data.
    pub(crate) fn check(&self, has_data: impl Fn(Lpn) -> bool) -> Result<(), String> {
        match self.pages.iter().find(|&&lpn| has_data(lpn)) {
            None => Ok(()),
            Some(lpn) => Err(format!("page {lpn} counts as lost and has data")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_lost_until_it_is_written() {
        let mut losses = LostData::default();
        losses.lose(Lpn(3));
        assert!(losses.is_lost(Lpn(3)) && !losses.is_lost(Lpn(4)));
        assert_eq!(losses.check(|lpn| lpn == Lpn(4)), Ok(()));
        assert_eq!(losses.check(|lpn| lpn == Lpn(3)), Err("page 3 counts as lost and has data".to_owned()));
        assert!(losses.forget(Lpn(3)) && !losses.forget(Lpn(3)));
        assert_eq!(losses.count(), 0);
    }

    #[test]
    fn a_stale_copy_is_lost_until_it_is_erased() {
        let mut losses = LostData::default();
        losses.lose_stale(Ppn(7));
        losses.forget_stale(Ppn(8), Ppn(16));
        assert!(losses.is_lost_stale(Ppn(7)) && !losses.is_lost_stale(Ppn(8)));
        losses.forget_stale(Ppn(0), Ppn(8));
        assert!(!losses.is_lost_stale(Ppn(7)));
    }

    #[test]
    fn unwritten_bytes_are_taken_once() {
        let mut losses = LostData::default();
        losses.keep(Ppn(7), UnitBytes::new(9, &[1]));
        assert_eq!(losses.take(Ppn(7)), Some(UnitBytes::new(9, &[1])));
        assert_eq!(losses.take(Ppn(7)), None);
    }
}
