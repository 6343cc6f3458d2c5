//! A flash core as scrubbing sees it: the translation layer, the cells, and what is known about the dies.

use crate::core::collection::{holds_data, valid_in_block};
use crate::health::{Reason, RowReads, View};
use crate::read::CoreCells;
use crate::repair::{DieWatch, rebuilds};
use outlast_decisions::SuperblockState;
use outlast_ftl::Ftl;
use outlast_media::{FlashCells, TimingTable};
use outlast_settings::drive::{ScrubUnit, SsdConfig};
use outlast_units::{BlockIndex, DieId, Group, IndexVec, LocalDie, Nanos, Pu, PuWithin, SuperblockId};

/// A flash core as its scrubbing sees it.
pub(super) struct CoreView<'a> {
    pub(super) now: Nanos,
    pub(super) aged: Nanos,
    pub(super) codeword_bits: u32,
    pub(super) ftl: &'a Ftl,
    /// Absent where the flash never errs.
    pub(super) cells: Option<&'a mut CoreCells>,
    pub(super) dies: &'a IndexVec<LocalDie, DieId>,
    pub(super) watch: Option<&'a DieWatch>,
    pub(super) config: &'a SsdConfig,
    pub(super) timing: &'a TimingTable,
    /// The block that has just been read again, where blocks are moved one by one.
    pub(super) reread: Option<BlockIndex>,
}

impl CoreView<'_> {
    /// The blocks of `superblock` for whose sake it may be scrubbed: where blocks are moved one by one, those that hold data.
    fn scrubbed_blocks(&self, superblock: SuperblockId) -> impl Iterator<Item = BlockIndex> {
        let all = !self.config.scrubs_blocks();
        let blocks = self.ftl.superblock(superblock).blocks();
        blocks.filter(move |&block| all || holds_data(self.ftl, superblock, block))
    }

    /// The block of `superblock` that `worth` says most of, if that is `least`.
    fn worst(
        &self,
        superblock: SuperblockId,
        least: f64,
        worth: impl Fn(&CoreCells, BlockIndex) -> f64,
    ) -> Option<BlockIndex> {
        let own = self.cells.as_deref()?;
        let blocks = self.scrubbed_blocks(superblock).map(|block| (block, worth(own, block)));
        let bad = blocks.filter(|&(_, worth)| worth >= least);
        bad.max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(block, _)| block)
    }
}

