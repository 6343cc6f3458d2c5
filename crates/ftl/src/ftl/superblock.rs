//! Life of a superblock: filled, relocated and erased, in space and mapping.

use crate::ftl::Ftl;
use crate::streams::StreamCause;
use outlast_units::{BlockIndex, Pu, Stream, SuperblockId};

impl Ftl {
    /// Fills the program unit that `stream` has begun with empty slots; returns it, or `None` when none is begun.
    pub fn pad(&mut self, stream: Stream) -> Option<Pu> {
        self.space.pad(stream, &mut self.pages)
    }

    /// Fills the program unit at the frontier of `stream`, begun or not, with padding; returns it, or `None` where its superblock is full.
    pub fn pad_next(&mut self, stream: Stream) -> Option<Pu> {
        self.space.pad_next(stream, &mut self.pages)
    }

    /// The next program unit of padding, to be programmed, that the stripe under way of `stream` takes to its end; `None` where it is at its
    /// beginning.
    pub fn pad_stripe(&mut self, stream: Stream) -> Option<Pu> {
        self.space.pad_stripe(stream, &mut self.pages)
    }

    /// Closes the superblock that `stream` fills, of which a stripe has just ended and all due parity has been taken: the next unit opens another.
    /// True if that seals it: all that was on its way is on flash.
    pub fn close(&mut self, stream: Stream) -> bool {
        self.space.close(stream, &mut self.pages)
    }

    /// Takes the next program unit of parity, which is due when the data of its stripe is complete, or of lists, when that of the superblock is. To
    /// be called after every program unit that is full, until there is none.
    pub fn take_parity(&mut self, stream: Stream) -> Option<Pu> {
        self.space.take_parity(stream, &mut self.pages)
    }

    /// Begins a cover of the open stripe of `stream`: hands out the program units of its parity so far ([`Ftl::take_cover`]), or ends the stripe,
    /// whose parity then is due ([`Ftl::take_parity`]). The program unit begun must be full or [padded](Ftl::pad). False if nothing is exposed or
    /// there is no room: nothing is done then.
    pub fn cover(&mut self, stream: Stream) -> bool {
        self.space.cover(stream, &mut self.pages)
    }

    /// True if there is room for partial parity that has superblocks of its own.
    pub fn can_cover(&self) -> bool {
        self.space.can_cover(&self.pages)
    }

    /// The next program unit of partial parity to be programmed, as the caller programs host data.
    pub fn take_cover(&mut self) -> Option<Pu> {
        self.space.take_cover()
    }

    /// Takes `superblock` out of the candidates: its valid units are now to be relocated to `stream` and counted for `cause`. Returns
    /// their number.
    ///
    /// # Panics
    /// If it is not sealed.
    pub fn begin_relocation(&mut self, superblock: SuperblockId, stream: Stream, cause: StreamCause) -> u32 {
        self.space.begin_relocation(superblock, stream, cause)
    }

    /// Gives up the relocation of `superblock`, which is a candidate again.
    ///
    /// # Panics
    /// If it is not being relocated.
    pub fn end_relocation(&mut self, superblock: SuperblockId) {
        self.space.end_relocation(superblock);
    }

    /// [`Ftl::end_relocation`] of one whose data found no room in `stream`: what was promised to the stream is free for others.
    pub fn give_up_relocation(&mut self, superblock: SuperblockId, stream: Stream) {
        self.space.give_up_relocation(superblock, stream);
    }

    /// Takes back the promise of a superblock to `stream`: all units that were to move there have.
    pub fn end_promise(&mut self, stream: Stream) {
        self.space.end_promise(stream);
    }

    /// Reports that every block of `superblock` has been erased. It is free again, unless a block went bad and no spare block
    /// could replace it.
    ///
    /// # Panics
    /// If it still holds valid units: erasing them would lose data.
    pub fn erased(&mut self, superblock: SuperblockId) {
        self.erased_but(superblock, |_| false);
    }

    /// As [`Ftl::erased`], but blocks that are `is_bad` are retired and replaced by spare ones.
    ///
    /// # Panics
    /// As [`Ftl::erased`].
    pub fn erased_but(&mut self, superblock: SuperblockId, is_bad: impl Fn(BlockIndex) -> bool) {
        assert!(
            self.pages.may_erase(superblock),
            "superblock {superblock} is erased, and the buffer goes back to it"
        );
        let retired = self.space.erase(superblock, is_bad, &mut self.pages);
        self.pages.superblock_erased(&self.space, superblock, &retired);
    }

    /// Programs, without time, all parity that is due.
    pub(super) fn program_parity(&mut self, stream: Stream) {
        while let Some(pu) = self.take_parity(stream) {
            // Data that the parity covers must not be replaced any more, and is programmed before it.
            self.program_held();
            self.programmed(pu);
        }
    }
}
