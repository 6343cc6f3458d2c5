//! Checks of origins that were read: each open superblock has a table of its own, and chains of origins end.

use super::{NO_TABLE, UnitOrigins, is_copy};
use crate::layout::SlotLayout;
use outlast_units::{Ppn, SuperblockId, to_count};

impl UnitOrigins {
    /// Checks that each open superblock has a table of its own, with an origin for each slot, and that the others are spare.
    ///
    /// # Errors
    /// The first superblock or table that does not fit.
    pub(crate) fn check_tables(
        &self,
        layout: &SlotLayout,
        is_open: impl Fn(SuperblockId) -> bool,
    ) -> Result<(), String> {
        let mut free = vec![true; self.tables.len()];
        let mut take = |table: u32| {
            let is_new = free.get_mut(table as usize).is_some_and(std::mem::take);
            if is_new { Ok(()) } else { Err(format!("table {table} of origins is none, or taken twice")) }
        };
        self.spare.iter().try_for_each(|&table| take(table))?;
        for (superblock, &table) in self.table_of.iter_indexed() {
            if is_open(superblock) != (table != NO_TABLE) {
                return Err(format!("superblock {superblock} has table {table} of origins, open or not"));
            }
            if table == NO_TABLE {
                continue;
            }
            take(table)?;
            let length = to_count(self.tables[table as usize].len());
            if length != layout.units_per_superblock() {
                return Err(format!("superblock {superblock} has {length} origins"));
            }
        }
        Ok(())
    }

    /// Units in the buffer that have an origin: of the slots of open superblocks that are not `is_programmed`, and those that are written again.
    pub(crate) fn needed(
        &self,
        layout: &SlotLayout,
        is_programmed: impl Fn(Ppn) -> bool,
    ) -> impl Iterator<Item = (Ppn, Ppn)> {
        let of_table = move |superblock: SuperblockId| {
            let slots = (layout.first_slot(superblock).0..).map(Ppn);
            slots.zip(self.table(superblock).unwrap_or_default().iter().copied())
        };
        let in_tables = self.table_of.indices().flat_map(of_table);
        in_tables
            .filter(move |&(slot, origin)| origin.is_some() && !is_programmed(slot))
            .chain(self.rewritten.iter().copied())
    }

    /// Checks that the chain of origins from each unit in the buffer, of slots that there are, comes to an end.
    ///
    /// # Errors
    /// The first unit that goes back to itself.
    pub(crate) fn check_ends(
        &self,
        layout: &SlotLayout,
        is_programmed: impl Fn(Ppn) -> bool,
    ) -> Result<(), String> {
        // The number of the walk that came by, from 1 on.
        let mut walks = vec![0u32; layout.slots() as usize];
        for (walk, (slot, _)) in (1..).zip(self.needed(layout, &is_programmed)) {
            let mut at = slot;
            while is_copy(at) && !is_programmed(at) && walks[at.index()] == 0 {
                walks[at.index()] = walk;
                at = self.of(layout, at).unwrap_or(Ppn::NONE);
            }
            if is_copy(at) && !is_programmed(at) && walks[at.index()] == walk {
                return Err(format!("slot {slot} goes back to slot {at}, and that to itself"));
            }
        }
        Ok(())
    }
}
