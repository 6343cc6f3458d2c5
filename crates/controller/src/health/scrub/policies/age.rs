//! Read refresh: the oldest data of a superblock has lain there for so long that it has leaked.

use super::{Policy, View};
use outlast_units::{Nanos, Pu, SuperblockId};

/// Looks at all superblocks every hundredth of the age at which they are moved.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub(super) struct Age {
    #[persist(fixed)]
    age: Nanos,
    next: Nanos,
}

impl Policy for Age {
    type Setting = Nanos;

    fn new(age: Nanos, _superblocks: u32) -> Self {
        Self { age, next: Nanos::MAX }
    }

    fn begin(&mut self, now: Nanos) {
        self.next = now;
    }

    fn next(&self) -> Nanos {
        self.next
    }

    fn tick(&mut self, view: &impl View, mut move_it: impl FnMut(SuperblockId), _patrol: &mut Option<Pu>) {
        if self.next > view.now() {
            return;
        }
        self.next = view.now() + Nanos(self.age.0 / 100);
        let limit = self.age.as_secs_f64() / 86_400.0;
        let all = (0..view.superblocks()).map(SuperblockId);
        all.filter(|&superblock| view.is_sealed(superblock) && view.days(superblock) >= limit)
            .for_each(&mut move_it);
    }
}
