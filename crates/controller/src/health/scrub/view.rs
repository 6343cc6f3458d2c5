//! A flash core as scrubbing sees it.

use crate::health::Reason;
use outlast_units::{BlockIndex, Nanos, Pu, SuperblockId};

/// A flash core, as scrub policies see it. Days, rates and error counts are those of now, leaps of age included.
pub trait View {
    /// The time.
    fn now(&self) -> Nanos;
    /// By how much the data is older than the time that has passed.
    fn aged(&self) -> Nanos;
    /// Superblocks, numbered from 0.
    fn superblocks(&self) -> u32;
    /// Program units of a superblock.
    fn pus_per_superblock(&self) -> u32;
    /// Bits of a codeword, parity included.
    fn codeword_bits(&self) -> u32;

    /// True if a superblock is full, and nothing relocates it.
    fn is_sealed(&self, superblock: SuperblockId) -> bool;
    /// True if a superblock has been erased, or soon will be, without having to be moved.
    fn is_gone(&self, superblock: SuperblockId) -> bool;
    /// True if there is room for what would be moved.
    fn can_move(&self, superblock: SuperblockId) -> bool;
    /// Valid units.
    fn valid(&self, superblock: SuperblockId) -> u32;
    /// Pages re-read since the superblock's erasure.
    fn rereads(&self, superblock: SuperblockId) -> u32;
    /// Age of the oldest data in days.
    fn days(&self, superblock: SuperblockId) -> f64;
    /// The greatest expected number of wrong bits of a codeword; not a number where the flash never errs.
    fn expected_errors(&self, superblock: SuperblockId) -> f64;
    /// When the worst block of a superblock reaches error rate `rber` if nobody reads it, in the time of the data; [`Nanos::MAX`]: never.
    fn time_until(&self, superblock: SuperblockId, rber: f64) -> Nanos;
    /// True if scrubbing wrote what a superblock holds.
    fn is_scrubbed(&self, superblock: SuperblockId) -> bool;

    /// Members that the stripes of a superblock have lost, against those that they may lose; `i64::MIN` where none is lost.
    fn exposure(&self, superblock: SuperblockId) -> i64;
    /// Members that stripes of a sealed superblock have lost: with lanes that were there when it was opened, or when power failed.
    fn members_lost(&self, superblock: SuperblockId) -> u32;
    /// True if the drive itself rebuilds what the lost lanes of a superblock held.
    fn rebuilds(&self, superblock: SuperblockId) -> bool;
    /// True if a superblock's class has another code now.
    fn is_outdated(&self, superblock: SuperblockId) -> bool;
    /// True if dies have been added that a superblock does not lie on.
    fn is_narrow(&self, superblock: SuperblockId) -> bool;
    /// True if a superblock holds data on a die that is expected to fail.
    fn is_to_leave(&self, superblock: SuperblockId) -> bool;

    /// What of a superblock is moved for `reason`: one block of it, or all of it where none is given; and its valid units. `None`: the block
    /// for whose sake it was flagged has lost its data, and no other is as bad.
    fn part(&self, superblock: SuperblockId, _reason: Reason) -> Option<(Option<BlockIndex>, u32)> {
        Some((None, self.valid(superblock)))
    }
    /// True if a block of a superblock holds no data.
    fn block_is_empty(&self, _superblock: SuperblockId, _block: BlockIndex) -> bool {
        false
    }

    /// True if the lane of a program unit is dead.
    fn is_dead(&self, pu: Pu) -> bool;
    /// The superblock that a block belongs to; `None` of a spare or bad one.
    fn superblock_of(&self, block: BlockIndex) -> Option<SuperblockId>;
    /// Reads of a block since its erasure.
    fn reads(&self, block: BlockIndex) -> u32;

    /// Sets the alarms of all blocks of a superblock: each row goes off at as many reads as `alarm_at` says, at once if it has them.
    fn set_alarms(&mut self, superblock: SuperblockId, alarm_at: impl Fn(&dyn RowReads) -> u32);
    /// A block whose alarm has gone off.
    fn take_alarm(&mut self) -> Option<BlockIndex>;
}

/// A row of a block: the most-read one of its type where reads disturb their page only, else the worst one.
pub trait RowReads {
    /// Reads that disturb it, since its erasure.
    fn reads(&self) -> u32;
    /// At how many reads it has error rate `rber` at time `at` of the data; `None`: never.
    fn reads_until(&self, rber: f64, at: Nanos) -> Option<u32>;
}
