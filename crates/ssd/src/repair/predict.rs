//! Dies that are expected to fail: their data is moved away while it can be read, which needs no host.

use crate::config::PredictConfig;
use crate::ssd::Ssd;
use outlast_device::{Notice, NoticeKind};
use outlast_units::{Nanos, SuperblockId};

/// What a die has shown of its health.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signs {
    /// Bad blocks found while it was in use.
    pub(super) bad_blocks: u32,
    /// Units that its own ECC and re-reads did not give, within the window.
    pub(super) uncorrectable: u32,
}

/// Says from its signs whether a die will fail. Another predictor is another file that implements this.
pub(super) trait Predictor {
    /// Whether it will.
    fn expects_failure(&self, signs: Signs) -> bool;
}

impl Predictor for PredictConfig {
    fn expects_failure(&self, signs: Signs) -> bool {
        signs.bad_blocks >= self.bad_blocks
            || (self.uncorrectable != 0 && signs.uncorrectable >= self.uncorrectable)
    }
}

impl Ssd {
    fn prediction(&self) -> Option<PredictConfig> {
        self.config.repair.as_ref().and_then(|repair| repair.predict)
    }

    /// Units of die `die` could not be had.
    pub(super) fn note_uncorrectable(&mut self, now: Nanos, die: u16, units: u32) {
        let Some(limits) = self.prediction() else { return };
        let Some(watch) = &mut self.watch else { return };
        let seen = &mut watch.dies[usize::from(die)].uncorrectable;
        for _ in 0..units.min(limits.uncorrectable) {
            seen.push_back(now);
        }
        while seen.len() > limits.uncorrectable as usize {
            seen.pop_front();
        }
        self.call_housekeeping(now);
    }

    /// Is any die expected to fail by now?
    pub(super) fn look_for_signs(&mut self, now: Nanos) {
        let Some(limits) = self.prediction() else { return };
        let Some(watch) = &mut self.watch else { return };
        let mut expected = Vec::new();
        for (die, health) in (0u16..).zip(&mut watch.dies) {
            if health.warned || health.failed {
                continue;
            }
            while health.uncorrectable.front().is_some_and(|&at| at + limits.window < now) {
                health.uncorrectable.pop_front();
            }
            let uncorrectable = health.uncorrectable.len() as u32;
            let signs = Signs { bad_blocks: health.bad_blocks(), uncorrectable };
            if limits.expects_failure(signs) {
                health.warned = true;
                expected.push(die);
            }
        }
        for die in expected {
            self.notices.push_back(Notice { at: now, kind: NoticeKind::DieFailing { die } });
            self.leave(now, die);
        }
    }

    /// Die `die` takes no more data, and what it holds is moved away, if its core has room without it.
    fn leave(&mut self, now: Nanos, die: u16) {
        let (core, local) = self.core_of_die(die);
        let ftl = &self.cores[core].ftl;
        if !ftl.could_hold(ftl.logical_units(), Some(local)) {
            return;
        }
        if let Some(watch) = &mut self.watch {
            watch.dies[usize::from(die)].leaving = true;
        }
        self.give_up(now, core, local, None);
    }

    /// Whether a superblock of core `core` holds data on a die that is expected to fail.
    pub(crate) fn is_to_leave(&self, core: usize, superblock: SuperblockId) -> bool {
        let Some(watch) = &self.watch else { return false };
        let state = &self.cores[core];
        (0u16..)
            .zip(&state.dies)
            .any(|(local, &die)| watch.is_leaving(die) && state.ftl.holds_on(superblock, local))
    }

    /// The lanes of core `core` whose data is moved away.
    pub(crate) fn leaving_lanes(&self, core: usize) -> Vec<u32> {
        let Some(watch) = &self.watch else { return Vec::new() };
        let state = &self.cores[core];
        let dies = (0u16..).zip(&state.dies).filter(|&(_, &die)| watch.dies[usize::from(die)].leaving);
        dies.flat_map(|(local, _)| state.ftl.layout().lanes_of_die(local)).copied().collect()
    }

    /// Whether what lies on the die of program unit `pu` is beyond reach, as far as firmware knows.
    pub(crate) fn is_out_of_reach(&self, core: usize, pu: u32) -> bool {
        let ftl = &self.cores[core].ftl;
        ftl.is_dead_lane(pu)
            && !self.watch.as_ref().is_some_and(|watch| watch.is_leaving(ftl.layout().lane_of_pu(pu).die.0))
    }
}
