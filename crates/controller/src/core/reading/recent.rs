//! Logical pages in the order in which they were last used, the latest first; as many as fit.

use outlast_units::Lpn;

const NONE: u32 = u32::MAX;

/// A page, and its neighbours in the order of use.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
struct Entry {
    page: Lpn,
    later: u32,
    earlier: u32,
}

/// The pages used last. Memory is taken when it is made, and every operation is a few steps: a table with open addresses, never more than half full, finds a
/// page's entry, and the entries are a list.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub struct Recent {
    /// Places of entries, by page; twice as many as entries or more, a power of two.
    table: Vec<u32>,
    entries: Vec<Entry>,
    /// Entries that are not in use.
    unused: Vec<u32>,
    latest: u32,
    earliest: u32,
}

impl Recent {
    /// Of `pages` pages.
    pub fn new(pages: u32) -> Self {
        debug_assert!(pages != 0 && pages < 1 << 30, "{pages} pages are kept");
        Self {
            table: vec![NONE; (pages as usize * 2).next_power_of_two()],
            entries: vec![Entry { page: Lpn::NONE, later: NONE, earlier: NONE }; pages as usize],
            unused: (0..pages).rev().collect(),
            latest: NONE,
            earliest: NONE,
        }
    }

    /// The entry at which the search for `page` begins.
    #[inline]
    fn home(&self, page: Lpn) -> usize {
        (page.0.wrapping_mul(0x9E37_79B1) >> 7) as usize & (self.table.len() - 1)
    }

    /// The place of `page` in the table, or the free one where it would be.
    #[inline]
    fn place(&self, page: Lpn) -> usize {
        let mut place = self.home(page);
        while self.table[place] != NONE && self.entries[self.table[place] as usize].page != page {
            place = (place + 1) & (self.table.len() - 1);
        }
        place
    }

    /// `page` is used: whether it is among those kept. It is the latest then.
    #[inline]
    pub fn touch(&mut self, page: Lpn) -> bool {
        let entry = self.table[self.place(page)];
        if entry == NONE {
            return false;
        }
        if entry != self.latest {
            self.unlink(entry);
            self.link(entry);
        }
        true
    }

    /// `page` is kept, as the latest. Where there is no room the one goes that was used first.
    pub fn keep(&mut self, page: Lpn) {
        if self.touch(page) {
            return;
        }
        if self.unused.is_empty() {
            self.remove(self.entries[self.earliest as usize].page);
        }
        let Some(entry) = self.unused.pop() else { return };
        let place = self.place(page);
        self.table[place] = entry;
        self.entries[entry as usize].page = page;
        self.link(entry);
    }

    /// `page` is kept no more.
    #[inline]
    pub fn remove(&mut self, page: Lpn) {
        let place = self.place(page);
        let entry = self.table[place];
        if entry != NONE {
            self.unlink(entry);
            self.unused.push(entry);
            self.vacate(place);
        }
    }

    /// None is kept any more.
    pub fn clear(&mut self) {
        *self = Self::new(self.entries.len() as u32);
    }

    /// Bytes of the tables.
    pub fn bytes(pages: u32) -> u64 {
        let table = (u64::from(pages) * 2).next_power_of_two();
        4 * table + u64::from(pages) * (size_of::<Entry>() as u64 + 4)
    }

    /// Frees a place in the table; what was put behind it for want of it moves up.
    fn vacate(&mut self, mut free: usize) {
        let mask = self.table.len() - 1;
        let mut place = free;
        loop {
            self.table[free] = NONE;
            loop {
                place = (place + 1) & mask;
                if self.table[place] == NONE {
                    return;
                }
                let home = self.home(self.entries[self.table[place] as usize].page);
                // Whether the free place lies between its home and where it is.
                if place.wrapping_sub(home) & mask >= place.wrapping_sub(free) & mask {
                    break;
                }
            }
            self.table[free] = self.table[place];
            free = place;
        }
    }

