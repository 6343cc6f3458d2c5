//! Room of a flash core: units to be held, superblocks held back for relocation, and the marks of collection.

/// Room of a flash core: units to be held, superblocks held back for relocation, and if both still suffice.
#[derive(Clone, Debug, outlast_persist::Persist)]
#[allow(clippy::struct_excessive_bools, reason = "independent states, each set where it comes about")]
pub(crate) struct CoreRoom {
    /// Units that there must be room for.
    logical_units: u64,
    /// Free superblocks held back for each relocating stream: one, and one more where the next victim may begin before the last is erased.
    #[persist(fixed)]
    held_back: u32,
    #[persist(fixed)]
    erases_late: bool,
    /// Low and high mark: collection begins when `start_free` superblocks are free, or fewer, and continues until `stop_free` are.
    start_free: u32,
    stop_free: u32,
    /// True if collection has begun and is to go on.
    collects: bool,
    /// Free superblocks that the SLC cache has to itself and has not taken: as good as not free for all else.
    kept_for_cache: u32,
    /// True if the SLC cache is to be folded, however many superblocks are free.
    folds: bool,
    /// Fewer free superblocks than this, and space must be collected: follows from the fields above.
    collects_below: u32,
    /// True if power has failed since the space held back for relocation was last whole.
    may_lack_reserve: bool,
    /// True if a victim's data had no place to go: superblocks held back for relocation have worn out.
    stuck: bool,
    /// True if too few superblocks are left to take writes for ever ([`Ftl::review_room`](crate::Ftl) sets it).
    worn_out: bool,
    /// True if the streams that scrubbing has only once a die has failed are in use.
    rebuilds: bool,
}

impl CoreRoom {
    pub(crate) fn new(logical_units: u64, tasks: u32, erases_late: bool, overlaps: bool) -> Self {
        let held_back = u32::from(erases_late || overlaps) + 1;
        let start_free = tasks * held_back;
        let stop_free = start_free + 1;
        let (collects, may_lack_reserve, stuck, worn_out, rebuilds) = (false, false, false, false, false);
        Self {
            logical_units,
            held_back,
            erases_late,
            start_free,
            stop_free,
            collects,
            kept_for_cache: 0,
            folds: false,
            collects_below: start_free + 1,
            may_lack_reserve,
            stuck,
            worn_out,
            rebuilds,
        }
    }

    pub(crate) fn logical_units(&self) -> u64 {
        self.logical_units
    }

    pub(crate) fn set_logical_units(&mut self, units: u64) {
        self.logical_units = units;
    }

    pub(crate) fn held_back(&self) -> u32 {
        self.held_back
    }

    /// True if a victim is erased only when its data is on flash.
    pub(crate) fn erases_late(&self) -> bool {
        self.erases_late
    }

    /// The low mark.
    #[inline]
    pub(crate) fn start_free(&self) -> u32 {
        self.start_free
    }

    /// Low and high mark, in free superblocks.
    pub(crate) fn marks(&self) -> (u32, u32) {
        (self.start_free, self.stop_free)
    }

    /// Sets the low and the high mark: collection begins when `start` superblocks are free, or fewer, and continues until `stop` are.
    pub(crate) fn set_marks(&mut self, start: u32, stop: u32) {
        debug_assert!(start != 0, "collection begins when no superblock is free, and cannot go on");
        debug_assert!(start < stop, "collection stops with {stop} free superblocks and begins with {start}");
        (self.start_free, self.stop_free) = (start, stop);
        self.review();
    }

    /// Sets how many of the free superblocks are the SLC cache's own, and whether it is to be folded.
    pub(crate) fn set_cache_demand(&mut self, kept: u32, folds: bool) {
        (self.kept_for_cache, self.folds) = (kept, folds);
        self.review();
    }

    /// Free superblocks that the SLC cache has to itself and has not taken.
    #[inline]
    pub(crate) fn kept_for_cache(&self) -> u32 {
        self.kept_for_cache
    }

    /// True if the SLC cache is to be folded.
    pub(crate) fn folds(&self) -> bool {
        self.folds
    }

    /// True if few superblocks are free, `free` of them: collection would begin without an SLC cache, too.
    pub(crate) fn is_short(&self, free: u32) -> bool {
        let own = free.saturating_sub(self.kept_for_cache);
        own <= self.start_free || (self.collects && own < self.stop_free)
    }

