//! Room: superblocks that a core needs for its data and its work, and the marks of collection.

use super::Ftl;
use crate::table::PageMapping;
use outlast_media::{ConfigError, Geometry};
use outlast_units::{LocalDie, Lpn, Pu, Stream, SuperblockId};

impl Ftl {
    /// True if collection, once begun, continues beyond the first superblock gained: there is a high mark.
    pub fn has_marks(&self) -> bool {
        self.room.has_marks()
    }

    /// True if space must be collected: few superblocks are free.
    #[inline]
    pub fn needs_gc(&self) -> bool {
        // A victim that is erased beside the next one is as good as free.
        let coming = if self.config.gc.overlap { self.superblocks.coming() } else { 0 };
        self.room.needs_gc(self.free_superblocks() + coming)
    }

    /// True if a slot of `stream` is left beside `units` units that are still to be moved there; one held-back superblock counts for them.
    pub fn leaves_room(&self, stream: Stream, units: u32) -> bool {
        // One superblock of the reserve is for this stream.
        let of_others = self.frontiers.promised_beside(stream).max(self.reserve() - 1);
        let free = self.free_superblocks().saturating_sub(of_others);
        let room = u64::from(self.room(stream)) + u64::from(free) * u64::from(self.data_units(stream));
        room > u64::from(units)
    }

    /// True if `stream` can take a unit that relocation moves.
    pub fn can_take_moved(&self, stream: Stream) -> bool {
        !self.frontiers[stream].is_full() || self.may_open_for_moved(stream)
    }

    /// Takes back the promise of a superblock to `stream`: all units that were to move there have.
    pub fn end_promise(&mut self, stream: Stream) {
        self.frontiers[stream].promise(false);
    }

    /// Records that garbage collection takes a victim; true if it is the first since the high mark was reached.
    pub fn begin_collection(&mut self) -> bool {
        self.room.begin_collection()
    }

    /// Free superblocks held back for relocation.
    pub(super) fn reserve(&self) -> u32 {
        self.tasks() * self.room.held_back()
    }

    /// Tasks that relocate.
    fn tasks(&self) -> u32 {
        self.streams.tasks() + u32::from(self.room.rebuilds())
    }

    /// True if `stream` takes superblocks: streams for data that a failed die held do not until one has failed.
    pub(super) fn is_in_use(&self, stream: Stream) -> bool {
        self.room.rebuilds() || !self.streams.is_for_rebuild(stream)
    }

    /// Streams that take superblocks.
    pub(super) fn streams_in_use(&self) -> u32 {
        let resting = self.streams.scrub_on_failure() && !self.room.rebuilds();
        self.frontiers.len() - if resting { u32::from(self.streams.classes()) } else { 0 }
    }

    /// True if scrubbing may move data. Where it has streams only once a die has failed, not before that, nor if room is short.
    pub fn may_scrub(&self) -> bool {
        !self.streams.scrub_on_failure() || self.room.rebuilds()
    }

    /// Begins to rebuild data that a failed die held: puts the streams for that into use, if superblocks suffice for the host's data beside them.
    /// True if they are in use, or scrubbing has streams anyway.
    pub fn begin_rebuild(&mut self) -> bool {
        if self.may_scrub() {
            return true;
        }
        self.room.set_rebuilds(true);
        if self.layout.superblocks() - self.superblocks.retired() < self.superblocks_needed() {
            self.room.set_rebuilds(false);
        }
        self.review_room();
        self.room.rebuilds()
    }

    /// Ends a rebuild, as another die is about to be given up: room is counted without superblocks for rebuilding until [`Ftl::begin_rebuild`] finds
    /// enough.
    pub fn end_rebuild(&mut self) {
        if self.room.rebuilds() {
            self.room.set_rebuilds(false);
            self.review_room();
        }
    }

