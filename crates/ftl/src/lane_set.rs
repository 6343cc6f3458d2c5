//! Sets of lanes.

use outlast_units::LaneIndex;

/// A set of lanes: one bit each.
#[derive(Clone, Debug, Default, PartialEq, Eq, outlast_persist::Persist)]
pub(crate) struct LaneSet(Vec<u64>);

impl LaneSet {
    pub(crate) fn new(lanes: usize) -> Self {
        Self(vec![0; lanes.div_ceil(64)])
    }
    pub(crate) fn insert(&mut self, lane: LaneIndex) {
        debug_assert!(lane.index() / 64 < self.0.len(), "lane {lane} of {} words", self.0.len());
        self.0[lane.index() / 64] |= 1 << (lane.0 % 64);
    }
    pub(crate) fn remove(&mut self, lane: LaneIndex) {
        self.0[lane.index() / 64] &= !(1 << (lane.0 % 64));
    }
    pub(crate) fn remove_all(&mut self, lanes: &Self) {
        assert!(self.0.len() == lanes.0.len(), "sets of lanes of different cores");
        self.0.iter_mut().zip(&lanes.0).for_each(|(word, gone)| *word &= !gone);
    }
    #[inline]
    pub(crate) fn contains(&self, lane: LaneIndex) -> bool {
        self.0[lane.index() / 64] >> (lane.0 % 64) & 1 == 1
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }
    pub(crate) fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }
}
