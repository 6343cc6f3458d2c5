//! A flash core that is a table.

use crate::health::scrub::{RowReads, View};
use outlast_units::{BlockIndex, Nanos, Pu, SuperblockId};

pub(super) const SUPERBLOCKS: u32 = 5;
pub(super) const BLOCKS: u32 = 2;
pub(super) const PUS: u32 = 3;
pub(super) const BITS: u32 = 1000;
pub(super) const SECOND: u64 = 1_000_000_000;

/// A core whose cells err once in a million bits for each read of their block and each second of age.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) now: u64,
    pub(super) aged: u64,
    pub(super) superblocks: Vec<Superblock>,
    raised: Vec<u32>,
}

#[derive(Clone, Debug)]
pub(super) struct Superblock {
    pub(super) is_sealed: bool,
    pub(super) can_move: bool,
    pub(super) valid: u32,
    pub(super) rereads: u32,
    pub(super) exposure: i64,
    pub(super) reads: [u32; BLOCKS as usize],
    alarms: [u32; BLOCKS as usize],
    /// When it was written, in the time of the data.
    pub(super) written: u64,
}

impl Table {
    pub(super) fn new() -> Self {
        let superblock = Superblock {
            is_sealed: true,
            can_move: true,
            valid: 10,
            rereads: 0,
            exposure: i64::MIN,
            reads: [0; BLOCKS as usize],
            alarms: [u32::MAX; BLOCKS as usize],
            written: 0,
        };
        Self { now: 0, aged: 0, superblocks: vec![superblock; SUPERBLOCKS as usize], raised: Vec::new() }
    }

    fn of(&self, superblock: SuperblockId) -> &Superblock {
        &self.superblocks[superblock.index()]
    }

    pub(super) fn age_s(&self, superblock: usize, at: u64) -> u64 {
        (at - self.superblocks[superblock].written) / SECOND
    }

    /// Wrong bits in a million, of the worst block, `ago` before now.
    pub(super) fn wrong(&self, superblock: usize, ago: u64) -> u64 {
        let at = (self.now + self.aged).saturating_sub(ago).max(self.superblocks[superblock].written);
        u64::from(*self.superblocks[superblock].reads.iter().max().unwrap()) + self.age_s(superblock, at)
    }

    pub(super) fn read(&mut self, block: u32) {
        let (superblock, own) = ((block / BLOCKS) as usize, (block % BLOCKS) as usize);
        let this = &mut self.superblocks[superblock];
        this.reads[own] += 1;
        if this.reads[own] >= this.alarms[own] {
            this.alarms[own] = u32::MAX;
            self.raised.push(block);
        }
    }

    pub(super) fn erase(&mut self, superblock: usize) {
        let written = self.now + self.aged;
        self.raised.retain(|block| (block / BLOCKS) as usize != superblock);
        self.superblocks[superblock] = Superblock { written, ..Self::new().superblocks.remove(0) };
    }
}

struct PlainRow {
    reads: u32,
    written: u64,
}

fn in_a_million(rber: f64) -> u64 {
    (rber * 1e6).round() as u64
}

impl RowReads for PlainRow {
    fn reads(&self) -> u32 {
        self.reads
    }

    fn reads_until(&self, rber: f64, at: Nanos) -> Option<u32> {
        Some(in_a_million(rber).saturating_sub((at.0 - self.written) / SECOND) as u32)
    }
}

impl View for Table {
    fn now(&self) -> Nanos {
        Nanos(self.now)
    }
    fn aged(&self) -> Nanos {
        Nanos(self.aged)
    }
    fn superblocks(&self) -> u32 {
        SUPERBLOCKS
    }
    fn pus_per_superblock(&self) -> u32 {
        PUS
    }
    fn codeword_bits(&self) -> u32 {
        BITS
    }
    fn is_sealed(&self, superblock: SuperblockId) -> bool {
        self.of(superblock).is_sealed
    }
    fn is_gone(&self, superblock: SuperblockId) -> bool {
        self.of(superblock).valid == 0
    }
    fn can_move(&self, superblock: SuperblockId) -> bool {
        self.of(superblock).can_move
    }
    fn valid(&self, superblock: SuperblockId) -> u32 {
        self.of(superblock).valid
    }
    fn rereads(&self, superblock: SuperblockId) -> u32 {
        self.of(superblock).rereads
    }
    fn days(&self, superblock: SuperblockId) -> f64 {
        (self.now + self.aged - self.of(superblock).written) as f64 / 86_400e9
    }
    fn expected_errors(&self, superblock: SuperblockId) -> f64 {
        self.wrong(superblock.index(), 0) as f64 * f64::from(BITS) / 1e6
    }
    fn time_until(&self, superblock: SuperblockId, rber: f64) -> Nanos {
        let this = self.of(superblock);
        let most = u64::from(*this.reads.iter().max().unwrap());
        Nanos((this.written + in_a_million(rber).saturating_sub(most) * SECOND).max(self.now + self.aged))
    }
    fn is_scrubbed(&self, _superblock: SuperblockId) -> bool {
        false
    }
    fn exposure(&self, superblock: SuperblockId) -> i64 {
        self.of(superblock).exposure
    }
    fn members_lost(&self, superblock: SuperblockId) -> u32 {
        u32::from(self.of(superblock).exposure != i64::MIN)
    }
    fn rebuilds(&self, _superblock: SuperblockId) -> bool {
        false
    }
    fn is_outdated(&self, superblock: SuperblockId) -> bool {
        superblock.0 == 1
    }
    fn is_narrow(&self, superblock: SuperblockId) -> bool {
        superblock.0 <= 2
    }
    fn is_to_leave(&self, superblock: SuperblockId) -> bool {
        superblock.0 == 4
    }
    fn is_dead(&self, pu: Pu) -> bool {
        pu.0 % PUS == 2
    }
    fn superblock_of(&self, block: BlockIndex) -> Option<SuperblockId> {
        Some(SuperblockId(block.0 / BLOCKS))
    }
    fn reads(&self, block: BlockIndex) -> u32 {
        self.superblocks[(block.0 / BLOCKS) as usize].reads[(block.0 % BLOCKS) as usize]
    }
    fn set_alarms(&mut self, superblock: SuperblockId, alarm_at: impl Fn(&dyn RowReads) -> u32) {
        let this = &mut self.superblocks[superblock.index()];
        for (block, (&reads, alarm)) in (0u32..).zip(this.reads.iter().zip(&mut this.alarms)) {
            *alarm = alarm_at(&PlainRow { reads, written: this.written });
            if reads >= *alarm {
                *alarm = u32::MAX;
                self.raised.push(superblock.0 * BLOCKS + block);
            }
        }
    }
    fn take_alarm(&mut self) -> Option<BlockIndex> {
        self.raised.pop().map(BlockIndex)
    }
}
