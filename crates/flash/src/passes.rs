//! Programs in two passes: a coarse one, and a fine one that follows the coarse pass of a later row of the same block.
//!
//! An operation goes through its queue twice, first in its turn and then before all that wait there, and stays in the room in between: it is handed back when
//! its fine pass has ended. So whoever submits it knows of one program, which takes long. Fine passes of a block go in the order of its rows. One that
//! nothing is to follow, as a superblock is full or has been closed, does not wait for it ([`Flash::close_passes`]).
//!
//! Only dies of flash with two passes keep anything here, and it is looked at for programs only.

use crate::die::DiePhase;
use crate::flash::{DieEvent, Flash};
use crate::op::{DieQueue, FlashOp};
use crate::op_kind::FlashOpKind;
use outlast_media::TwoPassConfig;
use outlast_units::slab::Slab;
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

/// Programs in two passes, by die, each in the order of submission; on no die where there is one pass.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub struct Passes {
    dies: Vec<Vec<PassedOp>>,
    #[persist(skip)]
    rules: Option<PassRules>,
}

#[derive(Clone, Copy, Debug)]
struct PassRules {
    config: TwoPassConfig,
    /// Page rows from an operation to the one whose coarse pass its fine pass follows.
    rows: u32,
}

impl Passes {
    /// Passes by `config` on `dies` dies, for program units of `rows` page rows.
    pub(crate) fn new(config: Option<TwoPassConfig>, rows: u32, dies: usize) -> Self {
        let rules = config.map(|config| PassRules { config, rows: rows * config.distance });
        Self { dies: if rules.is_some() { vec![Vec::new(); dies] } else { Vec::new() }, rules }
    }

    /// True if programs in the first mode take two passes.
    #[inline]
    pub fn are_on(&self) -> bool {
        self.rules.is_some()
    }

    /// Program units of a block from one operation to the one whose coarse pass its fine pass follows; 0: there is one pass.
    pub fn distance(&self) -> u32 {
        self.rules.map_or(0, |rules| rules.config.distance)
    }

    fn of(&self, die: DieId) -> &[PassedOp] {
        self.dies.get(die.index()).map_or(&[], Vec::as_slice)
    }

    fn stage(&self, die: DieId, op: u32) -> Option<PassStage> {
        self.of(die).iter().find(|own| own.op == op).map(|own| own.stage)
    }

    /// All operations of `die`, in order.
    pub(crate) fn all(&self, die: DieId) -> impl Iterator<Item = u32> {
        self.of(die).iter().map(|own| own.op)
    }

    /// Operations of `die` between their passes.
    pub(crate) fn between(&self, die: DieId) -> impl Iterator<Item = u32> {
        self.of(die).iter().filter(|own| own.stage == PassStage::Between).map(|own| own.op)
    }

    /// True if operation `op` of `die` is one in two passes.
    pub(crate) fn has(&self, die: DieId, op: u32) -> bool {
        self.stage(die, op).is_some()
    }

    /// True if operation `op` of `die` has had its coarse pass.
    pub(crate) fn is_past_coarse(&self, die: DieId, op: u32) -> bool {
        self.stage(die, op).is_some_and(|stage| stage != PassStage::Coarse)
    }

    /// Notes operation `op`, which has been submitted to `queue` of `die`, if it is a program in two passes.
    #[cold]
    pub(crate) fn note<T>(&mut self, ops: &Slab<FlashOp<T>>, die: DieId, queue: DieQueue, op: u32) {
        if ops[op].kind() == FlashOpKind::Program && ops[op].mode() == ModeId::FIRST {
            self.dies[die.index()].push(PassedOp { op, queue, stage: PassStage::Coarse, is_last: false });
        }
    }

    /// Time of the array for the pass of program `op` that begins, which takes `whole` in all its passes.
    pub(crate) fn time(&self, die: DieId, op: u32, whole: Nanos) -> Nanos {
        let Some(rules) = self.rules else { return whole };
        let coarse = rules.config.coarse_time(whole);
        match self.stage(die, op) {
            Some(PassStage::Coarse) => coarse,
            Some(_) => whole - coarse,
            None => whole,
        }
    }

    /// Ends the coarse pass of `op` of `die`, which came from the queue that is returned; `None` if it is no coarse pass.
    fn end_coarse(&mut self, die: DieId, op: u32) -> Option<DieQueue> {
        let own = self.dies[die.index()].iter_mut().find(|own| own.op == op)?;
        (own.stage == PassStage::Coarse).then(|| {
            own.stage = PassStage::Between;
            own.queue
        })
    }

