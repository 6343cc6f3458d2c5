//! Views for people who watch a drive, at a cost proportional to its blocks.

use crate::ssd::Ssd;
use outlast_decisions::SuperblockState;
use outlast_units::{DieId, Nanos, Ppn};
use serde::Serialize;

/// How a die is, the graver ones last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DieState {
    /// It works.
    Good,
    /// It is expected to fail, and its data is moved away.
    Failing,
    /// It does not work, and firmware has not found out.
    Failed,
    /// Firmware uses it no more.
    GivenUp,
}

/// A die.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DieView {
    /// How it is.
    pub state: DieState,
    /// How long it has been busy since the last reset of the counters, in nanoseconds.
    pub busy_ns: u64,
    /// Mean P/E cycles of its blocks.
    pub pe_cycles: f64,
    /// Blocks that are not used any more, those from the factory included.
    pub bad_blocks: u64,
}

/// Superblocks of a drive by what they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SuperblockCounts {
    /// All.
    pub total: u64,
    /// Erased.
    pub free: u64,
    /// Being filled.
    pub open: u64,
    /// Filled.
    pub sealed: u64,
    /// Being relocated or erased.
    pub collecting: u64,
    /// Given up.
    pub retired: u64,
}

/// The write buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BufferView {
    /// How many bytes it holds at most.
    pub bytes: u64,
    /// Bytes of the host in it.
    pub used: u64,
}

impl Ssd {
    /// Every die, channel by channel.
    pub fn die_views(&self, now: Nanos) -> Vec<DieView> {
        let busy = self.context.flash.die_busy(now);
        let view = |(die, busy_ns): (usize, Nanos)| {
            let die = DieId(die as u16);
            let (core, local) = self.context.core_of_die(die);
            let core = &self.cores[core];
            let blocks = core.ftl().space().blocks();
            let own = blocks.all_cycles().len() / core.dies().len();
            let own = local.index() * own..(local.index() + 1) * own;
            let cycles: u64 =
                blocks.all_cycles().as_slice()[own.clone()].iter().map(|&own| u64::from(own)).sum();
            let bad = blocks.all_bad().skip(own.start).take(own.len()).filter(|&bad| bad).count();
            let state = if core.ftl().space().pus().is_dead_die(local) {
                DieState::GivenUp
            } else if core.faults().is_some_and(|faults| faults.die_is_dead(local)) {
                DieState::Failed
            } else if self.is_leaving(die) {
                DieState::Failing
            } else {
                DieState::Good
            };
            let pe_cycles = cycles as f64 / own.len().max(1) as f64;
            DieView { state, busy_ns: busy_ns.0, pe_cycles, bad_blocks: bad as u64 }
        };
        busy.into_iter().enumerate().map(view).collect()
    }

    fn is_leaving(&self, die: DieId) -> bool {
        let predictor = self.context.watch.as_ref().and_then(|watch| watch.predictor.as_ref());
        predictor.is_some_and(|predictor| predictor.is_leaving(die))
    }

    /// Superblocks, over all cores.
    pub fn superblock_counts(&self) -> SuperblockCounts {
        let mut counts = SuperblockCounts::default();
        for ftl in self.ftls() {
            for at in 0..ftl.layout().superblocks() {
                counts.total += 1;
                *match ftl.superblock(outlast_units::SuperblockId(at)).state() {
                    SuperblockState::Free => &mut counts.free,
                    SuperblockState::Open => &mut counts.open,
                    SuperblockState::Sealed => &mut counts.sealed,
                    SuperblockState::Collecting => &mut counts.collecting,
                    SuperblockState::Retired => &mut counts.retired,
                } += 1;
            }
        }
        counts
    }

    /// What the host addresses in `ranges` parts of one size, the last one perhaps smaller: mapping units of each, and how many of them hold
    /// data. At a cost proportional to the units.
    ///
    /// # Panics
    /// If `ranges` is 0.
    pub fn mapped_by_range(&self, ranges: u64) -> Vec<(u64, u64)> {
        let units = self.units();
        let width = units.div_ceil(ranges).max(1);
        let is_mapped = |&unit: &u64| {
            let (core, lpn) = self.context.core_of(unit);
            self.cores[core].ftl().lookup(lpn) != Ppn::NONE
        };
        let range = |first: u64| {
            let end = units.min(first + width);
            (end - first, (first..end).filter(is_mapped).count() as u64)
        };
        (0..units).step_by(width as usize).map(range).collect()
    }

    /// The write buffer, over all cores.
    pub fn buffer_view(&self) -> BufferView {
        let held: u64 = self.cores.iter().map(|core| u64::from(core.buffer().held())).sum();
        let used = held * self.context.config.ftl.mapping_unit.0;
        BufferView { bytes: self.context.config.controller.write_buffer.0, used }
    }
}
