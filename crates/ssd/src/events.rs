//! The event queue: one pending time for each source, the earliest on top.

use outlast_units::Nanos;

/// A tournament tree over a fixed set of sources, each with at most one pending event. Setting a time costs log₂(sources)
/// comparisons, without branches and without allocation; the earliest is at the root. Equal times go to the source with the
/// smaller number, so a run is reproducible.
#[derive(Clone, Debug)]
pub(crate) struct EventTree {
    /// Node `i` is the least of `2i` and `2i + 1`; leaves start at `sources`. Any number of leaves will do, as the least of
    /// all does not depend on their order. A key is time and source in one word: compared without a branch.
    nodes: Vec<u128>,
    sources: usize,
}

const SOURCE_BITS: u32 = 32;

#[inline]
const fn key(at: Nanos, source: u32) -> u128 {
    (at.0 as u128) << SOURCE_BITS | source as u128
}

impl EventTree {
    pub(crate) fn new(sources: usize) -> Self {
        let sources = sources.max(2);
        let mut tree = Self { nodes: vec![u128::MAX; sources * 2], sources };
        for source in 0..sources {
            tree.set(source as u32, Nanos::MAX);
        }
        tree
    }

    /// Sets the time of `source`; [`Nanos::MAX`] for none.
    #[inline]
    pub(crate) fn set(&mut self, source: u32, at: Nanos) {
        let nodes = self.nodes.as_mut_slice();
        let mut i = self.sources + source as usize;
        let mut least = key(at, source);
        nodes[i] = least;
        while i > 1 {
            least = least.min(nodes[i ^ 1]);
            i /= 2;
            nodes[i] = least;
        }
    }

    /// The earliest event: when and whose. [`Nanos::MAX`] when there is none.
    #[inline]
    pub(crate) fn first(&self) -> (Nanos, u32) {
        (Nanos((self.nodes[1] >> SOURCE_BITS) as u64), self.nodes[1] as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
                proptest::prop_assert_eq!(tree.first().0, Nanos(least));
                if least != u64::MAX {
                    proptest::prop_assert_eq!(tree.first().1, index);
                }
            }
        }
    }
}
