//! Origins of units in the buffer: the copies that they superseded.
//!
//! If nothing protects the buffer, every unit in it has an *origin*, the copy that it superseded, and *pins* the superblock of that copy: no pinned
//! superblock is erased. The chain of origins from a unit in the buffer therefore ends at a copy on flash, if there ever was one.

mod restored;

use crate::layout::SlotLayout;
use outlast_units::{IndexVec, Lpn, Ppn, Pu, SuperblockId, to_count};
use std::collections::BTreeMap;

/// Origin of a unit whose data had been lost when it was written again.
pub(crate) const LOST: Ppn = Ppn(u32::MAX - 1);
/// Table of a superblock that is not open.
const NO_TABLE: u32 = u32::MAX;

/// The origin of every slot of an open superblock, and how often each superblock is pinned.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct UnitOrigins {
    /// The table of each superblock that is open.
    table_of: IndexVec<SuperblockId, u32>,
    /// The origin of each slot of an open superblock; [`Ppn::NONE`]: there was no data.
    tables: Vec<Vec<Ppn>>,
    spare: Vec<u32>,
    /// Units in the buffer whose origin lies in each superblock.
    pins: IndexVec<SuperblockId, u32>,
    /// Units whose program operation failed, with their origins, while they are written again.
    rewritten: Vec<(Ppn, Ppn)>,
    /// Units that lie where they do since a program operation failed, and whether they are new: among relocated data there may be some that
    /// is not on flash yet, and the other way round.
    elsewhere: BTreeMap<Ppn, bool>,
    /// Pages whose trim a loss of power would undo, and the copy that they had.
    pub(crate) trimmed: BTreeMap<Lpn, Ppn>,
}

impl UnitOrigins {
    /// Origins of an empty buffer.
    pub(crate) fn new(layout: &SlotLayout) -> Self {
        let superblocks = layout.superblocks() as usize;
        Self {
            table_of: IndexVec::filled(NO_TABLE, superblocks),
            tables: Vec::new(),
            spare: Vec::new(),
            pins: IndexVec::filled(0, superblocks),
            rewritten: Vec::new(),
            elsewhere: BTreeMap::new(),
            trimmed: BTreeMap::new(),
        }
    }

    /// Gives `superblock` of `units` slots, which has been opened, a table.
    pub(crate) fn open_table(&mut self, superblock: SuperblockId, units: u32) {
        debug_assert!(self.table_of[superblock] == NO_TABLE, "superblock {superblock} is opened twice");
        let table = self.spare.pop().unwrap_or_else(|| {
            self.tables.push(Vec::new());
            to_count(self.tables.len()) - 1
        });
        self.tables[table as usize].clear();
        self.tables[table as usize].resize(units as usize, Ppn::NONE);
        self.table_of[superblock] = table;
        if !self.elsewhere.is_empty() {
            self.elsewhere.retain(|&slot, _| slot.0 / units != superblock.0);
        }
    }

    /// Frees the table of `superblock`, all of which is on flash.
    pub(crate) fn free_table(&mut self, superblock: SuperblockId) {
        debug_assert!(!self.spare.contains(&self.table_of[superblock]), "the table of {superblock} is spare");
        let table = std::mem::replace(&mut self.table_of[superblock], NO_TABLE);
        if table != NO_TABLE {
            self.spare.push(table);
        }
    }

    /// The origins of an open superblock's slots.
    fn table(&self, superblock: SuperblockId) -> Option<&[Ppn]> {
        self.tables.get(self.table_of[superblock] as usize).map(Vec::as_slice)
    }

    /// The origins of the units of program unit `pu`, if its superblock is open.
    pub(crate) fn of_pu(&self, layout: &SlotLayout, pu: Pu) -> Option<&[Ppn]> {
        let (superblock, units) = (layout.within_superblock(pu).0, layout.units_per_pu());
        let first = (layout.first_slot_of(pu) - layout.first_slot(superblock)) as usize;
        self.table(superblock).map(|table| &table[first..first + units as usize])
    }

    /// The origin of a slot of an open superblock.
    pub(crate) fn of(&self, layout: &SlotLayout, slot: Ppn) -> Option<Ppn> {
        let superblock = layout.superblock_of(slot);
        self.table(superblock).map(|table| table[(slot - layout.first_slot(superblock)) as usize])
    }

    /// Sets the origin of a slot; true if its superblock is open.
    pub(crate) fn set(&mut self, layout: &SlotLayout, slot: Ppn, origin: Ppn) -> bool {
        let superblock = layout.superblock_of(slot);
        let within = (slot - layout.first_slot(superblock)) as usize;
        let table = self.tables.get_mut(self.table_of[superblock] as usize);
        table.map(|table| table[within] = origin).is_some()
    }

    /// Pins the superblock of slot `origin` for a unit in the buffer.
    #[inline]
    pub(crate) fn pin(&mut self, layout: &SlotLayout, origin: Ppn) {
        if is_copy(origin) {
            self.pins[layout.superblock_of(origin)] += 1;
        }
    }

