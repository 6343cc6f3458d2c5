//! Sets of bytes as ranges.

use std::collections::BTreeMap;
use std::ops::Range;

/// A set of bytes. Adjacent ranges are merged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ByteRanges {
    /// End of each range, by its start.
    ends: BTreeMap<u64, u64>,
}

impl ByteRanges {
    /// Adds a range.
    pub(super) fn insert(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        let (mut start, mut end) = (range.start, range.end);
        // Ranges that touch or overlap the new one are merged into it, from the last one backwards.
        while let Some((&other, &its_end)) = self.ends.range(..=end).next_back()
            && its_end >= start
        {
            self.ends.remove(&other);
            (start, end) = (start.min(other), end.max(its_end));
        }
        self.ends.insert(start, end);
    }

    /// Removes a range.
    pub(super) fn remove(&mut self, range: Range<u64>) {
        // From the last range that can overlap backwards, until one begins before `range`.
        while let Some((&start, &end)) = self.ends.range(..range.end).next_back()
            && end > range.start
            && !range.is_empty()
        {
            self.ends.remove(&start);
            if range.end < end {
                self.ends.insert(range.end, end);
            }
            if start < range.start {
                self.ends.insert(start, range.start);
                return;
            }
        }
    }

    /// Parts of `range` that are in the set, in order.
    pub(super) fn within(&self, range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        // Ranges are disjoint, so only one that begins before `range` can reach into it.
        let before = self.ends.range(..range.start).next_back();
        let later = self.ends.range(range.start..range.end.max(range.start));
        before
            .into_iter()
            .chain(later)
            .map(move |(&start, &end)| start.max(range.start)..end.min(range.end))
            .filter(|part| !part.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outlast_units::rng::SplitMix;

    #[test]
    fn a_set_of_ranges_is_a_set_of_bytes() {
        let mut rng = SplitMix::new(5, "ranges");
        for _ in 0..200 {
            let (mut ranges, mut plain) = (ByteRanges::default(), [false; 64]);
            for _ in 0..40 {
                let (a, b) = (rng.next_u64() % 65, rng.next_u64() % 65);
                let range = a.min(b)..a.max(b);
                let is_in = rng.next_u64().is_multiple_of(2);
                if is_in {
                    ranges.insert(range.clone());
                } else {
                    ranges.remove(range.clone());
                }
                plain[range.start as usize..range.end as usize].fill(is_in);
                let (a, b) = (rng.next_u64() % 65, rng.next_u64() % 65);
                let range = a.min(b)..a.max(b);
                let actual: Vec<u64> = ranges.within(range.clone()).flatten().collect();
                let expected: Vec<u64> = range.filter(|&at| plain[at as usize]).collect();
                assert_eq!(actual, expected);
            }
            let runs = plain.chunk_by(|a, b| a == b).filter(|run| run[0]).count();
            assert_eq!(ranges.ends.len(), runs, "ranges that touch are one");
        }
    }
}
