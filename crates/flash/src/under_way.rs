//! Operations under way, the end of all of them by a loss of power, and checks of the room.

use crate::channel::FlashChannel;
use crate::die::{DiePhase, FlashDie};
use crate::flash::{DieContext, Flash};
use crate::op::{FlashOp, LONGEST_SENSING};
use crate::op_kind::FlashOpKind;
use crate::pipe::ReadPipe;
use crate::transfer_queue::TransferQueue;
use outlast_units::slab::{NIL, Slab};
use outlast_units::{DieId, Nanos};

/// A program that waited or was under way when power failed.
#[derive(Clone, Copy, Debug)]
pub struct OutstandingProgram<T> {
    /// The die.
    pub die: DieId,
    /// The operation.
    pub op: FlashOp<T>,
    /// True if the die had begun it.
    pub started: bool,
    /// True if the die was at its last pass, of two or one.
    pub in_last_pass: bool,
}

impl<T: Copy> Flash<T> {
    /// The reads under way, by die.
    pub fn reads_under_way(&self) -> impl Iterator<Item = (DieId, &FlashOp<T>)> {
        let reading = |die: &FlashDie| matches!(die.phase, DiePhase::Sensing | DiePhase::ReadTransfer);
        let alone = self.dies.iter_indexed().filter(move |(_, die)| reading(die));
        let beside = self.dies.indices().zip(&self.context.pipes);
        let beside = beside.flat_map(|(id, pipe)| pipe.ops().map(move |op| (id, op)));
        alone.map(|(id, die)| (id, die.current)).chain(beside).map(|(id, op)| (id, &self.context.ops[op]))
    }

    /// The reads that wait or are under way, by die.
    pub fn reads(&self) -> impl Iterator<Item = (DieId, &FlashOp<T>)> {
        let waiting = move |(id, die): (DieId, _)| {
            let lists = self.queued_ops(die).chain(die.reads.iter(&self.context.ops));
            lists.map(move |op| (id, &self.context.ops[op])).filter(|(_, op)| op.kind() == FlashOpKind::Read)
        };
        self.reads_under_way().chain(self.dies.iter_indexed().flat_map(waiting))
    }

    /// The programs that wait or are under way, by die.
    pub fn programs(&self) -> impl Iterator<Item = (DieId, &FlashOp<T>)> {
        let of = move |(id, die)| {
            let of_one = begun_ops(die).chain(self.queued_ops(die));
            let of_one = of_one.filter(move |&op| !self.context.passes.has(id, op));
            self.context.passes.all(id).chain(of_one).map(move |op| (id, &self.context.ops[op]))
        };
        self.dies.iter_indexed().flat_map(of).filter(|(_, op)| op.kind() == FlashOpKind::Program)
    }

    fn queued_ops(&self, die: &FlashDie) -> impl Iterator<Item = u32> {
        [die.programs, die.collection, die.background]
            .into_iter()
            .flat_map(|list| list.iter(&self.context.ops))
    }

    /// Cuts power: no die works, no operation waits, no event is due. Returns the programs that are lost thereby, those of each die in the order in
    /// which it had or would have begun them.
    pub fn cut_power(&mut self, now: Nanos) -> Vec<OutstandingProgram<T>> {
        let mut outstanding = Vec::new();
        for (die, state) in self.dies.iter_indexed() {
            let begun: Vec<u32> = begun_ops(state).collect();
            // By submission, which is the order of rows in a block.
            for number in self.context.passes.all(die) {
                let (is_begun, is_past) =
                    (begun.contains(&number), self.context.passes.is_past_coarse(die, number));
                let (started, in_last_pass) = (is_begun || is_past, is_begun && is_past);
                outstanding.push(OutstandingProgram {
                    die,
                    op: self.context.ops[number],
                    started,
                    in_last_pass,
                });
            }
            let queued = self.queued_ops(state).map(|op| (op, false));
            let of_one = begun.iter().map(|&op| (op, true)).chain(queued);
            for (op, started) in of_one.filter(|&(op, _)| !self.context.passes.has(die, op)) {
                let op = self.context.ops[op];
                if op.kind() == FlashOpKind::Program {
                    outstanding.push(OutstandingProgram { die, op, started, in_last_pass: started });
                }
            }
        }
        for die in self.dies.indices() {
            self.dies[die].worked = self.worked_until(die, now);
            self.dies[die].cut_power(now);
        }
        for channel in &mut self.context.channels {
            channel.cut_power(now);
        }
        self.context.pipes.fill(ReadPipe::default());
        self.context.passes.cut_power();
        self.context.transfer_queues.fill(TransferQueue::default());
        if let Some(accounts) = &mut self.context.accounts {
            self.dies.indices().for_each(|die| accounts.rest_die(now, die));
        }
        self.context.ops = Slab::default();
        self.context.events.clear();
        self.context.internal = 0;
        self.context.thinking.cut_power();
        self.context.waiting.clear();
        outstanding
    }

