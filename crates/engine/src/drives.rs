//! One drive, or all drives of an array, seen as one when a run is summed up.

use crate::counts::{Counts, mean_levels};
use crate::volume::Volume;
use outlast_device::{Device, Identity, Smart};
use outlast_ftl::Ftl;
use outlast_media::Saturation;
use outlast_settings::drive::SsdConfig;
use outlast_ssd::{ExactTails, RberLevels, Reason, Ssd, Worked};
use outlast_units::Nanos;

/// What a run was made on.
pub(crate) struct Drives<'a> {
    /// Drives that are there: the drive, or the members of the array; never empty.
    there: Vec<&'a Ssd>,
    /// These, spares, and drives that have left: whatever has counted anything.
    all: Vec<&'a Ssd>,
    pub(crate) array: Option<&'a Volume>,
}

/// What runs are made on, seen as drives.
pub(crate) trait AsDrives {
    /// All its drives.
    fn as_drives(&self) -> Drives<'_>;
}

impl AsDrives for Ssd {
    fn as_drives(&self) -> Drives<'_> {
        Drives::one(self)
    }
}

impl AsDrives for Volume {
    fn as_drives(&self) -> Drives<'_> {
        Drives::of(self)
    }
}

/// Spare over user space of a drive that data can use: without spare blocks, bad blocks, and superblocks that are open or held back. Below
/// zero where the flash that is left holds less than the capacity.
pub(crate) fn effective_spare_factor(drive: &Ssd) -> f64 {
    let user = drive.identify().capacity.0 as f64;
    let unit = drive.config().ftl.mapping_unit.0 as f64;
    // Held back: free superblocks; open ones are on average half empty.
    let usable: f64 = drive
        .ftls()
        .map(|ftl| {
            let lost = f64::from(ftl.space().reserve()) + 0.5 * f64::from(ftl.space().streams());
            (f64::from(ftl.layout().superblocks()) - lost)
                * f64::from(ftl.stream(ftl.streams().gc(0)).data_units())
                * unit
        })
        .sum();
    (usable - user) / user
}

/// Sums of exact probabilities, as logarithms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExactSum {
    pub(crate) units: u64,
    pub(crate) ln_after_ecc: f64,
    pub(crate) ln_after_rereads: f64,
    pub(crate) ln_after_stripe: f64,
}

/// ln(Σ e^x).
fn ln_sum(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let most = values.clone().fold(f64::NEG_INFINITY, f64::max);
    if most == f64::NEG_INFINITY { most } else { most + values.map(|x| (x - most).exp()).sum::<f64>().ln() }
}

impl<'a> Drives<'a> {
    fn one(ssd: &'a Ssd) -> Self {
        Self { there: vec![ssd], all: vec![ssd], array: None }
    }

    fn of(volume: &'a Volume) -> Self {
        let members = volume.array.config().members;
        let all: Vec<&Ssd> = volume.drives().collect();
        let mut there: Vec<&Ssd> =
            (0..usize::from(members)).filter_map(|column| volume.array.member(column)?.drive()).collect();
        if there.is_empty() {
            there.clone_from(&all);
        }
        Self { there, all, array: Some(volume) }
    }

    /// Every drive that has counted anything.
    pub(crate) fn all(&self) -> &[&'a Ssd] {
        &self.all
    }

