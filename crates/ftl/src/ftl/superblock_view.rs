//! View of a superblock for callers.

use crate::ftl::Ftl;
use crate::streams::StreamCause;
use outlast_decisions::SuperblockState;
use outlast_units::{BlockIndex, LaneIndex, LocalDie, ModeId, Stream, SuperblockId};

/// One superblock.
#[derive(Clone, Copy, Debug)]
pub struct SuperblockView<'a> {
    pub(super) ftl: &'a Ftl,
    pub(super) id: SuperblockId,
}

impl<'a> SuperblockView<'a> {
    /// The state of a superblock.
    #[inline]
    pub fn state(self) -> SuperblockState {
        self.ftl.space.superblocks().state(self.id)
    }

    /// The stream that opened a superblock last.
    pub fn stream(self) -> Stream {
        self.ftl.space.superblocks().opened_by(self.id)
    }

    /// The mode in which a superblock was opened last.
    #[inline]
    pub fn mode(self) -> ModeId {
        self.ftl.space.superblocks().mode(self.id)
    }

    /// Copies on the chip that data in a superblock has been through at most, one after another.
    pub fn copies(self) -> u8 {
        self.ftl.space.superblocks().copies(self.id)
    }

    /// Class of the data of a superblock.
    #[inline]
    pub fn class(self) -> u8 {
        self.ftl.space.pus().class_of_superblock(self.id)
    }

    /// Valid units of a superblock.
    #[inline]
    pub fn valid(self) -> u32 {
        self.ftl.space.superblocks().valid(self.id)
    }

    /// P/E cycles of a superblock: the mean of its good blocks.
    pub fn cycles(self) -> u32 {
        self.ftl.space.superblocks().cycles(self.id)
    }

    /// Units that the host has written since a superblock was sealed; `None` unless it is sealed.
    pub fn age(self) -> Option<u64> {
        self.seal().map(|_| self.written_since())
    }

    /// Number of the seal of a superblock among all seals; `None` unless it is sealed. Another number than before means that the superblock was
    /// erased and filled in between.
    pub fn seal(self) -> Option<u64> {
        self.ftl.space.superblocks().seal_of(self.id)
    }

    /// Units that the host has written since the superblock was filled; of one that is not sealed, since it last was.
    pub fn written_since(self) -> u64 {
        self.ftl.space.counts().clock() - self.ftl.space.superblocks().sealed_at(self.id)
    }

    /// True if `superblock` may be erased: all units that superseded units of it are on flash, or safe in the buffer.
    #[inline]
    pub fn may_be_erased(self) -> bool {
        self.ftl.pages.may_erase(self.id)
    }

    /// True if the data of `superblock` has parity, or will when its stripes are full.
    #[inline]
    pub fn has_parity(self) -> bool {
        self.ftl.space.pus().has_parity(self.id)
    }

    /// True if `superblock` is sealed and its code is not the one that its stream has now.
    #[inline]
    pub fn is_outdated(self) -> bool {
        self.ftl.space.is_outdated(self.id)
    }

    /// True if `superblock` is sealed and leaves out dies that have been added since.
    pub fn is_narrow(self) -> bool {
        self.ftl.space.superblocks().state(self.id) == SuperblockState::Sealed
            && self.ftl.space.pus().opened_gaps(self.id).is_some_and(|gaps| {
                let mut lanes = self.ftl.space.layout().lanes().indices();
                // A lane that is dead now was so when the superblock was opened, or has failed again since it was added.
                lanes.any(|lane| {
                    gaps.contains(lane)
                        && !self.ftl.space.lanes().is_dead(lane)
                        && !self.ftl.space.lanes().is_missing(self.id, lane)
                })
            })
    }

    /// Members that stripes of the superblock have lost if it is sealed, else 0: with lanes that are gone, or when power failed.
    pub fn members_lost(self) -> u32 {
        self.ftl.redundancy().members_lost(self.id)
    }

    /// Lost members of a stripe of `superblock`, sealed, less those that its parity replaces: positive if data cannot be rebuilt; [`i64::MIN`]
    /// without losses.
    pub fn exposure(self) -> i64 {
        let parity = self.ftl.space.pus().code_of(self.id).map_or(0, crate::stripes::StripeLayout::parity);
        let lost = self.ftl.redundancy().members_lost(self.id);
        if lost == 0 { i64::MIN } else { i64::from(lost) - i64::from(parity) }
    }

    /// True if scrubbing filled the superblock.
    pub fn is_scrubbed(self) -> bool {
        self.ftl.space.streams().cause(self.ftl.space.superblocks().opened_by(self.id)) == StreamCause::Scrub
    }

    /// True if a full superblock holds current pages on die `local_die`.
    pub fn holds_on(self, local_die: LocalDie) -> bool {
        self.ftl.space.superblocks().state(self.id) == SuperblockState::Sealed
            && self.ftl.space.layout().lanes_of_die(local_die).iter().any(|&lane| {
                self.ftl
                    .space
                    .pus()
                    .pus_on(self.id, lane)
                    .any(|pu| self.ftl.pages.current_in(&self.ftl.space, pu).next().is_some())
            })
    }

    /// The lanes on which `superblock` has blocks to be erased: those that are not gone, nor left out of it.
    pub fn lanes(self) -> impl Iterator<Item = LaneIndex> + use<'a> {
        self.ftl.space.lanes().erasable(self.id)
    }

    /// All blocks of a superblock, except for those whose lane is gone.
    pub fn blocks(self) -> impl Iterator<Item = BlockIndex> + use<'a> {
        self.ftl
            .space
            .lanes()
            .live()
            .flat_map(move |lane| self.ftl.space.physical().blocks_of(self.ftl.space.layout(), self.id, lane))
            .map(|at| self.ftl.space.physical().blocks().index(at))
    }
}
