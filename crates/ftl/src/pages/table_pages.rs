//! Pages of the mapping table itself, which flushes write to flash.

use crate::causes::ProgramCause;
use crate::ftl::WrittenSlot;
use crate::pages::PageTable;
use crate::space::FlashSpace;
use outlast_units::{Lpn, Ppn, Stream, to_length};

/// Bytes of a slot's number in an entry, if the entry has room.
const SLOT_BYTES: usize = size_of::<u32>();

impl PageTable {
    /// Requests a flush of the mapping table, which begins when the one under way has ended; does nothing without flushes.
    pub(crate) fn request_map_flush(&mut self) {
        if let Some(maps) = &mut self.maps {
            maps.request();
        }
    }

    /// Ends the flush under way, if any.
    pub(crate) fn stop_map_flush(&mut self) {
        if let Some(maps) = &mut self.maps {
            maps.stop();
        }
    }

    /// True if pages of the table are written to flash.
    #[inline]
    pub(crate) fn has_map_pages(&self) -> bool {
        self.maps.is_some()
    }

    /// Flushes of the mapping table begun.
    pub(crate) fn map_flushes(&self) -> u64 {
        self.maps.as_ref().map_or(0, |maps| maps.flushes())
    }

    /// Marks the page of the table that has the entry of `lpn`, which has changed, as dirty; or page `lpn` itself, if it is one of the table: its
    /// newest copy is lost.
    #[inline]
    pub(crate) fn mark_entry_dirty(&mut self, lpn: Lpn) {
        if let Some(maps) = &mut self.maps {
            match maps.page_of(lpn) {
                Some(page) => maps.mark(page),
                None => maps.mark_entry(lpn),
            }
        }
    }

    /// True if `lpn` is a page of the mapping table, not the host's.
    #[inline]
    pub(crate) fn is_map_page(&self, lpn: Lpn) -> bool {
        self.maps.as_ref().is_some_and(|maps| maps.page_of(lpn).is_some())
    }

    /// Pages of the mapping table that are written to flash.
    pub(crate) fn map_pages(&self) -> u32 {
        self.maps.as_ref().map_or(0, |maps| maps.count())
    }

    /// Pages of the mapping table that are dirty.
    pub(crate) fn dirty_map_pages(&self) -> u32 {
        self.maps.as_ref().map_or(0, |maps| maps.dirty())
    }

    /// The page of the table that has the entry of `lpn`; none has that of a page of the table itself, or of a unit that another core has handed over.
    #[inline]
    pub(crate) fn map_page_with(&self, lpn: Lpn) -> Option<u32> {
        self.maps.as_ref()?.page_with(lpn)
    }

    /// The slot of page `page` of the table.
    pub(crate) fn map_page_slot(&self, page: u32) -> Ppn {
        self.maps.as_ref().map_or(Ppn::NONE, |maps| self.lookup(maps.lpn(page)))
    }

    /// Slots on flash of those pages of the table that are dirty.
    pub(crate) fn stale_map_pages(&self, space: &FlashSpace) -> impl Iterator<Item = Ppn> {
        let dirty = self.maps.iter().flat_map(|maps| (0..maps.count()).filter(|&page| maps.is_dirty(page)));
        dirty
            .map(|page| self.map_page_slot(page))
            .filter(|&slot| slot.is_some() && space.pus().is_programmed(slot))
    }

    /// Page `page` of the table leaves the cache.
    pub(crate) fn evict_map_page(&mut self, page: u32) {
        if let Some(maps) = &mut self.maps {
            maps.evict(page);
        }
    }

    /// Takes page `page` of the table back, if it has left the cache and has not been written since: true if so.
    pub(crate) fn recall_map_page(&mut self, page: u32) -> bool {
        self.maps.as_mut().is_some_and(|maps| maps.recall(page))
    }

