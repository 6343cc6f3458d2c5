//! A table of slots that is cloned without being copied.

use super::store::ByteStore;
use super::unit::UnitBytes;
use outlast_persist::{Damage, Persist, Reader, Writer};
use outlast_tables::prefetch;
use std::sync::Arc;

/// Slots in chunks of [`CHUNK`]; a chunk that holds nothing takes no memory. A clone shares all chunks with the original; whoever changes
/// a slot first copies its chunk, not the bytes in it.
#[derive(Clone, Debug, Default)]
pub(super) struct SlotTable {
    chunks: Vec<Option<Arc<SlotChunk>>>,
    held: usize,
}

/// Neighbouring slots.
#[derive(Clone, Debug)]
struct SlotChunk {
    held: usize,
    units: [Option<UnitBytes>; CHUNK],
}

/// Slots of a chunk: so many that the clone of a drive of 1 GiB has only some hundred chunks to share, and so few that copying one takes little.
pub(super) const CHUNK: usize = 512;

/// Index of the chunk of a slot, and of the slot within it.
#[inline]
fn place_of(slot: u32) -> (usize, usize) {
    (slot as usize / CHUNK, slot as usize % CHUNK)
}

impl SlotChunk {
    /// A chunk that holds nothing. Never inlined: it is made on the stack, of which it takes 24 KiB.
    #[cold]
    #[inline(never)]
    fn none() -> Arc<Self> {
        Arc::new(Self { held: 0, units: [const { None }; CHUNK] })
    }
}

impl SlotTable {
    /// The unit in slot `slot`.
    #[inline]
    pub(super) fn get(&self, slot: u32) -> Option<&UnitBytes> {
        let (chunk, place) = place_of(slot);
        self.chunks.get(chunk)?.as_ref()?.units[place].as_ref()
    }

    /// Prefetches slot `slot`.
    #[inline]
    pub(super) fn prefetch(&self, slot: u32) {
        let (chunk, place) = place_of(slot);
        if let Some(Some(chunk)) = self.chunks.get(chunk) {
            prefetch(&chunk.units[place]);
        }
    }

    /// Puts `unit` into slot `slot`; returns what was there.
    #[inline]
    pub(super) fn put(&mut self, slot: u32, unit: UnitBytes) -> Option<UnitBytes> {
        let (index, place) = place_of(slot);
        if index >= self.chunks.len() {
            self.chunks.resize_with(index + 1, || None);
        }
        let chunk = self.chunks[index].get_or_insert_with(SlotChunk::none);
        let chunk = Arc::make_mut(chunk);
        let before = chunk.units[place].replace(unit);
        let more = usize::from(before.is_none());
        chunk.held += more;
        self.held += more;
        before
    }

    /// Empties slot `slot`.
    #[inline]
    pub(super) fn take(&mut self, slot: u32) -> Option<UnitBytes> {
        let (index, place) = place_of(slot);
        let shared = self.chunks.get_mut(index)?.as_mut()?;
        // A shared chunk is not copied for a slot that is empty.
        shared.units[place].as_ref()?;
        let chunk = Arc::make_mut(shared);
        let taken = chunk.units[place].take();
        chunk.held -= 1;
        self.held -= 1;
        if chunk.held == 0 {
            self.chunks[index] = None;
        }
        taken
    }

    /// Empties the `count` slots from `first` on, and hands out what they held.
    #[inline]
    pub(super) fn take_all(&mut self, first: u32, count: u32, mut each: impl FnMut(u32, UnitBytes)) {
        let (mut slot, end) = (first as usize, (first as usize).saturating_add(count as usize));
        while slot < end {
            let (index, until) = (slot / CHUNK, end.min((slot / CHUNK + 1) * CHUNK));
            if let Some(shared) = self.chunks.get_mut(index).and_then(Option::as_mut)
                && shared.units[slot % CHUNK..=(until - 1) % CHUNK].iter().any(Option::is_some)
            {
                let chunk = Arc::make_mut(shared);
                let before = chunk.held;
                for place in slot..until {
                    if let Some(unit) = chunk.units[place % CHUNK].take() {
                        chunk.held -= 1;
                        each(place as u32, unit);
                    }
                }
                let left = chunk.held;
                debug_assert!(left < before, "a chunk with a unit in the range gives one up");
                self.held -= before - left;
                if left == 0 {
                    self.chunks[index] = None;
                }
            }
            slot = until;
        }
    }

    /// Units held.
    #[inline]
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// Bytes allocated for the table itself.
    pub(super) fn heap_bytes(&self) -> usize {
        let chunks = self.chunks.iter().flatten().count();
        self.chunks.capacity() * size_of::<Option<Arc<SlotChunk>>>()
            + chunks * (size_of::<SlotChunk>() + COUNTS)
    }

    /// All units, in order of their slots.
    pub(super) fn units(&self) -> impl Iterator<Item = &UnitBytes> {
        self.chunks.iter().flatten().flat_map(|chunk| chunk.units.iter().flatten())
    }
}

impl SlotTable {
    /// Puts another unit in the place of each one for which `other` gives one.
    pub(super) fn replace_units(&mut self, mut other: impl FnMut(&UnitBytes) -> Option<UnitBytes>) {
        for shared in self.chunks.iter_mut().flatten() {
            for place in 0..CHUNK {
                if let Some(unit) = shared.units[place].as_ref().and_then(&mut other) {
                    Arc::make_mut(shared).units[place] = Some(unit);
                }
            }
        }
    }

    /// Shape of the entries that [`SlotTable::save`] writes.
    pub(super) const SHAPE: u64 = <(u32, UnitBytes) as Persist>::SHAPE;

    /// Writes the slots that hold something, with what they hold.
    pub(super) fn save(&self, to: &mut Writer<'_>) {
        to.count(self.held);
        for (index, chunk) in self.chunks.iter().enumerate() {
            let units = chunk.iter().flat_map(|chunk| chunk.units.iter().enumerate());
            for (place, unit) in units.filter_map(|(place, unit)| Some((place, unit.as_ref()?))) {
                ((index * CHUNK + place) as u32).write(to);
                unit.write(to);
            }
        }
    }

    /// Takes over what was written; the bytes go to `store`, if there is one.
    pub(super) fn restore(
        &mut self,
        from: &mut Reader<'_>,
        store: Option<&Arc<dyn ByteStore>>,
    ) -> Result<(), Damage> {
        *self = Self::default();
        let mut next = 0;
        for _ in 0..from.count()? {
            let slot = u32::read(from)?;
            let unit = UnitBytes::read_into(from, store)?;
            // Rising slots only: a repeated one would drop a unit unseen, and the table grows no further than the last slot.
            if u64::from(slot) < next {
                return Err(Damage::Value { what: "slot after those before it", value: slot.into() });
            }
            next = u64::from(slot) + 1;
            self.put(slot, unit);
        }
        Ok(())
    }
}

/// Bytes of the two reference counts of an `Arc`.
pub(super) const COUNTS: usize = 2 * size_of::<usize>();
