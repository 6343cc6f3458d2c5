//! Places of parity, and program units that hold no data.

use super::Ftl;
use super::parity::{CodeAxis, ParityLine};
use crate::codes::data_units;
use crate::frontiers::DueParity;
use crate::streams::StreamCause;
use crate::stripes::{LaneSet, PuRole, StripeLayout};
use outlast_decisions::SuperblockState;
use outlast_settings::ftl::PartialPlace;
use outlast_units::{LaneIndex, Pu, PuWithin, Stream, SuperblockId};

/// Place of the unit of one member of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineMember {
    /// Never written: zeroes, free to use.
    Empty,
    /// In the controller's memory: data not programmed yet, or the parity of a stripe that is not complete.
    Buffered(Pu),
    /// On flash, in this program unit.
    OnFlash(Pu),
    /// Nowhere: its program operation failed.
    Gone,
}

impl Ftl {
    pub(super) fn code_of(&self, superblock: SuperblockId) -> Option<&StripeLayout> {
        self.codes.of(superblock)
    }

    pub(super) fn opened_gaps(&self, superblock: SuperblockId) -> Option<&LaneSet> {
        self.lanes.opened(superblock)
    }

    pub(super) fn lane_position(&self, pu_within: PuWithin) -> LaneIndex {
        LaneIndex(pu_within.0 % self.layout.lanes().len() as u32)
    }

    pub(super) fn is_skipped(&self, superblock: SuperblockId, pu_within: PuWithin) -> bool {
        self.lanes.is_given_up(superblock, self.lane_position(pu_within))
    }

    /// Role of program unit `pu_within` of `superblock`.
    pub(super) fn role(&self, superblock: SuperblockId, pu_within: PuWithin) -> PuRole {
        let gaps = self.opened_gaps(superblock);
        match self.code_of(superblock) {
            Some(code) => match code.role(pu_within, gaps) {
                PuRole::Data if self.partials.is_spent(self.layout.pu_at(superblock, pu_within)) => {
                    PuRole::Partial
                }
                role => role,
            },
            None if gaps.is_some_and(|gaps| gaps.contains(self.lane_position(pu_within))) => PuRole::Gap,
            None if pu_within.0 >= self.layout.data_pus() => PuRole::List,
            None => PuRole::Data,
        }
    }

    /// True if the data of `superblock` has parity, or will when its stripes are full.
    #[inline]
    pub(super) fn has_parity(&self, superblock: SuperblockId) -> bool {
        self.codes.has_parity(superblock)
    }

    /// Data slots that a superblock has when `stream` opens it now.
    pub(super) fn data_units(&self, stream: Stream) -> u32 {
        self.codes.data_units(stream)
    }

    /// Data slots that `superblock` has had since it was opened.
    pub(super) fn units_of(&self, superblock: SuperblockId) -> u32 {
        let gaps = self.opened_gaps(superblock);
        let stream = self.superblocks.opened_by(superblock);
        if gaps.is_none() && self.lanes.dead().is_none() && self.codes.is_current(superblock, stream) {
            return self.codes.data_units(stream);
        }
        data_units(&self.layout, self.codes.of(superblock), gaps)
    }

    /// Data slots of the superblocks with the most parity.
    pub(super) fn least_data_units(&self) -> u32 {
        self.data_streams().map(|stream| self.codes.data_units(stream)).min().unwrap_or(0)
    }

    /// The streams that write data, not parity.
    pub(super) fn data_streams(&self) -> impl Iterator<Item = Stream> {
        let streams = self.frontiers.streams().filter(|&stream| self.is_in_use(stream));
        streams.filter(|&stream| self.streams.cause(stream) != StreamCause::Partial)
    }

    /// Counts data slots anew. To be called when lanes have come or gone.
    pub(super) fn count_data_units(&mut self) {
        self.codes.count_data_units(&self.layout, self.lanes.dead());
    }

    /// Prepares the frontier of `stream`, which has opened a superblock in which some program units hold no data.
    #[cold]
    pub(super) fn open_irregular(&mut self, stream: Stream) {
        let superblock = self.frontiers[stream].superblock();
        self.lanes.open(superblock);
        let gone =
            self.layout.pus_within().filter(|&pu| self.role(superblock, pu) == PuRole::Gap).count() as u32;
        self.settle_pus(superblock, gone);
        let data = match self.lanes.missing_of(superblock) {
            None if !self.policies.choose_codes() => self.codes.data_units(stream),
            _ => data_units(&self.layout, self.codes.of(superblock), self.lanes.opened(superblock)),
        };
        // No program unit is under way yet: the first one with data is sought as every other.
        debug_assert!(
            data.is_multiple_of(self.layout.units_per_pu()),
            "program units hold data wholly or not"
        );
        self.frontiers[stream].break_off(data);
        self.seek_data(stream, PuWithin(0));
    }

