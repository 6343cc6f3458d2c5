//! Torn units: slots that read as other bytes than were written, without an error.

use super::{SlotBytes, UnitBytes};
use crate::UnitTear;
use outlast_persist::{Damage, Persist, Reader, Writer};
use outlast_units::ListMap;

/// Units that reading torn slots gives. They are few: those whose program operation was under way when power failed.
#[derive(Clone, Debug, Default)]
pub(super) struct TornUnits(ListMap<u32, UnitBytes>);

impl TornUnits {
    /// The unit that reading `slot` gives, which was written with `unit`.
    #[inline]
    pub(super) fn as_read<'a>(&'a self, slot: u32, unit: &'a UnitBytes) -> &'a UnitBytes {
        if self.0.is_empty() { unit } else { self.0.get(slot).unwrap_or(unit) }
    }

    /// Makes `slot` read as `unit`.
    pub(super) fn put(&mut self, slot: u32, unit: UnitBytes) {
        self.0.insert(slot, unit);
    }

    /// Forgets slot `slot`, which is empty from now on; returns the unit that reading it gave, if it was torn.
    #[inline]
    pub(super) fn take(&mut self, slot: u32) -> Option<UnitBytes> {
        if self.0.is_empty() { None } else { self.0.remove(slot) }
    }

    /// Forgets the `count` slots from `first` on, which are erased.
    #[inline]
    pub(super) fn forget(&mut self, first: u32, count: u32) {
        if !self.0.is_empty() {
            self.0.retain(|slot, _| slot < first || slot - first >= count);
        }
    }

    /// All torn slots with the units that reading them gives.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &UnitBytes)> {
        self.0.iter()
    }

    pub(super) const SHAPE: u64 = <ListMap<u32, UnitBytes> as Persist>::SHAPE;

    pub(super) fn save(&self, to: &mut Writer<'_>) {
        self.0.write(to);
    }

    pub(super) fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Damage> {
        self.0 = Persist::read(from)?;
        Ok(())
    }
}

impl SlotBytes {
    /// Tears slot `slot`: from now on it reads as what `tear` leaves of the new bytes over those of slot `old`, or over zeroes; `draw` is the random
    /// number of the slot. The written unit stays for parity, which was computed from it.
    pub fn tear(&mut self, slot: u32, old: Option<u32>, tear: UnitTear, draw: u64) {
        let Some(new) = self.raw(slot).cloned() else { return };
        let mut bytes = vec![0; self.unit_bytes];
        if let Some((old, unit)) = old.and_then(|old| Some((old, self.raw(old)?))) {
            self.torn.as_read(old, unit).copy_to(0, &mut bytes);
        }
        for range in tear.new_bytes(self.unit_bytes, draw) {
            new.copy_to(range.start, &mut bytes[range]);
        }
        let torn = UnitBytes::new(new.tag(), &bytes);
        if torn != new {
            self.torn.put(slot, torn);
        }
    }

    /// The unit that reading slot `slot` gives, if the slot is torn.
    pub fn torn(&self, slot: u32) -> Option<&UnitBytes> {
        self.torn.0.get(slot)
    }

    /// All torn slots.
    pub fn torn_slots(&self) -> impl Iterator<Item = u32> {
        self.torn.iter().map(|(slot, _)| slot)
    }

    /// Checks that each torn unit belongs to the logical page of its slot.
    pub(super) fn check_torn(&self) -> Result<(), Damage> {
        match self.torn.iter().find(|&(slot, unit)| self.raw(slot).map(UnitBytes::tag) != Some(unit.tag())) {
            None => Ok(()),
            Some((slot, _)) => Err(Damage::Value { what: "torn slot", value: slot.into() }),
        }
    }
}
