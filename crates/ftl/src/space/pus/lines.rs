//! Stripes and lines of codes: their members, and the place of each.

use crate::space::PuStates;
use crate::stripes::{PuRole, StripeLayout};
use outlast_codes::ErasureCode;
use outlast_decisions::SuperblockState;
use outlast_units::{LaneIndex, Pu, PuWithin, SuperblockId};

/// Axis along which a code protects program units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub enum CodeAxis {
    /// Over dies: a stripe.
    Dies,
    /// Over the pages of the same block(s).
    Block,
}

impl CodeAxis {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Dies, Self::Block];
}

/// Program units that one code word covers, with its position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParityLine {
    pub(crate) superblock: SuperblockId,
    pub(crate) axis: CodeAxis,
    /// Its stripe, or the first program unit of its lane in its group.
    pub(crate) number: u32,
    /// Most data members of the code: parity is numbered from there.
    pub(crate) data: usize,
}

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

impl PuStates {
    pub(crate) fn stripe_number(&self, pu: Pu) -> u32 {
        let (superblock, within) = self.within_superblock(pu);
        self.code_of(superblock).map_or(0, |code| code.stripe_of(within))
    }

    /// The program units of a stripe.
    pub(crate) fn stripe_members(&self, superblock: SuperblockId, stripe: u32) -> Vec<Pu> {
        let at = |within| self.layout.pu_at(superblock, within);
        self.code_of(superblock)
            .map(|code| PuWithin::each(code.members(stripe)).map(at).collect())
            .unwrap_or_default()
    }

    pub(crate) fn member(&self, line: ParityLine, pu: Pu, index: usize) -> LineMember {
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

    pub(crate) fn stripe_line(&self, superblock: SuperblockId, stripe: u32) -> Option<ParityLine> {
        let code = self.code_of(superblock)?;
        // A stripe whose parity could not be placed has none.
        code.parity_of(stripe, self.opened_gaps(superblock)).next()?;
        Some(ParityLine { superblock, axis: CodeAxis::Dies, number: stripe, data: code.data() })
    }

    /// The line of program unit `pu` along `axis`; `None` where it has no parity that way.
    pub(crate) fn line(&self, pu: Pu, axis: CodeAxis) -> Option<ParityLine> {
        let (superblock, within) = self.within_superblock(pu);
        let code = self.code_of(superblock)?;
        let role = code.role(within, self.opened_gaps(superblock));
        match axis {
            CodeAxis::Dies if matches!(role, PuRole::Data | PuRole::Parity) => {
                self.stripe_line(superblock, code.stripe_of(within))
            }
            CodeAxis::Block if role != PuRole::Gap => {
                let data = code.block_code()?.data_shards();
                let lanes = self.layout.lane_count();
                let number = code.group_of(within).start * lanes + within.0 % lanes;
                Some(ParityLine { superblock, axis, number, data })
            }
            _ => None,
        }
    }

    pub(crate) fn code_of_line(line: ParityLine, code: &StripeLayout) -> Option<&ErasureCode> {
        match line.axis {
            CodeAxis::Dies => code.code(),
            CodeAxis::Block => code.block_code(),
        }
    }

    /// The program units of a line, each with its number in the code: data in order, then parity.
    pub(crate) fn members(&self, line: ParityLine) -> impl Iterator<Item = (Pu, usize)> {
        let (superblock, axis, number, most) = (line.superblock, line.axis, line.number, line.data);
        let first = self.layout.pu_at(superblock, PuWithin(0));
        let gaps = self.opened_gaps(superblock);
        let code = self.code_of(superblock).expect("a line is of a superblock with a code");
        let stripe = (axis == CodeAxis::Dies).then(|| {
            let data = PuWithin::each(code.members(number))
                .filter(move |&pu| self.role(superblock, pu) == PuRole::Data)
                .enumerate();
            let parity = code.parity_of(number, gaps).enumerate().map(move |(index, pu)| (index + most, pu));
            data.chain(parity).map(move |(index, pu)| (self.layout.pu_at(superblock, pu), index))
        });
        let block = (axis == CodeAxis::Block).then(|| {
            let lanes = self.layout.lane_count();
            let rows = code.group_of(PuWithin(number));
            let count = rows.end - rows.start;
            (0..count).map(move |row| {
                let index = if row + 1 == count { most } else { row as usize };
                (first + (number + row * lanes), index)
            })
        });
        stripe.into_iter().flatten().chain(block.into_iter().flatten())
    }

    /// The lanes of the parity of a stripe.
    pub(crate) fn parity_lanes(
        &self,
        superblock: SuperblockId,
        stripe: u32,
    ) -> impl Iterator<Item = LaneIndex> {
        let parity = self.code_of(superblock).into_iter();
        parity
            .flat_map(move |code| code.parity_of(stripe, self.opened_gaps(superblock)))
            .map(|pu| self.lane_position(pu))
    }

    /// The lanes of superblock `log` on which the parity of a stripe will lie, as far as they are there.
    pub(crate) fn cover_lanes(
        &self,
        superblock: SuperblockId,
        stripe: u32,
        log: SuperblockId,
    ) -> Vec<LaneIndex> {
        let gaps = self.opened_gaps(log);
        let usable = |&lane: &LaneIndex| {
            !self.lanes.is_dead(lane)
                && !self.is_skipped(log, PuWithin(lane.0))
                && !gaps.is_some_and(|gaps| gaps.contains(lane))
        };
        self.parity_lanes(superblock, stripe).filter(usable).collect()
    }
}