impl View for CoreView<'_> {
    fn now(&self) -> Nanos {
        self.now
    }

    fn aged(&self) -> Nanos {
        self.aged
    }

    fn superblocks(&self) -> u32 {
        self.ftl.layout().superblocks()
    }

    fn pus_per_superblock(&self) -> u32 {
        self.ftl.layout().pus_per_superblock()
    }

    fn codeword_bits(&self) -> u32 {
        self.codeword_bits
    }

    fn is_sealed(&self, superblock: SuperblockId) -> bool {
        self.ftl.superblock(superblock).state() == SuperblockState::Sealed
    }

    fn is_gone(&self, superblock: SuperblockId) -> bool {
        let state = self.ftl.superblock(superblock).state();
        matches!(state, SuperblockState::Free | SuperblockState::Collecting | SuperblockState::Retired)
            || (state == SuperblockState::Sealed && self.ftl.superblock(superblock).valid() == 0)
    }

    fn can_move(&self, superblock: SuperblockId) -> bool {
        let stream = self.ftl.streams().scrub(self.ftl.superblock(superblock).class());
        self.ftl.space().may_scrub() && self.ftl.space().can_relocate(superblock, stream)
    }

    fn valid(&self, superblock: SuperblockId) -> u32 {
        match self.reread {
            Some(block) => valid_in_block(self.ftl, superblock, block),
            None => self.ftl.superblock(superblock).valid(),
        }
    }

    fn rereads(&self, superblock: SuperblockId) -> u32 {
        let Some(own) = self.cells.as_deref() else { return 0 };
        self.reread.map_or_else(|| own.rereads(superblock), |block| own.block_rereads(block))
    }

    fn part(&self, superblock: SuperblockId, reason: Reason) -> Option<(Option<BlockIndex>, u32)> {
        let valid = |block| valid_in_block(self.ftl, superblock, block);
        let at = self.now + self.aged;
        let scrub = self.config.scrub.filter(|scrub| scrub.unit == ScrubUnit::Block).unwrap_or_default();
        let worst = match reason {
            Reason::Reads => scrub.reads.map(|least| {
                self.worst(superblock, f64::from(least), |own, block| f64::from(own.cells.reads(block)))
            }),
            Reason::ExpectedErrors => scrub.expected_errors.map(|least| {
                self.worst(superblock, least * (1.0 - 1e-6), |own, block| {
                    own.cells.worst_expected_errors(block, own.oldest(superblock), at, self.codeword_bits)
                })
            }),
            Reason::Rereads => scrub.rereads_per_unit.map(|least| {
                self.worst(superblock, least, |own, block| {
                    f64::from(own.block_rereads(block)) / f64::from(valid(block).max(1))
                })
            }),
            _ => None,
        };
        match worst {
            Some(block) => block.map(|block| (Some(block), valid(block))),
            None => Some((None, self.ftl.superblock(superblock).valid())),
        }
    }

    fn block_is_empty(&self, superblock: SuperblockId, block: BlockIndex) -> bool {
        !holds_data(self.ftl, superblock, block)
    }

    fn days(&self, superblock: SuperblockId) -> f64 {
        self.cells.as_ref().map_or(0.0, |own| own.cells.days(own.oldest(superblock), self.now + self.aged))
    }

    fn expected_errors(&self, superblock: SuperblockId) -> f64 {
        let cells = self.cells.as_deref();
        cells.map_or(f64::NAN, |own| {
            let (group, at) = (own.oldest(superblock), self.now + self.aged);
            let of = |block| own.cells.worst_expected_errors(block, group, at, self.codeword_bits);
            self.scrubbed_blocks(superblock).map(of).fold(0.0, f64::max)
        })
    }

    fn time_until(&self, superblock: SuperblockId, rber: f64) -> Nanos {
        let Some(own) = &self.cells else { return Nanos::MAX };
        let (group, at) = (own.oldest(superblock), self.now + self.aged);
        let of = |block| own.cells.time_until(block, group, rber, at).unwrap_or(Nanos::MAX);
        self.scrubbed_blocks(superblock).map(of).min().unwrap_or(Nanos::MAX)
    }

    fn is_scrubbed(&self, superblock: SuperblockId) -> bool {
        self.ftl.superblock(superblock).is_scrubbed()
    }

    fn exposure(&self, superblock: SuperblockId) -> i64 {
        self.ftl.superblock(superblock).exposure()
    }

    fn members_lost(&self, superblock: SuperblockId) -> u32 {
        self.ftl.superblock(superblock).members_lost()
    }

    fn rebuilds(&self, superblock: SuperblockId) -> bool {
        let own = self.ftl.superblock(superblock);
        if !own.has_parity() {
            return false;
        }
        if self.config.rebuilds() {
            // Data without parity would have no more redundancy where it goes.
            return self.ftl.stream(self.ftl.streams().scrub(own.class())).is_protected();
        }
        rebuilds(self.config, self.timing, self.ftl, self.ftl.layout().pu_at(superblock, PuWithin(0)))
    }

    fn is_outdated(&self, superblock: SuperblockId) -> bool {
        self.ftl.superblock(superblock).is_outdated()
    }

    fn is_narrow(&self, superblock: SuperblockId) -> bool {
        self.ftl.superblock(superblock).is_narrow()
    }

    fn is_to_leave(&self, superblock: SuperblockId) -> bool {
        let Some(watch) = self.watch else { return false };
        let mut dies = self.dies.iter_indexed();
        dies.any(|(local, &die)| watch.is_leaving(die) && self.ftl.superblock(superblock).holds_on(local))
    }

    fn is_dead(&self, pu: Pu) -> bool {
        self.ftl.space().pus().is_dead_lane(pu)
    }

    fn superblock_of(&self, block: BlockIndex) -> Option<SuperblockId> {
        self.ftl.space().superblock_of_block(block)
    }

    fn reads(&self, block: BlockIndex) -> u32 {
        self.cells.as_ref().map_or(0, |own| own.cells.reads(block))
    }

    fn set_alarms(&mut self, superblock: SuperblockId, alarm_at: impl Fn(&dyn RowReads) -> u32) {
        let by_block = self.config.scrubs_blocks();
        let Some(own) = &mut self.cells else { return };
        let group = own.oldest(superblock);
        for block in self.ftl.superblock(superblock).blocks() {
            // A block without data never calls again.
            let is_left_out = by_block && !holds_data(self.ftl, superblock, block);
            own.cells.set_alarms(block, |cells, row, reads| {
                if is_left_out { u32::MAX } else { alarm_at(&CellRow { cells, block, row, group, reads }) }
            });
        }
    }

    fn take_alarm(&mut self) -> Option<BlockIndex> {
        let by_block = self.config.scrubs_blocks();
        loop {
            let block = self.cells.as_mut()?.cells.take_alarm()?;
            let superblock = if by_block { self.ftl.space().superblock_of_block(block) } else { None };
            // It may have lost its data since its alarm was set.
            if superblock.is_none_or(|superblock| holds_data(self.ftl, superblock, block)) {
                return Some(block);
            }
        }
    }
}

/// A row of cells, with the oldest data that its superblock holds.
struct CellRow<'a> {
    cells: &'a FlashCells,
    block: BlockIndex,
    row: Option<outlast_units::Row>,
    group: Group,
    reads: u32,
}

impl RowReads for CellRow<'_> {
    fn reads(&self) -> u32 {
        self.reads
    }

    fn reads_until(&self, rber: f64, at: Nanos) -> Option<u32> {
        self.cells.reads_until(self.block, self.row, self.group, rber, at)
    }
}

/// The greatest expected number of wrong bits of a codeword of `bits` bits in a superblock at time `at` of the data.
pub(crate) fn expected_errors(
    ftl: &Ftl,
    own: &CoreCells,
    superblock: SuperblockId,
    at: Nanos,
    bits: u32,
) -> f64 {
    let group = own.oldest(superblock);
    let of = |block| own.cells.worst_expected_errors(block, group, at, bits);
    ftl.superblock(superblock).blocks().map(of).fold(0.0, f64::max)
}
