//! Collection without time whose moves and the host's writes take turns.
//!
//! Without time there is no flash that is busy. What stands in its place is a host that always has a write waiting, and a collection that goes on as soon as it may:
//! each write enters when the rules of a timed run let it ([`Credit`], marks, room), and until they do, collection deals with one program unit of its victim after
//! the other.

use crate::credit::{Credit, Work};
use crate::streams::Stream;
use outlast_units::{PuWithin, SuperblockId};

/// Collection that takes turns with the host's writes.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(crate) struct Turns {
    pub(crate) credit: Credit,
    pub(crate) victim: Option<Victim>,
}

/// The superblock that collection empties.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub(crate) struct Victim {
    pub(crate) superblock: SuperblockId,
    /// The stream that its valid units move to, and whether it has to open a superblock for them.
    pub(crate) stream: Stream,
    pub(crate) opens: bool,
    /// The first program unit not dealt with.
    pub(crate) next: PuWithin,
    pub(crate) work: Work,
}