    /// Takes the program between its passes, and its queue, that is the first of its block on `die` and whose fine pass may go now.
    fn take_next<T>(&mut self, ops: &Slab<FlashOp<T>>, die: DieId) -> Option<(u32, DieQueue)> {
        let (rows, own) = (self.rules?.rows, &mut self.dies[die.index()]);
        let goes = |one: &PassedOp| {
            let (block, row) = (ops[one.op].block, ops[one.op].row());
            let mut others = own.iter().filter(|other| ops[other.op].block == block);
            if others.clone().any(|other| ops[other.op].row() < row) {
                return false;
            }
            let is_followed =
                |other: &PassedOp| other.stage != PassStage::Coarse && ops[other.op].row() >= row + rows;
            let awaits = |other: &PassedOp| {
                let at = ops[other.op].row();
                other.stage == PassStage::Coarse && at > row && at <= row + rows
            };
            others.clone().any(is_followed) || one.is_last && !others.any(awaits)
        };
        let index = own.iter().position(|one| one.stage == PassStage::Between && goes(one))?;
        own[index].stage = PassStage::Fine;
        Some((own[index].op, own[index].queue))
    }

    /// Programs of block `block` of `die`, or of all its blocks, that have been submitted are followed by nothing.
    fn close<T>(&mut self, ops: &Slab<FlashOp<T>>, die: DieId, block: Option<BlockId>) {
        let own = self.dies.get_mut(die.index()).into_iter().flatten();
        for one in own.filter(|one| block.is_none_or(|block| ops[one.op].block == block)) {
            one.is_last = true;
        }
    }

    /// Program `op` of `die` has ended.
    fn leave(&mut self, die: DieId, op: u32) {
        self.dies[die.index()].retain(|own| own.op != op);
    }

    /// Power fails.
    pub(crate) fn cut_power(&mut self) {
        self.dies.iter_mut().for_each(Vec::clear);
    }

    /// Operations of `die` whose fine pass waits for something that has not been submitted.
    fn open<T>(&self, ops: &Slab<FlashOp<T>>, die: DieId) -> impl Iterator<Item = u32> {
        let rows = self.rules.map_or(0, |rules| rules.rows);
        let is_open = move |own: &&PassedOp| {
            let (block, row) = (ops[own.op].block, ops[own.op].row());
            let follows = |op: u32| ops[op].block == block && ops[op].row() >= row + rows;
            !own.is_last && own.stage != PassStage::Fine && !self.all(die).any(follows)
        };
        self.of(die).iter().filter(is_open).map(|own| own.op)
    }

    /// Checks programs that were read: each is one of its die, once, and among those in `taken`, which dies have.
    ///
    /// # Errors
    /// The first that is not.
    pub(crate) fn check<T>(&self, ops: &Slab<FlashOp<T>>, dies: usize, taken: &[bool]) -> Result<(), String> {
        if self.dies.len() != if self.are_on() { dies } else { 0 } {
            return Err(format!("{} dies program in two passes", self.dies.len()));
        }
        for (die, own) in self.dies.iter().enumerate() {
            for (index, one) in own.iter().enumerate() {
                let is_there = taken.get(one.op as usize).copied().unwrap_or(false)
                    && ops[one.op].kind() == FlashOpKind::Program
                    && ops[one.op].mode() == ModeId::FIRST
                    && own[..index].iter().all(|other| other.op != one.op);
                if !is_there || one.queue == DieQueue::Reads {
                    return Err(format!("operation {} of die {die} does not go in two passes", one.op));
                }
            }
        }
        Ok(())
    }
}

impl<T: Copy> Flash<T> {
    /// Programs in two passes.
    #[inline]
    pub fn passes(&self) -> &Passes {
        &self.context.passes
    }

    /// Ends the coarse pass of the program that is about to end on `die`, which is free then; `None` if it is no coarse pass.
    #[inline(never)]
    pub(crate) fn end_coarse_pass(&mut self, now: Nanos, die: DieId) -> Option<DieEvent<T>> {
        let state = &mut self.dies[die];
        let op = state.current;
        if state.phase != DiePhase::Array {
            return None;
        }
        let queue = self.context.passes.end_coarse(die, op)?;
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
        self.context.passes.leave(die, op);
        self.queue_fine_passes(die);
    }

    /// Queues the fine passes of `die` whose turn it is: one of each block at most. True if there are any.
    fn queue_fine_passes(&mut self, die: DieId) -> bool {
        let mut any = false;
        while let Some((op, queue)) = self.context.passes.take_next(&self.context.ops, die) {
            self.dies[die].list(queue).push_front(&mut self.context.ops, op);
            any = true;
        }
        any
    }

    /// Programs of block `block` of `die`, or of all its blocks, that have been submitted are followed by nothing: the fine passes of the last ones wait
    /// for none. True if one has become due: the die is to be [woken](Flash::wake).
    pub fn close_passes(&mut self, die: DieId, block: Option<BlockId>) -> bool {
        self.context.passes.close(&self.context.ops, die, block);
        self.queue_fine_passes(die)
    }

    /// The programs, by die, whose fine pass waits for something that has not been submitted.
    pub fn open_passes(&self) -> impl Iterator<Item = (DieId, &FlashOp<T>)> {
        let dies = self.dies.indices().filter(|_| self.context.passes.are_on());
        dies.flat_map(move |die| {
            self.context.passes.open(&self.context.ops, die).map(move |op| (die, &self.context.ops[op]))
        })
    }
}
