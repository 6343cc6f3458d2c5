//! Programs in two passes: a coarse one, and a fine one that follows the coarse pass of a later row of the same block.
//!
//! An operation goes through its queue twice, first in its turn and then before all that wait there, and stays in the room in between: it is handed back when
//! its fine pass has ended. So whoever submits it knows of one program, which takes long. Fine passes of a block go in the order of its rows. One that
//! nothing is to follow, as a superblock is full or has been closed, does not wait for it ([`Flash::close_passes`]).
//!
//! Only dies of flash with two passes keep anything here, and it is looked at for programs only.

use crate::die::DiePhase;
use crate::flash::{DieContext, DieEvent, Flash};
use crate::op::{DieQueue, FlashOp};
use crate::op_kind::FlashOpKind;
use outlast_media::TwoPassConfig;
use outlast_units::{BlockId, DieId, ModeId, Nanos};

/// Stage of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
enum PassStage {
    /// Waits for its coarse pass, or is in it.
    Coarse,
    /// Between its passes, in no queue.
    Between,
    /// Waits for its fine pass, or is in it.
    Fine,
}

/// A program in two passes.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
struct PassedOp {
    op: u32,
    queue: DieQueue,
    stage: PassStage,
    /// True if nothing is sure to follow it.
    is_last: bool,
}

/// The programs in two passes of a die, in the order of their submission.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(crate) struct DiePasses {
    ops: Vec<PassedOp>,
}

/// Rules of two passes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PassRules {
    config: TwoPassConfig,
    /// Page rows from an operation to the one whose coarse pass its fine pass follows.
    rows: u32,
}

impl PassRules {
    /// Passes by `config`, for program units of `rows` page rows.
    pub(crate) fn new(config: TwoPassConfig, rows: u32) -> Self {
        Self { config, rows: rows * config.distance }
    }
}

impl DiePasses {
    /// Operations between their passes.
    pub(crate) fn between(&self) -> impl Iterator<Item = u32> {
        self.ops.iter().filter(|own| own.stage == PassStage::Between).map(|own| own.op)
    }

    /// All operations, in order.
    pub(crate) fn all(&self) -> impl Iterator<Item = u32> {
        self.ops.iter().map(|own| own.op)
    }

    /// True if operation `op` is one in two passes.
    pub(crate) fn has(&self, op: u32) -> bool {
        self.ops.iter().any(|own| own.op == op)
    }

    /// True if operation `op` has not had its coarse pass.
    pub(crate) fn is_coarse(&self, op: u32) -> bool {
        self.ops.iter().any(|own| own.op == op && own.stage == PassStage::Coarse)
    }

    /// True if operation `op` has had its coarse pass, and its fine pass has not begun or is under way.
    pub(crate) fn is_past_coarse(&self, op: u32) -> bool {
        self.ops.iter().any(|own| own.op == op && own.stage != PassStage::Coarse)
    }
}

impl<T: Copy> DieContext<T> {
    /// True if programs in the first mode take two passes.
    #[inline]
    pub(crate) fn has_passes(&self) -> bool {
        !self.passes.is_empty()
    }

    /// Notes `op`, which has been submitted to `queue` of `die`, if it is a program in two passes.
    #[cold]
    pub(crate) fn note_passes(&mut self, die: DieId, queue: DieQueue, op: u32) {
        let submitted = &self.ops[op];
        if submitted.kind() == FlashOpKind::Program && submitted.mode() == ModeId::FIRST {
            let own = PassedOp { op, queue, stage: PassStage::Coarse, is_last: false };
            self.passes[die.index()].ops.push(own);
        }
    }

    /// Time of the array for the pass of program `op` that begins, which takes `whole` in all its passes.
    pub(crate) fn pass_time(&self, die: DieId, op: u32, whole: Nanos) -> Nanos {
        let Some(rules) = self.pass_rules else { return whole };
        let passes = &self.passes[die.index()];
        let coarse = rules.config.coarse_time(whole);
        match (passes.is_coarse(op), passes.has(op)) {
            (true, _) => coarse,
            (false, true) => whole - coarse,
            (false, false) => whole,
        }
    }
}

impl<T: Copy> Flash<T> {
    /// True if programs in the first mode take two passes.
    #[inline]
    pub fn has_passes(&self) -> bool {
        self.context.has_passes()
    }

    /// Program units of a block from one operation to the one whose coarse pass its fine pass follows; 0: there is one pass.
    pub fn pass_distance(&self) -> u32 {
        self.context.pass_rules.map_or(0, |rules| rules.config.distance)
    }

    /// Ends the coarse pass of the program that is about to end on `die`, which is free then; `None` if it is no coarse pass.
    #[inline(never)]
    pub(crate) fn end_coarse_pass(&mut self, now: Nanos, die: DieId) -> Option<DieEvent<T>> {
        let state = &mut self.dies[die];
        let op = state.current;
        if state.phase != DiePhase::Array {
            return None;
        }
        let own = self.context.passes[die.index()].ops.iter_mut().find(|own| own.op == op)?;
        if own.stage != PassStage::Coarse {
            return None;
        }
        own.stage = PassStage::Between;
        let queue = own.queue;
        state.count_whole_work(FlashOpKind::Program);
        state.release(now);
        self.context.update_accounts(move |accounts| accounts.rest_die(now, die));
        if matches!(queue, DieQueue::Internal(_)) {
            self.end_internal(now);
        }
        self.queue_fine_passes(die);
        Some(DieEvent::Passed(self.context.ops[op]))
    }

