//! A checkpoint: the mapping as flash had it at one moment, so that a mount reads only records of later writes.

use super::rebuild::RebuiltMap;
use outlast_units::{Lpn, Ppn};
use std::collections::BTreeSet;

/// The mapping that flash gave at one moment.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct MapCheckpoint {
    /// The moment, as a number of an event.
    pub(crate) at: u64,
    /// Number of the first unit, in the order of writing, that was not on flash then; `at` if all were. Units written before it are in the
    /// checkpoint, or will never be on flash.
    pub(crate) from: u64,
    /// The newest copy of each logical page that was on flash.
    pub(crate) slots: Vec<Ppn>,
    /// Pages whose data had been lost.
    pub(crate) lost: BTreeSet<Lpn>,
}

impl MapCheckpoint {
    /// The checkpoint of event `at`, `rebuilt` from flash then, while `from` was the first unit not on flash.
    pub(crate) fn new(at: u64, from: u64, rebuilt: RebuiltMap) -> Self {
        Self { at, from, slots: rebuilt.slots, lost: rebuilt.lost }
    }
}
