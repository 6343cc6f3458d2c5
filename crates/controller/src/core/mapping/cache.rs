//! Pages of a mapping table that are in memory: those used last, and units that wait for others.

use crate::op::UnitWork;
use outlast_units::Nanos;
use outlast_units::slab::{NIL, Slab};

/// Place of a page of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
enum Whereabouts {
    /// On flash only.
    Away,
    /// On flash, and a read of it is under way.
    BeingRead,
    /// In memory.
    Here,
}

/// A page of the table: its neighbours in the order of use, and the units that wait for it.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
struct CachedPage {
    later: u32,
    earlier: u32,
    first_waiting: u32,
    last_waiting: u32,
    whereabouts: Whereabouts,
}

const AWAY: CachedPage = CachedPage {
    later: NIL,
    earlier: NIL,
    first_waiting: NIL,
    last_waiting: NIL,
    whereabouts: Whereabouts::Away,
};

/// A unit that waits for its page of the table.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
struct MapWait {
    since: Nanos,
    work: UnitWork,
    next: u32,
}

/// The pages of a flash core's table that are in memory: as many as fit, and of these the one that was used first leaves (LRU, exactly). Pages are found by
/// their number: there is an entry for each page of the table, and no look-up but that.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub struct MapCache {
    #[persist(fixed)]
    room: u32,
    held: u32,
    latest: u32,
    earliest: u32,
    pages: Vec<CachedPage>,
    waits: Slab<MapWait>,
    /// Page that was missing last.
    missed: u32,
}

impl MapCache {
    /// No page yet of the `pages` of a table, of which `room` fit.
    ///
    /// # Panics
    /// If none fits.
    pub fn new(pages: u32, room: u32) -> Self {
        assert!(room != 0, "a cache of no page");
        Self {
            room,
            held: 0,
            latest: NIL,
            earliest: NIL,
            pages: vec![AWAY; pages as usize],
            waits: Slab::default(),
            missed: NIL,
        }
    }

    /// Resident bytes of a cache of a table with `pages` pages.
    pub fn bytes(pages: u32) -> u64 {
        u64::from(pages) * size_of::<CachedPage>() as u64
    }

    /// Number of pages of the table.
    pub(super) fn pages(&self) -> u32 {
        self.pages.len() as u32
    }

    /// `page` is used: whether it is in memory. It is the latest then.
    #[inline]
    pub fn touch(&mut self, page: u32) -> bool {
        if self.pages[page as usize].whereabouts != Whereabouts::Here {
            return false;
        }
        if page != self.latest {
            self.unlink(page);
            self.link(page);
        }
        true
    }

    /// True if `page` is neither in memory nor being read.
    pub(super) fn is_away(&self, page: u32) -> bool {
        self.pages[page as usize].whereabouts == Whereabouts::Away
    }

    /// A read of `page` begins.
    pub(super) fn begins_reading(&mut self, page: u32) {
        debug_assert!(self.is_away(page), "page {page} is read twice at a time");
        self.pages[page as usize].whereabouts = Whereabouts::BeingRead;
    }

    /// `page` is missing: true if the one before was missing last.
    pub(super) fn goes_on(&mut self, page: u32) -> bool {
        let is_next = self.missed != NIL && page == self.missed + 1;
        self.missed = page;
        is_next
    }

    /// `work` waits for `page`, behind others that do.
    pub(super) fn wait(&mut self, now: Nanos, page: u32, work: UnitWork) {
        let wait = self.waits.insert(MapWait { since: now, work, next: NIL });
        let own = &mut self.pages[page as usize];
        let last = std::mem::replace(&mut own.last_waiting, wait);
        if last == NIL { own.first_waiting = wait } else { self.waits[last].next = wait }
    }

    /// Takes the unit that has waited longest for `page`, and since when it has.
    pub(super) fn take_waiting(&mut self, page: u32) -> Option<(Nanos, UnitWork)> {
        let own = &mut self.pages[page as usize];
        let first = own.first_waiting;
        if first == NIL {
            return None;
        }
        let MapWait { since, work, next } = self.waits[first];
        own.first_waiting = next;
        if next == NIL {
            own.last_waiting = NIL;
        }
        self.waits.remove(first);
        Some((since, work))
    }

    /// Units that wait.
    pub(in crate::core) fn waiting(&self) -> impl Iterator<Item = UnitWork> {
        self.waits.live().map(|wait| wait.work)
    }

    /// `page` has come to memory, as the latest. Returns the page that leaves for it.
    pub fn fill(&mut self, page: u32) -> Option<u32> {
        debug_assert!(self.pages[page as usize].whereabouts != Whereabouts::Here, "page {page} comes twice");
        let leaves = (self.held == self.room).then_some(self.earliest);
        if let Some(leaves) = leaves {
            self.unlink(leaves);
            self.pages[leaves as usize].whereabouts = Whereabouts::Away;
        } else {
            self.held += 1;
        }
        self.pages[page as usize].whereabouts = Whereabouts::Here;
        self.link(page);
        leaves
    }

    /// Power has failed: nothing is in memory, and nobody waits.
    pub(in crate::core) fn clear(&mut self) {
        self.pages.fill(AWAY);
        self.waits.clear();
        (self.held, self.latest, self.earliest, self.missed) = (0, NIL, NIL, NIL);
    }

    /// Checks that what was read is a list of as many pages as it counts, each of them in memory, and that each unit waits for a page that is being read.
    ///
    /// # Errors
    /// A sentence on what does not fit.
    pub(in crate::core) fn check(&self) -> Result<(), String> {
        let (mut at, mut before, mut held) = (self.latest, NIL, 0);
        while at != NIL {
            let fits = |page: &&CachedPage| page.whereabouts == Whereabouts::Here && page.later == before;
            let Some(page) = self.pages.get(at as usize).filter(fits) else {
                return Err(format!("page {at} of the table is not in memory behind {before}"));
            };
            held += 1;
            if held > self.held {
                break;
            }
            (before, at) = (at, page.earlier);
        }
        if held != self.held || before != self.earliest || held > self.room {
            return Err(format!("{held} pages of the table are in memory, {} are counted", self.held));
        }
        let (mut here, mut waiting) = (0, 0);
        for (number, page) in self.pages.iter().enumerate() {
            here += u32::from(page.whereabouts == Whereabouts::Here);
            let (mut at, mut last) = (page.first_waiting, NIL);
            while at != NIL {
                let is_read = page.whereabouts == Whereabouts::BeingRead;
                if !is_read || !self.waits.is_live(at) || waiting == self.waits.used() {
                    return Err(format!("a unit waits for page {number} of the table, which is not read"));
                }
                waiting += 1;
                (last, at) = (at, self.waits[at].next);
            }
            if last != page.last_waiting {
                return Err(format!("units that wait for page {number} of the table are in no order"));
            }
        }
        if here != self.held || waiting != self.waits.used() {
            return Err("pages of the table, or units that wait for them, are in no list".into());
        }
        Ok(())
    }

    fn link(&mut self, page: u32) {
        let own = &mut self.pages[page as usize];
        (own.later, own.earlier) = (NIL, self.latest);
        match self.latest {
            NIL => self.earliest = page,
            before => self.pages[before as usize].later = page,
        }
        self.latest = page;
    }

    fn unlink(&mut self, page: u32) {
        let CachedPage { later, earlier, .. } = self.pages[page as usize];
        match later {
            NIL => self.latest = earlier,
            later => self.pages[later as usize].earlier = earlier,
        }
        match earlier {
            NIL => self.earliest = later,
            earlier => self.pages[earlier as usize].later = later,
        }
    }
}

#[cfg(test)]
mod tests;
