//! What superblocks have gone through, use by use: from when one is opened until its blocks are erased.

use outlast_units::{IndexVec, SuperblockId};

/// What came of a superblock's last use.
#[derive(Clone, Copy, Debug, Default, PartialEq, outlast_persist::Persist)]
pub(crate) struct LastUse {
    /// Wrong bits expected of its worst codeword when its blocks were erased.
    pub(crate) expected_errors: f64,
    /// Pages that were read again.
    pub(crate) rereads: u32,
    /// Units that neither ECC nor re-reads gave.
    pub(crate) uncorrectable: u32,
}

/// The last use of every superblock, and what there has been so far of the one under way.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct SuperblockUses {
    last: IndexVec<SuperblockId, LastUse>,
    /// Units that neither ECC nor re-reads gave since the last erasure.
    uncorrectable: IndexVec<SuperblockId, u32>,
}

impl SuperblockUses {
    /// Of `superblocks` superblocks that have not been used yet.
    pub(crate) fn new(superblocks: usize) -> Self {
        Self {
            last: IndexVec::filled(LastUse::default(), superblocks),
            uncorrectable: IndexVec::filled(0, superblocks),
        }
    }

    /// The last use of `superblock`.
    pub(crate) fn last(&self, superblock: SuperblockId) -> LastUse {
        self.last[superblock]
    }

    /// Neither ECC nor re-reads have given `units` units of `superblock`.
    pub(crate) fn count_uncorrectable(&mut self, superblock: SuperblockId, units: u32) {
        let sum = &mut self.uncorrectable[superblock];
        *sum = sum.saturating_add(units);
    }

    /// So many wrong bits are expected of `superblock` as time begins.
    pub(crate) fn begin(&mut self, superblock: SuperblockId, expected_errors: f64) {
        self.last[superblock].expected_errors = expected_errors;
    }

    /// The blocks of `superblock` are about to be erased.
    pub(crate) fn end(&mut self, superblock: SuperblockId, expected_errors: f64, rereads: u32) {
        let uncorrectable = std::mem::take(&mut self.uncorrectable[superblock]);
        self.last[superblock] = LastUse { expected_errors, rereads, uncorrectable };
    }

    /// Bytes for each superblock.
    pub(crate) const BYTES_EACH: usize = size_of::<LastUse>() + size_of::<u32>();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_use_is_counted_by_itself() {
        let (one, other) = (SuperblockId(1), SuperblockId(0));
        let mut uses = SuperblockUses::new(2);
        uses.begin(one, 7.0);
        uses.count_uncorrectable(one, 2);
        uses.count_uncorrectable(one, 3);
        assert_eq!(uses.last(one), LastUse { expected_errors: 7.0, rereads: 0, uncorrectable: 0 });
        uses.end(one, 9.0, 4);
        assert_eq!(uses.last(one), LastUse { expected_errors: 9.0, rereads: 4, uncorrectable: 5 });
        uses.end(one, 0.5, 0);
        assert_eq!(uses.last(one), LastUse { expected_errors: 0.5, rereads: 0, uncorrectable: 0 });
        assert_eq!(uses.last(other), LastUse::default());
    }
}
