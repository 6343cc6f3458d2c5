//! Looking at the blocks beside a bad one, one after the other, by reading their first page.

use super::DieLayout;
use outlast_units::BlockIndex;

/// A walk over the blocks of a die.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
pub(super) struct Probe {
    /// The bad block.
    around: BlockIndex,
    /// Blocks of the die passed so far, `around` not included.
    passed: u32,
    /// The block that is being read, and whether it turned out bad.
    reading: Option<BlockIndex>,
    is_bad: Option<bool>,
}

/// What has come of the block that was last asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// None was asked for.
    None,
    /// Its read has not ended.
    Awaited,
    /// It can be read.
    Good,
    /// It is bad.
    Bad(BlockIndex),
}

impl Probe {
    /// Begins beside bad block `around`.
    pub(super) fn around(around: BlockIndex) -> Self {
        Self { around, passed: 0, reading: None, is_bad: None }
    }

    /// True if a read has been asked for that has not ended.
    pub(super) fn is_reading(&self) -> bool {
        self.reading.is_some() && self.is_bad.is_none()
    }

    /// The read asked for has ended.
    pub(super) fn ended(&mut self, is_bad: impl FnOnce(BlockIndex) -> bool) {
        if let Some(block) = self.reading {
            self.is_bad = Some(is_bad(block));
        }
    }

    /// The read asked for will not end.
    pub(super) fn forget_read(&mut self) {
        (self.reading, self.is_bad) = (None, None);
    }

    /// What has come of the block that was last asked for; told once.
    pub(super) fn take_result(&mut self) -> Outcome {
        match (self.reading, self.is_bad) {
            (None, is_bad) => {
                debug_assert!(is_bad.is_none(), "nothing was read");
                Outcome::None
            }
            (Some(_), None) => Outcome::Awaited,
            (Some(block), Some(is_bad)) => {
                self.forget_read();
                if is_bad { Outcome::Bad(block) } else { Outcome::Good }
            }
        }
    }

    /// The next block beside the one that the probe began with and that is `worth` reading: first of the same plane, those behind before
    /// those in front, then of the other planes. `None` where all have been passed.
    pub(super) fn next(
        &mut self,
        layout: &DieLayout,
        worth: impl Fn(BlockIndex) -> bool,
    ) -> Option<BlockIndex> {
        debug_assert!(self.reading.is_none(), "one block is read at a time");
        let (all, planes) = (layout.blocks_per_die, layout.planes_per_die);
        let per_plane = all / planes;
        let (first, around) = (self.around.0 / all * all, self.around.0 % all);
        while self.passed + 1 < all {
            self.passed += 1;
            let plane = (around / per_plane + self.passed / per_plane) % planes;
            let block = BlockIndex(first + plane * per_plane + (around + self.passed) % per_plane);
            debug_assert!(block != self.around, "a probe passes every other block of the die once");
            if worth(block) {
                self.reading = Some(block);
                return self.reading;
            }
        }
        None
    }
}