    /// Checks a room that was read from a snapshot: each operation is reached from one die, once, and is of a kind that the die may work on there;
    /// the event tree has only sources that exist. To be called before any other method.
    ///
    /// # Errors
    /// The first contradiction, in one line.
    pub fn check_restored(&self) -> Result<(), String> {
        let context = &self.context;
        let mut seen = vec![false; context.ops.slots().len()];
        context.ops.free().iter().for_each(|&op| seen[op as usize] = true);
        let mut take = |die: DieId, op: u32, is_read: Option<bool>| -> Result<u32, String> {
            let is_new = seen.get_mut(op as usize).is_some_and(|seen| !std::mem::replace(seen, true));
            let reached = context.ops.slots().get(op as usize).filter(|_| is_new);
            let reached = reached
                .filter(|op| is_read.is_none_or(|is_read| is_read == (op.kind() == FlashOpKind::Read)));
            let reached = reached.filter(|op| match op.kind() {
                FlashOpKind::Read => context.unit.contains(op.mask) && op.units() == op.mask.count_ones(),
                FlashOpKind::Program => op.units() <= context.unit.units() && op.mask <= LONGEST_SENSING,
                FlashOpKind::Erase => true,
            });
            reached
                .map(FlashOp::next)
                .ok_or_else(|| format!("die {die} has operation {op}, which is none or another's"))
        };
        if !context.pipes.is_empty() && context.pipes.len() != self.dies.len()
            || context.gathering
            || !context.gathered.is_empty()
        {
            return Err("reads of a command are being queued, or beside each other on no die".to_owned());
        }
        for (id, die) in self.dies.iter_indexed() {
            let reading = matches!(die.phase, DiePhase::Sensing | DiePhase::ReadTransfer);
            if reading {
                take(id, die.current, Some(true))?;
            }
            for op in begun_ops(die) {
                take(id, op, Some(false))?;
            }
            if die.phase == DiePhase::Suspending
                && die.suspended.is_none_or(|suspended| suspended.op != die.current)
            {
                return Err(format!("die {id} waits for an operation that is not suspended"));
            }
            for op in context.pipes.get(id.index()).into_iter().flat_map(ReadPipe::ops) {
                take(id, op, Some(true))?;
            }
            for op in self.context.passes.between(id) {
                take(id, op, Some(false))?;
            }
            let lists = [
                (die.reads, Some(true)),
                (die.programs, Some(false)),
                (die.collection, None),
                (die.background, None),
            ];
            for (list, is_read) in lists {
                let (mut at, mut last) = (list.head(), list.head());
                while at != NIL {
                    last = at;
                    at = take(id, at, is_read)?;
                }
                if !list.is_empty() && list.last() != last {
                    return Err(format!(
                        "what waits for die {id} does not end with operation {}",
                        list.last()
                    ));
                }
            }
        }
        context.passes.check(&context.ops, self.dies.len(), &seen)?;
        self.check_internal()?;
        context.events.check()
    }

    fn check_internal(&self) -> Result<(), String> {
        let DieContext { internal, internal_max, thinking, .. } = &self.context;
        if internal > internal_max || thinking.slots() > *internal as usize {
            return Err(format!("{internal} internal operations of at most {internal_max}"));
        }
        Ok(())
    }

    /// Checks that every operation waits or is under way exactly once, that the dies that wait to start one more internal operation are those
    /// listed, and that internal operations keep to their bound.
    ///
    /// # Errors
    /// What does not fit, in one line.
    pub fn self_check(&self) -> Result<(), String> {
        let mut seen = 0;
        for (id, die) in self.dies.iter_indexed() {
            let reading = matches!(die.phase, DiePhase::Sensing | DiePhase::ReadTransfer);
            let beside = self.context.pipes.get(id.index()).map_or(0, |pipe| pipe.ops().count());
            if (die.phase == DiePhase::Reading) != (beside != 0) {
                return Err(format!("die {id} is {:?} with {beside} reads beside each other", die.phase));
            }
            let at_work = begun_ops(die).count() + usize::from(reading) + beside;
            seen += at_work + die.reads.iter(&self.context.ops).count() + self.queued_ops(die).count();
            seen += self.context.passes.between(id).count();
            if (die.phase == DiePhase::Idle) != (at_work == 0) && die.suspended.is_none() {
                return Err(format!("die {id} is {:?} with {at_work} operations under way", die.phase));
            }
            if die.waiting != self.context.waiting.contains(&id) {
                return Err(format!("die {id} waits to start an internal operation, or is listed, not both"));
            }
        }
        if seen != self.context.ops.used() {
            return Err(format!("dies hold {seen} operations, the room {}", self.context.ops.used()));
        }
        if self.context.internal > self.context.internal_max {
            return Err(format!(
                "{} internal operations of at most {}",
                self.context.internal, self.context.internal_max
            ));
        }
        let thinking = self.context.thinking.slots();
        if thinking > self.context.internal as usize {
            return Err(format!("{thinking} slots think, of {} that are taken", self.context.internal));
        }
        Ok(())
    }
}

/// Operations that the array of a die has begun: the one it works on, and the suspended one. While an operation is about to be suspended it is both
/// current and suspended; it counts once, as suspended.
fn begun_ops(die: &FlashDie) -> impl Iterator<Item = u32> + use<> {
    let current = (die.phase == DiePhase::Array).then_some(die.current);
    current.into_iter().chain(die.suspended.map(|suspended| suspended.op))
}

/// When the channels and arrays have done what they have begun.
pub fn flash_busy_until<T>(flash: &Flash<T>) -> Nanos {
    let channels = flash.context.channels.iter().map(FlashChannel::free_at);
    let dies = flash.dies.iter().map(|die| die.array_end.max(die.array_start));
    channels.chain(dies).fold(Nanos::ZERO, Nanos::max)
}

/// All operations, by die.
pub fn operations<T: Copy>(flash: &Flash<T>) -> impl Iterator<Item = (DieId, &FlashOp<T>)> {
    let of = move |(id, die): (DieId, _)| {
        let between = flash.context.passes.between(id);
        let lists = begun_ops(die)
            .chain(flash.queued_ops(die))
            .chain(die.reads.iter(&flash.context.ops))
            .chain(between);
        lists.map(move |op| (id, &flash.context.ops[op]))
    };
    flash.reads_under_way().chain(flash.dies.iter_indexed().flat_map(of))
}