    /// Checks that there are superblocks enough, and sets from when on space is collected.
    pub(super) fn check_room(&mut self, geometry: &Geometry) -> Result<(), ConfigError> {
        let superblocks = self.layout.superblocks();
        if self.least_data_units() == 0 {
            let limit = "leaves a flash core no die to write to";
            let gone = format!("{} lanes of {}", self.lanes.dead_count(), self.layout.lanes().len());
            return Err(ConfigError::new("device.absent_dies", gone, limit));
        }
        let most = superblocks.saturating_sub(self.superblocks_needed()) + self.reserve();
        let start = self.config.gc.start_free.unwrap_or(self.reserve());
        if self.config.gc.start_free.is_some() && (start < self.reserve() || start > most) {
            let limit = format!("must be between {} and {most} superblocks", self.reserve());
            return Err(ConfigError::new("device.ftl.gc.start_free", start, limit));
        }
        let stop = self.config.gc.stop_free.unwrap_or(start + 1);
        if self.config.gc.stop_free.is_some() && (stop <= start || stop > most + 1) {
            let limit = format!(
                "must be above start_free, {start}, and at most {}, one more than the free superblocks that the spare space gives \
                 each flash core",
                most + 1
            );
            return Err(ConfigError::new("device.ftl.gc.stop_free", stop, limit));
        }
        self.room.set_marks(start, stop);
        if superblocks < self.superblocks_needed() {
            let data = self.superblocks_for_data();
            let over = self.superblocks_needed() - data;
            let limit = format!(
                "the user data fills {data} superblocks of {} and {over} more are needed for open and held-back ones, but \
                 the drive has {superblocks}: lower the capacity, or make superblocks smaller (fewer pages to a block)",
                outlast_units::Bytes(u64::from(self.least_data_units()) * self.config.mapping_unit.0),
            );
            return Err(ConfigError::new("device.ftl.capacity", self.config.user_capacity(geometry), limit));
        }
        Ok(())
    }

    /// Reviews if the core is worn out, which is asked at every write of the host. To be called whenever superblocks have come or gone, or the room
    /// that each gives or all must give has changed.
    pub(super) fn review_room(&mut self) {
        let lacks = self.lacks_superblocks();
        self.room.set_worn_out(lacks);
    }

    /// True if too few superblocks are left to take writes for ever.
    pub(super) fn lacks_superblocks(&self) -> bool {
        self.is_damaged()
            && self.layout.superblocks() - self.superblocks.retired() < self.superblocks_needed()
    }

    pub(super) fn superblocks_for_data(&self) -> u32 {
        self.superblocks_for(self.room.logical_units(), self.least_data_units())
    }

    /// Open superblocks of every stream, held-back ones, victims that wait for their erasure, one of partial parity that is full
    /// and not yet stale, and one more so that sealed superblocks hold more slots than the host has units: then some sealed
    /// superblock has a stale unit whenever the host can open none.
    pub(super) fn superblocks_needed(&self) -> u32 {
        self.superblocks_for_data() + self.superblocks_beside()
    }

    /// Superblocks needed beside those for data of the host.
    pub(super) fn superblocks_beside(&self) -> u32 {
        self.superblocks_beside_without_rebuild()
            + if self.room.rebuilds() { self.superblocks_for_rebuild() } else { 0 }
    }

    /// Superblocks needed beside those for data of the host while nothing is rebuilt.
    pub(super) fn superblocks_beside_without_rebuild(&self) -> u32 {
        let tasks = self.streams.tasks();
        let (reserve, waiting) = (tasks * self.room.held_back(), tasks * (self.room.held_back() - 1));
        let log = u32::from(self.streams.partial().is_some());
        let rebuild = if self.streams.scrub_on_failure() { u32::from(self.streams.classes()) } else { 0 };
        self.frontiers.len() - rebuild + reserve + waiting + log + 1
    }

    /// Superblocks that rebuilding takes: open ones, held-back ones, victims that wait for their erasure.
    fn superblocks_for_rebuild(&self) -> u32 {
        // Victims that wait for their erasure are one fewer than the superblocks held back.
        u32::from(self.streams.classes()) + 2 * self.room.held_back() - 1
    }

