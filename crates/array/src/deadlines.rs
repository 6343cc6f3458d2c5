//! When each member next does something, the earliest on top.

use outlast_units::Nanos;

/// A tournament tree over the members' next times. To set one costs log₂(members) comparisons; which is first is known at once, and of
/// equal times the member with the smaller number comes first.
#[derive(Clone, Debug)]
pub(crate) struct Deadlines {
    /// Member `i` is at `half + i`; node `i` is the earlier of `2i` and `2i + 1`. `half` is a power of two, so that neighbours in the tree
    /// are neighbours in number.
    nodes: Vec<(Nanos, u32)>,
    half: usize,
    count: usize,
}

impl Deadlines {
    /// Nothing is due on any of `count` members.
    pub(crate) fn new(count: usize) -> Self {
        let half = count.next_power_of_two().max(2);
        let mut nodes = vec![(Nanos::MAX, 0); 2 * half];
        for (index, node) in (0u32..).zip(&mut nodes[half..]) {
            node.1 = index;
        }
        for at in (1..half).rev() {
            nodes[at] = nodes[2 * at];
        }
        Self { nodes, half, count }
    }

    /// Members that there is a time for.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// The time of member `index`; [`Nanos::MAX`]: it is idle.
    pub(crate) fn get(&self, index: usize) -> Nanos {
        self.nodes[self.half + index].0
    }

    /// Member `index` next does something at `at`; [`Nanos::MAX`]: never by itself.
    #[inline]
    pub(crate) fn set(&mut self, index: usize, at: Nanos) {
        debug_assert!(index < self.count, "a time for a member that is not there");
        let nodes = self.nodes.as_mut_slice();
        let mut node = self.half + index;
        nodes[node].0 = at;
        while node > 1 {
            let (left, right) = (nodes[node & !1], nodes[node | 1]);
            node /= 2;
            nodes[node] = if right.0 < left.0 { right } else { left };
        }
    }

    /// When the first member does something, and which it is.
    #[inline]
    pub(crate) fn first(&self) -> (Nanos, usize) {
        let (at, index) = self.nodes[1];
        (at, index as usize)
    }

    /// When the first of all members but `index` does something.
    #[inline]
    pub(crate) fn first_but(&self, index: usize) -> Nanos {
        let mut node = self.half + index;
        let mut first = Nanos::MAX;
        while node > 1 {
            first = first.min(self.nodes[node ^ 1].0);
            node /= 2;
        }
        first
    }

    /// Nothing is due any more.
    pub(crate) fn clear(&mut self) {
        *self = Self::new(self.count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a plain list.
        #[test]
        fn the_first_is_the_least_and_of_equal_ones_the_lowest(
            count in 1usize..130,
            steps in prop::collection::vec((0usize..1000, 0u64..12), 1..200),
        ) {
            let mut deadlines = Deadlines::new(count);
            let mut plain = vec![Nanos::MAX; count];
            for (index, at) in steps {
                let at = if at == 11 { Nanos::MAX } else { Nanos(at) };
                deadlines.set(index % count, at);
                plain[index % count] = at;
                let least = *plain.iter().min().unwrap();
                let (first, whose) = deadlines.first();
                prop_assert_eq!(first, least);
                if least != Nanos::MAX {
                    prop_assert_eq!(Some(whose), plain.iter().position(|&at| at == least));
                }
                for but in 0..count {
                    let others = plain.iter().enumerate().filter(|&(own, _)| own != but);
                    prop_assert_eq!(deadlines.first_but(but), others.map(|(_, &at)| at).min().unwrap_or(Nanos::MAX));
                    prop_assert_eq!(deadlines.get(but), plain[but]);
                }
            }
            deadlines.clear();
            prop_assert_eq!((deadlines.first().0, deadlines.len()), (Nanos::MAX, count));
        }
    }
}
