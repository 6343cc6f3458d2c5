//! Decisions of a drive: what code of the user's is asked beside which superblock is next, and the code itself.

use crate::{Decides, Loaded, OwnChoice, question};
use outlast_units::Nanos;

question! {
    /// A superblock is about to be opened: which code do its stripes get?
    pub struct Opening -> ChosenCode {
        /// The superblock.
        superblock: u32,
        /// The class of the data that it is opened for.
        class: u8,
        /// For which writes it is opened: "host", "gc", "wear-leveling", "scrub" or "reencode".
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
        /// Superblocks that are free, this one included.
        free: u32,
        /// Superblocks of the core that are not retired.
        superblocks: u32,
        /// Units that the host has written so far.
        clock: u64,
    }
}

/// A code: so many program units of data in a stripe, and so many of parity.
pub type ChosenCode = (u16, u8);

question! {
    /// Collection has taken a victim: which share has the host of what collection lets in while the victim is moved?
    pub struct Collecting -> f64 {
        /// The victim.
        victim: u32,
        /// Its valid units, which are moved.
        valid: u32,
        /// Units of the victim if all were valid.
        units: u32,
        /// Units that the host's open superblocks have room for.
        room: u32,
        /// Superblocks that are free.
        free: u32,
        /// Collection starts when so many superblocks or fewer are free.
        start_free: u32,
        /// Collection goes on until so many superblocks are free.
        stop_free: u32,
        /// Writes of the host that wait.
        waiting: u32,
        /// Units that the host has written so far.
        clock: u64,
        /// The time.
        now_ns: Nanos,
    }
}

/// Code of the user's that decides in the place of built-in policies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OwnPolicies {
    /// Which superblock garbage collection takes, in the place of `gc.policy`.
    pub gc: Option<OwnChoice>,
    /// Which superblock static wear levelling moves, in the place of `wear_leveling.static_gap`.
    pub wear_leveling: Option<OwnChoice>,
    /// Which superblock scrubbing moves, beside its built-in policies.
    pub scrub: Option<OwnChoice>,
    /// Which code a superblock gets when it is opened, in the place of that of its class.
    pub code: Option<Loaded<dyn Decides<Opening>>>,
    /// Which part of what collection lets in the host may write.
    pub pacing: Option<Loaded<dyn Decides<Collecting>>>,
}
