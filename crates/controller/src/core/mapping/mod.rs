//! A mapping table that does not fit in memory: units of the host wait until the page with their entry has been read from flash.
//!
//! The flat table stays the truth, and only time, reads and writes are modelled (decision 0132). A page that leaves the cache dirty is written by the stream of
//! the table's pages; relocation makes pages dirty without reading them.

mod cache;

pub use cache::MapCache;

use crate::core::{CoreContext, Due, Effect, FlashCore};
use crate::op::{InternalTask, Op, OpKind, UnitWork};
use outlast_ftl::ReadCause;
use outlast_units::{Lpn, Nanos};

impl FlashCore {
    /// True if the unit of `work`, which the host reads or writes, waits for the page of the table that has its entry.
    #[inline]
    pub fn awaits_map(&mut self, now: Nanos, context: &mut CoreContext, work: UnitWork) -> bool {
        self.map_cache.is_some() && self.misses_map(now, context, work)
    }

    #[inline(never)]
    fn misses_map(&mut self, now: Nanos, context: &mut CoreContext, work: UnitWork) -> bool {
        let (Some(page), Some(cache)) = (self.ftl.map_page_with(work.lpn), &mut self.map_cache) else {
            return false;
        };
        if cache.touch(page) {
            context.counters.map_hits += 1;
            return false;
        }
        context.counters.map_misses += 1;
        if cache.is_away(page) {
            let (goes_on, last) = (cache.goes_on(page), cache.pages() - 1);
            if !self.fetch_map_page(now, context, page) {
                return false;
            }
            if goes_on && let Some(config) = context.config.ftl.map_cache {
                for next in page + 1..=page.saturating_add(config.prefetch).min(last) {
                    if self.map_cache.as_ref().is_some_and(|cache| cache.is_away(next)) {
                        self.fetch_map_page(now, context, next);
                    }
                }
            }
        }
        if let Some(cache) = &mut self.map_cache {
            cache.wait(now, page, work);
        }
        true
    }

    /// The host reads or writes unit `lpn` without time: the page of the table with its entry is in memory from now on, as the last one used, with those that
    /// are read ahead.
    #[cold]
    #[inline(never)]
    pub fn pass_map_untimed(&mut self, context: &mut CoreContext, lpn: Lpn) {
        let CoreContext { counters, config, .. } = context;
        let (Some(page), Some(cache)) = (self.ftl.map_page_with(lpn), &mut self.map_cache) else { return };
        if cache.touch(page) {
            counters.map_hits += 1;
            return;
        }
        counters.map_misses += 1;
        let ahead = config.ftl.map_cache.filter(|_| cache.goes_on(page)).map_or(0, |own| own.prefetch);
        let last = page.saturating_add(ahead).min(cache.pages() - 1);
        for page in page..=last {
            let Some(cache) = self.map_cache.as_mut().filter(|cache| cache.is_away(page)) else { continue };
            let leaves = cache.fill(page);
            let is_in_memory = self.ftl.recall_map_page(page);
            let slot = self.ftl.map_page_slot(page);
            if !is_in_memory && slot.is_some() && self.ftl.space().pus().is_programmed(slot) {
                counters.reads[ReadCause::Map] += u64::from(self.ftl.layout().pages_per_unit());
            }
            if let Some(leaves) = leaves {
                self.ftl.evict_map_page(leaves);
            }
        }
    }

    /// Begins to read page `page` of the table; false if it is in memory now: it has never been written, or has not left the buffer.
    fn fetch_map_page(&mut self, now: Nanos, context: &mut CoreContext, page: u32) -> bool {
        let is_in_memory = self.ftl.recall_map_page(page);
        let slot = self.ftl.map_page_slot(page);
        if is_in_memory || !slot.is_some() || !self.ftl.space().pus().is_programmed(slot) {
            self.fill_map_page(context, page);
            return false;
        }
        if let Some(cache) = &mut self.map_cache {
            cache.begins_reading(page);
        }
        let (pu, unit) = self.ftl.layout().pu_of(slot);
        let op = Op::new(OpKind::MapRead, InternalTask::Gc, self.id, pu);
        let work = UnitWork { lpn: Lpn(page), ..op.work };
        self.queue_read(now, context, Op { units: 1, mask: 1 << unit, work, ..op });
        true
    }

    /// Page `page` of the table is in memory; the one that leaves for it is written if it is dirty.
    fn fill_map_page(&mut self, context: &mut CoreContext, page: u32) {
        let Some(cache) = &mut self.map_cache else { return };
        if let Some(leaves) = cache.fill(page) {
            self.ftl.evict_map_page(leaves);
            if !self.maps.any_in_flight() && self.ftl.needs_map_flush() {
                self.make_due(context, Due::MapFlush);
            }
        }
    }

    /// A read of a page of the table has ended: the units that wait for it go on. If the page `is_lost`, firmware puts it together from what lies beside the
    /// data, which takes no time here, and writes it anew.
    pub(in crate::core) fn map_page_read(&mut self, context: &mut CoreContext, op: &Op, is_lost: bool) {
        let page = op.work.lpn.0;
        let (slot, unit) = (self.ftl.map_page_slot(page), op.mask.trailing_zeros());
        if is_lost && slot.is_some() && self.ftl.layout().pu_of(slot) == (op.pu, unit) {
            self.ftl.lose(slot);
        }
        self.fill_map_page(context, page);
        context.unsettled.add_effect(Effect::MapRead(self.id, page));
    }

    /// Takes a unit that has waited for page `page` of the table, the one that has longest.
    pub fn take_mapped(&mut self, now: Nanos, context: &mut CoreContext, page: u32) -> Option<UnitWork> {
        let (since, work) = self.map_cache.as_mut()?.take_waiting(page)?;
        context.note(move |ledger| ledger.mapped(since, now, work.request));
        Some(work)
    }

    /// Units that wait for pages of the table.
    pub(in crate::core) fn awaiting_map(&self) -> impl Iterator<Item = UnitWork> {
        self.map_cache.iter().flat_map(|cache| cache.waiting())
    }

    /// Checks the cache of the table's pages: it has all of the table's, and is one.
    ///
    /// # Errors
    /// A sentence on what does not fit.
    pub fn check_map_cache(&self) -> Result<(), String> {
        let Some(cache) = &self.map_cache else { return Ok(()) };
        if cache.pages() != self.ftl.map_pages() {
            return Err(format!(
                "a cache of {} pages, of a table of {}",
                cache.pages(),
                self.ftl.map_pages()
            ));
        }
        cache.check()
    }
}
