//! When firmware knows that a die has failed: section 4.2.1 of Reparo.
//!
//! Nobody tells it. An operation that fails makes its block bad; then the blocks beside it are looked at, one after the other, by
//! reading their first page, until one can be read, or so many blocks are bad that the die counts as failed. A die that no command and
//! no task touches therefore stays broken and unknown: patrol reads of scrubbing bound that time.
//!
//! What an operation shows is only noted while it ends. Housekeeping acts upon it at the same time: it begins a round and asks until the
//! round has nothing more to do.

mod probe;
#[cfg(test)]
mod tests;

use outlast_units::{BlockIndex, CoreId, DieId, IndexVec, Nanos};
use probe::{Outcome, Probe};
use std::collections::{BTreeSet, VecDeque};

/// What the detector asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detected {
    /// Read the first page of a block, and tell [`Detector::probe_ended`] what came of it.
    Probe(DieId, BlockIndex),
    /// The die has failed.
    Failed(DieId),
}

/// What was known about a die when it was found to have failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, outlast_persist::Persist)]
pub struct Finding {
    /// When something of it broke that may be all of it; `None` where bad blocks came one by one.
    pub broken_at: Option<Nanos>,
    /// When the first of its bad blocks was found.
    pub first_bad_at: Nanos,
    pub bad_blocks: u32,
    /// Blocks read to see whether they are bad.
    pub probes: u32,
}

/// The blocks of the dies, and how many bad ones a die may have.
#[derive(Clone, Debug, PartialEq, outlast_persist::Persist)]
pub struct DieLayout {
    /// The dies of each core, in the core's order. Each core numbers its blocks die by die, then plane by plane.
    pub dies_of_cores: IndexVec<CoreId, Vec<DieId>>,
    /// Blocks of a die, over its planes.
    pub blocks_per_die: u32,
    /// Planes of a die.
    pub planes_per_die: u32,
    /// Blocks of a die that superblocks use; with so many bad ones it has failed in any case.
    pub in_use: u32,
    /// A die with more bad blocks than these has failed.
    pub most_bad: u32,
}

/// Notes failures of operations and finds dies that have failed.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub struct Detector {
    #[persist(fixed)]
    layout: DieLayout,
    dies: IndexVec<DieId, Suspect>,
    /// Bad blocks that operations have shown since the last round began.
    found: Vec<(DieId, BlockIndex)>,
    /// Dies that are being probed, in the order in which it began.
    probed: Vec<DieId>,
    round: Round,
}

/// What is left to be done in the round.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
struct Round {
    found: VecDeque<(DieId, BlockIndex)>,
    /// Dies whose probes may go on, once `found` is empty.
    probed: Option<VecDeque<DieId>>,
}

/// What is known about a die.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
struct Suspect {
    broken_at: Option<Nanos>,
    bad: BTreeSet<BlockIndex>,
    first_bad_at: Nanos,
    probe: Option<Probe>,
    probes: u32,
    has_failed: bool,
}

impl Detector {
    /// Of dies about which nothing is known.
    ///
    /// # Panics
    /// If a superblock has more blocks than a die.
    pub fn new(layout: DieLayout) -> Self {
        assert!(
            layout.blocks_per_die.is_multiple_of(layout.planes_per_die),
            "planes have equally many blocks"
        );
        assert!(layout.in_use <= layout.blocks_per_die, "superblocks use blocks of the die");
        let dies = layout.dies_of_cores.iter().map(Vec::len).sum();
        Self {
            layout,
            dies: IndexVec::filled(Suspect::default(), dies),
            found: Vec::new(),
            probed: Vec::new(),
            round: Round::default(),
        }
    }

    /// The die that block `block` of core `core` lies on.
    pub(crate) fn die_of(&self, core: CoreId, block: BlockIndex) -> DieId {
        self.layout.dies_of_cores[core][(block.0 / self.layout.blocks_per_die) as usize]
    }

    /// True if firmware knows that a die has failed.
    pub fn has_failed(&self, die: DieId) -> bool {
        self.dies[die].has_failed
    }

    /// The dies that have failed, as far as firmware knows, in order.
    pub fn failed_dies(&self) -> impl Iterator<Item = DieId> {
        self.dies.iter_indexed().filter(|(_, own)| own.has_failed).map(|(die, _)| die)
    }

    /// Bad blocks of a die, found while it was in use.
    pub fn bad_blocks(&self, die: DieId) -> u32 {
        self.dies[die].bad.len() as u32
    }

    /// True if a block, just erased, is to be replaced; `failed`: its operations said so. Not while its die is under suspicion:
    /// replacing all blocks of a failed die one by one would give up superblocks that can go on without it.
    pub(crate) fn must_retire(&self, core: CoreId, block: BlockIndex, failed: bool) -> bool {
        let die = self.die_of(core, block);
        let own = &self.dies[die];
        let is_suspected = own.probe.is_some() || self.found.iter().any(|&(other, _)| other == die);
        (failed || own.bad.contains(&block)) && !is_suspected
    }

    /// Die `die`, or a plane of it, has broken: firmware does not know, but the record of the failure will.
    pub fn note_broken(&mut self, now: Nanos, die: DieId) {
        self.dies[die].broken_at.get_or_insert(now);
    }

