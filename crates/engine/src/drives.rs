//! One drive, or all drives of an array, as one set for the summary of a run.

use crate::counts::{DriveCounts, mean_levels};
use crate::volume::ArrayVolume;
use outlast_device::{Device, Identity, Smart};
use outlast_ftl::{Ftl, SlcCacheCounts, SlcCacheFigures};
use outlast_media::RberSaturation;
use outlast_settings::drive::SsdConfig;
use outlast_ssd::{
    ExactTails, GroupFigures, HandleFigures, PerArrayWork, PlacementView, PowerFigures, PredictionCounts,
    RberLevels, Reason, Scheduled, Ssd, sum_by_handle,
};
use outlast_units::Nanos;

/// The drives of a run, with the array that they form, if any.
pub(crate) struct DriveSet<'a> {
    /// The drive, or the members now in the array; never empty.
    present: Vec<&'a Ssd>,
    /// Every drive that has counted anything: members, spares, and drives that have left.
    all: Vec<&'a Ssd>,
    pub(crate) array: Option<&'a ArrayVolume>,
}

/// A drive or an array that can be viewed as a set of drives.
pub(crate) trait AsDriveSet {
    /// Its drives, those that have left an array included.
    fn as_drives(&self) -> DriveSet<'_>;
}

impl AsDriveSet for Ssd {
    fn as_drives(&self) -> DriveSet<'_> {
        DriveSet::of_drive(self)
    }
}

impl AsDriveSet for ArrayVolume {
    fn as_drives(&self) -> DriveSet<'_> {
        DriveSet::of_array(self)
    }
}

/// Spare space that data can use, over user space: without spare blocks, bad blocks, and superblocks that are open or held back. Below
/// zero where the remaining flash holds less than the capacity.
pub(crate) fn effective_spare_factor(drive: &Ssd) -> f64 {
    let unit = drive.config().ftl.mapping_unit.0 as f64;
    let user = drive.units() as f64 * unit;
    // The reserve is kept free; each stream has an open superblock, which is half empty on average.
    let usable: f64 = drive
        .ftls()
        .map(|ftl| {
            let unusable = f64::from(ftl.space().reserve()) + 0.5 * f64::from(ftl.space().streams_in_use());
            (f64::from(ftl.layout().superblocks()) - unusable)
                * f64::from(ftl.stream(ftl.streams().gc(0)).data_units())
                * unit
        })
        .sum();
    (usable - user) / user
}

/// Sums over all units read of the probability that a unit is unreadable after each mechanism, as natural logarithms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExactSum {
    pub(crate) units: u64,
    pub(crate) ln_after_ecc: f64,
    pub(crate) ln_after_rereads: f64,
    pub(crate) ln_after_stripe: f64,
}

/// ln(Σ e^x), scaled by the largest term so that tiny probabilities do not underflow.
fn ln_sum(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let most = values.clone().fold(f64::NEG_INFINITY, f64::max);
    if most == f64::NEG_INFINITY { most } else { most + values.map(|x| (x - most).exp()).sum::<f64>().ln() }
}

impl<'a> DriveSet<'a> {
    fn of_drive(ssd: &'a Ssd) -> Self {
        Self { present: vec![ssd], all: vec![ssd], array: None }
    }

    fn of_array(volume: &'a ArrayVolume) -> Self {
        let members = volume.array.config().members;
        let all: Vec<&Ssd> = volume.drives().collect();
        let mut present: Vec<&Ssd> =
            (0..usize::from(members)).filter_map(|column| volume.array.member(column)?.drive()).collect();
        // An array of stand-ins that has lost its drives is described by those that it had.
        if present.is_empty() {
            present.clone_from(&all);
        }
        Self { present, all, array: Some(volume) }
    }

    /// Every drive that has counted anything.
    pub(crate) fn all(&self) -> &[&'a Ssd] {
        &self.all
    }

