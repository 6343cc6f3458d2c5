//! The bytes themselves, kept only where they are live, so that a test can check content.

use std::collections::BTreeMap;

/// The content of live mapping units by physical slot, each with the logical page it was written for: the tag that a real
/// drive keeps in the spare area, checked on every read.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    units: BTreeMap<u32, (u32, Box<[u8]>)>,
}

impl Contents {
    /// Stores `bytes` of logical page `owner` in slot `slot`.
    ///
    /// # Panics
    /// If the slot is occupied: it was neither erased nor given up.
    pub fn write(&mut self, slot: u32, owner: u32, bytes: Box<[u8]>) {
        let before = self.units.insert(slot, (owner, bytes));
        assert!(before.is_none(), "slot {slot} written twice");
    }

    /// The bytes of slot `slot`, which must belong to logical page `owner`.
    ///
    /// # Panics
    /// If the slot is empty or holds another page's data: the mapping is broken.
    pub fn read(&self, slot: u32, owner: u32) -> &[u8] {
        let Some((tag, bytes)) = self.units.get(&slot) else {
            panic!("slot {slot} read for page {owner} is empty");
        };
        assert!(*tag == owner, "slot {slot} holds page {tag}, not page {owner}");
        bytes
    }

    /// Copies a unit from one slot to another and gives up the source.
    ///
    /// # Panics
    /// As [`Contents::read`] and [`Contents::write`].
    pub fn relocate(&mut self, from: u32, to: u32, owner: u32) {
        let Some((tag, bytes)) = self.units.remove(&from) else {
            panic!("slot {from} relocated for page {owner} is empty");
        };
        assert!(tag == owner, "slot {from} holds page {tag}, not page {owner}");
        self.write(to, owner, bytes);
    }

    /// Gives up slot `slot`: its data is stale.
    ///
    /// # Panics
    /// If the slot is empty.
    pub fn discard(&mut self, slot: u32) {
        assert!(self.units.remove(&slot).is_some(), "slot {slot} given up twice");
    }

    /// Number of live units.
    pub fn len(&self) -> usize {
        self.units.len()
    }

    /// Whether nothing is live.
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }
}