    /// An operation has shown that block `block` of core `core` is bad.
    pub(crate) fn note_bad(&mut self, core: CoreId, block: BlockIndex) {
        let die = self.die_of(core, block);
        let own = &self.dies[die];
        if !own.has_failed && !own.bad.contains(&block) && !self.found.contains(&(die, block)) {
            self.found.push((die, block));
        }
    }

    /// The read of the block that die `die` is being probed at has ended. Of a probe that is over by now it says nothing.
    pub(crate) fn probe_ended(&mut self, die: DieId, is_bad: impl FnOnce(BlockIndex) -> bool) {
        if let Some(probe) = &mut self.dies[die].probe {
            probe.ended(is_bad);
        }
    }

    /// A round begins: what has been noted until now is acted upon.
    pub fn begin_round(&mut self) {
        debug_assert!(self.round.found.is_empty() && self.round.probed.is_none(), "rounds come to their end");
        self.round.found.extend(self.found.drain(..));
    }

    /// The next thing that the round asks for; `None` ends the round. `in_use` tells whether a block belongs to a superblock: others hold
    /// nothing that a probe could read.
    pub fn next(&mut self, now: Nanos, in_use: impl Fn(DieId, BlockIndex) -> bool) -> Option<Detected> {
        while let Some((die, block)) = self.round.found.pop_front() {
            if self.add_bad(now, die, block) {
                return Some(Detected::Failed(die));
            }
        }
        let probed = self.round.probed.get_or_insert_with(|| self.probed.iter().copied().collect());
        let mut probed = std::mem::take(probed);
        let mut asked = None;
        while asked.is_none()
            && let Some(die) = probed.pop_front()
        {
            asked = self.go_on_probing(now, die, &in_use);
        }
        self.round.probed = asked.is_some().then_some(probed);
        asked
    }

    /// Block `block` of die `die` is bad. Whether the die has thereby failed.
    fn add_bad(&mut self, now: Nanos, die: DieId, block: BlockIndex) -> bool {
        let own = &mut self.dies[die];
        if own.has_failed || !own.bad.insert(block) {
            return false;
        }
        if own.bad.len() == 1 {
            own.first_bad_at = now;
        }
        let bad = own.bad.len() as u32;
        if bad > self.layout.most_bad || bad >= self.layout.in_use {
            self.declare(die);
            return true;
        }
        if own.probe.is_none() {
            own.probe = Some(Probe::around(block));
            self.probed.push(die);
        }
        false
    }

    /// Die `die` counts as failed from now on.
    ///
    /// # Panics
    /// If it has failed before.
    pub fn declare(&mut self, die: DieId) {
        assert!(!self.dies[die].has_failed, "die {die} fails once");
        self.end_probe(die);
        self.dies[die].has_failed = true;
    }

    /// What is known about a die that has failed.
    pub fn finding(&self, die: DieId) -> Finding {
        let own = &self.dies[die];
        Finding {
            broken_at: own.broken_at,
            first_bad_at: own.first_bad_at,
            bad_blocks: own.bad.len() as u32,
            probes: own.probes,
        }
    }

    /// Takes note of the block that has been read, and goes on to the next.
    fn go_on_probing(
        &mut self,
        now: Nanos,
        die: DieId,
        in_use: &impl Fn(DieId, BlockIndex) -> bool,
    ) -> Option<Detected> {
        match self.dies[die].probe.as_mut()?.take_result() {
            Outcome::None => {}
            Outcome::Awaited => return None,
            Outcome::Good => {
                self.end_probe(die);
                return None;
            }
            Outcome::Bad(block) => {
                if self.add_bad(now, die, block) {
                    return Some(Detected::Failed(die));
                }
            }
        }
        let Suspect { probe, bad, probes, .. } = &mut self.dies[die];
        let is_worth_it = |block| !bad.contains(&block) && in_use(die, block);
        let Some(block) = probe.as_mut()?.next(&self.layout, is_worth_it) else {
            self.end_probe(die);
            return None;
        };
        *probes += 1;
        Some(Detected::Probe(die, block))
    }

    fn end_probe(&mut self, die: DieId) {
        self.dies[die].probe = None;
        self.probed.retain(|&other| other != die);
    }

    /// Power has failed: no read under way will end.
    pub fn power_failed(&mut self) {
        for probe in self.dies.iter_mut().filter_map(|own| own.probe.as_mut()) {
            probe.forget_read();
        }
    }

    /// Probe reads that have been asked for and have not ended.
    pub fn reads_under_way(&self) -> u32 {
        let is_reading = |own: &&Suspect| own.probe.as_ref().is_some_and(Probe::is_reading);
        self.dies.iter().filter(is_reading).count() as u32
    }

    /// Checks that the dies being probed are those with a probe, and that no failed die is probed.
    ///
    /// # Errors
    /// A die whose probe nobody waits for, or that has failed already.
    pub fn self_check(&self) -> Result<(), String> {
        for (die, own) in self.dies.iter_indexed() {
            let listed = self.probed.iter().filter(|&&other| other == die).count();
            if listed != usize::from(own.probe.is_some()) || (own.has_failed && own.probe.is_some()) {
                return Err(format!("die {die} is listed {listed} times as being probed"));
            }
        }
        if !self.round.found.is_empty() || self.round.probed.is_some() {
            return Err("a round of looking for failed dies has not come to its end".to_owned());
        }
        Ok(())
    }
}
