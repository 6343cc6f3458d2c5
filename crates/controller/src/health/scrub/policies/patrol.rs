//! Patrol: all program units are read in turn, and a superblock is moved when one of its codewords has too many wrong bits.

use super::{Policy, View};
use outlast_units::{Nanos, Pu, SuperblockId};

#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub(super) struct Patrol {
    /// In which every program unit is read once.
    #[persist(fixed)]
    period: Nanos,
    next: Nanos,
    /// The next program unit.
    pu: Pu,
    /// True if a read is under way: there is one at most.
    is_reading: bool,
}

impl Policy for Patrol {
    type Setting = Nanos;

    fn new(period: Nanos, _superblocks: u32) -> Self {
        Self { period, next: Nanos::MAX, pu: Pu(0), is_reading: false }
    }

    fn begin(&mut self, now: Nanos) {
        self.next = now;
    }

    fn next(&self) -> Nanos {
        self.next
    }

    /// Has the next program unit of a sealed superblock read, when it is time and the last one has been read.
    fn tick(&mut self, view: &impl View, _move_it: impl FnMut(SuperblockId), patrol: &mut Option<Pu>) {
        if self.next > view.now() {
            return;
        }
        let per_superblock = view.pus_per_superblock();
        let pus = view.superblocks() * per_superblock;
        self.next = view.now() + Nanos((self.period.0 / u64::from(pus)).max(1));
        if self.is_reading {
            return;
        }
        let superblock = |pu: Pu| SuperblockId(pu.0 / per_superblock);
        for _ in 0..view.superblocks() {
            if view.is_sealed(superblock(self.pu)) {
                break;
            }
            self.pu = Pu((superblock(self.pu).0 + 1) * per_superblock % pus);
        }
        let pu = self.pu;
        self.pu = Pu((pu.0 + 1) % pus);
        if view.is_sealed(superblock(pu)) && !view.is_dead(pu) {
            self.is_reading = true;
            *patrol = Some(pu);
        }
    }

    fn patrolled(&mut self, failed: bool) -> bool {
        assert!(self.is_reading, "a patrol read has ended that nobody asked for");
        self.is_reading = false;
        failed
    }

    fn is_patrolling(&self) -> bool {
        self.is_reading
    }

    fn power_failed(&mut self) {
        self.is_reading = false;
    }
}
