//! Memory of units that left their slots, for units to come.

use super::unit::{BlankUnit, UnitBytes};
use std::hint::black_box;
use std::sync::Arc;

/// Limit of spare units, a few superblocks of a small drive: memory that erasures give up is taken by later writes.
const MOST: usize = 4096;
/// Units that are made ready at once: as many as the processor's cache can well await together.
const READY: usize = 8;

/// Memory of units that left their slots, to be used again if nothing else refers to it.
#[derive(Debug, Default)]
pub(super) struct SpareUnits {
    /// The last ones to have left are taken first.
    spares: Vec<Arc<[u8]>>,
    /// Some of them, at most [`READY`], whose counts of references are in the processor's cache.
    ready: Vec<Arc<[u8]>>,
}

impl SpareUnits {
    /// Takes memory that nothing else refers to.
    #[inline]
    pub(super) fn take(&mut self) -> Option<BlankUnit> {
        loop {
            if self.ready.is_empty() && self.spares.len() >= READY {
                self.make_ready();
            }
            let spare = self.ready.pop().or_else(|| self.spares.pop())?;
            if let Some(blank) = BlankUnit::of(spare) {
                return Some(blank);
            }
        }
    }

    /// Makes the next [`READY`] ready, of at least as many. Counts lie beside the bytes of units, far from each other: those of several units are fetched at once, since a copy that
    /// waited for one could not begin to fetch the next.
    #[inline(never)]
    fn make_ready(&mut self) {
        let from = self.spares.len() - READY;
        black_box(self.spares[from..].iter().map(Arc::strong_count).fold(0, |sum, count| sum | count));
        self.ready.extend(self.spares.drain(from..));
    }

    /// Keeps the memory of a unit that left its slot, unless there is enough. Other references to it are looked for only when it is taken: looking now would
    /// bring it into the cache for nothing.
    #[inline]
    pub(super) fn give_up(&mut self, unit: UnitBytes) {
        if self.spares.len() < MOST
            && let Some(memory) = unit.into_shared()
        {
            self.spares.push(memory);
        }
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<[u8]>> {
        self.spares.iter().chain(&self.ready)
    }

    /// Bytes of the lists themselves.
    pub(super) fn list_bytes(&self) -> usize {
        (self.spares.capacity() + self.ready.capacity()) * size_of::<Arc<[u8]>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Where the bytes of a unit that is held elsewhere would be overwritten, a fork of a drive would read another's data.
    #[test]
    fn memory_that_something_else_refers_to_is_never_taken() {
        for count in [1, READY - 1, READY, 3 * READY + 5] {
            let units: Vec<UnitBytes> = (0..count).map(|tag| UnitBytes::new(tag as u32, &[7; 64])).collect();
            let held: Vec<UnitBytes> = units.iter().step_by(3).cloned().collect();
            let mut spares = SpareUnits::default();
            for unit in units {
                spares.give_up(unit);
            }
            assert_eq!(spares.iter().count(), count);
            let place = |unit: &UnitBytes| unit.allocation().map(|(place, _)| place);
            let kept: BTreeSet<_> = held.iter().map(place).collect();
            let taken: Vec<UnitBytes> =
                std::iter::from_fn(|| spares.take()).map(|blank| blank.into_unit(0)).collect();
            let places: BTreeSet<_> = taken.iter().map(place).collect();
            assert!(places.is_disjoint(&kept), "{count} units");
            assert_eq!((taken.len(), places.len()), (count - held.len(), count - held.len()));
        }
    }
}
