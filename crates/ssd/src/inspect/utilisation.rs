//! How busy the parts of a drive are, what its superblocks hold, and which of them are moved: for whoever looks at it over time.

use crate::ssd::Ssd;
use outlast_controller::Victim;
use outlast_decisions::SuperblockState;
use outlast_units::{Nanos, SuperblockId};

/// How long parts have been busy since the last reset of the counters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Busy {
    /// Every die, channel by channel.
    pub dies: Vec<Nanos>,
    /// Every channel.
    pub channels: Vec<Nanos>,
    /// The link, to the drive and from it; absent where there is none.
    pub link: Option<[Nanos; 2]>,
    /// The master core.
    pub master: Nanos,
    /// The flash cores.
    pub cores: Vec<Nanos>,
}

impl Ssd {
    /// From now on the superblocks that are moved are kept, see [`Ssd::victims`]; a snapshot has nothing of it.
    pub fn keep_victims(&mut self) {
        self.context.keep_victims();
    }

    /// Superblocks whose relocation began since the last reset, the first 100 000; none unless they are kept.
    pub fn victims_kept(&self) -> &[Victim] {
        self.context.victims()
    }

    /// How long each part has been busy since the last reset.
    pub fn busy(&self, now: Nanos) -> Busy {
        Busy {
            dies: self.context.flash.die_busy(now),
            channels: self.context.flash.channel_busy(now),
            link: self.context.commands.link.busy_until(now),
            master: self.master.busy_until(now),
            cores: self.cores.iter().map(|core| core.busy_until(now)).collect(),
        }
    }

    /// Filled superblocks by the share of their units that is valid, in as many equal steps as there are in `counts`, to which they are
    /// added. A superblock that is valid as a whole is in the last.
    pub fn count_valid(&self, counts: &mut [u64]) {
        for ftl in self.ftls() {
            let units = u64::from(ftl.layout().units_per_superblock());
            for superblock in (0..ftl.layout().superblocks()).map(SuperblockId) {
                let view = ftl.superblock(superblock);
                if view.state() == SuperblockState::Sealed {
                    let step = u64::from(view.valid()) * counts.len() as u64 / units;
                    counts[(step as usize).min(counts.len() - 1)] += 1;
                }
            }
        }
    }

    /// P/E cycles of every block that is in use.
    pub fn cycles(&self) -> impl Iterator<Item = u32> {
        self.ftls().flat_map(|ftl| {
            let blocks = ftl.space().blocks();
            let each = blocks.all_cycles().iter().zip(blocks.all_bad());
            each.filter(|&(_, bad)| !bad).map(|(&cycles, _)| cycles)
        })
    }

    pub(crate) fn reset_busy(&mut self, now: Nanos) {
        self.context.commands.link.reset_busy(now);
        self.master.reset_busy(now);
        for core in &mut self.cores {
            core.reset_busy(now);
        }
    }
}
