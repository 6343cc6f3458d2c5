//! When each member next does something, the earliest on top.

use outlast_units::Nanos;

/// A tournament tree over the members' next times: to set one costs at most log₂(members) comparisons, and the first time is at the root.
/// The way down finds its member, and the way up from a member the first time of all others; of equal times the member with the smaller number comes first.
#[derive(Clone, Debug, outlast_persist::Persist)]
#[persist(check)]
pub(crate) struct DeadlineTree {
    /// Member `i` is at `half + i`; node `i` is the earlier of `2i` and `2i + 1`. `half` is a power of two, so that neighbours in the tree
    /// are neighbours in number.
    nodes: Vec<Nanos>,
    half: usize,
    count: usize,
}

impl DeadlineTree {
    /// Checks that a restored tree has the size that its count asks for, and in each node the earlier of the two below.
    fn check_restored(&self) -> Result<(), String> {
        let nodes = &self.nodes;
        let is_sized = self.half.is_power_of_two() && self.half >= 2 && nodes.len() / 2 == self.half;
        if !is_sized || !nodes.len().is_multiple_of(2) || self.count > self.half {
            return Err(format!("a tree of {} times is not one for {} members", nodes.len(), self.count));
        }
        let is_right = |node: usize| nodes[node] == nodes[2 * node].min(nodes[2 * node + 1]);
        let is_free = |node: usize| nodes[node] == Nanos::MAX;
        if (1..self.half).all(is_right) && (self.half + self.count..2 * self.half).all(is_free) {
            Ok(())
        } else {
            Err("the first time of some members is not the first of theirs".to_owned())
        }
    }

    /// A tree in which no member out of `count` has anything due.
    pub(crate) fn new(count: usize) -> Self {
        let half = count.next_power_of_two().max(2);
        Self { nodes: vec![Nanos::MAX; 2 * half], half, count }
    }

    /// Members that there is a time for.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// The time of member `index`; [`Nanos::MAX`]: it is idle.
    pub(crate) fn get(&self, index: usize) -> Nanos {
        self.nodes[self.half + index]
    }

    /// Member `index` next does something at `at`; [`Nanos::MAX`]: never by itself.
    #[inline]
    pub(crate) fn set(&mut self, index: usize, at: Nanos) {
        debug_assert!(index < self.count, "a time for a member that is not there");
        let nodes = self.nodes.as_mut_slice();
        let (mut node, mut first) = (self.half + index, at);
        // The loop ends where nothing changes further up.
        while nodes[node] != first {
            nodes[node] = first;
            if node == 1 {
                return;
            }
            // `node ^ 1` is the neighbour.
            first = first.min(nodes[node ^ 1]);
            node /= 2;
        }
    }

    /// When the first member does something.
    #[inline]
    pub(crate) fn first(&self) -> Nanos {
        self.nodes[1]
    }

    /// The member that does something first.
    #[inline]
    pub(crate) fn due(&self) -> usize {
        let first = self.nodes[1];
        // Pair `i` is what is below node `i`.
        let (pairs, _) = self.nodes.as_chunks::<2>();
        let pairs = &pairs[..self.half];
        let mut node = 1;
        while node < pairs.len() {
            let [left, _] = pairs[node];
            node = 2 * node + usize::from(left != first);
        }
        node - self.half
    }

    /// When the first member other than `index` does something.
    pub(crate) fn due_after(&self, index: usize) -> Nanos {
        let (mut node, mut others) = (self.half + index, Nanos::MAX);
        while node > 1 {
            // `node ^ 1` is the neighbour.
            others = others.min(self.nodes[node ^ 1]);
            node /= 2;
        }
        others
    }

    /// Clears all times.
    pub(crate) fn clear(&mut self) {
        self.nodes.fill(Nanos::MAX);
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
            let mut deadlines = DeadlineTree::new(count);
            let mut plain = vec![Nanos::MAX; count];
            for (index, at) in steps {
                let at = if at == 11 { Nanos::MAX } else { Nanos(at) };
                deadlines.set(index % count, at);
                plain[index % count] = at;
                let least = *plain.iter().min().unwrap();
                prop_assert_eq!(deadlines.first(), least);
                if least != Nanos::MAX {
                    let first = plain.iter().position(|&at| at == least).unwrap();
                    let others = plain.iter().enumerate().filter(|&(own, _)| own != first);
                    let second = others.map(|(_, &at)| at).min().unwrap_or(Nanos::MAX);
                    prop_assert_eq!((deadlines.due(), deadlines.due_after(first)), (first, second));
                }
                for (own, &at) in plain.iter().enumerate() {
                    prop_assert_eq!(deadlines.get(own), at);
                }
            }
            deadlines.clear();
            prop_assert_eq!((deadlines.first(), deadlines.len()), (Nanos::MAX, count));
        }
    }
}
