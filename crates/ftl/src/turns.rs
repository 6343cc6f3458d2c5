//! State of collection without time, whose moves and the host's writes take turns.
//!
//! Without time no flash is busy. Instead the host always has a write waiting, and collection works as soon as it may: each write enters when the
//! rules of a timed run admit it ([`HostCredit`], marks, room), and until then collection handles one stretch of its victim after another (decision
//! 0099).

use crate::credit::{HostCredit, VictimWork};
use outlast_units::{Ppn, Stream, SuperblockId};

/// Collection that takes turns with the host's writes.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(crate) struct UntimedTurns {
    pub(crate) credit: HostCredit,
    pub(crate) victim: Option<UntimedVictim>,
    /// Writes of the host that may enter without further checks, if their stream has a slot; their credit is spent already.
    pub(crate) granted_writes: u32,
    /// The superblock that wear levelling empties.
    pub(crate) cold: Option<ColdVictim>,
    /// Operations of dies for which wear levelling has not had its turn yet, without programs since `programmed`.
    pub(crate) owed: u64,
    pub(crate) programmed: u64,
}

impl UntimedTurns {
    /// Withdraws granted writes, with their credit: the next write of the host is checked again.
    pub(crate) fn recall_writes(&mut self) {
        if self.victim.is_some() {
            self.credit.return_writes(self.granted_writes);
        }
        self.granted_writes = 0;
    }
}

/// The superblock that collection empties.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub(crate) struct UntimedVictim {
    pub(crate) superblock: SuperblockId,
    /// The stream that its valid units move to, and whether it has to open a superblock for them.
    pub(crate) stream: Stream,
    pub(crate) opens: bool,
    /// First slot not handled yet.
    pub(crate) next: Ppn,
    pub(crate) work: VictimWork,
}

/// The superblock that wear levelling empties.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub(crate) struct ColdVictim {
    pub(crate) superblock: SuperblockId,
    /// The stream that its valid units move to.
    pub(crate) stream: Stream,
    /// The first slot not dealt with.
    pub(crate) next: Ppn,
}
