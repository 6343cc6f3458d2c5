//! Data that the flash does not have: lost, or in the controller's memory after its program operation failed.

use outlast_media::Unit;
use outlast_units::{Lpn, Ppn};
use std::collections::{BTreeMap, BTreeSet};

/// Logical pages whose data has been lost, and bytes of units that are written again.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(crate) struct Losses {
    /// Until they are written or trimmed.
    pages: BTreeSet<Lpn>,
    /// Units of slots whose program operation failed, while they are written again.
    unwritten: BTreeMap<Ppn, Unit>,
}

impl Losses {
    /// The data of `lpn` is lost.
    pub(crate) fn lose(&mut self, lpn: Lpn) {
        self.pages.insert(lpn);
    }

    #[inline]
    pub(crate) fn is_lost(&self, lpn: Lpn) -> bool {
        !self.pages.is_empty() && self.pages.contains(&lpn)
    }

    /// `lpn` is written or trimmed; whether its data had been lost.
    #[inline]
    pub(crate) fn forget(&mut self, lpn: Lpn) -> bool {
        !self.pages.is_empty() && self.pages.remove(&lpn)
    }

    /// Pages that are lost.
    pub(crate) fn count(&self) -> u64 {
        self.pages.len() as u64
    }

    /// The unit of `slot`, whose program operation failed, is in the controller's memory.
    pub(crate) fn keep(&mut self, slot: Ppn, unit: Unit) {
        let before = self.unwritten.insert(slot, unit);
        debug_assert!(before.is_none(), "the program operation of slot {slot} failed twice");
    }

    /// Takes the unit of `slot` from the controller's memory.
    pub(crate) fn take(&mut self, slot: Ppn) -> Option<Unit> {
        self.unwritten.remove(&slot)
    }

    /// All units of failed program units have been written again.
    pub(crate) fn drop_unwritten(&mut self) {
        self.unwritten.clear();
    }

    /// Checks that no page is lost that has data.
    ///
    /// # Errors
    /// The first one.
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
        let mut losses = Losses::default();
        losses.lose(Lpn(3));
        assert!(losses.is_lost(Lpn(3)) && !losses.is_lost(Lpn(4)));
        assert_eq!(losses.check(|lpn| lpn == Lpn(4)), Ok(()));
        assert_eq!(losses.check(|lpn| lpn == Lpn(3)), Err("page 3 counts as lost and has data".to_owned()));
        assert!(losses.forget(Lpn(3)) && !losses.forget(Lpn(3)));
        assert_eq!(losses.count(), 0);
    }

    #[test]
    fn unwritten_bytes_are_taken_once() {
        let mut losses = Losses::default();
        losses.keep(Ppn(7), Unit::new(9, &[1]));
        assert_eq!(losses.take(Ppn(7)), Some(Unit::new(9, &[1])));
        assert_eq!(losses.take(Ppn(7)), None);
    }
}
