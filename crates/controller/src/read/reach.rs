//! Units that can be read at all: what the ladder would come to if nothing failed but what is broken for good.

use super::ladder::MOST_NESTED;
use super::lines::Lines;
use outlast_ftl::{CodeAxis, LineMember};
use outlast_units::Pu;

/// True if the flash, or some line, gives unit `unit` of program unit `pu`.
pub fn can_be_read(lines: &impl Lines, pu: Pu, unit: u32) -> bool {
    lines.broken_units(pu, 1 << unit) == 0 || some_line_gives(lines, pu, unit, 0, 0)
}

/// True if a line other than those `asked`, one bit each, gives a unit that its own flash does not; `depth` recoveries are made for its sake.
fn some_line_gives(lines: &impl Lines, pu: Pu, unit: u32, asked: u8, depth: u8) -> bool {
    CodeAxis::ALL.into_iter().filter(|&axis| asked >> axis as u8 & 1 == 0).any(|axis| {
        let Some(needed) = lines.needs(pu, axis) else { return false };
        let gives = |member: &LineMember| match *member {
            LineMember::Empty | LineMember::Buffered(_) => true,
            LineMember::Gone => false,
            LineMember::OnFlash(other) => {
                !lines.is_out_of_reach(other)
                    && (lines.broken_units(other, 1 << unit) == 0
                        || (depth < MOST_NESTED
                            && some_line_gives(lines, other, unit, 1 << axis as u8, depth + 1)))
            }
        };
        lines.members(pu, axis).filter(gives).count() as u32 >= needed
    })
}
