//! How much redundancy the drive's data has.

use crate::ssd::Ssd;
use outlast_controller::{FlashCore, InternalTask, RedundancyLoss, Scrub, degraded};
use outlast_ftl::Ftl;
use serde::Serialize;

/// The redundancy of a drive's data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DriveRedundancy {
    /// Dies that may still fail, whichever they are, before data is lost by it, as far as the drive's own parity goes; of a drive that is
    /// empty, before new data would be. What is on its way to flash is lost where there is no room to write it elsewhere.
    pub data_survives: u32,
    /// Superblocks that hold data and have lost members of their stripes, with a die or when power failed, and mapping units in them.
    pub degraded_superblocks: u32,
    #[allow(missing_docs, reason = "said above")]
    pub degraded_units: u64,
    /// True if the drive is moving them, or will, into superblocks of full protection.
    pub rebuilds: bool,
    /// True if it would, and too few superblocks are left for it.
    pub lacks_space: bool,
}

impl Ssd {
    /// Dies and planes that were given up while data with parity lay on them, over the drive's life.
    pub fn redundancy_losses(&self) -> &[RedundancyLoss] {
        self.context.redundancy_losses()
    }

    /// The redundancy of the drive's data. At a cost proportional to its program units.
    pub fn redundancy(&self) -> DriveRedundancy {
        let of_new = |ftl: &Ftl| {
            let classes = 0..ftl.streams().classes();
            classes.map(|class| ftl.space().failures_survived_by_new(class)).min().unwrap_or(0)
        };
        let survived =
            self.ftls().map(|ftl| ftl.redundancy().failures_survived().unwrap_or_else(|| of_new(ftl)));
        let (superblocks, units) =
            self.ftls().map(degraded).fold((0, 0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
        let mut view = DriveRedundancy {
            data_survives: survived.min().unwrap_or(0),
            degraded_superblocks: superblocks,
            degraded_units: units,
            rebuilds: false,
            lacks_space: false,
        };
        for core in self.cores.iter().filter(|core| core.ftl().redundancy().degraded().next().is_some()) {
            let lacks_space = self.context.config.rebuilds() && Self::is_short_of_space(core);
            view.lacks_space |= lacks_space;
            view.rebuilds |= self.context.config.moves_degraded() && core.scrub().is_some() && !lacks_space;
        }
        view
    }

    /// True if nothing that has lost redundancy on `core` finds a place with more.
    fn is_short_of_space(core: &FlashCore) -> bool {
        let ftl = core.ftl();
        let finds = |superblock| {
            let class = ftl.superblock(superblock).class();
            ftl.space().can_relocate(superblock, ftl.streams().scrub(class))
        };
        let waits = core.scrub().is_none_or(Scrub::waits) && !core.tasks().runs(InternalTask::Scrub);
        !ftl.space().may_scrub() || (waits && !ftl.redundancy().degraded().any(finds))
    }
}