    /// Settings of the first drive. All drives share them, except for those that `array.member` overrides.
    pub(crate) fn config(&self) -> &'a SsdConfig {
        self.present[0].config()
    }

    /// The drive, or the first of the array.
    pub(crate) fn first(&self) -> &'a Ssd {
        self.present[0]
    }

    pub(crate) fn units(&self) -> u64 {
        self.array.map_or_else(|| self.present[0].units(), ArrayVolume::units)
    }

    pub(crate) fn sectors_per_unit(&self) -> u32 {
        self.array.map_or_else(|| self.present[0].sectors_per_unit(), ArrayVolume::sectors_per_unit)
    }

    pub(crate) fn identify(&self) -> Identity {
        self.array.map_or_else(|| self.present[0].identify(), Device::identify)
    }

    pub(crate) fn smart(&self) -> Smart {
        self.array.map_or_else(|| self.present[0].smart(), Device::smart)
    }

    /// Flash capacity of the present drives.
    pub(crate) fn raw_bytes(&self) -> u64 {
        self.present.iter().map(|ssd| ssd.config().geometry.raw_capacity().0).sum()
    }

    /// Counts since the last reset.
    pub(crate) fn counts(&self) -> DriveCounts {
        let mut counts: DriveCounts = self.all.iter().map(|ssd| DriveCounts::of(ssd)).sum();
        if let Some(volume) = self.array {
            counts.host_bytes = volume.host_bytes();
        }
        counts
    }

    /// Translation layers of the present drives.
    pub(crate) fn ftls(&self) -> impl Iterator<Item = &'a Ftl> {
        self.present.iter().flat_map(|ssd| ssd.ftls())
    }

    /// Share of `span`, which ends at `now`, during which each channel of the present drives was busy.
    pub(crate) fn channel_utilisation(&self, now: Nanos, span: Nanos) -> Vec<f64> {
        self.present.iter().flat_map(|ssd| ssd.channel_utilisation(now, span)).collect()
    }

    /// Share of `span` during which each die of the present drives was busy.
    pub(crate) fn die_utilisation(&self, now: Nanos, span: Nanos) -> Vec<f64> {
        self.present.iter().flat_map(|ssd| ssd.die_utilisation(now, span)).collect()
    }

    /// Shares of `span` during which the cell array of each die programmed and erased.
    pub(crate) fn die_work(&self, now: Nanos, span: Nanos) -> Vec<PerArrayWork<f64>> {
        self.present.iter().flat_map(|ssd| ssd.die_work(now, span)).collect()
    }

    pub(crate) fn table_bytes(&self) -> usize {
        self.all.iter().map(|ssd| ssd.table_bytes()).sum()
    }

    pub(crate) fn exact(&self) -> Option<ExactSum> {
        let tails: Vec<ExactTails> = self.all.iter().filter_map(|ssd| ssd.exact_tails()).collect();
        let units = tails.iter().map(ExactTails::units).sum();
        // Every drive's sums are logarithms already, so they are added as such.
        (units != 0).then(|| ExactSum {
            units,
            ln_after_ecc: ln_sum(tails.iter().map(ExactTails::ln_after_ecc)),
            ln_after_rereads: ln_sum(tails.iter().map(ExactTails::ln_after_rereads)),
            ln_after_stripe: ln_sum(tails.iter().map(ExactTails::ln_after_stripe)),
        })
    }

    /// Figures of reclaim unit handles since the last reset; empty without.
    pub(crate) fn handle_figures(&self) -> Vec<HandleFigures> {
        sum_by_handle(self.all.iter().map(|ssd| PlacementView::of(ssd).figures()))
    }

    /// Figures of reclaim groups since the last reset; empty where there is one.
    pub(crate) fn group_figures(&self) -> Vec<GroupFigures> {
        sum_by_handle(self.all.iter().map(|ssd| PlacementView::of(ssd).groups()))
    }

    /// Counts of the SLC caches since the last reset, and the caches as they are now, over all drives; `None` without.
    pub(crate) fn slc_cache(&self) -> Option<(SlcCacheCounts, SlcCacheFigures)> {
        let all: Option<Vec<_>> = self.all.iter().map(|ssd| ssd.slc_cache()).collect();
        all.filter(|all| !all.is_empty()).map(|all| {
            all.into_iter().fold((SlcCacheCounts::default(), SlcCacheFigures::default()), |sum, own| {
                (sum.0 + own.0, sum.1 + own.1)
            })
        })
    }

    /// Energy and heat of each drive since the last reset; empty where one counts none.
    pub(crate) fn power_figures(&self, now: Nanos) -> Vec<PowerFigures> {
        let all: Option<Vec<_>> = self.present.iter().map(|ssd| ssd.power_figures(now)).collect();
        all.unwrap_or_default()
    }

    /// Codewords by wrong bits.
    pub(crate) fn error_histogram(&self) -> Vec<u64> {
        let mut sum: Vec<u64> = Vec::new();
        for histogram in self.all.iter().map(|ssd| ssd.error_histogram()) {
            sum.resize(sum.len().max(histogram.len()), 0);
            sum.iter_mut().zip(histogram).for_each(|(sum, count)| *sum += count);
        }
        sum
    }

    pub(crate) fn moved_for(&self, reason: Reason) -> u64 {
        self.all.iter().map(|ssd| ssd.moved_for(reason)).sum()
    }

    pub(crate) fn scrubbed_again(&self) -> u64 {
        self.all.iter().map(|ssd| ssd.scrubbed_again()).sum()
    }

    /// Predictions of all drives; absent where none predicts.
    pub(crate) fn predictions(&self) -> Option<PredictionCounts> {
        let found: Vec<_> = self.all.iter().filter_map(|ssd| ssd.predictions()).collect();
        let sum = |count: fn(&PredictionCounts) -> u64| found.iter().map(count).sum();
        (!found.is_empty()).then(|| PredictionCounts {
            expected: sum(|own| own.expected),
            false_alarms: sum(|own| own.false_alarms),
            missed: sum(|own| own.missed),
        })
    }

    /// Units lost on present drives.
    pub(crate) fn lost_units(&self) -> u64 {
        self.present.iter().map(|ssd| ssd.lost_units()).sum()
    }

    pub(crate) fn faults_injected(&self) -> u64 {
        self.all.iter().map(|ssd| ssd.faults_injected()).sum()
    }

    pub(crate) fn can_fail(&self) -> bool {
        self.all.iter().any(|ssd| ssd.can_fail())
    }

    /// Numbers of what was scheduled and has not happened yet; happenings of an array count as faults.
    pub(crate) fn scheduled(&self) -> Scheduled {
        let of_array = self.array.map_or(0, ArrayVolume::scheduled);
        let mut all = Scheduled { faults: of_array, ..Scheduled::default() };
        self.present.iter().for_each(|ssd| all += ssd.scheduled());
        all
    }

    pub(crate) fn saturations(&self) -> (u64, Option<RberSaturation>) {
        let each = || self.all.iter().map(|ssd| ssd.saturations());
        (each().map(|(count, _)| count).sum(), each().find_map(|(_, first)| first))
    }

    pub(crate) fn rber_levels(&self, now: Nanos, blocks: usize) -> Option<RberLevels> {
        // Shared out over the drives, but never so few that a percentile of one drive means nothing.
        let blocks = (blocks / self.present.len()).max(256);
        let levels: Vec<RberLevels> =
            self.present.iter().filter_map(|ssd| ssd.rber_levels(now, blocks)).collect();
        match levels.as_slice() {
            [] => None,
            [one] => Some(*one),
            several => Some(mean_levels(several)),
        }
    }
}
