//! Checks of a restored repair.

use super::{ActiveRepair, RepairSpan};
use crate::ids::RangeIndex;
use outlast_units::Nanos;

impl ActiveRepair {
    /// Checks that restored queries and rows are of ranges below `ranges`, and that no query is later than `now`.
    pub(crate) fn check(&self, ranges: u32, now: Nanos) -> Result<(), String> {
        let mut queries = self.queries.iter();
        let mut others =
            self.spans.iter().map(|span| span.range).chain(self.items.iter().map(|item| item.range));
        let is_asked =
            self.next_range.0 <= ranges && queries.all(|&(range, at)| range.0 < ranges && at <= now);
        if is_asked && others.all(|range| range.0 < ranges) && self.ranges_done <= ranges {
            Ok(())
        } else {
            Err(format!("recovery {} queries ranges beyond the {ranges} of its member", self.id))
        }
    }

    /// Checks that each range has at least as many items left as are listed or, in `under_way`, being recovered.
    pub(crate) fn check_spans(&self, under_way: impl Iterator<Item = RangeIndex>) -> Result<(), String> {
        let mut open = std::collections::BTreeMap::<RangeIndex, u32>::new();
        for range in self.items.iter().map(|item| item.range).chain(under_way) {
            *open.entry(range).or_default() += 1;
        }
        let lacks = |span: &&RepairSpan| open.get(&span.range).is_some_and(|&open| span.left < open);
        match self.spans.iter().find(lacks) {
            Some(span) => {
                Err(format!("range {} has {} rows left, and more are listed", span.range, span.left))
            }
            None => Ok(()),
        }
    }
}