    /// The next page of the table that a flush writes: of the one under way, or of one that begins; or one that has left the cache, if such pages
    /// fill a program unit, or one of them `is_begun`.
    pub(crate) fn next_dirty(&mut self, space: &FlashSpace, is_begun: bool) -> Option<u32> {
        let clock = space.counts().clock();
        let maps = self.maps.as_mut()?;
        if is_begun || maps.has_batch() || maps.is_flushing() || maps.is_due(clock) {
            let evicted = maps.next_evicted();
            if evicted.is_some() {
                return evicted;
            }
        }
        if !maps.is_flushing() {
            if !maps.is_due(clock) {
                return None;
            }
            maps.begin(clock);
        }
        maps.next_page()
    }

    /// Bytes of page `page` of the table as the mapping is now.
    fn map_bytes(&self, space: &FlashSpace, page: u32) -> Vec<u8> {
        let Some((maps, config)) = self.maps.as_ref().zip(space.config().map_flush) else {
            return Vec::new();
        };
        let mut bytes = vec![0; to_length(space.config().mapping_unit.0)];
        let entry = to_length(config.entry.0);
        for (lpn, to) in maps.entries_of(page).map(Lpn).zip(bytes.chunks_exact_mut(entry)) {
            let slot = self.map.lookup(lpn).0.to_le_bytes();
            let length = entry.min(SLOT_BYTES);
            to[..length].copy_from_slice(&slot[..length]);
        }
        bytes
    }

    /// Checks that the copy on flash of every clean page agrees with the mapping, if bytes are kept.
    pub(crate) fn check_maps(&self, space: &FlashSpace) -> Result<(), String> {
        let Some(maps) = &self.maps else { return Ok(()) };
        maps.check()?;
        for page in (0..maps.count()).filter(|&page| !maps.is_dirty(page)) {
            let slot = self.lookup(maps.lpn(page));
            if !slot.is_some() {
                let mapped = maps.entries_of(page).map(Lpn).find(|&lpn| self.lookup(lpn).is_some());
                if let Some(lpn) = mapped {
                    return Err(format!(
                        "page {page} of the table is clean and not on flash, but maps page {lpn}"
                    ));
                }
                continue;
            }
            let Some(unit) = space.contents().map(|contents| contents.read(slot.0, self.map.owner(slot).0))
            else {
                continue;
            };
            let mut there = vec![0; to_length(space.config().mapping_unit.0)];
            unit.copy_to(0, &mut there);
            if there != self.map_bytes(space, page) {
                return Err(format!(
                    "page {page} of the table is clean, and slot {slot} says something else"
                ));
            }
        }
        Ok(())
    }

    /// True if a flush of the mapping table is under way, or is to begin.
    #[inline]
    pub(crate) fn needs_map_flush(&self, space: &FlashSpace) -> bool {
        self.maps
            .as_ref()
            .is_some_and(|maps| maps.is_flushing() || maps.is_due(space.counts().clock()) || maps.has_batch())
    }

    /// True if the next flush of the mapping table would follow the last one, and the host has written nothing in between.
    #[inline]
    pub(crate) fn awaits_host_writes(&self, space: &FlashSpace) -> bool {
        self.maps.as_ref().is_some_and(|maps| maps.would_repeat(space.counts().clock()))
    }

    /// Puts page `page` of the table, as it is now, at the frontier of `stream`.
    pub(crate) fn append_map(&mut self, space: &mut FlashSpace, stream: Stream, page: u32) -> WrittenSlot {
        let Some(maps) = &mut self.maps else { unreachable!("only a drive with map pages writes them") };
        maps.take_page(page);
        let lpn = maps.lpn(page);
        let slot = space.take_slot(stream, self);
        let old = self.map.put(lpn, slot.ppn);
        if old.is_some() {
            space.invalidate(old);
        }
        if self.tracks_writes {
            self.record_put(space, slot.ppn, lpn, old, false);
            if let Some(handles) = &mut self.handles {
                handles.record_own(slot.ppn);
            }
        }
        space.add_valid(stream);
        space.counts_mut().count_units(ProgramCause::Map, 1);
        if space.contents().is_some() {
            let bytes = self.map_bytes(space, page);
            if let Some(unit) = space.make_unit(lpn, &bytes) {
                debug_assert!(unit.tag() == lpn.0, "page {lpn} of the table is stored for another");
                space.store(slot.ppn, unit);
            }
        }
        slot
    }
}
