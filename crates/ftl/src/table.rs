//! The mapping: slot of each logical page, owner of each slot, and a bit for each valid slot.
//!
//! There are two flat tables, logical to physical and physical to logical, and one bit for each slot that says whether it is valid. With the counts of valid
//! units of superblocks they take 9.0 bytes for each mapping unit at 15 % spare space. Relocation reads the bits, which stay in the processor's cache, and only
//! writes to the tables; the self-check compares all three. The whole of the mapping is in memory: no part of it is read from flash when it is needed.

use crate::bits::BitSet;
use outlast_tables::prefetch;
use outlast_units::{IndexVec, Lpn, Ppn, to_count, to_length};

/// Units that must move together to be looked up before any is moved. Fewer are moved one by one: a rule of thumb, as the overlap of so few cache
/// misses hardly pays for a second pass.
const GATHERED: u32 = 8;

/// A mapping held wholly in memory: three flat tables.
///
/// A slot is *valid* if its logical page leads to it. What a slot held before that is *stale*; its owner stays known until the slot
/// is written again, since a loss of power may make it valid once more.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub(crate) struct FlatMap {
    #[persist(grow)]
    slots: IndexVec<Lpn, Ppn>,
    #[persist(each)]
    owners: IndexVec<Ppn, Lpn>,
    /// One bit for each slot: small enough to stay in the processor's cache for most drives, while a search for valid slots in the other two tables
    /// would miss it at every slot.
    valid: BitSet,
}

impl FlatMap {
    /// A mapping of `pages` logical pages, none written, over `slots` slots.
    pub(crate) fn new(pages: u64, slots: u32) -> Self {
        Self {
            slots: outlast_tables::filled(Ppn::NONE, to_length(pages)).into(),
            owners: outlast_tables::filled(Lpn::NONE, slots as usize).into(),
            valid: BitSet::new(slots as usize),
        }
    }

    /// Value of [`FlatMap::bytes`] when built.
    pub(crate) fn bytes_when_built(pages: u64, slots: u32) -> u64 {
        pages * size_of::<Ppn>() as u64
            + u64::from(slots) * size_of::<Lpn>() as u64
            + u64::from(slots.div_ceil(64)) * size_of::<u64>() as u64
    }
}

impl FlatMap {
    /// The slot of a logical page; [`Ppn::NONE`] where nothing is written.
    #[inline]
    pub(crate) fn lookup(&self, lpn: Lpn) -> Ppn {
        self.slots[lpn]
    }

    /// The logical page that a slot was written for last; [`Lpn::NONE`] if there is none.
    #[inline]
    pub(crate) fn owner(&self, slot: Ppn) -> Lpn {
        self.owners[slot]
    }

    /// Valid slots among the `count` slots from `first` on, at most 64: one bit each, the first one lowest.
    #[inline]
    pub(crate) fn valid_in(&self, first: Ppn, count: u32) -> u64 {
        self.valid.mask(first.0, count)
    }

    /// Maps `lpn` to `slot`, which has its newest copy. Returns the slot that becomes stale thereby, or [`Ppn::NONE`].
    #[allow(clippy::inline_always, reason = "once for every unit that is written")]
    #[inline(always)]
    pub(crate) fn put(&mut self, lpn: Lpn, slot: Ppn) -> Ppn {
        debug_assert!(lpn.is_some() && slot.is_some(), "page {lpn} goes to slot {slot}");
        debug_assert!(!self.valid.get(slot.0), "slot {slot} is written while it holds a page");
        let old = std::mem::replace(&mut self.slots[lpn], slot);
        if old.is_some() {
            debug_assert!(self.valid.get(old.0), "page {lpn} was in slot {old}, which is stale");
            self.valid.clear(old.0);
        }
        self.owners[slot] = lpn;
        self.valid.set(slot.0);
        old
    }

    /// Maps `lpn` to no slot. Returns the slot that becomes stale thereby, or [`Ppn::NONE`].
    #[inline]
    pub(crate) fn unmap(&mut self, lpn: Lpn) -> Ppn {
        let old = std::mem::replace(&mut self.slots[lpn], Ppn::NONE);
        if old.is_some() {
            debug_assert!(self.valid.get(old.0), "page {lpn} was in slot {old}, which is stale");
            self.valid.clear(old.0);
        }
        old
    }

    /// Moves the `count` units in those slots from `first` on that are set in `moved`, all valid, to the slots from `to` on, in order.
    #[allow(clippy::inline_always, reason = "as Ftl::relocate_units")]
    #[inline(always)]
    pub(crate) fn relocate(&mut self, first: Ppn, moved: u64, count: u32, to: Ppn) {
        debug_assert!(moved.count_ones() == count, "{count} units move, of {moved:b}");
        debug_assert!(
            moved & !self.valid.mask(first.0, 64 - moved.leading_zeros()) == 0,
            "a stale unit moves"
        );
        debug_assert!(self.valid.mask(to.0, count) == 0, "slot {to} or one after it holds a page");
        if count < GATHERED {
            let (slots, owners) = (self.slots.as_mut_slice(), self.owners.as_mut_slice());
            let (mut left, mut at) = (moved, to);
            while left != 0 {
                let lpn = owners[(first.0 + left.trailing_zeros()) as usize];
                left &= left - 1;
                slots[lpn.index()] = at;
                owners[at.index()] = lpn;
                at.0 += 1;
            }
        } else {
            self.relocate_gathered(first, moved, count, to);
        }
        self.valid.clear_mask(first.0, moved);
        self.valid.set_run(to.0, count);
    }

