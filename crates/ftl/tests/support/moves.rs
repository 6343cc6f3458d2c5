//! Data on the move, superblocks that are erased, dies and power that fail.

use super::rig::{Page, Rig};
use outlast_decisions::SuperblockState;
use outlast_ftl::{MovingUnits, StreamCause};
use outlast_settings::ftl::PartialPlace;
use outlast_units::{BlockIndex, LocalDie, Pu, PuWithin, Stream, SuperblockId};

impl Rig {
    /// The superblock that a task moves next, and to which stream.
    fn victim(&mut self, cause: StreamCause) -> Option<(SuperblockId, Stream)> {
        let victim = match cause {
            StreamCause::Gc => self.ftl.choose_victim().or_else(|| self.ftl.choose_broken()),
            StreamCause::WearLeveling => self.ftl.choose_cold(),
            _ => {
                let any = SuperblockId(self.rng.below(u64::from(self.ftl.layout().superblocks())) as u32);
                Some(any).filter(|&any| self.ftl.superblock(any).state() == SuperblockState::Sealed)
            }
        }?;
        let class = self.ftl.superblock(victim).class();
        let stream = match cause {
            StreamCause::Gc => self.ftl.streams().gc(class),
            StreamCause::WearLeveling => self.ftl.streams().wear_leveling(class),
            _ => self.ftl.streams().scrub(class),
        };
        (cause == StreamCause::Gc || self.ftl.space().can_relocate(victim, stream))
            .then_some((victim, stream))
    }

    /// Relocates a victim; gives up after a share of its program units, unless that is all.
    pub(crate) fn collect(&mut self, cause: StreamCause, share: f64) {
        let Some((victim, stream)) = self.victim(cause) else { return };
        let pus = self.ftl.layout().pus_per_superblock();
        self.ftl.begin_relocation(victim, stream, cause);
        for within in (0..(f64::from(pus) * share) as u32).map(PuWithin) {
            self.relocate(stream, victim, within);
        }
        if self.ftl.superblock(victim).valid() != 0 {
            self.ftl.give_up_relocation(victim, stream);
            return;
        }
        self.ftl.end_promise(stream);
        self.formers.push(victim);
        self.erase_formers();
    }

    /// Erases what has moved, as far as what superseded it is on flash.
    pub(crate) fn erase_formers(&mut self) {
        for victim in std::mem::take(&mut self.formers) {
            if !self.ftl.superblock(victim).may_be_erased() {
                assert!(self.kind.late, "{victim} is pinned, and the buffer is protected");
                self.formers.push(victim);
                continue;
            }
            let bad = self.rng.below(self.kind.failures) == 0;
            let blocks: Vec<BlockIndex> = self.ftl.superblock(victim).blocks().collect();
            let block = blocks[self.rng.below(blocks.len() as u64) as usize];
            self.ftl.erased_but(victim, |at| bad && at == block);
            let pus = self.ftl.layout().pus_per_superblock();
            self.broken.retain(|pu| pu.0 / pus != victim.0);
        }
    }

    pub(crate) fn relocate(&mut self, stream: Stream, victim: SuperblockId, within: PuWithin) {
        let pu = self.ftl.layout().pu_at(victim, within);
        let mut mask = self.ftl.valid_units(victim, within);
        for (unit, slot) in self.slots(pu).enumerate() {
            if mask >> unit & 1 == 1 && self.is_unreadable(pu) && !self.comes_back(slot) {
                let lost = self.ftl.lose(slot);
                self.is_lost(lost);
                mask &= !(1 << unit);
            }
        }
        if mask == 0 {
            return;
        }
        let mut moving = MovingUnits::of(&self.ftl, pu, mask);
        while !moving.are_done() && self.ftl.can_append(stream) {
            let relocated = self.ftl.relocate_units(stream, &mut moving);
            if let Some(pu) = relocated.completed {
                self.queue_full(stream, pu);
            }
        }
    }

    /// Power fails: some program operations are under way, at most one on each lane.
    pub(crate) fn cut(&mut self) {
        for victim in std::mem::take(&mut self.formers) {
            self.ftl.end_relocation(victim);
        }
        self.ftl.power_failed();
        if !self.kind.late {
            // The buffer has survived, and what was on its way follows.
            return;
        }
        let (mut started, mut queued) = (Vec::new(), Vec::new());
        for queue in &mut self.queues {
            let begun = usize::from(self.rng.below(2) == 0).min(queue.len());
            started.extend(queue.drain(..begun));
            queued.extend(queue.drain(..));
        }
        self.lose_buffer(&started, &queued);
    }

    pub(crate) fn lose_buffer(&mut self, started: &[Pu], queued: &[Pu]) {
        let mut after = self.ftl.lose_buffer(started, queued);
        after.read.extend(self.ftl.stripes_under_way());
        self.newest = self.durable.clone();
        self.read_for_parity(&after.read, true);
        self.ftl.recompute_parity(&after.fill);
        after.fill.into_iter().for_each(|pu| self.queue(pu));
        self.streams().for_each(|stream| self.queue_parity(stream));
    }

    /// Program units are read so that the parity of their stripes is known again; `covered`: what covers the stripes has survived.
    fn read_for_parity(&mut self, read: &[Pu], covered: bool) {
        for &pu in read {
            if !self.is_unreadable(pu) {
                continue;
            }
            for (unit, slot) in (0..).zip(self.slots(pu)) {
                if !covered || !self.ftl.parity().cover_gives(pu, unit, |other| self.is_unreadable(other)) {
                    let (owner, version) = (self.ftl.owner(slot), self.version(slot));
                    let lost = self.ftl.lose_uncovered(slot);
                    if lost.is_none() && self.durable.get(&owner) == Some(&Page::Written(version)) {
                        // What superseded it is in the buffer.
                        self.durable.insert(owner, Page::Lost);
                    }
                    self.is_lost(lost);
                }
            }
        }
    }

    /// The non-volatile cache of parity loses what it holds.
    pub(crate) fn lose_cache(&mut self) {
        if self.kind.place == PartialPlace::Cache {
            let read = self.ftl.stripes_under_way();
            self.read_for_parity(&read, false);
        }
    }

    pub(crate) fn is_unreadable(&self, pu: Pu) -> bool {
        self.ftl.space().pus().is_dead_lane(pu) || self.broken.contains(&pu)
    }

    /// A die fails, or a plane of it.
    pub(crate) fn fail_die(&mut self, plane: Option<u16>) {
        if self.dead == 2 {
            return;
        }
        self.ftl.give_up_die(LocalDie(self.dead), plane);
        self.dead += 1;
        self.streams().for_each(|stream| self.queue_parity(stream));
    }
}
