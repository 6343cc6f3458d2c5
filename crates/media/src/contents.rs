//! The bytes themselves, so that a test can check content.

use std::collections::BTreeMap;

/// The content of mapping units by physical slot, each with its tag: the logical page that it was written for, which a real
/// drive keeps in the spare area and which is checked on every read. The tag of parity is the XOR of the tags that it covers.
///
/// Two ways to keep them, chosen when made:
/// - *stale units are given up* ([`Contents::discard`], [`Contents::relocate`]): only live data takes memory. For drives without
///   stripes.
/// - *an image of the flash*: a slot keeps its bytes, stale or not, until it is erased, because rebuilding a page of a stripe
///   takes the real bytes of all others.
///
/// Memory grows with what is kept, never with the size of the flash.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    units: BTreeMap<u32, Unit>,
    keep_stale: bool,
}

#[derive(Clone, Debug)]
struct Unit {
    tag: u32,
    bytes: Box<[u8]>,
}

impl Contents {
    /// Nothing written yet; `keep_stale`: an image of the flash.
    pub fn new(keep_stale: bool) -> Self {
        Self { units: BTreeMap::new(), keep_stale }
    }

    /// Whether stale units keep their bytes until erased.
    pub fn keeps_stale(&self) -> bool {
        self.keep_stale
    }

    /// Stores `bytes` of logical page `owner` in slot `slot`.
    ///
    /// # Panics
    /// If the slot is occupied: it was neither erased nor given up.
    pub fn write(&mut self, slot: u32, owner: u32, bytes: Box<[u8]>) {
        let before = self.units.insert(slot, Unit { tag: owner, bytes });
        assert!(before.is_none(), "slot {slot} written twice");
    }

    /// Stores parity in slot `slot`: `bytes` are the XOR of the units covered, `owner_xor` that of their tags. It is read with
    /// [`Contents::raw`].
    ///
    /// # Panics
    /// As [`Contents::write`]; or if stale units are not kept, since parity over units that vanish rebuilds nothing.
    pub fn write_parity(&mut self, slot: u32, owner_xor: u32, bytes: Box<[u8]>) {
        assert!(self.keep_stale, "parity in slot {slot} of a drive that gives up stale units");
        self.write(slot, owner_xor, bytes);
    }

    /// The bytes of slot `slot`, which must belong to logical page `owner`.
    ///
    /// # Panics
    /// If the slot is empty or holds another page's data: the mapping is broken.
    pub fn read(&self, slot: u32, owner: u32) -> &[u8] {
        let Some(unit) = self.units.get(&slot) else {
            panic!("slot {slot} read for page {owner} is empty");
        };
        unit.of(slot, owner);
        &unit.bytes
    }

    /// Tag and bytes of slot `slot`, whosever they are; `None` if nothing was written there since it was erased, which adds
    /// nothing to an XOR.
    pub fn raw(&self, slot: u32) -> Option<(u32, &[u8])> {
        self.units.get(&slot).map(|unit| (unit.tag, &*unit.bytes))
    }

    /// Copies a unit from one slot to another. The source keeps its bytes if stale ones are kept, and is given up if not.
    ///
    /// # Panics
    /// As [`Contents::read`] and [`Contents::write`].
    pub fn relocate(&mut self, from: u32, to: u32, owner: u32) {
        let unit = if self.keep_stale { self.units.get(&from).cloned() } else { self.units.remove(&from) };
        let Some(unit) = unit else {
            panic!("slot {from} relocated for page {owner} is empty");
        };
        unit.of(from, owner);
        self.write(to, owner, unit.bytes);
    }

    /// The data of slot `slot` are stale: they are given up, unless stale ones are kept.
    ///
    /// # Panics
    /// If the slot is empty.
    pub fn discard(&mut self, slot: u32) {
        let known =
            if self.keep_stale { self.units.contains_key(&slot) } else { self.units.remove(&slot).is_some() };
        assert!(known, "slot {slot} given up twice");
    }

    /// Empties the `count` slots from `first` on. Takes time in proportion to what they hold.
    ///
    /// # Panics
    /// If stale units are given up at once and one of the slots holds data: erasing it would lose a live unit.
    pub fn erase(&mut self, first: u32, count: u32) {
        let end = u64::from(first) + u64::from(count);
        while let Some((&slot, _)) =
            self.units.range(first..).next().filter(|&(&slot, _)| u64::from(slot) < end)
        {
            assert!(self.keep_stale, "slot {slot} erased with live data");
            self.units.remove(&slot);
        }
    }

    /// Number of units kept: the live ones or, if stale ones are kept, all that were written since they were erased.
    pub fn len(&self) -> usize {
        self.units.len()
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }
}

impl Unit {
    fn of(&self, slot: u32, owner: u32) {
        assert!(self.tag == owner, "slot {slot} holds page {}, not page {owner}", self.tag);
    }
}