    /// Maps `count` units, which [move](FlatMap::relocate). First only loads, so that their cache misses overlap; the stores then find the entries in the
    /// cache.
    #[inline(never)]
    fn relocate_gathered(&mut self, first: Ppn, moved: u64, count: u32, to: Ppn) {
        let (slots, owners) = (self.slots.as_mut_slice(), self.owners.as_mut_slice());
        let (mut left, mut seen) = (moved, 0);
        let mut gathered = [Lpn::NONE; 64];
        let from = &owners[first.index()..];
        for entry in &mut gathered[..count as usize] {
            *entry = from[left.trailing_zeros() as usize];
            left &= left - 1;
            seen ^= slots[entry.index()].0;
        }
        // Keeps the loads, whose results nothing else needs.
        std::hint::black_box(seen);
        let targets = &mut owners[to.index()..][..count as usize];
        for ((&lpn, owner), at) in gathered.iter().zip(targets).zip(to.0..) {
            slots[lpn.index()] = Ppn(at);
            *owner = lpn;
        }
    }

    /// Clears the owners of the `count` slots from `first` on, none of them valid.
    pub(crate) fn disown(&mut self, first: Ppn, count: u32) {
        debug_assert!(self.valid.count(first.0, count) == 0, "slot {first} or one after it holds a page");
        self.owners.as_mut_slice()[first.index()..][..count as usize].fill(Lpn::NONE);
    }

    /// Grows the mapping to at least `pages` logical pages.
    pub(crate) fn grow(&mut self, pages: u64) {
        while (self.slots.len() as u64) < pages {
            self.slots.push(Ppn::NONE);
        }
    }

    /// Logical pages that are mapped.
    pub(crate) fn pages(&self) -> u64 {
        self.slots.len() as u64
    }

    /// Prefetches the entries of pages that will soon be looked up into the processor's cache.
    #[inline]
    pub(crate) fn touch(&self, lpns: impl Iterator<Item = Lpn>) {
        lpns.filter_map(|lpn| self.slots.get(lpn)).for_each(prefetch);
    }

    /// Prefetches the entries of pages that will soon be written, and the bits of the slots that they leave: loads that do not wait for each other.
    #[inline]
    pub(crate) fn touch_written(&self, lpns: impl Iterator<Item = Lpn> + Clone) {
        self.touch(lpns.clone());
        let left = lpns.filter_map(|lpn| self.slots.get(lpn)).filter(|slot| slot.is_some());
        left.for_each(|slot| prefetch(self.valid.word_of(slot.0)));
    }

    /// Prefetches the entries of the units in those slots from `first` on that are set in `units`, which will soon be relocated.
    #[inline]
    pub(crate) fn touch_moving(&self, first: Ppn, units: u64) {
        let mut left = units;
        while left != 0 {
            let owner = self.owners[first + left.trailing_zeros()];
            left &= left - 1;
            self.slots.get(owner).into_iter().for_each(prefetch);
        }
    }

    /// Prefetches the owners of `slot` and its neighbours.
    #[inline]
    pub(crate) fn touch_owner(&self, slot: Ppn) {
        prefetch(&self.owners[slot]);
    }

    /// Resident bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.slots.as_slice()) + size_of_val(self.owners.as_slice()) + self.valid.bytes()
    }

    /// Checks that pages, owners and validity agree.
    ///
    /// # Errors
    /// The first disagreement.
    pub(crate) fn check(&self) -> Result<(), String> {
        let mut mapped = 0;
        let is_page = |lpn: Lpn| !lpn.is_some() || self.slots.get(lpn).is_some();
        if let Some(lpn) = self.owners.iter().find(|&&lpn| !is_page(lpn)) {
            return Err(format!("a slot belongs to page {lpn} of {}", self.slots.len()));
        }
        for (lpn, &slot) in self.slots.iter_indexed().filter(|(_, slot)| slot.is_some()) {
            let Some(&owner) = self.owners.get(slot) else {
                return Err(format!("page {lpn} maps to slot {slot} of {}", self.owners.len()));
            };
            if owner != lpn {
                return Err(format!("page {lpn} maps to slot {slot}, which belongs to page {owner}"));
            }
            if !self.valid.get(slot.0) {
                return Err(format!("page {lpn} maps to slot {slot}, which counts as stale"));
            }
            mapped += 1;
        }
        let valid = self.valid.count(0, to_count(self.owners.len()));
        if valid != mapped {
            return Err(format!("{valid} slots count as valid, {mapped} pages are mapped"));
        }
        Ok(())
    }

    /// True if a slot is valid.
    #[inline]
    pub(crate) fn is_valid(&self, slot: Ppn) -> bool {
        self.valid_in(slot, 1) != 0
    }
}

#[cfg(test)]
mod tests;
