//! View of a stream for callers.

use super::Ftl;
use crate::origins::is_copy;
use outlast_units::{Pu, Stream, SuperblockId};

/// One stream: its open superblock, program unit and stripe.
#[derive(Clone, Copy, Debug)]
pub struct StreamView<'a> {
    pub(super) ftl: &'a Ftl,
    pub(super) stream: Stream,
}

impl StreamView<'_> {
    /// Units that `stream` has put into a program unit that is not full yet.
    pub fn begun_units(self) -> u32 {
        self.ftl.begun_units(self.stream)
    }

    /// The program unit that `stream` has begun and not filled.
    pub fn begun_pu(self) -> Option<Pu> {
        self.ftl.begun_pu(self.stream)
    }

    /// True if a unit that `stream` has put into the program unit it has begun supersedes one of `superblock`.
    pub fn begun_pins(self, superblock: SuperblockId) -> bool {
        let (Some(origins), Some(pu)) = (&self.ftl.origins, self.ftl.begun_pu(self.stream)) else {
            return false;
        };
        let begun = origins
            .of_pu(&self.ftl.layout, pu)
            .map(|table| &table[..self.ftl.begun_units(self.stream) as usize]);
        begun.is_some_and(|begun| {
            begun.iter().any(|&at| is_copy(at) && self.ftl.layout.superblock_of(at) == superblock)
        })
    }

    /// Data slots left in the open superblock of `stream`.
    #[inline]
    pub fn room(self) -> u32 {
        self.ftl.room(self.stream)
    }

    /// True if a relocation under way may have to open a superblock more for `stream`, which is promised to it.
    pub fn is_promised(self) -> bool {
        self.ftl.frontiers[self.stream].is_promised()
    }

    /// Data slots that a superblock has when `stream` opens it now.
    pub fn data_units(self) -> u32 {
        self.ftl.data_units(self.stream)
    }

    /// True if the stripes of a superblock that `stream` opens have parity.
    pub fn is_protected(self) -> bool {
        self.ftl.codes.is_protected(self.stream)
    }

    /// Data program units of the open stripe of `stream` that are full and that no parity on flash (or in a non-volatile cache)
    /// protects, though its code promises some.
    #[inline]
    pub fn exposed(self) -> u32 {
        self.ftl.exposed(self.stream)
    }

    /// True if the open stripe of `stream` is to be covered while it is not full.
    pub fn takes_cover(self) -> bool {
        self.ftl.takes_cover(self.stream)
    }
}
