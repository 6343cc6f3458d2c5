//! Flash operations and the queues in which they wait for a die.

use crate::op_kind::{FlashOpKind, KindAndMode};
use outlast_units::slab::{NIL, Slab};
use outlast_units::{BlockId, ModeId, Nanos, Row, count_few};

/// The internal tasks, in the order in which an idle die asks for their reads; their numbers index tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub enum InternalTask {
    /// Garbage collection.
    Gc = 0,
    /// Static wear levelling.
    WearLeveling = 1,
    /// Scrubbing, and whatever else moves data in the background.
    Scrub = 2,
}

impl InternalTask {
    /// Number of tasks.
    pub const COUNT: usize = 3;
    /// All tasks, in order.
    pub const ALL: [Self; Self::COUNT] = [Self::Gc, Self::WearLeveling, Self::Scrub];
}

/// Queue of a die in which an operation waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub enum DieQueue {
    /// Reads that the host, or a reconstruction for it, waits for.
    Reads,
    /// Programs of host data.
    Programs,
    /// Operations of an internal task; each counts as internal from its start until [`Flash::end_internal`](crate::Flash::end_internal).
    Internal(InternalTask),
}

/// Nanoseconds for which a die senses a program unit at most: as many page rows as that has units, a second each.
pub(crate) const LONGEST_SENSING: u64 = 64_000_000_000;

/// Place of a program unit on its die: a page row of a block, and the mode in which the block is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockRow {
    /// The block, in the caller's numbering of a die's blocks: an erasure waits for the reads of its block.
    pub block: BlockId,
    /// The first page row of the program unit in its block.
    pub row: Row,
    /// The mode in which the block is used, which determines times.
    pub mode: ModeId,
}

/// An operation in the room, from its submission until it is handed back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub struct FlashOpId(pub(crate) u32);

/// A flash operation. `T`, the caller's tag, says what it is for.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub struct FlashOp<T> {
    /// Units of the program unit that a read senses and sends, one bit each; of an erasure the nanoseconds that it takes, 0 for tBERS; of a program the
    /// nanoseconds for which it senses what it copies, 0 where its data comes over the channel.
    pub(crate) mask: u64,
    /// Next in the same queue.
    next: u32,
    pub(crate) block: BlockId,
    /// First page row; a block has at most 65 536.
    row: u16,
    /// Units that carry data.
    units: u8,
    kind_and_mode: KindAndMode,
    /// The caller's tag, which flash never looks at.
    pub tag: T,
}

impl<T> FlashOp<T> {
    /// The read of the units in bit mask `mask` of the program unit at `place`.
    #[inline]
    pub fn read(place: BlockRow, mask: u64, tag: T) -> Self {
        Self::read_counted(place, (mask, count_few(mask)), tag)
    }

    /// As [`FlashOp::read`], of a mask whose bits have been counted.
    #[inline]
    pub fn read_counted(place: BlockRow, (mask, units): (u64, u32), tag: T) -> Self {
        debug_assert!(mask != 0, "a read of nothing");
        debug_assert!(mask.count_ones() == units, "{units} units in mask {mask:b}");
        Self::new(FlashOpKind::Read, place, mask, units, tag)
    }

    /// The program of the program unit at `place`, `units` of whose units carry data.
    #[inline]
    pub fn program(place: BlockRow, units: u32, tag: T) -> Self {
        Self::new(FlashOpKind::Program, place, 0, units, tag)
    }

    /// As [`FlashOp::program`], of data that the die has sensed itself, for `sense`: an on-chip copy, which leaves the channel alone.
    pub fn copy(place: BlockRow, units: u32, sense: Nanos, tag: T) -> Self {
        debug_assert!(sense != Nanos::ZERO, "a copy of what was not sensed");
        Self::new(FlashOpKind::Program, place, sense.0, units, tag)
    }

    /// The erasure of block `block` of every plane of a lane.
    pub fn erase(block: BlockId, tag: T) -> Self {
        Self::new(FlashOpKind::Erase, BlockRow { block, row: Row(0), mode: ModeId::FIRST }, 0, 0, tag)
    }

