//! Decisions of a drive that user policies may take: questions beside the choice of superblocks, and the set of all policies.

use crate::{LoadedPolicy, QuestionPolicy, SuperblockPolicy, question};
use outlast_units::Nanos;

question! {
    /// A superblock is about to be opened: which code do its stripes get?
    pub struct StripeCodeQuestion -> ChosenCode {
        /// The superblock.
        superblock: u32,
        /// The class of the data that it is opened for.
        class: u8,
        /// Cause of the writes that it is opened for: "host", "gc", "wear-leveling", "scrub" or "reencode".
        cause: &'static str,
        /// P/E cycles of the superblock, the mean of its blocks.
        erases: u32,
        /// Wrong bits expected of its worst codeword at the end of its last use; 0 where flash never errs.
        expected_errors: f64,
        /// Pages of it that were read again in its last use.
        rereads: u32,
        /// Units of it that neither ECC nor the re-reads before the stripe could correct in its last use.
        uncorrectable: u32,
        /// Program units of data in a stripe of the class's own code, the strongest that it may have.
        data: u16,
        /// Program units of parity in a stripe of that code.
        parity: u8,
        /// Lanes that are gone for good.
        dead_lanes: u32,
        /// Free superblocks, this one included.
        free: u32,
        /// Superblocks of the core that are not retired.
        superblocks: u32,
        /// Units written by the host so far.
        clock: u64,
    }
}

/// A code, as program units of data and of parity in a stripe.
pub type ChosenCode = (u16, u8);

question! {
    /// Collection has taken a victim: which share of the writes that collection admits does the host get while the victim is moved?
    pub struct HostShareQuestion -> f64 {
        /// The victim.
        victim: u32,
        /// Its valid units, which are moved.
        valid: u32,
        /// Units of the victim if all were valid.
        units: u32,
        /// Units that the host's open superblocks have room for.
        room: u32,
        /// Free superblocks.
        free: u32,
        /// Collection starts at this number of free superblocks, or fewer.
        start_free: u32,
        /// Collection continues up to this number of free superblocks.
        stop_free: u32,
        /// Writes of the host that wait.
        waiting: u32,
        /// Units written by the host so far.
        clock: u64,
        /// Current time.
        now_ns: Nanos,
    }
}

question! {
    /// A die has shown a sign of failure: is it expected to fail, so that its data is moved away while it can be read?
    pub struct DieHealthQuestion -> bool {
        /// The die, numbered channel by channel.
        die: u16,
        /// Bad blocks of the die, found while it was in use.
        bad_blocks: u32,
        /// Number of bad blocks above which the die counts as failed.
        limit: u32,
        /// Units of the die that ECC and re-reads could not correct within the last hour.
        uncorrectable: u32,
        /// Other dies of the drive that have been expected to fail, or have failed.
        others: u16,
        /// Current time.
        now_ns: Nanos,
    }
}

/// The user policies of a drive; each absent one leaves its decision to the settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DrivePolicies {
    /// Choice of victims of garbage collection, in place of `gc.policy`.
    pub gc: Option<SuperblockPolicy>,
    /// Choice of victims of static wear levelling, in place of `wear_leveling.static_gap`.
    pub wear_leveling: Option<SuperblockPolicy>,
    /// Choice of superblocks to scrub, in addition to the built-in policies.
    pub scrub: Option<SuperblockPolicy>,
    /// Choice of the code of a superblock that is opened, in place of that of its class.
    pub code: Option<LoadedPolicy<dyn QuestionPolicy<StripeCodeQuestion>>>,
    /// Share of the host in the writes that collection admits.
    pub pacing: Option<LoadedPolicy<dyn QuestionPolicy<HostShareQuestion>>>,
    /// Prediction of failing dies, in place of the limits of `device.repair.predict`.
    pub predict: Option<LoadedPolicy<dyn QuestionPolicy<DieHealthQuestion>>>,
}
