//! Flash operations and the queues in which they wait for a die.

use outlast_units::slab::{NIL, Slab};

/// What a flash operation does and for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpKind {
    /// Read for the host.
    HostRead,
    /// Read of the old data of a partly written unit.
    RmwRead,
    /// Read of a victim's valid units; the relocation's index in the core.
    RelocationRead,
    /// Program of host data.
    HostProgram,
    /// Program of relocated data.
    RelocationProgram,
    /// Erasure of a victim's block(s) on one lane.
    Erase,
    /// Read of a member of a stripe, to rebuild another.
    StripeRead,
    /// Read that only looks how many bits are wrong.
    PatrolRead,
    /// Read of the first page of a block, to see whether its die has failed.
    ProbeRead,
    /// Read of what lists the owners of a failed die's units.
    ListRead,
    /// Read of a unit that another core is to hold.
    MoveRead,
}

/// How far down the recovery ladder a read is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rung {
    /// ECC, then re-reads.
    Rereads,
    /// The stripe could not give the data either: the re-reads that were left out before.
    LastRereads,
}

/// Which internal task an operation serves; indexes a core's relocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Gc = 0,
    WearLeveling = 1,
    Scrub = 2,
}

impl Task {
    /// Number of tasks.
    pub(crate) const COUNT: usize = 3;
    /// All of them.
    pub(crate) const ALL: [Self; Self::COUNT] = [Self::Gc, Self::WearLeveling, Self::Scrub];
}

/// The part of a host command that falls on one mapping unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnitWork {
    pub(crate) request: u32,
    pub(crate) lpn: u32,
    /// First sector within the unit, and how many.
    pub(crate) first: u16,
    pub(crate) sectors: u16,
}

/// A flash operation, waiting or under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    pub(crate) kind: OpKind,
    pub(crate) task: Task,
    pub(crate) core: u16,
    /// Units that carry data: of a program, how many host or relocated units; of a read, how many are wanted.
    pub(crate) units: u16,
    /// Program unit (number over the core).
    pub(crate) pu: u32,
    /// Bit mask of units read.
    pub(crate) mask: u64,
    /// Of these, the ones that the last sensing did not get; before it, all.
    pub(crate) failing: u64,
    /// Units that the sensing under way sends over the channel.
    pub(crate) sent: u16,
    /// Step of the sensing: 0 is the plain read, every re-read is one further.
    pub(crate) step: u16,
    /// Re-reads made.
    pub(crate) rereads: u16,
    /// How far down the ladder a read has come.
    pub(crate) rung: Rung,
    /// The recovery that a stripe read belongs to.
    pub(crate) recovery: u32,
    /// Flush epoch of a host program.
    pub(crate) epoch: u32,
    /// Next in the same queue.
    pub(crate) next: u32,
    pub(crate) work: UnitWork,
}

impl Op {
    /// An operation of no command's unit, carrying nothing yet.
    pub(crate) fn new(kind: OpKind, task: Task, core: usize, pu: u32) -> Self {
        let work = UnitWork { request: NIL, lpn: NIL, first: 0, sectors: 0 };
        Self {
            kind,
            task,
            core: core as u16,
            units: 0,
            pu,
            mask: 0,
            failing: 0,
            sent: 0,
            step: 0,
            rereads: 0,
            rung: Rung::Rereads,
            recovery: NIL,
            epoch: 0,
            next: NIL,
            work,
        }
    }
}

/// An intrusive first-in-first-out list of operations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queue {
    pub(crate) head: u32,
    pub(crate) tail: u32,
}

impl Default for Queue {
    fn default() -> Self {
        Self { head: NIL, tail: NIL }
    }
}

impl Queue {
    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.head == NIL
    }

    #[inline]
    pub(crate) fn push(&mut self, ops: &mut Slab<Op>, op: u32) {
        ops[op].next = NIL;
        if self.head == NIL {
            self.head = op;
        } else {
            ops[self.tail].next = op;
        }
        self.tail = op;
    }

    #[inline]
    pub(crate) fn pop(&mut self, ops: &Slab<Op>) -> u32 {
        let op = self.head;
        self.head = ops[op].next;
        op
    }
}