    /// As [`FlashOp::erase`], but it takes `time` and not tBERS.
    pub fn erase_in(block: BlockId, time: Nanos, tag: T) -> Self {
        Self { mask: time.0, ..Self::erase(block, tag) }
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "at most 64 units and rows below 2^16, as asserted")]
    fn new(kind: FlashOpKind, place: BlockRow, mask: u64, units: u32, tag: T) -> Self {
        debug_assert!(units <= 64, "{units} units in a program unit");
        debug_assert!(place.row.0 < 1 << 16, "a block has no row {}", place.row);
        Self {
            mask,
            next: NIL,
            block: place.block,
            row: place.row.0 as u16,
            units: units as u8,
            kind_and_mode: KindAndMode::new(kind, place.mode),
            tag,
        }
    }

    /// A copy with another tag, in no queue.
    #[must_use]
    pub fn with_tag(self, tag: T) -> Self {
        Self { next: NIL, tag, ..self }
    }

    /// Number of the next operation in its queue.
    pub(crate) fn next(&self) -> u32 {
        self.next
    }

    /// Kind of the operation.
    #[inline]
    pub fn kind(&self) -> FlashOpKind {
        self.kind_and_mode.kind()
    }

    /// The mode in which its block is used.
    #[inline]
    pub fn mode(&self) -> ModeId {
        self.kind_and_mode.mode()
    }

    /// Units that a read senses, one bit each.
    #[inline]
    pub fn mask(&self) -> u64 {
        self.mask
    }

    /// Units that carry data: of a read, those of its mask.
    #[inline]
    pub fn units(&self) -> u32 {
        u32::from(self.units)
    }

    /// Place of its program unit.
    #[inline]
    pub fn place(&self) -> BlockRow {
        BlockRow { block: self.block, row: self.row(), mode: self.mode() }
    }

    #[inline]
    pub(crate) fn row(&self) -> Row {
        Row(u32::from(self.row))
    }

    /// Adds `unit` to the units that a waiting read senses.
    #[inline]
    pub(crate) fn add_unit(&mut self, unit: u32) {
        debug_assert!(
            self.kind() == FlashOpKind::Read && self.mask >> unit & 1 == 0,
            "unit {unit} is read already"
        );
        self.mask |= 1 << unit;
        self.units += 1;
    }
}

/// An intrusive first-in-first-out list of operations.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub(crate) struct OpList {
    head: u32,
    tail: u32,
}

impl Default for OpList {
    fn default() -> Self {
        Self { head: NIL, tail: NIL }
    }
}

impl OpList {
    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.head == NIL
    }

    /// The operation that waits longest.
    #[inline]
    pub(crate) fn head(self) -> u32 {
        self.head
    }

    /// The last operation; [`NIL`] if none waits.
    #[inline]
    pub(crate) fn last(self) -> u32 {
        if self.is_empty() { NIL } else { self.tail }
    }

    #[inline]
    pub(crate) fn push<T>(&mut self, ops: &mut Slab<FlashOp<T>>, op: u32) {
        debug_assert!(ops[op].next == NIL, "operation {op} waits somewhere already");
        if self.head == NIL {
            self.head = op;
        } else {
            ops[self.tail].next = op;
        }
        self.tail = op;
    }

    #[inline]
    pub(crate) fn pop<T>(&mut self, ops: &mut Slab<FlashOp<T>>) -> u32 {
        let op = self.head;
        debug_assert!(op != NIL, "no operation waits");
        self.head = std::mem::replace(&mut ops[op].next, NIL);
        op
    }

    /// Puts `op` before all that wait.
    pub(crate) fn push_front<T>(&mut self, ops: &mut Slab<FlashOp<T>>, op: u32) {
        ops[op].next = std::mem::replace(&mut self.head, op);
        if ops[op].next == NIL {
            self.tail = op;
        }
    }

    /// Removes `op`, which waits behind `before` ([`NIL`]: in front).
    pub(crate) fn remove<T>(&mut self, ops: &mut Slab<FlashOp<T>>, before: u32, op: u32) {
        if before == NIL {
            self.pop(ops);
            return;
        }
        ops[before].next = std::mem::replace(&mut ops[op].next, NIL);
        if self.tail == op {
            self.tail = before;
        }
    }

    /// Operations that wait, first come first.
    pub(crate) fn iter<T>(self, ops: &Slab<FlashOp<T>>) -> impl Iterator<Item = u32> {
        std::iter::successors((!self.is_empty()).then_some(self.head), |&op| {
            Some(ops[op].next).filter(|&next| next != NIL)
        })
    }

    /// True if an operation of `block` is in the list.
    pub(crate) fn has_block<T>(self, ops: &Slab<FlashOp<T>>, block: BlockId) -> bool {
        self.iter(ops).any(|op| ops[op].block == block)
    }

    /// The first operation from `from` on, in order, that `matches`.
    #[inline]
    pub(crate) fn find_from<T>(
        ops: &mut Slab<FlashOp<T>>,
        from: u32,
        matches: impl Fn(&FlashOp<T>) -> bool,
    ) -> Option<&mut FlashOp<T>> {
        let mut at = from;
        while let Some(op) = ops.slots().get(at as usize) {
            if matches(op) {
                return Some(&mut ops[at]);
            }
            at = op.next;
        }
        None
    }
}
