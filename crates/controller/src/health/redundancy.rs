//! Redundancy that failures of dies have taken, and when it was whole again.

use outlast_units::Nanos;
use serde::Serialize;

/// A die, or a plane of it, that was given up while data lay on it that has parity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, outlast_persist::Persist)]
pub struct RedundancyLoss {
    /// When it was given up.
    pub at: Nanos,
    /// The flash core that it belongs to.
    pub core: u16,
    /// The die, numbered channel by channel.
    pub die: u16,
    /// The plane, where only that was given up.
    pub plane: Option<u16>,
    /// Superblocks of the core that held data with less redundancy than new data gets, those of earlier failures included.
    pub superblocks: u32,
    /// Mapping units in them.
    pub units: u64,
    /// When no superblock of the core did any more: all had been moved, or overwritten by the host.
    pub restored_at: Option<Nanos>,
}

/// All of a drive's life, in order of time.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub struct Redundancy {
    losses: Vec<RedundancyLoss>,
    /// Those that have not been made good.
    open: u32,
    /// Flash cores of which a loss of power took members of stripes.
    cut: Vec<u16>,
}

impl Redundancy {
    /// Redundancy has been lost.
    pub fn lost(&mut self, loss: RedundancyLoss) {
        debug_assert!(loss.restored_at.is_none(), "what has just been lost has not been made good");
        self.losses.push(loss);
        self.open += 1;
    }

    /// True if any is lacking, as far as has been looked.
    #[inline]
    pub(crate) fn is_lacking(&self) -> bool {
        self.open != 0 || !self.cut.is_empty()
    }

    /// After a loss of power core `core` lacks some, for whatever cause.
    pub fn cut(&mut self, core: u16) {
        if !self.cut.contains(&core) {
            self.cut.push(core);
        }
    }

    /// Core `core` lacks none at `now`.
    pub fn restored(&mut self, now: Nanos, core: u16) {
        self.cut.retain(|&other| other != core);
        let lacking = |loss: &&mut RedundancyLoss| loss.core == core && loss.restored_at.is_none();
        for loss in self.losses.iter_mut().filter(lacking) {
            loss.restored_at = Some(now);
            self.open -= 1;
        }
    }

    /// Power has failed, and what had been moved on core `core` is where it was: the last loss has not been made good.
    pub(crate) fn fell_back(&mut self, core: u16) {
        if let Some(last) = self.losses.iter_mut().rfind(|loss| loss.core == core)
            && last.restored_at.take().is_some()
        {
            self.open += 1;
        }
    }

    /// Redundancy that failed dies have taken, in order of time.
    pub fn losses(&self) -> &[RedundancyLoss] {
        &self.losses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(at: u64, core: u16) -> RedundancyLoss {
        RedundancyLoss {
            at: Nanos(at),
            core,
            die: core,
            plane: None,
            superblocks: 3,
            units: 8,
            restored_at: None,
        }
    }

    #[test]
    fn a_loss_of_power_alone_is_made_good_and_is_no_failure_of_a_die() {
        let mut own = Redundancy::default();
        own.cut(1);
        own.cut(1);
        own.restored(Nanos(3), 0);
        assert!(own.is_lacking() && own.losses().is_empty());
        own.restored(Nanos(4), 1);
        assert!(!own.is_lacking());
    }

    #[test]
    fn a_core_makes_good_all_that_it_had_lost_and_no_other() {
        let mut own = Redundancy::default();
        assert!(!own.is_lacking());
        for (at, core) in [(1, 0), (2, 1), (3, 0)] {
            own.lost(loss(at, core));
        }
        own.restored(Nanos(5), 0);
        assert!(own.is_lacking());
        own.restored(Nanos(7), 1);
        own.restored(Nanos(9), 0);
        let restored: Vec<_> = own.losses().iter().map(|loss| loss.restored_at).collect();
        assert_eq!(restored, [Some(Nanos(5)), Some(Nanos(7)), Some(Nanos(5))]);
        assert!(!own.is_lacking());
        own.fell_back(0);
        assert!(own.is_lacking() && own.losses()[0].restored_at.is_some());
        own.restored(Nanos(11), 0);
        assert_eq!((own.losses()[2].restored_at, own.is_lacking()), (Some(Nanos(11)), false));
    }
}
