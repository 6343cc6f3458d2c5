//! The event queue: one pending time for each source, the earliest on top.

use outlast_units::Nanos;

/// A tournament tree over a fixed set of sources, each with at most one pending event. Setting a time costs log₂(sources)
/// comparisons and no allocation; the earliest is at the root. Equal times go to the source with the smaller number, so a
/// run is reproducible.
#[derive(Clone, Debug)]
pub(crate) struct EventTree {
    /// A complete binary tree in heap order: node `i` is the earlier of `2i` and `2i + 1`; leaves start at `leaves`.
    nodes: Vec<(Nanos, u32)>,
    leaves: usize,
}

impl EventTree {
    pub(crate) fn new(sources: usize) -> Self {
        let leaves = sources.next_power_of_two().max(2);
        let mut nodes = vec![(Nanos::MAX, u32::MAX); leaves * 2];
        for (source, node) in nodes[leaves..].iter_mut().enumerate() {
            node.1 = source as u32;
        }
        for i in (1..leaves).rev() {
            nodes[i] = nodes[2 * i].min(nodes[2 * i + 1]);
        }
        Self { nodes, leaves }
    }

    /// Sets the time of `source`; [`Nanos::MAX`] for none.
    #[inline]
    pub(crate) fn set(&mut self, source: u32, at: Nanos) {
        let mut i = self.leaves + source as usize;
        let mut winner = (at, source);
        self.nodes[i] = winner;
        while i > 1 {
            let sibling = self.nodes[i ^ 1];
            winner = if (sibling.0, sibling.1) < winner { sibling } else { winner };
            i /= 2;
            self.nodes[i] = winner;
        }
    }

    /// The earliest event: when and whose. [`Nanos::MAX`] when there is none.
    #[inline]
    pub(crate) fn first(&self) -> (Nanos, u32) {
        self.nodes[1]
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