    fn link(&mut self, entry: u32) {
        let own = &mut self.entries[entry as usize];
        (own.later, own.earlier) = (NONE, self.latest);
        match self.latest {
            NONE => self.earliest = entry,
            before => self.entries[before as usize].later = entry,
        }
        self.latest = entry;
    }

    fn unlink(&mut self, entry: u32) {
        let Entry { later, earlier, .. } = self.entries[entry as usize];
        match later {
            NONE => self.latest = earlier,
            later => self.entries[later as usize].earlier = earlier,
        }
        match earlier {
            NONE => self.earliest = later,
            earlier => self.entries[earlier as usize].later = later,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outlast_units::rng::SplitMix;
    use std::collections::VecDeque;

    /// Beside a plain list of pages, the latest first.
    #[test]
    fn it_keeps_what_a_plain_list_keeps() {
        for (pages, span) in [(1u32, 3), (2, 4), (7, 12), (64, 90), (100, 1000)] {
            let (mut own, mut model) = (Recent::new(pages), VecDeque::<u32>::new());
            let mut rng = SplitMix::new(u64::from(pages), "pages");
            for step in 0..40_000 {
                // Numbers that lie apart by large powers of two, too: they crowd the table.
                let page = (rng.below(span) << (8 * rng.below(3))) as u32;
                let found = model.iter().position(|&kept| kept == page);
                match rng.below(10) {
                    0 => {
                        own.remove(Lpn(page));
                        found.map(|place| model.remove(place));
                    }
                    1..5 => {
                        assert_eq!(own.touch(Lpn(page)), found.is_some(), "page {page} in step {step}");
                        if let Some(place) = found {
                            model.remove(place);
                            model.push_front(page);
                        }
                    }
                    _ => {
                        own.keep(Lpn(page));
                        found.map(|place| model.remove(place));
                        model.push_front(page);
                        model.truncate(pages as usize);
                    }
                }
                if step % 5000 == 4999 {
                    own.clear();
                    model.clear();
                }
            }
        }
    }

    /// Che's approximation ("Hierarchical Web caching systems", IEEE JSAC 2002): page i with probability p is found with 1 − exp(−p·T), where T is such that
    /// these sum to the pages kept. Known to be good to 1 % for Zipf; 4·10^5 draws have a standard error below 0.08 %.
    #[test]
    fn under_zipf_it_finds_what_theory_says() {
        let (span, kept) = (20_000usize, 1000u32);
        let weights: Vec<f64> = (1..=span).map(|rank| 1.0 / rank as f64).collect();
        let sum: f64 = weights.iter().sum();
        let mut up_to = 0.0;
        let cumulated: Vec<f64> = weights
            .iter()
            .map(|weight| {
                up_to += weight / sum;
                up_to
            })
            .collect();
        let found = |time: f64| weights.iter().map(|weight| 1.0 - (-weight / sum * time).exp()).sum::<f64>();
        let (mut low, mut high) = (0.0, 1e9);
        for _ in 0..200 {
            let middle = f64::midpoint(low, high);
            if found(middle) < f64::from(kept) { low = middle } else { high = middle }
        }
        let expected: f64 =
            weights.iter().map(|weight| weight / sum * (1.0 - (-weight / sum * low).exp())).sum();
        let (mut own, mut rng, mut hits) = (Recent::new(kept), SplitMix::new(3, "zipf"), 0);
        for draw in 0..500_000 {
            let at = rng.below(1 << 53) as f64 / (1u64 << 53) as f64;
            let page = Lpn(cumulated.partition_point(|&up_to| up_to <= at).min(span - 1) as u32);
            hits += u32::from(draw >= 100_000 && own.touch(page));
            own.keep(page);
        }
        let measured = f64::from(hits) / 400_000.0;
        assert!((measured / expected - 1.0).abs() < 0.01 + 0.005, "{measured} found, not {expected}");
    }
}
