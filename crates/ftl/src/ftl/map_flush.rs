//! Flushes of the mapping table: its dirty pages go to the frontier of a stream of their own.

use crate::ftl::Ftl;
use outlast_units::{Lpn, Ppn, Pu, Stream};

impl Ftl {
    /// Requests a flush of the mapping table, which begins when the one under way has ended; does nothing without flushes.
    pub fn request_map_flush(&mut self) {
        self.pages.request_map_flush();
    }

    /// True if a flush of the mapping table waits for a superblock: it gets the next one, before the host, which could otherwise take every one.
    pub fn map_awaits_room(&self) -> bool {
        self.pages.has_map_pages()
            && self.space.streams().map().is_some_and(|stream| self.space.frontiers()[stream].is_full())
            && self.pages.needs_map_flush(&self.space)
            && !self.pages.awaits_host_writes(&self.space)
    }

    /// The stream of the mapping table, and the next program unit of it that a flush has filled, or, at the flush's end, has been padded. It is to be
    /// programmed. `None` where nothing is left to be flushed, or the stream finds no room ([`Ftl::needs_map_flush`] tells which).
    pub fn flush_map(&mut self) -> Option<(Stream, Pu)> {
        let stream = self.space.streams().map()?;
        loop {
            let is_begun = self.stream(stream).begun_units() != 0;
            let page = match self.pages.next_dirty(&self.space, is_begun) {
                None => return Some((stream, self.space.pad(stream, &mut self.pages)?)),
                Some(_) if self.space.is_read_only() || !self.can_append(stream) => return None,
                Some(page) => page,
            };
            let slot = self.pages.append_map(&mut self.space, stream, page);
            if slot.completes_pu {
                return Some((stream, self.space.layout().pu_of(slot.ppn).0));
            }
        }
    }

    /// Flushes the mapping table, without time, if it is due; pages that find no room stay dirty.
    #[cold]
    pub(super) fn flush_map_untimed(&mut self) {
        let Some(stream) = self.space.streams().map() else { return };
        while self.pages.needs_map_flush(&self.space) && !self.space.is_read_only() {
            if self.space.frontiers()[stream].is_full() && self.make_space_for_map(stream).is_err() {
                self.pages.stop_map_flush();
                return;
            }
            if let Some((_, pu)) = self.flush_map() {
                self.programmed(pu);
                self.program_parity(stream);
            }
        }
        if self.pages.needs_map_flush(&self.space) {
            self.pages.stop_map_flush();
        }
    }

    /// True if a flush of the mapping table is under way, or is to begin.
    #[inline]
    pub fn needs_map_flush(&self) -> bool {
        self.pages.needs_map_flush(&self.space)
    }

    /// True if the next flush of the mapping table would follow the last one, and the host has written nothing in between.
    #[inline]
    pub fn awaits_host_writes(&self) -> bool {
        self.pages.awaits_host_writes(&self.space)
    }

    /// True if `lpn` is a page of the mapping table, not the host's.
    #[inline]
    pub fn is_map_page(&self, lpn: Lpn) -> bool {
        self.pages.is_map_page(lpn)
    }

    /// Pages of the mapping table that are written to flash.
    pub fn map_pages(&self) -> u32 {
        self.pages.map_pages()
    }

    /// The page of the table that has the entry of `lpn`; none has that of a page of the table itself, or of a unit that another core has handed over.
    #[inline]
    pub fn map_page_with(&self, lpn: Lpn) -> Option<u32> {
        self.pages.map_page_with(lpn)
    }

    /// The slot of page `page` of the table; [`Ppn::NONE`] if it has never been written.
    pub fn map_page_slot(&self, page: u32) -> Ppn {
        self.pages.map_page_slot(page)
    }

    /// Page `page` of the table leaves the cache of a drive whose table does not fit in memory: it is to be written if it is dirty.
    pub fn evict_map_page(&mut self, page: u32) {
        self.pages.evict_map_page(page);
    }

    /// Takes page `page` of the table back, if it has left the cache and has not been written since: true if so.
    pub fn recall_map_page(&mut self, page: u32) -> bool {
        self.pages.recall_map_page(page)
    }

    /// Pages of the mapping table that are dirty.
    pub fn dirty_map_pages(&self) -> u32 {
        self.pages.dirty_map_pages()
    }
}
