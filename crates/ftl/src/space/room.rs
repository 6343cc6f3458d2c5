//! Room: superblocks that a core needs for its data and its work, and the marks of collection.

use crate::space::FlashSpace;
use outlast_decisions::SuperblockState;
use outlast_media::{ConfigError, Geometry};
use outlast_units::{Stream, SuperblockId, to_count};

impl FlashSpace {
    /// Sets that there must be room for `units` units of the host.
    pub fn set_logical_units(&mut self, units: u64) {
        self.marks.set_logical_units(units + u64::from(self.own_units));
        self.review_room();
    }

    /// Records that power has failed: superblocks held back may have been spent, a victim that had no place to go may have one now, and no victim is moved to which
    /// one was promised.
    pub(crate) fn power_failed(&mut self) {
        self.marks.set_power_failed();
        self.record_failure();
        self.forget_promises();
    }

    /// True if collection, once begun, continues beyond the first superblock gained: there is a high mark.
    pub fn has_marks(&self) -> bool {
        self.marks.has_marks()
    }

    /// True if space must be collected: few superblocks are free.
    #[inline]
    pub fn needs_gc(&self) -> bool {
        // A victim that is erased beside the next one is as good as free.
        let coming = if self.config.gc.overlap { self.pus.superblocks.coming() } else { 0 };
        self.marks.needs_gc(self.free_superblocks() + coming)
    }

    /// Records that garbage collection takes a victim; true if it is the first since the high mark was reached.
    pub fn begin_collection(&mut self) -> bool {
        self.marks.begin_collection()
    }

    /// Free superblocks held back for relocation.
    pub fn reserve(&self) -> u32 {
        self.tasks() * self.marks.held_back()
    }

    /// Tasks that relocate.
    fn tasks(&self) -> u32 {
        self.pus.streams.tasks() + u32::from(self.marks.rebuilds())
    }

    /// True if `stream` takes superblocks: streams for data that a failed die held do not until one has failed.
    pub(crate) fn is_in_use(&self, stream: Stream) -> bool {
        self.marks.rebuilds() || !self.pus.streams.is_for_rebuild(stream)
    }

    /// Streams that take superblocks.
    pub fn streams_in_use(&self) -> u32 {
        let resting = self.pus.streams.scrub_on_failure() && !self.marks.rebuilds();
        self.frontiers.len() - if resting { u32::from(self.pus.streams.classes()) } else { 0 }
    }

    /// True if scrubbing may move data. Where it has streams only once a die has failed, not before that, nor if room is short.
    pub fn may_scrub(&self) -> bool {
        !self.pus.streams.scrub_on_failure() || self.marks.rebuilds()
    }

    /// Begins to rebuild data that a failed die held: puts the streams for that into use, if superblocks suffice for the host's data beside them.
    /// True if they are in use, or scrubbing has streams anyway.
    pub fn begin_rebuild(&mut self) -> bool {
        if self.may_scrub() {
            return true;
        }
        self.marks.set_rebuilds(true);
        if self.pus.layout.superblocks() - self.pus.superblocks.retired() < self.superblocks_needed() {
            self.marks.set_rebuilds(false);
        }
        self.review_room();
        self.marks.rebuilds()
    }

    /// Ends a rebuild, as another die is about to be given up: room is counted without superblocks for rebuilding until [`FlashSpace::begin_rebuild`](Self::begin_rebuild) finds
    /// enough.
    pub fn end_rebuild(&mut self) {
        if self.marks.rebuilds() {
            self.marks.set_rebuilds(false);
            self.review_room();
        }
    }

