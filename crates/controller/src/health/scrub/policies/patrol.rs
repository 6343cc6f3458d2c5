//! Patrol: all program units are read in turn, and a superblock is moved when one of its codewords has too many wrong bits.

use super::{Policy, View};
use outlast_units::{Nanos, Pu, SuperblockId};

#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub(super) struct Patrol {
    /// In which every program unit has its turn once, whether there is something to read or not: a drive that holds less is read as
    /// often, and not faster.
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

    /// Has the next program unit read, when it is time and the last one has been read. In the time of superblocks that are not sealed nothing is
    /// read.
    fn tick(&mut self, view: &impl View, _move_it: impl FnMut(SuperblockId), patrol: &mut Option<Pu>) {
        if self.next > view.now() {
            return;
        }
        let per_superblock = view.pus_per_superblock();
        let pus = view.superblocks() * per_superblock;
        let turn = (self.period.0 / u64::from(pus)).max(1);
        self.next = view.now() + Nanos(turn);
        if self.is_reading {
            return;
        }
        let mut passed_over = 0;
        while passed_over < pus && !view.is_sealed(SuperblockId(self.pu.0 / per_superblock)) {
            let left = per_superblock - self.pu.0 % per_superblock;
            self.pu = Pu((self.pu.0 + left) % pus);
            passed_over += left;
        }
        if passed_over != 0 {
            self.next = view.now() + Nanos(turn * u64::from(passed_over));
            return;
        }
        let pu = self.pu;
        self.pu = Pu((pu.0 + 1) % pus);
        if !view.is_dead(pu) {
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
