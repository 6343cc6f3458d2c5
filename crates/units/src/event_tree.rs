//! The event tree: one pending time for each of a fixed set of sources, the earliest at the root.

use crate::Nanos;

/// Puts `key` at leaf `source` of a tree of any size; returns the least of all.
#[inline(never)]
fn set_in_levels(groups: &mut [[u64; 4]], source: u32, key: u64) -> u64 {
    let mut node = groups.len() + source as usize;
    let mut least = key;
    while node != 0 {
        let place = node - 1;
        let group = &mut groups[place / 4];
        group[place % 4] = least;
        least = least_of(*group);
        node = place / 4;
    }
    least
}

/// A tournament tree over a fixed set of sources, each with at most one pending event. Four nodes compete at a time: setting a time costs
/// log₄(sources) times three comparisons, without branches and without allocation (nor a loop, for 17 to 64 sources); the earliest is at the root. Equal times go to the
/// source with the smaller number, so a run is reproducible.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub struct EventTree {
    /// Group `i` is what nodes `4i + 1` to `4i + 4` hold, and node `i` holds the least of it; node 0 is the root, and the nodes without a
    /// group are the leaves. Any number of leaves will do, as the least of all does not depend on their order. What a node holds is
    /// time and source in one word, compared at once.
    #[persist(each)]
    groups: Vec<[u64; 4]>,
    /// What the root holds.
    first: u64,
    /// Time in `first`, apart because it is asked several times as often as one is set.
    next: Nanos,
    #[persist(skip)]
    sources: u32,
    /// Low bits that hold the source.
    #[persist(skip)]
    bits: u32,
    /// Those bits.
    #[persist(skip)]
    source_mask: u64,
    #[persist(skip)]
    horizon: Nanos,
}

/// Groups of a tree of three whole levels, which has 64 leaves: one, four, sixteen.
const THREE_LEVELS: usize = 21;

/// The least of a group.
#[inline]
fn least_of([first, second, third, fourth]: [u64; 4]) -> u64 {
    first.min(second).min(third.min(fourth))
}

/// Puts `key` at leaf `source` of a tree of three whole levels; returns the least of all.
#[inline]
fn set_in_three_levels(groups: &mut [[u64; 4]; THREE_LEVELS], source: u32, key: u64) -> u64 {
    // A leaf's two lowest bits are its place in its group, and so on upwards. Taken modulo 64, no place is beyond the array.
    let leaf = source as usize % 64;
    let group = &mut groups[5 + leaf / 4];
    group[leaf % 4] = key;
    let least = least_of(*group);
    let group = &mut groups[1 + leaf / 16];
    group[leaf / 4 % 4] = least;
    let least = least_of(*group);
    let group = &mut groups[0];
    group[leaf / 16] = least;
    least_of(*group)
}

impl EventTree {
    /// A tree of `sources` sources, none of which has an event.
    pub fn new(sources: usize) -> Self {
        let sources = sources.max(2);
        let bits = usize::BITS - (sources - 1).leading_zeros();
        // Each group takes the place of one leaf and adds four.
        let groups = match sources {
            // All three levels, even where fewer leaves are needed.
            17..=64 => THREE_LEVELS,
            _ => (sources - 1).div_ceil(3),
        };
        // One less than the greatest time that fits: with all bits of the source set it would be the word for "never".
        let horizon = Nanos((u64::MAX >> bits) - 1);
        Self {
            groups: vec![[u64::MAX; 4]; groups],
            first: u64::MAX,
            next: Nanos::MAX,
            sources: sources as u32,
            bits,
            source_mask: (1 << bits) - 1,
            horizon,
        }
    }

    /// Number of sources.
    pub fn sources(&self) -> u32 {
        self.sources
    }

    /// The latest time that an event can have: time and source share 64 bits. 4.5 years with up to 128 sources, half of it with each
    /// doubling.
    pub fn horizon(&self) -> Nanos {
        self.horizon
    }

