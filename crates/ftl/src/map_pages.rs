//! Pages of the mapping table that are written to flash: dirty ones, and the progress of a flush.

use crate::bits::BitSet;
use outlast_settings::ftl::{FtlConfig, MapFlushConfig};
use outlast_units::{Bytes, Lpn};

/// Number of a page that stands for no flush under way.
const AT_REST: u32 = u32::MAX;

/// The pages of a flash core's table. Each has a logical page of its own, numbered after those of the host, so that everything that moves
/// data, rebuilds it or goes back to an older copy treats it as any other.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub(crate) struct MapPages {
    /// Logical pages of the host: the first page of the table has the number after them.
    #[persist(skip)]
    host: u32,
    #[persist(skip)]
    entries: u32,
    #[persist(skip)]
    count: u32,
    /// Units that the host writes between two flushes; [`u64::MAX`]: no flush is due by units.
    #[persist(skip)]
    every: u64,
    #[persist(skip)]
    dirty_only: bool,
    /// Dirty pages: an entry has changed since they were last written, or their newest copy is lost.
    dirty: BitSet,
    dirty_count: u32,
    /// Next page of the flush under way; [`AT_REST`] without one.
    next: u32,
    /// True if another flush begins when none is under way.
    is_due: bool,
    /// Units that the host had written when a flush was last due by units.
    since: u64,
    /// Units that the host had written when the last flush began.
    began: u64,
    /// Flushes begun.
    flushes: u64,
    /// Dirty pages that have left the cache of a table that does not fit in memory, and are to be written; without a cache, no bits.
    evicted: BitSet,
    evicted_count: u32,
    /// Evicted pages that are written together: those of a program unit. [`u32::MAX`]: none ever are.
    #[persist(skip)]
    batch: u32,
    /// Page at which the search for the next evicted one begins.
    #[persist(skip)]
    sweep: u32,
}

