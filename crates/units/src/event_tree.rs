//! The event tree: one pending time for each of a fixed set of sources, the earliest at the root.

use crate::Nanos;

/// Puts `key` at leaf `source` of a tree of any size; returns the least of all.
#[inline(never)]
fn set_in_levels(nodes: &mut [u64], source: u32, key: u64) -> u64 {
    let mut node = nodes.len() / 2 + source as usize;
    let mut least = key;
    nodes[node] = key;
    while node > 1 {
        least = least.min(nodes[node ^ 1]);
        node /= 2;
        if nodes[node] == least {
            // Nothing changes further up.
            break;
        }
        nodes[node] = least;
    }
    nodes[1]
}

/// A tournament tree over a fixed set of sources, each with at most one pending event. Setting a time costs log₂(sources) comparisons, without branches, loop
/// or allocation for up to 64 sources; the earliest is at the root. Equal times go to the source with the smaller number, so a run is reproducible.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub struct EventTree {
    /// Node `i` is the lesser of `2i` and `2i + 1`, node 1 the root, the second half the leaves; node 0 is none. What a node holds is time and source in one
    /// word, compared at once.
    #[persist(each)]
    nodes: Vec<u64>,
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

/// Nodes of the trees whose levels are counted when they are compiled: of up to 32 sources, and of up to 64.
const SMALL: usize = 64;
const MEDIUM: usize = 128;

/// Puts `key` at leaf `source` of a tree of `NODES` nodes, a power of two; returns the least of all.
#[allow(clippy::inline_always, reason = "as EventTree::set")]
#[inline(always)]
fn set_in_tree<const NODES: usize>(nodes: &mut [u64; NODES], source: u32, key: u64) -> u64 {
    // Taken modulo the number of leaves, no place is beyond the array.
    let mut node = (NODES / 2) | (source as usize % (NODES / 2));
    let mut least = key;
    nodes[node] = key;
    for _ in 1..NODES.trailing_zeros() {
        // `node ^ 1` is the neighbour. No node is read that has just been written.
        least = least.min(nodes[node ^ 1]);
        node /= 2;
        nodes[node] = least;
    }
    least
}

/// Puts `key` at leaf `source` of a tree whose `NODES` nodes are a list; returns the least of all.
#[allow(clippy::inline_always, reason = "as EventTree::set")]
#[inline(always)]
fn set_in_sized<const NODES: usize>(nodes: &mut [u64], source: u32, key: u64) -> u64 {
    let Some(nodes) = nodes.first_chunk_mut::<NODES>() else {
        unreachable!("a tree of {} nodes", nodes.len())
    };
    set_in_tree(nodes, source, key)
}

impl EventTree {
    /// A tree of `sources` sources, none of which has an event.
    pub fn new(sources: usize) -> Self {
        let sources = sources.max(2);
        let bits = usize::BITS - (sources - 1).leading_zeros();
        // One less than the greatest time that fits: with all bits of the source set it would be the word for "never".
        let horizon = Nanos((u64::MAX >> bits) - 1);
        Self {
            nodes: vec![u64::MAX; (2 * sources.next_power_of_two()).max(SMALL)],
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
        reason = "some fifty instructions without a loop, several times for each request"
    )]
    #[inline(always)]
    pub fn set(&mut self, source: u32, at: Nanos) {
        let key = if at <= self.horizon {
            at.0 << self.bits | u64::from(source)
        } else {
            assert!(at == Nanos::MAX, "an event at {at} lies beyond the horizon of {}", self.horizon);
            u64::MAX
        };
        self.set_key(source, key);
    }

    /// Takes the event of `source` away.
    #[allow(clippy::inline_always, reason = "as EventTree::set")]
    #[inline(always)]
    pub fn clear(&mut self, source: u32) {
        self.set_key(source, u64::MAX);
    }

    #[allow(clippy::inline_always, reason = "as EventTree::set")]
    #[inline(always)]
    fn set_key(&mut self, source: u32, key: u64) {
        debug_assert!(source < self.sources, "there is no source {source} of {}", self.sources);
        let nodes = self.nodes.as_mut_slice();
        let least = match nodes.len() {
            SMALL => set_in_sized::<SMALL>(nodes, source, key),
            MEDIUM => set_in_sized::<MEDIUM>(nodes, source, key),
            _ => set_in_levels(nodes, source, key),
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
        let (nodes, leaves) = (&self.nodes, self.nodes.len() / 2);
        let held = nodes.iter().enumerate().skip(1);
        let is_right = |(node, &held): (usize, &u64)| match node.checked_sub(leaves) {
            None => held == nodes[2 * node].min(nodes[2 * node + 1]),
            Some(_) if held == u64::MAX => true,
            Some(source) => source < self.sources as usize && source == (held & self.source_mask) as usize,
        };
        let is_first = nodes.get(1) == Some(&self.first) && self.next == self.time_of(self.first);
        if is_first && held.into_iter().all(is_right) {
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
            sources in 1usize..150,
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
                proptest::prop_assert_eq!(tree.check(), Ok(()));
            }
        }
    }
}
