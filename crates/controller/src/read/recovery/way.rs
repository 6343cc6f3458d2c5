//! Ways to rebuild a program unit.

use crate::read::Lines;
use outlast_ftl::{CodeAxis, LineMember};
use outlast_units::Pu;

/// The line of a program unit along an axis, its other members by where they are.
pub(super) struct RebuildWay {
    pub(super) needed: u32,
    pub(super) known: u32,
    pub(super) buffered: Vec<Pu>,
    pub(super) on_flash: Vec<Pu>,
}

impl RebuildWay {
    /// Line of program unit `pu` along `axis`; `None` where there is none that may suffice.
    pub(super) fn of(lines: &impl Lines, pu: Pu, axis: CodeAxis) -> Option<Self> {
        let needed = lines.needs(pu, axis)?;
        let mut way = Self { needed, known: 0, buffered: Vec::new(), on_flash: Vec::new() };
        for member in lines.members(pu, axis) {
            match member {
                LineMember::Empty => way.known += 1,
                LineMember::Buffered(pu) => way.buffered.push(pu),
                // The controller knows which dies are dead.
                LineMember::OnFlash(pu) if !lines.is_out_of_reach(pu) => way.on_flash.push(pu),
                LineMember::OnFlash(_) | LineMember::Gone => {}
            }
        }
        let may_suffice = way.known + (way.buffered.len() + way.on_flash.len()) as u32 >= needed;
        may_suffice.then_some(way)
    }

    /// Cost to begin with along `axis`: the reads that one die has to make, one after the other; then all reads.
    pub(super) fn cost(&self, axis: CodeAxis) -> (usize, usize) {
        let reads = (self.needed as usize).saturating_sub(self.known as usize + self.buffered.len());
        (if axis == CodeAxis::Block { reads } else { reads.min(1) }, reads)
    }
}
