//! Bytes of mapping units, so that a test can check content.
//!
//! Each unit is tagged with its logical page; a read that finds another tag panics. Torn units have the bytes that reads return in `torn.rs` (decision 0050).

mod chunks;
mod spares;
mod store;
mod torn;
mod unit;

pub use store::{ByteStore, StoreAddress};
pub use unit::{BlankUnit, UnitBytes};

use chunks::{COUNTS, SlotTable};
use outlast_persist::{Damage, Reader, Restore, Writer, shape};
use spares::SpareUnits;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use store::STORED_BYTES;
use torn::TornUnits;

/// The content of mapping units by physical slot.
///
/// Two ways to keep them, chosen when made:
/// - *stale units are given up* ([`SlotBytes::discard`], [`SlotBytes::relocate`]): only live data takes memory. For drives without
///   stripes.
/// - *an image of the flash*: a slot keeps its bytes, stale or not, until it is erased, because rebuilding a page of a stripe
///   takes the real bytes of all others.
///
/// Memory grows with what is kept: a unit takes its bytes and 40 more, one of zeroes 24, the flash as such 8 for every 512 slots up to
/// the last one written. With a [`ByteStore`] ([`SlotBytes::keep_in`]) a unit takes 64 bytes of memory, and its bytes are there. A clone shares everything with the original and takes microseconds; what either of them changes afterwards is its own
/// ([0040](../../../docs/decisions/0040-contents-by-reference.md)).
#[derive(Debug)]
pub struct SlotBytes {
    slots: SlotTable,
    keep_stale: bool,
    /// Bytes of a unit.
    unit_bytes: usize,
    spares: SpareUnits,
    /// Store of the bytes; `None`: memory.
    store: Option<Arc<dyn ByteStore>>,
    /// Slots that give other bytes than were written.
    torn: TornUnits,
}

impl Restore for SlotBytes {
    const SHAPE: u64 = shape("Contents", &[("", SlotTable::SHAPE), ("", TornUnits::SHAPE)]);

    /// Saves slots and torn units; spare memory and the store are not state of the drive.
    fn save(&self, to: &mut Writer<'_>) {
        self.slots.save(to);
        self.torn.save(to);
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Damage> {
        self.slots.restore(from, self.store.as_ref())?;
        self.torn.restore(from)?;
        self.check_torn()?;
        let torn = self.torn.iter().map(|(_, unit)| unit);
        let mut lengths = self.slots.units().chain(torn).filter_map(UnitBytes::length);
        match lengths.find(|&length| length != self.unit_bytes) {
            None => Ok(()),
            Some(length) => {
                Err(Damage::Count { what: "a unit", found: length as u64, expected: self.unit_bytes as u64 })
            }
        }
    }
}

impl Clone for SlotBytes {
    fn clone(&self) -> Self {
        // Spare memory has one owner.
        Self {
            slots: self.slots.clone(),
            spares: SpareUnits::default(),
            store: self.store.clone(),
            torn: self.torn.clone(),
            ..*self
        }
    }
}

impl SlotBytes {
    /// Empty contents for units of `unit_bytes` bytes; `keep_stale`: an image of the flash.
    pub fn new(unit_bytes: usize, keep_stale: bool) -> Self {
        Self {
            slots: SlotTable::default(),
            keep_stale,
            unit_bytes,
            spares: SpareUnits::default(),
            store: None,
            torn: TornUnits::default(),
        }
    }

    /// Moves all bytes to `store`, which keeps them from now on; clones that are made later share it.
    pub fn keep_in(&mut self, store: Arc<dyn ByteStore>) {
        let mut moved: BTreeMap<usize, UnitBytes> = BTreeMap::new();
        self.slots.replace_units(|unit| {
            let (place, true) = unit.allocation()? else { return None };
            if let Some(stored) = moved.get(&place) {
                return Some(stored.clone().with_tag(unit.tag()));
            }
            let stored = unit.put_into(&store)?;
            moved.insert(place, stored.clone());
            Some(stored)
        });
        self.store = Some(store);
    }

    /// True if stale units keep their bytes until they are erased.
    pub fn keeps_stale(&self) -> bool {
        self.keep_stale
    }

    /// The unit of `bytes`, written for `tag`.
    ///
    /// # Panics
    /// If they are not as many as other units have.
    #[inline]
    pub fn make(&mut self, tag: u32, bytes: &[u8]) -> UnitBytes {
        assert!(
            bytes.len() == self.unit_bytes,
            "a unit takes {} bytes, not {}",
            self.unit_bytes,
            bytes.len()
        );
        if unit::is_zero(bytes) {
            return UnitBytes::zero(tag);
        }
        let Some(mut blank) = self.spares.take() else { return UnitBytes::new(tag, bytes) };
        blank.bytes_mut().copy_from_slice(bytes);
        blank.into_unit(tag)
    }

    /// Memory for a unit, with undefined bytes.
    #[inline]
    pub fn blank(&mut self) -> BlankUnit {
        self.spares.take().unwrap_or_else(|| BlankUnit::new(self.unit_bytes))
    }

    /// Stores `unit` in slot `slot`.
    ///
    /// # Panics
    /// If the slot is occupied: it was neither erased nor given up; or if the unit is not as long as the others.
    #[inline]
    pub fn write(&mut self, slot: u32, unit: UnitBytes) {
        let bytes = self.unit_bytes;
        assert!(unit.length().is_none_or(|length| length == bytes), "slot {slot} takes {bytes} bytes");
        let unit = if self.store.is_some() { self.move_to_store(unit) } else { unit };
        let before = self.slots.put(slot, unit);
        assert!(before.is_none(), "slot {slot} written twice");
    }

