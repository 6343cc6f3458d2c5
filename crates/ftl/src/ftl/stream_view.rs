//! View of a stream for callers.

use crate::ftl::Ftl;
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
        self.ftl.space.begun_units(self.stream)
    }

    /// The program unit that `stream` has begun and not filled.
    pub fn begun_pu(self) -> Option<Pu> {
        self.ftl.space.begun_pu(self.stream)
    }

    /// True if a unit that `stream` has put into the program unit it has begun supersedes one of `superblock`.
    pub fn begun_pins(self, superblock: SuperblockId) -> bool {
        self.ftl.space.begun_pu(self.stream).is_some_and(|pu| {
            let begun = self.ftl.space.begun_units(self.stream);
            self.ftl.pages.pins(&self.ftl.space, pu, begun, superblock)
        })
    }

    /// The program unit at the frontier of `stream`, whose superblock is not full.
    pub fn next_pu(self) -> Pu {
        self.ftl.space.layout().pu_of(self.ftl.space.frontiers()[self.stream].next()).0
    }

    /// The superblock that `stream` has opened and not filled.
    pub fn open_superblock(self) -> Option<SuperblockId> {
        let frontier = &self.ftl.space.frontiers()[self.stream];
        (!frontier.is_full()).then(|| frontier.superblock())
    }

    /// Data slots left in the open superblock of `stream`.
    #[inline]
    pub fn room(self) -> u32 {
        self.ftl.space.room(self.stream)
    }

    /// True if a relocation under way may have to open a superblock more for `stream`, which is promised to it.
    pub fn is_promised(self) -> bool {
        self.ftl.space.frontiers()[self.stream].is_promised()
    }

    /// Data slots that a superblock has when `stream` opens it now.
    pub fn data_units(self) -> u32 {
        self.ftl.space.data_units(self.stream)
    }

    /// True if the stripes of a superblock that `stream` opens have parity.
    pub fn is_protected(self) -> bool {
        self.ftl.space.codes().is_protected(self.stream)
    }

    /// Data program units of the open stripe of `stream` that are full and that no parity on flash (or in a non-volatile cache)
    /// protects, though its code promises some.
    #[inline]
    pub fn exposed(self) -> u32 {
        self.ftl.space.exposed(self.stream)
    }

    /// True if the open stripe of `stream` is to be covered while it is not full.
    pub fn takes_cover(self) -> bool {
        self.ftl.space.takes_cover(self.stream)
    }
}