    /// Sets the time of `source`; [`Nanos::MAX`] for none.
    ///
    /// # Panics
    /// If `at` lies beyond the [horizon](EventTree::horizon).
    #[allow(
        clippy::inline_always,
        reason = "some forty instructions without a branch, several times for each request"
    )]
    #[inline(always)]
    pub fn set(&mut self, source: u32, at: Nanos) {
        debug_assert!(source < self.sources, "there is no source {source} of {}", self.sources);
        let key = if at <= self.horizon {
            at.0 << self.bits | u64::from(source)
        } else {
            assert!(at == Nanos::MAX, "an event at {at} lies beyond the horizon of {}", self.horizon);
            u64::MAX
        };
        let least = match self.groups.as_mut_slice().try_into() {
            Ok(groups) => set_in_three_levels(groups, source, key),
            Err(_) => set_in_levels(&mut self.groups, source, key),
        };
        self.first = least;
        self.next = self.time_of(least);
    }

    /// Time in the word of a node.
    #[inline]
    fn time_of(&self, word: u64) -> Nanos {
        if word == u64::MAX { Nanos::MAX } else { Nanos(word >> self.bits) }
    }

    /// When the earliest event is due; [`Nanos::MAX`] when there is none.
    #[inline]
    pub fn next(&self) -> Nanos {
        self.next
    }

    /// The source of the earliest event; meaningless when there is none.
    #[inline]
    pub fn next_source(&self) -> u32 {
        (self.first & self.source_mask) as u32
    }

    /// Checks a tree that was read: each node holds the least of the group below it, and only sources that exist have events.
    ///
    /// # Errors
    /// The tree is not one that [`EventTree::set`] makes.
    pub fn check(&self) -> Result<(), String> {
        let (leaves, groups) = (self.groups.len(), &self.groups);
        let least = |group: &[u64; 4]| group.iter().copied().fold(u64::MAX, u64::min);
        let held = groups.iter().flatten().enumerate();
        let is_right = |(place, &held): (usize, &u64)| match groups.get(place + 1) {
            Some(below) => held == least(below),
            None => held == u64::MAX || place + 1 - leaves == (held & self.source_mask) as usize,
        };
        let is_first = groups.first().is_none_or(|first| least(first) == self.first)
            && self.next == self.time_of(self.first);
        let beyond = held.clone().skip((leaves + self.sources as usize).saturating_sub(1));
        if is_first && held.clone().all(is_right) && beyond.into_iter().all(|(_, &held)| held == u64::MAX) {
            Ok(())
        } else {
            Err("the first event of some sources is not the first of theirs".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2^64 ns are 213 503 days. Every number of dies that a geometry can have, and four sources more.
    #[test]
    fn the_horizon_is_what_is_promised() {
        for (dies, days) in [(124, 1667.9), (125, 833.9), (1020, 208.4), (1021, 104.2), (65_535, 1.62)] {
            let mut tree = EventTree::new(dies + 4);
            let horizon = tree.horizon();
            assert!(horizon.as_secs_f64() / 86_400.0 >= days, "{dies} dies: {horizon}");
            let last = (dies + 3) as u32;
            tree.set(last, horizon);
            assert_eq!((tree.next(), tree.next_source()), (horizon, last));
        }
    }

    proptest::proptest! {
        #[test]
        fn the_first_is_the_least_of_all(
            sources in 1usize..70,
            steps in proptest::collection::vec((0usize..1000, 0u64..20), 1..200),
        ) {
            let mut tree = EventTree::new(sources);
            let mut plain = vec![u64::MAX; sources];
            for (source, at) in steps {
                let source = source % sources;
                let at = if at == 0 { u64::MAX } else { at };
                plain[source] = at;
                tree.set(source as u32, Nanos(at));
                let (&least, index) = plain.iter().zip(0u32..).min().unwrap();
                proptest::prop_assert_eq!(tree.next(), Nanos(least));
                if least != u64::MAX {
                    proptest::prop_assert_eq!(tree.next_source(), index);
                }
            }
        }
    }
}