impl MapPages {
    /// Pages of a core with `host` logical pages; `None` if its settings write none to flash. See [`MapPages::new`].
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a core maps fewer than 2^32 units: SlotLayout::new checks it"
    )]
    pub(crate) fn of(config: &FtlConfig, host: u64, built: bool) -> Option<Self> {
        config.map_flush.map(|flush| Self::new(&flush, host as u32, config.mapping_unit, built))
    }

    /// Clean pages of a core with `host` logical pages of `unit` bytes. Unless `built`, there is no table of dirty pages.
    #[allow(clippy::cast_possible_truncation, reason = "the table has fewer pages than the host has units")]
    fn new(config: &MapFlushConfig, host: u32, unit: Bytes, built: bool) -> Self {
        let count = config.pages(u64::from(host), unit) as u32;
        Self {
            host,
            entries: config.entries(unit),
            count,
            every: config.written.map_or(u64::MAX, |written| written.0 / unit.0),
            dirty_only: config.dirty_only,
            dirty: BitSet::new(if built { count as usize } else { 0 }),
            dirty_count: 0,
            next: AT_REST,
            is_due: false,
            since: 0,
            began: 0,
            flushes: 0,
            evicted: BitSet::new(0),
            evicted_count: 0,
            batch: u32::MAX,
            sweep: 0,
        }
    }

    /// The pages of a table that does not fit in memory: those evicted are written `batch` at a time.
    pub(crate) fn cached(self, batch: u32) -> Self {
        Self { evicted: BitSet::new(self.count as usize), batch, ..self }
    }

    /// The page of the table that has the entry of `lpn`, if any.
    #[inline]
    pub(crate) fn page_with(&self, lpn: Lpn) -> Option<u32> {
        (lpn.0 < self.host).then(|| lpn.0 / self.entries)
    }

    /// Page `page` leaves the cache: it is to be written if it is dirty.
    pub(crate) fn evict(&mut self, page: u32) {
        if self.dirty.get(page) && !self.evicted.get(page) {
            self.evicted.set(page);
            self.evicted_count += 1;
        }
    }

    /// Takes page `page` back into the cache, if it is evicted and has not been written yet: true if so.
    pub(crate) fn recall(&mut self, page: u32) -> bool {
        let is_here = self.evicted.get(page);
        if is_here {
            self.evicted.clear(page);
            self.evicted_count -= 1;
        }
        is_here
    }

    /// True if evicted pages fill a program unit.
    #[inline]
    pub(crate) fn has_batch(&self) -> bool {
        self.evicted_count >= self.batch
    }

    /// An evicted page, which is written next; beside a flush they all go with it.
    pub(crate) fn next_evicted(&mut self) -> Option<u32> {
        if self.evicted_count == 0 {
            return None;
        }
        let found = self.evicted.first_from(self.sweep).or_else(|| self.evicted.first_from(0));
        self.sweep = found.unwrap_or(0);
        found
    }

    /// Number of pages.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Number of dirty pages.
    pub(crate) fn dirty(&self) -> u32 {
        self.dirty_count
    }

    /// Flushes begun so far.
    pub(crate) fn flushes(&self) -> u64 {
        self.flushes
    }

    /// Resident bytes, when built.
    pub(crate) fn bytes(&self) -> usize {
        self.count.div_ceil(64) as usize * size_of::<u64>()
    }

    /// The logical page of page `page` of the table.
    #[inline]
    pub(crate) fn lpn(&self, page: u32) -> Lpn {
        debug_assert!(page < self.count, "page {page} of a table of {}", self.count);
        Lpn(self.host + page)
    }

    /// The page of the table that logical page `lpn` is, if any.
    #[inline]
    pub(crate) fn page_of(&self, lpn: Lpn) -> Option<u32> {
        lpn.0.checked_sub(self.host).filter(|&page| page < self.count)
    }

    /// The logical pages whose entries page `page` has.
    pub(crate) fn entries_of(&self, page: u32) -> std::ops::Range<u32> {
        let first = page * self.entries;
        first..first.saturating_add(self.entries).min(self.host)
    }

    /// Marks the page that has the entry of `lpn`, which has changed, as dirty. Pages of the table have no entry, nor have units that other cores
    /// have handed over.
    #[inline]
    pub(crate) fn mark_entry(&mut self, lpn: Lpn) {
        if lpn.0 < self.host {
            self.mark(lpn.0 / self.entries);
        }
    }

    /// Marks page `page` as dirty.
    #[inline]
    pub(crate) fn mark(&mut self, page: u32) {
        if !self.dirty.get(page) {
            self.dirty.set(page);
            self.dirty_count += 1;
        }
    }

    /// True if page `page` is dirty.
    pub(crate) fn is_dirty(&self, page: u32) -> bool {
        self.dirty.get(page)
    }

    /// Requests a flush, which begins when the one under way has ended.
    pub(crate) fn request(&mut self) {
        self.is_due = true;
    }

    /// True if a flush is to begin where the host has written `clock` units.
    #[inline]
    pub(crate) fn is_due(&self, clock: u64) -> bool {
        self.is_due || clock - self.since >= self.every
    }

    /// True if the next flush, where the host has written `clock` units, would follow the last one without any in between.
    pub(crate) fn would_repeat(&self, clock: u64) -> bool {
        !self.is_flushing() && clock == self.began
    }

    /// True if a flush is under way.
    #[inline]
    pub(crate) fn is_flushing(&self) -> bool {
        self.next != AT_REST
    }

    /// Begins a flush.
    pub(crate) fn begin(&mut self, clock: u64) {
        debug_assert!(!self.is_flushing(), "a flush begins beside another");
        self.next = 0;
        self.is_due = false;
        self.began = clock;
        // Flushes are due at multiples of `every`, so that one that begins late delays none of those after it.
        self.since = clock - (clock - self.since) % self.every;
        self.flushes += 1;
    }

    /// The page that the flush under way writes next; `None` ends the flush.
    pub(crate) fn next_page(&mut self) -> Option<u32> {
        if self.dirty_only && self.is_flushing() {
            while self.next < self.count && !self.dirty.get(self.next) {
                // Skips the rest of a word at once if none of its pages is dirty.
                let word = *self.dirty.word_of(self.next) >> (self.next % 64);
                self.next += if word == 0 { 64 - self.next % 64 } else { word.trailing_zeros() };
            }
        }
        if self.next < self.count {
            return Some(self.next);
        }
        self.next = AT_REST;
        None
    }

    /// Takes page `page`, evicted or the [next one](MapPages::next_page) of the flush, which is written as it is now.
    pub(crate) fn take_page(&mut self, page: u32) {
        if self.dirty.get(page) {
            self.dirty.clear(page);
            self.dirty_count -= 1;
        }
        let is_evicted = self.batch != u32::MAX && self.recall(page);
        if !is_evicted {
            debug_assert!(page == self.next, "page {page} is written out of turn");
            self.next += 1;
        }
    }

    /// Drops the flush under way, and one that is due.
    pub(crate) fn stop(&mut self) {
        self.next = AT_REST;
        self.is_due = false;
        if self.evicted_count != 0 {
            // They stay dirty, and the next flush writes them.
            (self.evicted, self.evicted_count) = (BitSet::new(self.count as usize), 0);
        }
    }

    /// Checks the count of dirty pages.
    ///
    /// # Errors
    /// The two counts, if they differ.
    pub(crate) fn check(&self) -> Result<(), String> {
        let dirty = self.dirty.count(0, self.count);
        if dirty != self.dirty_count {
            return Err(format!("{dirty} pages of the table are dirty, {} are counted", self.dirty_count));
        }
        let evicted = if self.batch == u32::MAX { 0 } else { self.evicted.count(0, self.count) };
        if evicted != self.evicted_count {
            return Err(format!(
                "{evicted} pages of the table are evicted, {} are counted",
                self.evicted_count
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
