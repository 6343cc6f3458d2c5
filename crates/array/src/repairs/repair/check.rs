//! Whether the state of a repair that was read can be.

use super::{ActiveRepair, RepairSpan};
use outlast_units::Nanos;

impl ActiveRepair {
    /// Whether what was read asks for ranges below `ranges`, and has done so before `now`.
    pub(crate) fn check(&self, ranges: u32, now: Nanos) -> Result<(), String> {
        let mut asked = self.asked.iter();
        let mut others =
            self.spans.iter().map(|span| span.range).chain(self.items.iter().map(|item| item.range));
        let is_asked = self.next <= ranges && asked.all(|&(range, at)| range < ranges && at <= now);
        if is_asked && others.all(|range| range < ranges) && self.ranges_done <= ranges {
            Ok(())
        } else {
            Err(format!("recovery {} asks for ranges that a member of {ranges} has not", self.id))
        }
    }

    /// Whether spans have as many rows left as are listed or, of ranges `under_way`, worked on.
    pub(crate) fn check_spans(&self, under_way: impl Iterator<Item = u32>) -> Result<(), String> {
        let mut open = std::collections::BTreeMap::<u32, u32>::new();
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
