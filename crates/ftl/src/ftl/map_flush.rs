//! Flushes of the mapping table: its dirty pages go to the frontier of a stream of their own.

use super::{Ftl, WrittenSlot};
use crate::causes::ProgramCause;
use crate::table::PageMapping;
use outlast_units::{Lpn, Pu, Stream};

/// Bytes of a slot's number in an entry, if the entry has room.
const SLOT_BYTES: usize = size_of::<u32>();

impl Ftl {
    /// Requests a flush of the mapping table, which begins when the one under way has ended; does nothing without flushes.
    pub fn request_map_flush(&mut self) {
        if let Some(maps) = &mut self.maps {
            maps.request();
        }
    }

    /// True if a flush of the mapping table is under way, or is to begin.
    #[inline]
    pub fn needs_map_flush(&self) -> bool {
        self.maps.as_ref().is_some_and(|maps| maps.is_flushing() || maps.is_due(self.counts.clock()))
    }

    /// True if the next flush of the mapping table would follow the last one, and the host has written nothing in between.
    #[inline]
    pub fn awaits_host_writes(&self) -> bool {
        self.maps.as_ref().is_some_and(|maps| maps.would_repeat(self.counts.clock()))
    }

    /// True if a flush of the mapping table waits for a superblock: it gets the next one, before the host, which could otherwise take every one.
    pub fn map_awaits_room(&self) -> bool {
        self.maps.is_some()
            && self.streams.map().is_some_and(|stream| self.frontiers[stream].is_full())
            && self.needs_map_flush()
            && !self.awaits_host_writes()
    }

    /// The stream of the mapping table, and the next program unit of it that a flush has filled, or, at the flush's end, has been padded. It is to be
    /// programmed. `None` where nothing is left to be flushed, or the stream finds no room ([`Ftl::needs_map_flush`] tells which).
    pub fn flush_map(&mut self) -> Option<(Stream, Pu)> {
        let stream = self.streams.map()?;
        loop {
            let page = match self.next_dirty() {
                None => return Some((stream, self.pad(stream)?)),
                Some(_) if self.is_read_only() || !self.can_append(stream) => return None,
                Some(page) => page,
            };
            let slot = self.append_map(stream, page);
            if slot.completes_pu {
                return Some((stream, self.layout.pu_of(slot.ppn).0));
            }
        }
    }

    /// The next page of the table that a flush writes: of the one under way, or of one that begins.
    fn next_dirty(&mut self) -> Option<u32> {
        let clock = self.counts.clock();
        let maps = self.maps.as_mut()?;
        if !maps.is_flushing() {
            if !maps.is_due(clock) {
                return None;
            }
            maps.begin(clock);
        }
        maps.next_page()
    }

    /// Puts page `page` of the table, as it is now, at the frontier of `stream`.
    fn append_map(&mut self, stream: Stream, page: u32) -> WrittenSlot {
        let Some(maps) = &mut self.maps else { unreachable!("only a drive with map pages writes them") };
        maps.take_page();
        let lpn = maps.lpn(page);
        let slot = self.advance(stream);
        let old = self.map.put(lpn, slot.ppn);
        if old.is_some() {
            self.invalidate(old);
        }
        if self.tracks_writes {
            self.record_put(slot.ppn, lpn, old, false);
        }
        self.superblocks.add_valid(self.frontiers[stream].superblock());
        self.counts.count_units(ProgramCause::Map, 1);
        if self.contents.is_some() {
            let bytes = self.map_bytes(page);
            if let Some(unit) = self.make_unit(lpn, &bytes) {
                self.store(slot.ppn, unit);
            }
        }
        slot
    }

    /// Bytes of page `page` of the table as the mapping is now.
    fn map_bytes(&self, page: u32) -> Vec<u8> {
        let Some((maps, config)) = self.maps.as_ref().zip(self.config.map_flush) else { return Vec::new() };
        let mut bytes = vec![0; self.config.mapping_unit.0 as usize];
        let entry = config.entry.0 as usize;
        for (lpn, to) in maps.entries_of(page).map(Lpn).zip(bytes.chunks_exact_mut(entry)) {
            let slot = self.map.lookup(lpn).0.to_le_bytes();
            let length = entry.min(SLOT_BYTES);
            to[..length].copy_from_slice(&slot[..length]);
        }
        bytes
    }

    /// Flushes the mapping table, without time, if it is due; pages that find no room stay dirty.
    #[cold]
    pub(super) fn flush_map_untimed(&mut self) {
        let Some(stream) = self.streams.map() else { return };
        while self.needs_map_flush() && !self.is_read_only() {
            if self.frontiers[stream].is_full() && self.make_space_for_map(stream).is_err() {
                break;
            }
            if let Some((_, pu)) = self.flush_map() {
                self.programmed(pu);
                self.program_parity(stream);
            }
        }
        if let Some(maps) = &mut self.maps {
            maps.stop();
        }
    }

    /// Marks the page of the table that has the entry of `lpn`, which has changed, as dirty; or page `lpn` itself, if it is one of the table: its
    /// newest copy is lost.
    #[inline]
    pub(super) fn mark_entry_dirty(&mut self, lpn: Lpn) {
        if let Some(maps) = &mut self.maps {
            match maps.page_of(lpn) {
                Some(page) => maps.mark(page),
                None => maps.mark_entry(lpn),
            }
        }
    }

    /// True if `lpn` is a page of the mapping table, not the host's.
    #[inline]
    pub fn is_map_page(&self, lpn: Lpn) -> bool {
        self.maps.as_ref().is_some_and(|maps| maps.page_of(lpn).is_some())
    }

    /// Pages of the mapping table that are written to flash.
    pub fn map_pages(&self) -> u32 {
        self.maps.as_ref().map_or(0, |maps| maps.count())
    }

    /// Pages of the mapping table that are dirty.
    pub fn dirty_map_pages(&self) -> u32 {
        self.maps.as_ref().map_or(0, |maps| maps.dirty())
    }

    /// Checks that the copy on flash of every clean page agrees with the mapping, if bytes are kept.
    pub(super) fn check_maps(&self) -> Result<(), String> {
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
            let Some(unit) = self.load(slot) else { continue };
            let mut there = vec![0; self.config.mapping_unit.0 as usize];
            unit.copy_to(0, &mut there);
            if there != self.map_bytes(page) {
                return Err(format!(
                    "page {page} of the table is clean, and slot {slot} says something else"
                ));
            }
        }
        Ok(())
    }
}
