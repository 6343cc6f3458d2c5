//! Units of which flash holds something else than was written, and says nothing.

use super::{SlotContents, UnitBytes};
use crate::UnitTear;
use outlast_persist::{Damage, Persist, Reader, Writer};
use outlast_units::ListMap;

/// What reading such slots gives. They are few: those whose program operation was under way when power failed.
#[derive(Clone, Debug, Default)]
pub(super) struct TornUnits(ListMap<u32, UnitBytes>);

impl TornUnits {
    /// What reading `slot`, which holds `unit`, gives.
    #[inline]
    pub(super) fn seen<'a>(&'a self, slot: u32, unit: &'a UnitBytes) -> &'a UnitBytes {
        if self.0.is_empty() { unit } else { self.0.get(slot).unwrap_or(unit) }
    }

    /// From now on reading `slot` gives `unit`.
    pub(super) fn put(&mut self, slot: u32, unit: UnitBytes) {
        self.0.insert(slot, unit);
    }

    /// The `count` slots from `first` on hold nothing any more.
    #[inline]
    pub(super) fn forget(&mut self, first: u32, count: u32) {
        if !self.0.is_empty() {
            self.0.retain(|slot, _| slot < first || slot - first >= count);
        }
    }

    /// All of them.
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

impl SlotContents {
    /// From now on reading slot `slot` gives what `tear` leaves of it over what reading slot `old` gives, or over zeroes; `draw` is the random
    /// number of the slot. What was written stays for parity, which counts it.
    pub fn tear(&mut self, slot: u32, old: Option<u32>, tear: UnitTear, draw: u64) {
        let Some(new) = self.raw(slot).cloned() else { return };
        let mut bytes = vec![0; self.unit_bytes];
        if let Some((old, unit)) = old.and_then(|old| Some((old, self.raw(old)?))) {
            self.torn.seen(old, unit).copy_to(0, &mut bytes);
        }
        for range in tear.new_bytes(self.unit_bytes, draw) {
            new.copy_to(range.start, &mut bytes[range]);
        }
        let torn = UnitBytes::new(new.tag(), &bytes);
        if torn != new {
            self.torn.put(slot, torn);
        }
    }

    /// What reading slot `slot` gives, if that is not what was written.
    pub fn torn(&self, slot: u32) -> Option<&UnitBytes> {
        self.torn.0.get(slot)
    }

    /// The slots of which that is so.
    pub fn torn_slots(&self) -> impl Iterator<Item = u32> {
        self.torn.iter().map(|(slot, _)| slot)
    }

    /// That what is torn is a unit of the page whose slot it is in.
    pub(super) fn check_torn(&self) -> Result<(), Damage> {
        match self.torn.iter().find(|&(slot, unit)| self.raw(slot).map(UnitBytes::tag) != Some(unit.tag())) {
            None => Ok(()),
            Some((slot, _)) => Err(Damage::Value { what: "torn slot", value: slot.into() }),
        }
    }
}