    /// Moves the frontier of `stream`, whose program unit is full, to the next one that holds data; parity of the stripes left behind is due.
    #[cold]
    pub(super) fn skip_to_data(&mut self, stream: Stream) {
        let frontier = &self.frontiers[stream];
        let from = self.layout.within_of(frontier.superblock(), frontier.next());
        self.partials.set_exposed(stream, self.partials.exposed(stream) + 1);
        self.advance_frontier(stream, from);
    }

    /// Moves the frontier to the first program unit from `from` on that holds data. If that is in another stripe, the stripes before are not exposed
    /// any more.
    pub(super) fn advance_frontier(&mut self, stream: Stream, from: PuWithin) {
        let before = self.frontiers[stream].due().end;
        self.seek_data(stream, from);
        let frontier = &self.frontiers[stream];
        let (superblock, reached) = (frontier.superblock(), frontier.due().end);
        if reached != before {
            self.partials.set_exposed(stream, 0);
            if self.partials.are_on_flash() {
                self.uncover(superblock, reached);
            }
        } else if !self.codes.has_parity(superblock) || self.partials.place() == Some(PartialPlace::Cache) {
            self.partials.set_exposed(stream, 0);
        }
    }

    /// Sets the frontier to the first program unit from `from` on that holds data, and the end of due parity to its stripe.
    pub(super) fn seek_data(&mut self, stream: Stream, from: PuWithin) {
        let superblock = self.frontiers[stream].superblock();
        let (pus, units) = (PuWithin(self.layout.data_pus()), self.layout.units_per_pu());
        debug_assert!(from <= pus, "program unit {from} lies beyond the data");
        let pu = PuWithin::each(from..pus).find(|&pu| self.takes_data(superblock, pu)).unwrap_or(pus);
        if let Some(code) = self.codes.of(superblock) {
            let reached = if pu == pus { code.count() } else { code.stripe_of(pu) };
            self.frontiers[stream].due_mut().end = reached;
        }
        let first = self.layout.first_slot_of(self.layout.pu_at(superblock, pu));
        self.frontiers[stream].move_to(first, units);
    }

    /// Takes the next program unit of parity, which is due when the data of its stripe is complete, or of lists, when that of the superblock is. To
    /// be called after every program unit that is full, until there is none.
    pub fn take_parity(&mut self, stream: Stream) -> Option<Pu> {
        loop {
            let frontier = &self.frontiers[stream];
            let (due, superblock) = (frontier.due(), frontier.superblock());
            if due.stripe >= due.end {
                return self.take_list(stream);
            }
            debug_assert!(
                self.superblocks.opened_by(superblock) == stream,
                "stream {} owes parity to superblock {superblock}, which another has opened since",
                stream.0
            );
            if self.lanes.is_closed(superblock) {
                return None;
            }
            let gaps = self.opened_gaps(superblock);
            let code = self.code_of(superblock)?;
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
                self.compute_stripe(superblock, due.stripe);
            }
            if self.is_skipped(superblock, within) {
                continue;
            }
            let pu = self.layout.pu_at(superblock, within);
            if axis == CodeAxis::Dies {
                self.disown(pu);
            } else {
                self.compute_parity(superblock, axis, pu);
            }
            self.counts.count_units(self.streams.cause(stream).parity(), self.layout.units_per_pu());
            return Some(pu);
        }
    }

    /// Programs, without time, all parity that is due.
    pub(super) fn program_parity(&mut self, stream: Stream) {
        while let Some(pu) = self.take_parity(stream) {
            // Data that the parity covers must not be replaced any more, and is programmed before it.
            self.program_held();
            self.programmed(pu);
        }
    }

    pub(super) fn member(&self, line: ParityLine, pu: Pu, index: usize) -> LineMember {
        let (superblock, within) = self.within_superblock(pu);
        // Along a block, data that is not on flash was never written: zeroes. Only its parity can be missing.
        let is_parity = index >= line.data;
        if self.lanes.has_failed(pu) {
            LineMember::Gone
        } else if self.is_on_flash(superblock, pu) {
            LineMember::OnFlash(pu)
        } else if self.superblocks.state(superblock) == SuperblockState::Open
            && !(is_parity && self.is_skipped(superblock, within))
        {
            // Data on a lane that has been given up was never put there, or is on its way and will fail.
            LineMember::Buffered(pu)
        } else if is_parity {
            LineMember::Gone
        } else {
            LineMember::Empty
        }
    }

    pub(super) fn within_superblock(&self, pu: Pu) -> (SuperblockId, PuWithin) {
        self.layout.within_superblock(pu)
    }

    pub(super) fn is_on_flash(&self, superblock: SuperblockId, pu: Pu) -> bool {
        let regular = self.superblocks.to_come(superblock) == 0 && !self.lanes.is_irregular(superblock);
        regular || self.superblocks.is_programmed(pu)
    }

    /// The lanes that are not gone for good, as positions in allocation order.
    pub fn live_lanes(&self) -> impl Iterator<Item = LaneIndex> {
        self.lanes.live()
    }
}
