//! Parity and lists that are due, as program units to be programmed.

use crate::causes::ProgramCause;
use crate::frontiers::DueParity;
use crate::space::{CodeAxis, FlashSpace, Translation};
use crate::stripes::PuRole;
use outlast_units::{Pu, PuWithin, Stream, SuperblockId};

impl FlashSpace {
    /// Takes the next program unit of parity, which is due when the data of its stripe is complete, or of lists, when that of the superblock is. To
    /// be called after every program unit that is full, until there is none.
    pub fn take_parity(&mut self, stream: Stream, translation: &mut impl Translation) -> Option<Pu> {
        loop {
            let frontier = &self.frontiers[stream];
            let (due, superblock) = (frontier.due(), frontier.superblock());
            if due.stripe >= due.end {
                return self.take_list(stream, translation);
            }
            debug_assert!(
                self.pus.superblocks.opened_by(superblock) == stream,
                "stream {} owes parity to superblock {superblock}, which another has opened since",
                stream.0
            );
            if self.pus.lanes.is_closed(superblock) {
                return None;
            }
            let gaps = self.pus.opened_gaps(superblock);
            let code = self.pus.code_of(superblock)?;
            let within = code
                .parity_of(due.stripe, gaps)
                .chain(
                    PuWithin::each(code.block_parity_after(due.stripe))
                        .filter(|&pu| code.role(pu, gaps) != PuRole::Gap),
                )
                .nth(due.handed_out as usize);
            let Some(within) = within else {
                let next = DueParity { stripe: due.stripe + 1, end: due.end, handed_out: 0 };
                *self.frontiers[stream].due_mut() = next;
                continue;
            };
            let axis =
                if code.role(within, gaps) == PuRole::BlockParity { CodeAxis::Block } else { CodeAxis::Dies };
            self.frontiers[stream].due_mut().handed_out += 1;
            // All parity of a stripe is computed with its first, in one pass over the data.
            if axis == CodeAxis::Dies && due.handed_out == 0 {
                self.contents.compute_stripe(&self.pus, superblock, due.stripe);
            }
            if self.pus.is_skipped(superblock, within) {
                continue;
            }
            let pu = self.pus.layout.pu_at(superblock, within);
            if axis == CodeAxis::Dies {
                self.disown(pu, translation);
            } else {
                self.compute_parity(superblock, axis, pu, translation);
            }
            self.counts.count_units(self.pus.streams.cause(stream).parity(), self.pus.layout.units_per_pu());
            return Some(pu);
        }
    }

    /// The next program unit of lists of a superblock that `stream` has filled; they go round all lanes that are there.
    pub(crate) fn take_list(&mut self, stream: Stream, translation: &mut impl Translation) -> Option<Pu> {
        if !self.pus.layout.has_lists() || !self.frontiers[stream].has_filled() {
            return None;
        }
        let superblock = self.frontiers[stream].superblock();
        if self.filler(superblock) != Some(stream) || self.pus.lanes.is_closed(superblock) {
            return None;
        }
        let mode = self.pus.superblocks.mode(superblock);
        let count = self.pus.layout.list_rows(mode) * self.pus.layout.lane_count();
        while self.frontiers[stream].lists() < count {
            let within = PuWithin(self.pus.layout.data_pus(mode) + self.frontiers[stream].take_list());
            let pu = self.pus.layout.pu_at(superblock, within);
            let is_taken = self.pus.lanes.is_irregular(superblock)
                && (self.pus.is_skipped(superblock, within) || self.pus.is_used_up(pu));
            if self.pus.role(superblock, within) == PuRole::List && !is_taken {
                self.disown(pu, translation);
                self.counts.count_units(ProgramCause::Lists, self.pus.layout.units_per_pu());
                return Some(pu);
            }
        }
        None
    }

    /// The bytes of a parity program unit, owners of the data included.
    pub(crate) fn compute_parity(
        &mut self,
        superblock: SuperblockId,
        axis: CodeAxis,
        parity_pu: Pu,
        translation: &mut impl Translation,
    ) {
        self.disown(parity_pu, translation);
        self.contents.fill_parity(&self.pus, superblock, axis, parity_pu);
    }

    /// Computes the parity of those program units in `fill` that hold it anew.
    pub fn recompute_parity(&mut self, fill: &[Pu], translation: &mut impl Translation) {
        for &pu in fill {
            let (superblock, within) = self.pus.within_superblock(pu);
            if self.pus.role(superblock, within) == PuRole::Parity && !self.pus.lanes.has_failed(pu) {
                self.compute_parity(superblock, CodeAxis::Dies, pu, translation);
            }
        }
    }
}