    fn review(&mut self) {
        let most = if self.collects { self.stop_free.max(self.start_free + 1) } else { self.start_free + 1 };
        self.collects_below = if self.folds { u32::MAX } else { most + self.kept_for_cache };
    }

    /// True if the streams that scrubbing has only once a die has failed are in use.
    pub(crate) fn rebuilds(&self) -> bool {
        self.rebuilds
    }

    /// Sets if they are in use, and moves the marks by the superblocks that are held back for them.
    pub(crate) fn set_rebuilds(&mut self, rebuilds: bool) {
        let (from, to) = (u32::from(self.rebuilds), u32::from(rebuilds));
        let moved = |mark: u32| mark + to * self.held_back - from * self.held_back;
        self.set_marks(moved(self.start_free), moved(self.stop_free));
        self.rebuilds = rebuilds;
    }

    /// True if space must be collected where `free` superblocks are free.
    #[inline]
    pub(crate) fn needs_gc(&self, free: u32) -> bool {
        free < self.collects_below
    }

    /// Records that collection takes a victim; true if it is the first since the high mark was reached.
    pub(crate) fn begin_collection(&mut self) -> bool {
        let begins = !std::mem::replace(&mut self.collects, true);
        self.review();
        begins
    }

    /// Ends the collection if `free` superblocks reach the high mark.
    pub(crate) fn end_collection_at(&mut self, free: u32) {
        self.collects &= free.saturating_sub(self.kept_for_cache) < self.stop_free;
        self.review();
    }

    /// True if the high mark is above the least that ends a collection.
    #[inline]
    pub(crate) fn has_marks(&self) -> bool {
        self.stop_free > self.start_free + 1
    }

    pub(crate) fn set_power_failed(&mut self) {
        self.may_lack_reserve = true;
        self.stuck = false;
    }

    pub(crate) fn set_reserve_whole(&mut self) {
        self.may_lack_reserve = false;
    }

    pub(crate) fn may_lack_reserve(&self) -> bool {
        self.may_lack_reserve
    }

    pub(crate) fn set_stuck(&mut self, stuck: bool) {
        self.stuck = stuck;
    }

    pub(crate) fn set_worn_out(&mut self, worn_out: bool) {
        self.worn_out = worn_out;
    }

    pub(crate) fn is_worn_out(&self) -> bool {
        self.worn_out
    }

    #[inline]
    pub(crate) fn is_read_only(&self) -> bool {
        self.stuck || self.worn_out
    }
}

#[cfg(test)]
mod tests {
    use super::CoreRoom;

    #[test]
    fn victims_that_are_erased_late_take_a_superblock_more_of_each_task() {
        let (early, late) = (CoreRoom::new(8, 3, false, false), CoreRoom::new(8, 3, true, false));
        assert_eq!([early.held_back(), early.start_free], [1, 3]);
        assert_eq!([late.held_back(), late.start_free], [2, 6]);
        assert!(late.erases_late() && !early.erases_late());
        let overlapping = CoreRoom::new(8, 3, false, true);
        assert_eq!([overlapping.held_back(), overlapping.start_free], [2, 6]);
        assert!(!overlapping.erases_late(), "its victims are erased early, and beside the next");
    }

    #[test]
    fn collection_goes_on_from_the_low_mark_to_the_high_one_and_rests_from_there() {
        let mut room = CoreRoom::new(8, 1, false, false);
        room.set_marks(2, 5);
        assert!(!room.needs_gc(3) && room.needs_gc(2) && room.begin_collection());
        for free in 0..5 {
            room.end_collection_at(free);
            assert!(room.needs_gc(free) && !room.begin_collection(), "{free} are free");
        }
        room.end_collection_at(5);
        assert_eq!([5, 4, 3, 2].map(|free| room.needs_gc(free)), [false, false, false, true]);
    }

    #[test]
    fn a_core_is_read_only_for_either_reason() {
        let mut room = CoreRoom::new(8, 1, true, false);
        room.set_stuck(true);
        assert!(room.is_read_only() && !room.is_worn_out());
        room.set_power_failed();
        assert!(!room.is_read_only() && room.may_lack_reserve());
        room.set_worn_out(true);
        room.set_reserve_whole();
        assert!(room.is_read_only() && !room.may_lack_reserve());
    }
}