    /// Maps pages 0 to `end`, exclusively, those of the mapping table included, and sets that there must be room for `units` of the others. The table
    /// never shrinks: pages that were mapped stay so.
    ///
    /// # Panics
    /// If `end` is beyond what 32 bits can number.
    pub fn set_logical(&mut self, end: u64, units: u64) {
        assert!(end < u64::from(u32::MAX), "{end} pages cannot be numbered");
        self.map.grow(end);
        assert!(self.map.pages() == 0 || self.map.pages() >= end, "pages up to {end} are not mapped");
        self.room.set_logical_units(units + u64::from(self.map_pages()));
        self.review_room();
    }

    /// Units that the dies which are left can hold, parity included.
    pub(super) fn physical_units(&self) -> u64 {
        let lanes = self.layout.lanes().len() as u64 - u64::from(self.lanes.dead_count());
        lanes * self.units_per_lane() * u64::from(self.layout.superblocks())
    }

    /// True if all of a die has failed.
    pub fn is_dead_die(&self, local_die: LocalDie) -> bool {
        self.layout.lanes_of_die(local_die).iter().all(|&lane| self.lanes.is_dead(lane))
    }

    pub(super) fn superblocks_for(&self, units: u64, data_units: u32) -> u32 {
        match u64::from(data_units) {
            // All dies are gone: no number of superblocks suffices. Small enough that sums of such numbers do not overflow.
            0 => u32::MAX >> 8,
            least => (units + self.missing_units()).div_ceil(least).min(u64::from(u32::MAX >> 8)) as u32,
        }
    }

    /// Slots that bad blocks take which nothing replaces.
    fn missing_units(&self) -> u64 {
        u64::from(self.lanes.missing_count()) * self.units_per_lane()
    }

    /// True if the data of a page is known to be gone without reading: lost, or without parity on a lane that has failed.
    pub fn is_gone(&self, lpn: Lpn) -> bool {
        let slot = self.lookup(lpn);
        if !slot.is_some() {
            return self.is_lost(lpn);
        }
        self.lanes.dead().is_some()
            && self.is_dead_lane(self.layout.pu_of(slot).0)
            && self.is_programmed(slot)
            && !self.has_parity(self.layout.superblock_of(slot))
    }

    /// Counts the unit just appended as handed over by another core.
    pub fn count_as_migrated(&mut self) {
        self.counts.count_as_migrated();
    }

    /// The superblock to collect if no victim would gain a slot by its count of valid units ([`Ftl::choose_victim`]): the one that gains most without
    /// its units on failed dies, which are gone.
    #[cold]
    pub fn choose_broken(&self) -> Option<SuperblockId> {
        self.lanes.dead()?;
        let gain = |(superblock, valid): (SuperblockId, u32)| {
            let stream = self.streams.gc(self.class_of_superblock(superblock));
            let live = valid - self.units_gone(superblock);
            let room = self.room(stream) + self.free_superblocks() * self.data_units(stream);
            let gain = self.data_units(stream).checked_sub(live)?;
            (gain != 0 && live <= room && live != valid).then_some((gain, superblock))
        };
        // Of equal gains the first superblock: the complement of its number is the second key.
        self.superblocks
            .candidates()
            .filter_map(gain)
            .max_by_key(|&(gain, superblock)| (gain, u32::MAX - superblock.0))
            .map(|best| best.1)
    }

    /// Valid units of a sealed superblock without parity that lie on failed lanes.
    fn units_gone(&self, superblock: SuperblockId) -> u32 {
        if self.has_parity(superblock) {
            return 0;
        }
        let dead = Pu::each(self.layout.pus_of(superblock)).filter(|&pu| self.is_dead_lane(pu));
        let units = self.layout.units_per_pu();
        dead.map(|pu| self.map.valid_in(self.layout.first_slot_of(pu), units).count_ones()).sum()
    }
}
