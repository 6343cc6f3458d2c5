//! A set of sectors, kept as runs: bad blocks and lost data are few and come in runs.

use std::collections::BTreeMap;
use std::ops::Range;

/// Disjoint runs of sectors that do not touch each other.
#[derive(Clone, Debug, Default, PartialEq, Eq, outlast_persist::Persist)]
#[persist(check)]
pub struct RangeSet {
    /// End of each run by its start.
    runs: BTreeMap<u64, u64>,
}

impl RangeSet {
    /// Checks that restored runs are not empty, in order, and apart.
    fn check_restored(&self) -> Result<(), String> {
        let mut last = None;
        for (&start, &end) in &self.runs {
            if start >= end || last.is_some_and(|last| last >= start) {
                return Err(format!("a run of sectors goes from {start} to {end}, after one to {last:?}"));
            }
            last = Some(end);
        }
        Ok(())
    }

    /// End of the last run; 0 if there is none.
    pub(crate) fn end(&self) -> u64 {
        self.runs.values().next_back().copied().unwrap_or(0)
    }

    /// Adds all of `range`.
    pub fn insert(&mut self, range: Range<u64>) {
        // Every run that overlaps or touches the new one is merged into it.
        let (mut start, mut end) = (range.start, range.end);
        while let Some((&s, &e)) = self.runs.range(..=end).next_back().filter(|&(_, &e)| e >= start) {
            self.runs.remove(&s);
            (start, end) = (start.min(s), end.max(e));
        }
        self.runs.insert(start, end);
    }

    /// Takes all of `range` out.
    pub fn remove(&mut self, range: Range<u64>) {
        // Runs that overlap are cut; the parts outside go back in.
        while let Some((&s, &e)) = self.runs.range(..range.end).next_back().filter(|&(_, &e)| e > range.start)
        {
            self.runs.remove(&s);
            if e > range.end {
                self.runs.insert(range.end, e);
            }
            if s < range.start {
                self.runs.insert(s, range.start);
            }
        }
    }

    /// True if any sector of `range` is in the set.
    pub fn overlaps(&self, range: &Range<u64>) -> bool {
        self.runs.range(..range.end).next_back().is_some_and(|(_, &e)| e > range.start)
    }

    /// The first place after `at` where a run begins or ends.
    pub fn next_edge(&self, at: u64) -> Option<u64> {
        // The end of the run that holds `at`, or the start of the next run.
        let end = self.runs.range(..=at).next_back().map(|(_, &end)| end).filter(|&end| end > at);
        end.or_else(|| self.runs.range(at + 1..).next().map(|(&start, _)| start))
    }

    /// True if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Number of runs.
    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// Number of sectors.
    pub fn sectors(&self) -> u64 {
        self.runs.iter().map(|(s, e)| e - s).sum()
    }

    /// The runs in rising order.
    pub fn iter(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.runs.iter().map(|(&s, &e)| s..e)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_range_set_is_a_set(steps in prop::collection::vec((any::<bool>(), 0u64..60, 1u64..20), 0..60)) {
            let mut set = RangeSet::default();
            let mut oracle = [false; 100];
            for (add, from, len) in steps {
                if add { set.insert(from..from + len) } else { set.remove(from..from + len) }
                oracle[from as usize..(from + len) as usize].fill(add);
                for (sector, &there) in oracle.iter().enumerate() {
                    prop_assert_eq!(set.overlaps(&(sector as u64..sector as u64 + 1)), there);
                }
                prop_assert_eq!(set.sectors(), oracle.iter().filter(|&&there| there).count() as u64);
                for at in 0..99 {
                    let edge = (at + 1..100).find(|&place| oracle[place] != oracle[place - 1]);
                    prop_assert_eq!(set.next_edge(at as u64), edge.map(|edge| edge as u64));
                }
                let runs: Vec<_> = set.iter().collect();
                prop_assert!(runs.windows(2).all(|pair| pair[0].end < pair[1].start));
                prop_assert_eq!(set.runs(), runs.len());
            }
        }
    }
}
