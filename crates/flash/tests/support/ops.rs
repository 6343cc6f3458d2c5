//! Operations of tests, and their times on an idle die.

use super::{COMMAND, PROGRAM, READ, Tag, UNIT};
use outlast_flash::{BlockRow, FlashOp};
use outlast_units::{BlockId, ModeId, Row};

pub(crate) fn place(block: u32, row: u32) -> BlockRow {
    BlockRow { block: BlockId(block), row: Row(row), mode: ModeId::FIRST }
}

/// The read of `mask` in row `row` of block `block`.
pub(crate) fn read_of(number: u32, block: u32, row: u32, mask: u64) -> FlashOp<Tag> {
    FlashOp::read(place(block, row), mask, Tag { number, internal: false })
}

/// The read of one unit in row 0, tR 40 us.
pub(crate) fn read(number: u32) -> FlashOp<Tag> {
    read_of(number, 0, 0, 1)
}

/// The program of row 0, tPROG 500 us.
pub(crate) fn program(number: u32) -> FlashOp<Tag> {
    FlashOp::program(place(1, 0), 2, Tag { number, internal: false })
}

/// `op`, marked as of an internal task.
pub(crate) fn internal(op: FlashOp<Tag>) -> FlashOp<Tag> {
    let number = op.tag.number;
    op.with_tag(Tag { number, internal: true })
}

pub(crate) fn erase(number: u32, block: u32) -> FlashOp<Tag> {
    FlashOp::erase(BlockId(block), Tag { number, internal: true })
}

/// Time of a read of `units` units in row 0 on an idle die with an idle channel.
pub(crate) fn read_time(units: u64) -> u64 {
    COMMAND + READ[0] + units * UNIT
}

/// Time of a program of row 0.
pub(crate) fn program_time() -> u64 {
    COMMAND + 2 * UNIT + PROGRAM[0]
}