    /// Checks that there are superblocks enough, and sets from when on space is collected.
    pub(crate) fn check_room(&mut self, geometry: &Geometry) -> Result<(), ConfigError> {
        let superblocks = self.pus.layout.superblocks();
        if self.least_data_units() == 0 {
            let limit = "leaves a flash core no die to write to";
            let gone = format!("{} lanes of {}", self.pus.lanes.dead_count(), self.pus.layout.lanes().len());
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
        self.marks.set_marks(start, stop);
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
    pub(crate) fn review_room(&mut self) {
        let lacks = self.lacks_superblocks();
        self.marks.set_worn_out(lacks);
        self.review_slc_cache();
    }

    /// True if too few superblocks are left to take writes for ever.
    pub(crate) fn lacks_superblocks(&self) -> bool {
        self.is_damaged()
            && self.pus.layout.superblocks() - self.pus.superblocks.retired() < self.superblocks_needed()
    }

    pub(crate) fn superblocks_for_data(&self) -> u32 {
        self.superblocks_for(self.marks.logical_units(), self.least_data_units())
    }

    /// Open superblocks of every stream, held-back ones, victims that wait for their erasure, one of partial parity that is full
    /// and not yet stale, and one more so that sealed superblocks hold more slots than the host has units: then some sealed
    /// superblock has a stale unit whenever the host can open none.
    pub(crate) fn superblocks_needed(&self) -> u32 {
        self.superblocks_for_data() + self.superblocks_beside()
    }

    /// Superblocks needed beside those for data of the host.
    pub(crate) fn superblocks_beside(&self) -> u32 {
        self.superblocks_beside_without_rebuild()
            + if self.marks.rebuilds() { self.superblocks_for_rebuild() } else { 0 }
    }

    /// Superblocks needed beside those for data of the host while nothing is rebuilt.
    pub(crate) fn superblocks_beside_without_rebuild(&self) -> u32 {
        let tasks = self.pus.streams.tasks();
        let (reserve, waiting) = (tasks * self.marks.held_back(), tasks * (self.marks.held_back() - 1));
        let log = u32::from(self.pus.streams.partial().is_some());
        let rebuild =
            if self.pus.streams.scrub_on_failure() { u32::from(self.pus.streams.classes()) } else { 0 };
        self.frontiers.len() - rebuild + reserve + waiting + log + 1 + self.fixed_for_cache()
    }

    /// Superblocks that rebuilding takes: open ones, held-back ones, victims that wait for their erasure.
    fn superblocks_for_rebuild(&self) -> u32 {
        // Victims that wait for their erasure are one fewer than the superblocks held back.
        u32::from(self.pus.streams.classes()) + 2 * self.marks.held_back() - 1
    }

    /// Units that the dies which are left can hold, parity included.
    pub fn physical_units(&self) -> u64 {
        let lanes = self.pus.layout.lanes().len() as u64 - u64::from(self.pus.lanes.dead_count());
        lanes * self.pus.units_per_lane() * u64::from(self.pus.layout.superblocks())
    }

    #[allow(clippy::cast_possible_truncation, reason = "at most 2^24")]
    pub(crate) fn superblocks_for(&self, units: u64, data_units: u32) -> u32 {
        match u64::from(data_units) {
            // All dies are gone: no number of superblocks suffices. Small enough that sums of such numbers do not overflow.
            0 => u32::MAX >> 8,
            least => (units + self.missing_units()).div_ceil(least).min(u64::from(u32::MAX >> 8)) as u32,
        }
    }

    /// Slots that bad blocks take which nothing replaces.
    pub(crate) fn missing_units(&self) -> u64 {
        u64::from(self.pus.lanes.missing_count()) * self.pus.units_per_lane()
    }

    /// True if too few superblocks are left to take writes for ever: the core serves reads only.
    #[inline]
    pub fn is_read_only(&self) -> bool {
        self.marks.is_read_only()
    }

    pub(crate) fn is_damaged(&self) -> bool {
        self.pus.superblocks.retired() != 0 || self.pus.lanes.lacks_any()
    }

    /// True if a superblock is being emptied or erased.
    pub(crate) fn is_collecting(&self) -> bool {
        self.pus.superblocks.in_state(SuperblockState::Collecting).next().is_some()
    }

    /// Free superblocks.
    #[inline]
    pub fn free_superblocks(&self) -> u32 {
        to_count(self.pus.superblocks.free().len())
    }

    /// True if writing `units` more units without time may end with [`FtlFull`](crate::FtlFull). Cautious: true if in doubt.
    pub fn may_wear_out_within(&self, units: u64) -> bool {
        if self.is_read_only() || self.pus.lanes.lacks_any() {
            return true;
        }
        // Without a limit of cycles no block is retired; with one, none before the most worn reaches it. The bound takes 64 programmed units for each
        // unit written, more than any real write amplification, and all cycles on one block.
        let superblocks = units.div_ceil(u64::from(self.layout().units_per_superblock()));
        let cycles = u64::from(self.blocks().max_cycles()) + 64 * (superblocks + 1);
        self.pus.physical.endurance().is_some_and(|limit| cycles >= u64::from(limit))
    }

    /// The sealed superblock with the fewest valid units, if there is a place to move them to.
    pub(crate) fn choose_least(&self) -> Option<SuperblockId> {
        // A superblock whose valid units fill the next one gains nothing.
        let (least, valid) = self.pus.superblocks.candidates().min_by_key(|&(_, valid)| valid)?;
        let stream = self.pus.streams.gc(self.pus.class_of_superblock(least));
        (valid < self.data_units(stream) && self.can_relocate(least, stream)).then_some(least)
    }
}