    /// Replaces the unit of a slot that has not been programmed yet; otherwise like [`SlotBytes::write`].
    pub fn replace(&mut self, slot: u32, unit: UnitBytes) {
        if let Some(before) = self.slots.take(slot) {
            self.spares.give_up(before);
        }
        self.write(slot, unit);
    }

    /// Moves the bytes of a unit to the store, if they are in memory and the store takes them; the memory becomes spare.
    fn move_to_store(&mut self, unit: UnitBytes) -> UnitBytes {
        let Some(stored) = self.store.as_ref().and_then(|store| unit.put_into(store)) else { return unit };
        self.spares.give_up(unit);
        stored
    }

    /// Stores parity in slot `slot`, bytes and tag being sums of those of the units covered. It is read with [`SlotBytes::raw`].
    ///
    /// # Panics
    /// The same as of [`SlotBytes::write`]; or if stale units are not kept, since parity over units that vanish rebuilds nothing.
    pub fn write_parity(&mut self, slot: u32, unit: UnitBytes) {
        assert!(self.keep_stale, "parity in slot {slot} of a drive that gives up stale units");
        self.write(slot, unit);
    }

    /// Reads slot `slot`, which must belong to logical page `owner`.
    ///
    /// # Panics
    /// If the slot is empty or holds another page's data: the mapping is broken.
    #[inline]
    pub fn read(&self, slot: u32, owner: u32) -> &UnitBytes {
        let Some(unit) = self.raw(slot) else {
            panic!("slot {slot} read for page {owner} is empty");
        };
        assert!(unit.tag() == owner, "slot {slot} holds page {}, not page {owner}", unit.tag());
        self.torn.as_read(slot, unit)
    }

    /// The unit of slot `slot` as written, of any owner; `None` if nothing was written there since the erasure, which adds nothing to the
    /// sum of a code.
    #[inline]
    pub fn raw(&self, slot: u32) -> Option<&UnitBytes> {
        self.slots.get(slot)
    }

    /// Moves a unit, as reading gives it, from one slot to another, by reference. The source keeps it, too, if stale units are kept.
    ///
    /// # Panics
    /// The same as of [`SlotBytes::read`] and [`SlotBytes::write`].
    #[inline]
    pub fn relocate(&mut self, from: u32, to: u32, owner: u32) {
        if self.keep_stale {
            let unit = self.read(from, owner).clone();
            self.write(to, unit);
            return;
        }
        let unit = self.slots.take(from);
        let unit = unit.unwrap_or_else(|| panic!("slot {from} relocated for page {owner} is empty"));
        assert!(unit.tag() == owner, "slot {from} holds page {}, not page {owner}", unit.tag());
        // Moved, not cloned: the count of those that refer to the bytes lies beside them, far from all that a relocation touches.
        let unit = self.torn.take(from).unwrap_or(unit);
        self.write(to, unit);
    }

    /// Prefetches what [`SlotBytes::discard`] and [`SlotBytes::relocate`] take from slot `slot`, which is about to be given up.
    #[inline]
    pub fn prefetch(&self, slot: u32) {
        if !self.keep_stale {
            self.slots.prefetch(slot);
        }
    }

    /// Drops the data of slot `slot`, which are stale, unless stale units are kept.
    ///
    /// # Panics
    /// If the slot is empty.
    #[inline]
    pub fn discard(&mut self, slot: u32) {
        if self.keep_stale {
            // Only in debug builds: the slot is far from the memory that a write touches otherwise.
            debug_assert!(self.raw(slot).is_some(), "slot {slot} given up twice");
        } else {
            let unit = self.slots.take(slot).unwrap_or_else(|| panic!("slot {slot} given up twice"));
            self.spares.give_up(unit);
            self.torn.forget(slot, 1);
        }
    }

    /// Empties the `count` slots from `first` on.
    ///
    /// # Panics
    /// If stale units are given up at once and one of the slots holds data: erasing it would lose a live unit.
    pub fn erase(&mut self, first: u32, count: u32) {
        self.torn.forget(first, count);
        let Self { slots, spares, keep_stale, .. } = self;
        slots.take_all(first, count, |slot, unit| {
            assert!(*keep_stale, "slot {slot} erased with live data");
            spares.give_up(unit);
        });
    }

    /// Number of units held: the live ones or, if stale units are kept, all that were written since their erasure.
    pub fn len(&self) -> usize {
        self.slots.held()
    }

    /// True if no unit is held.
    pub fn is_empty(&self) -> bool {
        self.slots.held() == 0
    }

    /// Bytes of memory allocated: for slots, for the bytes of units or their addresses in the store, each counted once however many slots share them,
    /// and for spare memory. Memory that a clone shares counts in both.
    pub fn heap_bytes(&self) -> usize {
        let spares = self.spares.iter().map(|spare| (spare.as_ptr().addr(), true));
        let held = self.slots.units().filter_map(UnitBytes::allocation);
        let distinct: BTreeSet<(usize, bool)> = held.chain(spares).collect();
        let in_memory = distinct.iter().filter(|&&(_, in_memory)| in_memory).count();
        self.slots.heap_bytes()
            + in_memory * (self.unit_bytes + COUNTS)
            + (distinct.len() - in_memory) * STORED_BYTES
            + self.spares.list_bytes()
    }
}