    /// Removes one pin of the superblock of slot `origin`.
    #[inline]
    pub(crate) fn unpin(&mut self, layout: &SlotLayout, origin: Ppn) {
        if is_copy(origin) {
            let pins = &mut self.pins[layout.superblock_of(origin)];
            debug_assert!(*pins != 0, "the superblock of slot {origin} is not pinned");
            *pins -= 1;
        }
    }

    /// True if a unit in the buffer has its origin in `superblock`.
    #[inline]
    pub(crate) fn is_pinned(&self, superblock: SuperblockId) -> bool {
        self.pins[superblock] != 0
    }

    /// Releases the pins of program unit `pu`, which is on flash: its origins are needed no more.
    pub(crate) fn release(&mut self, layout: &SlotLayout, pu: Pu) {
        let (superblock, units) = (layout.within_superblock(pu).0, layout.units_per_pu());
        let first = (layout.first_slot_of(pu) - layout.first_slot(superblock)) as usize;
        let Some(table) = self.tables.get(self.table_of[superblock] as usize) else { return };
        for &origin in &table[first..first + units as usize] {
            if is_copy(origin) {
                let pins = &mut self.pins[layout.superblock_of(origin)];
                debug_assert!(*pins != 0, "the superblock of slot {origin} is not pinned");
                *pins -= 1;
            }
        }
    }

    /// Keeps the origin of the unit of `slot`, whose program operation failed, while it is written again.
    pub(crate) fn keep(&mut self, slot: Ppn, origin: Ppn) {
        self.rewritten.push((slot, origin));
    }

    /// Gives the unit of `from`, whose origin was kept, its origin in `to`; `is_new`: it is not one that relocation moved.
    pub(crate) fn move_kept(&mut self, layout: &SlotLayout, from: Ppn, to: Ppn, is_new: bool) {
        if let Some(index) = self.rewritten.iter().position(|&(slot, _)| slot == from) {
            let (_, origin) = self.rewritten.swap_remove(index);
            self.set(layout, to, origin);
            self.elsewhere.insert(to, is_new);
        }
    }

    /// The first copy on flash, by `is_programmed`, from `at` back along origins; [`LOST`], or [`Ppn::NONE`], if there is none.
    pub(crate) fn on_flash(
        &self,
        layout: &SlotLayout,
        mut at: Ppn,
        is_programmed: impl Fn(Ppn) -> bool,
    ) -> Ppn {
        while is_copy(at) && !is_programmed(at) {
            at = self.of(layout, at).unwrap_or(Ppn::NONE);
        }
        at
    }

    /// True if the unit in `slot` is new; `None` unless a failed program operation brought it there.
    pub(crate) fn is_new_elsewhere(&self, slot: Ppn) -> Option<bool> {
        self.elsewhere.get(&slot).copied()
    }

    /// Drops origins that are still kept, and their pins: their units had no place to go.
    pub(crate) fn drop_kept(&mut self, layout: &SlotLayout) {
        for (_, origin) in std::mem::take(&mut self.rewritten) {
            self.unpin(layout, origin);
        }
    }

    /// Clears all origins and pins: the buffer is empty.
    pub(crate) fn clear(&mut self) {
        self.pins.iter_mut().for_each(|pins| *pins = 0);
        self.tables.iter_mut().for_each(|table| table.fill(Ppn::NONE));
        self.elsewhere.clear();
    }

    /// Checks that pins are those of the units in the buffer: of the slots of open superblocks that are not `is_programmed`.
    ///
    /// # Errors
    /// The first superblock whose pins, or state, are off.
    pub(crate) fn check(
        &self,
        layout: &SlotLayout,
        is_open: impl Fn(SuperblockId) -> bool,
        is_free: impl Fn(SuperblockId) -> bool,
        is_programmed: impl Fn(Ppn) -> bool,
    ) -> Result<(), String> {
        let mut pins = IndexVec::filled(0u32, self.pins.len());
        for superblock in self.pins.indices() {
            let Some(table) = self.table(superblock) else { continue };
            if !is_open(superblock) {
                return Err(format!("superblock {superblock} is not open and has a table of origins"));
            }
            let slots = (layout.first_slot(superblock).0..).map(Ppn);
            for (&origin, slot) in table.iter().zip(slots).filter(|&(&origin, _)| is_copy(origin)) {
                let pinned = layout.superblock_of(origin);
                if is_programmed(slot) {
                    continue;
                }
                if is_free(pinned) {
                    return Err(format!("superblock {pinned} is erased, and slot {slot} goes back to it"));
                }
                pins[pinned] += 1;
            }
        }
        match self.pins.iter_indexed().find(|&(superblock, &kept)| kept != pins[superblock]) {
            None => Ok(()),
            Some((superblock, kept)) => Err(format!(
                "superblock {superblock} is pinned {} times, its count says {kept}",
                pins[superblock]
            )),
        }
    }
}

/// True if an origin is a copy of the data.
#[inline]
pub(crate) fn is_copy(origin: Ppn) -> bool {
    origin.is_some() && origin != LOST
}

#[cfg(test)]
mod tests;
