//! Code of the user's: it is asked again and again which superblocks are to be moved. It is kept with the translation layer, which shows it the
//! superblocks; what is here is when it is asked.

use super::{Policy, View};
use outlast_units::{Nanos, Pu, SuperblockId};

/// Asks every such time.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub(super) struct Asked {
    #[persist(fixed)]
    every: Nanos,
    next: Nanos,
    is_due: bool,
}

impl Policy for Asked {
    type Setting = Nanos;

    fn new(every: Nanos, _superblocks: u32) -> Self {
        Self { every, next: Nanos::MAX, is_due: false }
    }

    fn begin(&mut self, now: Nanos) {
        self.next = now;
    }

    fn next(&self) -> Nanos {
        self.next
    }

    fn tick(&mut self, view: &impl View, _move_it: impl FnMut(SuperblockId), _patrol: &mut Option<Pu>) {
        if self.next <= view.now() {
            self.next = view.now() + self.every;
            self.is_due = true;
        }
    }

    fn take_question(&mut self) -> bool {
        std::mem::take(&mut self.is_due)
    }
}