    /// Program `op` of `die` has ended: those after it in its block may follow.
    #[cold]
    pub(crate) fn leave_passes(&mut self, die: DieId, op: u32) {
        self.context.passes[die.index()].ops.retain(|own| own.op != op);
        self.queue_fine_passes(die);
    }

    /// Queues the fine passes of `die` whose turn it is: one of each block at most.
    fn queue_fine_passes(&mut self, die: DieId) {
        let Some(rules) = self.context.pass_rules else { return };
        while let Some(index) = self.next_fine_pass(die, rules) {
            let own = &mut self.context.passes[die.index()].ops[index];
            own.stage = PassStage::Fine;
            let (op, queue) = (own.op, own.queue);
            self.dies[die].list(queue).push_front(&mut self.context.ops, op);
        }
    }

    /// The program between its passes that is the first of its block on `die` and whose fine pass may go now.
    fn next_fine_pass(&self, die: DieId, rules: PassRules) -> Option<usize> {
        let ops = &self.context.passes[die.index()].ops;
        let goes = |own: &PassedOp| {
            let (block, row) = (self.context.ops[own.op].block, self.context.ops[own.op].row());
            let mut others = ops.iter().filter(|other| self.context.ops[other.op].block == block);
            if others.clone().any(|other| self.context.ops[other.op].row() < row) {
                return false;
            }
            let is_followed = |other: &PassedOp| {
                other.stage != PassStage::Coarse && self.context.ops[other.op].row() >= row + rules.rows
            };
            let awaits = |other: &PassedOp| {
                let at = self.context.ops[other.op].row();
                other.stage == PassStage::Coarse && at > row && at <= row + rules.rows
            };
            others.clone().any(is_followed) || own.is_last && !others.any(awaits)
        };
        ops.iter().position(|own| own.stage == PassStage::Between && goes(own))
    }

    /// Nothing is to follow the programs of block `block` of `die` that have been submitted: the fine passes of the last ones wait for none. True if
    /// one has become due: the die is to be [woken](Flash::wake).
    pub fn close_passes(&mut self, die: DieId, block: BlockId) -> bool {
        let Some(own) = self.context.passes.get_mut(die.index()) else { return false };
        for own in own.ops.iter_mut().filter(|own| self.context.ops[own.op].block == block) {
            own.is_last = true;
        }
        let waits = |flash: &Self| flash.context.passes[die.index()].between().count();
        let before = waits(self);
        self.queue_fine_passes(die);
        waits(self) != before
    }

    /// Blocks of `die` that programs in two passes are under way in.
    pub fn blocks_in_passes(&self, die: DieId) -> Vec<BlockId> {
        let ops = self.context.passes.get(die.index()).into_iter().flat_map(DiePasses::all);
        let mut blocks: Vec<BlockId> = ops.map(|op| self.context.ops[op].block).collect();
        blocks.dedup();
        blocks
    }

    /// The programs, by die, whose fine pass waits for something that has not been submitted.
    pub fn open_passes(&self) -> impl Iterator<Item = (DieId, &FlashOp<T>)> {
        let rows = self.context.pass_rules.map_or(0, |rules| rules.rows);
        self.dies.indices().zip(&self.context.passes).flat_map(move |(die, passes)| {
            let is_open = move |own: &&PassedOp| {
                let (block, row) = (self.context.ops[own.op].block, self.context.ops[own.op].row());
                let follows =
                    |op: u32| self.context.ops[op].block == block && self.context.ops[op].row() >= row + rows;
                !own.is_last && own.stage != PassStage::Fine && !passes.all().any(follows)
            };
            passes.ops.iter().filter(is_open).map(move |own| (die, &self.context.ops[own.op]))
        })
    }

    /// Checks programs in two passes that were read: each is one of its die, once, and those in no queue are in `taken` by this only.
    ///
    /// # Errors
    /// The first that is not.
    pub(crate) fn check_passes(&self, taken: &[bool]) -> Result<(), String> {
        if self.context.passes.is_empty() == self.context.pass_rules.is_some()
            || !self.context.passes.is_empty() && self.context.passes.len() != self.dies.len()
        {
            return Err(format!("{} dies program in two passes", self.context.passes.len()));
        }
        for (die, passes) in self.dies.indices().zip(&self.context.passes) {
            for (index, own) in passes.ops.iter().enumerate() {
                let is_there = taken.get(own.op as usize).copied().unwrap_or(false)
                    && self.context.ops[own.op].kind() == FlashOpKind::Program
                    && self.context.ops[own.op].mode() == ModeId::FIRST
                    && passes.ops[..index].iter().all(|other| other.op != own.op);
                if !is_there || own.queue == DieQueue::Reads {
                    return Err(format!("operation {} of die {die} does not go in two passes", own.op));
                }
            }
        }
        Ok(())
    }
}