    /// Settings of the first drive, which all share except for what the array's `member` says.
    pub(crate) fn config(&self) -> &'a SsdConfig {
        self.there[0].config()
    }

    /// The drive, or the first of the array.
    pub(crate) fn first(&self) -> &'a Ssd {
        self.there[0]
    }

    pub(crate) fn units(&self) -> u64 {
        self.array.map_or_else(|| self.there[0].units(), Volume::units)
    }

    pub(crate) fn sectors_per_unit(&self) -> u32 {
        self.array.map_or_else(|| self.there[0].sectors_per_unit(), Volume::sectors_per_unit)
    }

    pub(crate) fn identify(&self) -> Identity {
        self.array.map_or_else(|| self.there[0].identify(), Device::identify)
    }

    pub(crate) fn smart(&self) -> Smart {
        self.array.map_or_else(|| self.there[0].smart(), Device::smart)
    }

    /// Flash capacity of the drives that are there.
    pub(crate) fn raw_bytes(&self) -> u64 {
        self.there.iter().map(|ssd| ssd.config().geometry.raw_capacity().0).sum()
    }

    /// What has been counted since the last reset.
    pub(crate) fn counts(&self) -> Counts {
        let mut counts: Counts = self.all.iter().map(|ssd| Counts::of(ssd)).sum();
        if let Some(volume) = self.array {
            counts.host_bytes = volume.host_bytes();
        }
        counts
    }

    /// Translation layers of the drives that are there.
    pub(crate) fn ftls(&self) -> impl Iterator<Item = &'a Ftl> {
        self.there.iter().flat_map(|ssd| ssd.ftls())
    }

    /// The share of `span`, which ends at `now`, for which each channel of the drives that are there was busy.
    pub(crate) fn channel_utilisation(&self, now: Nanos, span: Nanos) -> Vec<f64> {
        self.there.iter().flat_map(|ssd| ssd.channel_utilisation(now, span)).collect()
    }

    /// The same of each die.
    pub(crate) fn die_utilisation(&self, now: Nanos, span: Nanos) -> Vec<f64> {
        self.there.iter().flat_map(|ssd| ssd.die_utilisation(now, span)).collect()
    }

    /// The shares of `span` for which the array of each die programmed and erased.
    pub(crate) fn die_work(&self, now: Nanos, span: Nanos) -> Vec<Worked<f64>> {
        self.there.iter().flat_map(|ssd| ssd.die_work(now, span)).collect()
    }

    pub(crate) fn table_bytes(&self) -> usize {
        self.all.iter().map(|ssd| ssd.table_bytes()).sum()
    }

    pub(crate) fn exact(&self) -> Option<ExactSum> {
        let tails: Vec<ExactTails> = self.all.iter().filter_map(|ssd| ssd.exact_tails()).collect();
        let units = tails.iter().map(ExactTails::units).sum();
        (units != 0).then(|| ExactSum {
            units,
            ln_after_ecc: ln_sum(tails.iter().map(ExactTails::ln_after_ecc)),
            ln_after_rereads: ln_sum(tails.iter().map(ExactTails::ln_after_rereads)),
            ln_after_stripe: ln_sum(tails.iter().map(ExactTails::ln_after_stripe)),
        })
    }

    /// Codewords by wrong bits.
    pub(crate) fn error_histogram(&self) -> Vec<u64> {
        let mut sum: Vec<u64> = Vec::new();
        for histogram in self.all.iter().map(|ssd| ssd.error_histogram()) {
            sum.resize(sum.len().max(histogram.len()), 0);
            sum.iter_mut().zip(histogram).for_each(|(sum, own)| *sum += own);
        }
        sum
    }

    pub(crate) fn moved_for(&self, reason: Reason) -> u64 {
        self.all.iter().map(|ssd| ssd.moved_for(reason)).sum()
    }

    pub(crate) fn scrubbed_again(&self) -> u64 {
        self.all.iter().map(|ssd| ssd.scrubbed_again()).sum()
    }

    /// Units lost on drives that are there.
    pub(crate) fn lost_units(&self) -> u64 {
        self.there.iter().map(|ssd| ssd.lost_units()).sum()
    }

    pub(crate) fn faults_injected(&self) -> u64 {
        self.all.iter().map(|ssd| ssd.faults_injected()).sum()
    }

    pub(crate) fn can_fail(&self) -> bool {
        self.all.iter().any(|ssd| ssd.can_fail())
    }

    pub(crate) fn scheduled(&self) -> usize {
        let own: usize = self.there.iter().map(|ssd| ssd.scheduled()).sum();
        own + self.array.map_or(0, Volume::scheduled)
    }

    pub(crate) fn saturations(&self) -> (u64, Option<Saturation>) {
        let each = || self.all.iter().map(|ssd| ssd.saturations());
        (each().map(|(count, _)| count).sum(), each().find_map(|(_, first)| first))
    }

    pub(crate) fn rber_levels(&self, now: Nanos, blocks: usize) -> Option<RberLevels> {
        let blocks = (blocks / self.there.len()).max(256);
        let levels: Vec<RberLevels> =
            self.there.iter().filter_map(|ssd| ssd.rber_levels(now, blocks)).collect();
        match levels.as_slice() {
            [] => None,
            [one] => Some(*one),
            several => Some(mean_levels(several)),
        }
    }
}
