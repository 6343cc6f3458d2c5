//! Figures of superblocks by use: a use lasts from the opening of a superblock until its blocks are erased.

use outlast_units::{IndexVec, SuperblockId};

/// Figures of a superblock's last use.
#[derive(Clone, Copy, Debug, Default, PartialEq, outlast_persist::Persist)]
pub(crate) struct LastUse {
    /// Wrong bits expected in its worst codeword when its blocks were erased.
    pub(crate) expected_errors: f64,
    /// Pages that were read again.
    pub(crate) rereads: u32,
    /// Units that neither ECC nor re-reads recovered.
    pub(crate) uncorrectable: u32,
}

/// Figures of the last use of every superblock, and of the use under way.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct SuperblockUses {
    last: IndexVec<SuperblockId, LastUse>,
    /// Units that neither ECC nor re-reads recovered since the last erasure.
    uncorrectable: IndexVec<SuperblockId, u32>,
}

impl SuperblockUses {
    /// Figures of `superblocks` superblocks that have not been used yet.
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

    /// Counts `units` units of `superblock` that neither ECC nor re-reads recovered.
    pub(crate) fn count_uncorrectable(&mut self, superblock: SuperblockId, units: u32) {
        let sum = &mut self.uncorrectable[superblock];
        *sum = sum.saturating_add(units);
    }

    /// Sets the wrong bits expected in the worst codeword of `superblock` as time begins.
    pub(crate) fn begin(&mut self, superblock: SuperblockId, expected_errors: f64) {
        self.last[superblock].expected_errors = expected_errors;
    }

    /// Ends a use of `superblock`, whose blocks are about to be erased.
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
