//! Figures on errors of a drive.

use crate::health::Scheduled;
use crate::ssd::Ssd;
use outlast_controller::{Corrections, Decision, ExactTails, Reason, Scrub};
use outlast_decisions::SuperblockState;
use outlast_media::RberSaturation;
use outlast_units::{LocalDie, Nanos, Row, SuperblockId};

/// The distribution of the raw bit error rate over blocks that hold data.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RberLevels {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 99 in 100 are below.
    pub p99: f64,
    /// The greatest.
    pub max: f64,
}

impl Ssd {
    /// How reads have ended since the last reset.
    pub fn corrections(&self) -> Corrections {
        self.context.corrections()
    }

    /// Exact probabilities over the host reads since the last reset; `None` where the flash never errs.
    pub fn exact_tails(&self) -> Option<ExactTails> {
        self.context.exact_tails()
    }

    /// Codewords by number of wrong bits, as they were first read, since the last reset; a sample. Empty where the flash never
    /// errs.
    pub fn error_histogram(&self) -> &[u64] {
        self.context.error_histogram()
    }

    /// Decisions to move superblocks since the last reset, the first 100 000; only of a drive that can fail.
    pub fn decisions(&self) -> &[Decision] {
        self.context.decisions()
    }

    /// Superblocks that relocation for `reason` began to move since the last reset; only of a drive that can fail.
    pub fn moved_for(&self, reason: Reason) -> u64 {
        self.context.moved_for(reason)
    }

    /// True if anything in the drive can fail.
    pub fn can_fail(&self) -> bool {
        self.context.is_fallible()
    }

    /// Scheduled faults, leaps of age and changes that have not happened yet.
    pub fn scheduled(&self) -> Scheduled {
        let (faults, leaps) = self.schedule.left();
        let (updates, changes): (Vec<_>, Vec<_>) =
            self.changes.left().partition(|change| !change.update_handles.is_empty());
        Scheduled { faults, leaps, changes: changes.len(), handle_updates: updates.len() }
    }

    /// Faults injected, scheduled or by chance, over the drive's life.
    pub fn faults_injected(&self) -> u64 {
        self.schedule.injected()
    }

    /// Units whose data is lost and that have been neither written nor trimmed since.
    pub fn lost_units(&self) -> u64 {
        self.cores.iter().map(|core| core.ftl().figures().lost_units).sum()
    }

    /// Superblocks that scrubbing had written and moved again, since the last reset.
    pub fn scrubbed_again(&self) -> u64 {
        self.cores.iter().filter_map(|core| core.scrub()).map(Scrub::again).sum()
    }

    /// Sensings at an error rate beyond 0.5, where the model has no meaning, and the first of them.
    pub fn saturations(&self) -> (u64, Option<RberSaturation>) {
        let cells = || self.cores.iter().filter_map(|core| core.cells()).map(|own| &own.cells);
        (
            cells().map(outlast_media::FlashCells::saturations).sum(),
            cells().find_map(outlast_media::FlashCells::first_saturation),
        )
    }

    /// The distribution of the error rate over blocks at `now`, at the age of their superblock's oldest data; over about `most`
    /// evenly spread ones where there are more. `None` where the flash never errs or holds nothing.
    pub fn rber_levels(&self, now: Nanos, most: usize) -> Option<RberLevels> {
        let at = now + self.context.aged;
        let planes = self.context.config.geometry.planes() / self.cores.len();
        let superblocks: usize =
            self.cores.iter().map(|core| core.ftl().layout().superblocks() as usize).sum();
        // Odd, so that all planes have their turn.
        let step = (superblocks * planes).div_ceil(most) | 1;
        let planes_per_die = usize::from(self.context.config.geometry.planes_per_die);
        let mut rates = Vec::new();
        for core in &self.cores {
            let own = core.cells()?;
            let blocks = core.ftl().layout().superblocks() as usize * planes;
            for index in (0..blocks).step_by(step) {
                let (superblock, plane) = (SuperblockId((index / planes) as u32), index % planes);
                if !matches!(
                    core.ftl().superblock(superblock).state(),
                    SuperblockState::Sealed | SuperblockState::Collecting
                ) {
                    continue;
                }
                let (die, plane) =
                    (LocalDie((plane / planes_per_die) as u16), (plane % planes_per_die) as u16);
                let block = core.ftl().space().block_index(superblock, die, plane);
                // Rows in turn, so that every page type has its share.
                let row = Row((rates.len() % self.context.config.geometry.pages_per_block as usize) as u32);
                rates.push(own.cells.ln_rber(block, row, own.oldest(superblock), at).exp());
            }
        }
        rates.sort_unstable_by(f64::total_cmp);
        let last = rates.len().checked_sub(1)?;
        let at = |share: f64| rates[(last as f64 * share).round() as usize];
        Some(RberLevels {
            mean: rates.iter().sum::<f64>() / rates.len() as f64,
            p50: at(0.5),
            p99: at(0.99),
            max: rates[last],
        })
    }
}
