//! What is under way, and what of it a loss of power leaves.

use crate::die::{Die, Phase};
use crate::flash::Flash;
use crate::line::Line;
use crate::op::{Kind, Op};
use crate::pipe::Pipe;
use outlast_units::slab::{NIL, Slab};
use outlast_units::{DieId, Nanos};

/// A program that a loss of power found waiting or under way.
#[derive(Clone, Copy, Debug)]
pub struct Outstanding<T> {
    /// The die.
    pub die: DieId,
    /// The operation.
    pub op: Op<T>,
    /// Whether the die had begun it.
    pub started: bool,
}

impl<T: Copy> Flash<T> {
    /// The reads under way, by die.
    pub fn reads_under_way(&self) -> impl Iterator<Item = (DieId, &Op<T>)> {
        let reading = |die: &Die| matches!(die.phase, Phase::Sensing | Phase::ReadTransfer);
        let alone = self.dies.iter_indexed().filter(move |(_, die)| reading(die));
        let beside = self.dies.indices().zip(&self.pipes);
        let beside = beside.flat_map(|(id, pipe)| pipe.ops().map(move |op| (id, op)));
        alone.map(|(id, die)| (id, die.current)).chain(beside).map(|(id, op)| (id, &self.ops[op]))
    }

    /// The reads that wait or are under way, by die.
    pub fn reads(&self) -> impl Iterator<Item = (DieId, &Op<T>)> {
        let waiting = move |(id, die): (DieId, _)| {
            let lists = self.queued(die).chain(die.reads.iter(&self.ops));
            lists.map(move |op| (id, &self.ops[op])).filter(|(_, op)| op.kind == Kind::Read)
        };
        self.reads_under_way().chain(self.dies.iter_indexed().flat_map(waiting))
    }

    /// The programs that wait or are under way, by die.
    pub fn programs(&self) -> impl Iterator<Item = (DieId, &Op<T>)> {
        let of = move |(id, die)| begun(die).chain(self.queued(die)).map(move |op| (id, &self.ops[op]));
        self.dies.iter_indexed().flat_map(of).filter(|(_, op)| op.kind == Kind::Program)
    }

    fn queued(&self, die: &Die) -> impl Iterator<Item = u32> {
        [die.programs, die.collection, die.background].into_iter().flat_map(|list| list.iter(&self.ops))
    }

    /// Power fails: no die does anything any more, nothing waits, and nothing but housekeeping is due. Returns the programs that this
    /// concerns, those of each die in the order in which it had or would have begun them.
    pub fn cut(&mut self, now: Nanos) -> Vec<Outstanding<T>> {
        let mut outstanding = Vec::new();
        for (die, state) in self.dies.iter_indexed() {
            let begun = begun(state).map(|op| (op, true));
            for (op, started) in begun.chain(self.queued(state).map(|op| (op, false))) {
                let op = self.ops[op];
                if op.kind == Kind::Program {
                    outstanding.push(Outstanding { die, op, started });
                }
            }
        }
        for die in self.dies.indices() {
            self.dies[die].worked = self.worked_until(die, now);
            self.dies[die].cut(now);
        }
        for channel in &mut self.channels {
            channel.cut(now);
        }
        self.pipes.fill(Pipe::default());
        self.lines.fill(Line::default());
        if let Some(clocks) = &mut self.clocks {
            self.dies.indices().for_each(|die| clocks.rests(now, die));
        }
        self.ops = Slab::default();
        self.events.clear();
        self.internal = 0;
        self.thinking.cut();
        self.waiting.clear();
        outstanding
    }

    /// Whether what was read leads from each die to operations that are there, each once, and of a kind that it may be at work on; and all times in
    /// the tree are those of sources that there are. To be asked before anything else is.
    ///
    /// # Errors
    /// What does not fit, in one line.
    pub fn check_restored(&self) -> Result<(), String> {
        let mut seen = vec![false; self.ops.slots().len()];
        self.ops.free().iter().for_each(|&op| seen[op as usize] = true);
        let mut take = |die: DieId, op: u32, is_read: Option<bool>| -> Result<u32, String> {
            let is_new = seen.get_mut(op as usize).is_some_and(|seen| !std::mem::replace(seen, true));
            let own = self.ops.slots().get(op as usize).filter(|_| is_new);
            let own = own.filter(|own| is_read.is_none_or(|is_read| is_read == (own.kind == Kind::Read)));
            let own = own.filter(|own| own.kind != Kind::Read || self.unit.contains(own.mask));
            own.map(Op::next)
                .ok_or_else(|| format!("die {die} has operation {op}, which is none or another's"))
        };
        if !self.pipes.is_empty() && self.pipes.len() != self.dies.len()
            || self.gathering
            || !self.gathered.is_empty()
        {
            return Err("reads of a command are being queued, or beside each other on no die".to_owned());
        }
        for (id, die) in self.dies.iter_indexed() {
            let reading = matches!(die.phase, Phase::Sensing | Phase::ReadTransfer);
            if reading {
                take(id, die.current, Some(true))?;
            }
            for op in begun(die) {
                take(id, op, Some(false))?;
            }
            if die.phase == Phase::Suspending && die.suspended.is_none_or(|own| own.op != die.current) {
                return Err(format!("die {id} waits for an operation that is not suspended"));
            }
            for op in self.pipes.get(id.index()).into_iter().flat_map(Pipe::ops) {
                take(id, op, Some(true))?;
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
        if self.internal > self.internal_max || self.thinking.slots() > self.internal as usize {
            return Err(format!("{} internal operations of at most {}", self.internal, self.internal_max));
        }
        self.events.check()
    }

    /// Checks that every operation waits or is under way exactly once, that the dies that wait to start one more internal operation are those
    /// listed, and that internal operations keep to their bound.
    ///
    /// # Errors
    /// What does not fit, in one line.
    pub fn self_check(&self) -> Result<(), String> {
        let mut seen = 0;
        for (id, die) in self.dies.iter_indexed() {
            let reading = matches!(die.phase, Phase::Sensing | Phase::ReadTransfer);
            let beside = self.pipes.get(id.index()).map_or(0, |pipe| pipe.ops().count());
            if (die.phase == Phase::Reading) != (beside != 0) {
                return Err(format!("die {id} is {:?} with {beside} reads beside each other", die.phase));
            }
            let at_work = begun(die).count() + usize::from(reading) + beside;
            seen += at_work + die.reads.iter(&self.ops).count() + self.queued(die).count();
            if (die.phase == Phase::Idle) != (at_work == 0) && die.suspended.is_none() {
                return Err(format!("die {id} is {:?} with {at_work} operations under way", die.phase));
            }
            if die.waiting != self.waiting.contains(&id) {
                return Err(format!("die {id} waits to start an internal operation, or is listed, not both"));
            }
        }
        if seen != self.ops.used() {
            return Err(format!("dies hold {seen} operations, the room {}", self.ops.used()));
        }
        if self.internal > self.internal_max {
            return Err(format!("{} internal operations of at most {}", self.internal, self.internal_max));
        }
        let thinking = self.thinking.slots();
        if thinking > self.internal as usize {
            return Err(format!("{thinking} slots think, of {} that are taken", self.internal));
        }
        Ok(())
    }
}

/// What the array of a die does, and what it has been interrupted in. While an operation waits to be suspended it is both current
/// and suspended; it counts once, as suspended.
fn begun(die: &Die) -> impl Iterator<Item = u32> + use<> {
    let current = (die.phase == Phase::Array).then_some(die.current);
    current.into_iter().chain(die.suspended.map(|suspended| suspended.op))
}
