//! What a flash core has to hold, what it holds back for relocation, and whether that is still possible.

/// How much a core has to hold, what it holds back for relocation, and whether that is still possible.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct Room {
    /// Units that there must be room for.
    logical_units: u64,
    /// Free superblocks held back for each relocating stream: one, and one more where victims are erased late.
    held_back: u32,
    /// Collection begins when so many superblocks are free, or fewer.
    start_free: u32,
    /// Whether power has failed since the space held back for relocation was last whole.
    may_lack_reserve: bool,
    /// A victim's data had no place to go: superblocks held back for relocation have worn out.
    stuck: bool,
    /// Too few superblocks are left to take writes for ever; whoever changes that tells.
    worn_out: bool,
}

impl Room {
    pub(crate) fn new(logical_units: u64, tasks: u32, erases_late: bool) -> Self {
        let held_back = u32::from(erases_late) + 1;
        let start_free = tasks * held_back;
        Self { logical_units, held_back, start_free, may_lack_reserve: false, stuck: false, worn_out: false }
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

    /// Whether a victim is erased only when its data is on flash.
    pub(crate) fn erases_late(&self) -> bool {
        self.held_back > 1
    }

    pub(crate) fn set_start_free(&mut self, superblocks: u32) {
        debug_assert!(superblocks != 0, "collection begins when no superblock is free, and cannot go on");
        self.start_free = superblocks;
    }

    #[inline]
    pub(crate) fn start_free(&self) -> u32 {
        self.start_free
    }

    pub(crate) fn power_failed(&mut self) {
        self.may_lack_reserve = true;
        self.stuck = false;
    }

    pub(crate) fn reserve_is_whole(&mut self) {
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
    use super::Room;

    #[test]
    fn victims_that_are_erased_late_take_a_superblock_more_of_each_task() {
        let (early, late) = (Room::new(8, 3, false), Room::new(8, 3, true));
        assert_eq!([early.held_back(), early.start_free()], [1, 3]);
        assert_eq!([late.held_back(), late.start_free()], [2, 6]);
        assert!(late.erases_late() && !early.erases_late());
    }

    #[test]
    fn a_core_is_read_only_for_either_reason() {
        let mut room = Room::new(8, 1, true);
        room.set_stuck(true);
        assert!(room.is_read_only() && !room.is_worn_out());
        room.power_failed();
        assert!(!room.is_read_only() && room.may_lack_reserve());
        room.set_worn_out(true);
        room.reserve_is_whole();
        assert!(room.is_read_only() && !room.may_lack_reserve());
    }
}
