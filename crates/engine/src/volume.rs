//! An array of drives, with the happenings that the scenario schedules for it.

mod device;
mod happenings;
mod simulated;

use crate::member::ArrayMember;
use crate::member_config::{as_new, config_of};
use crate::team::ThreadTeam;
use crate::untimed::UntimedBacklog;
use outlast_array::{Array, ArrayCounters};
use outlast_device::Device;
use outlast_media::{ByteStore, ConfigError};
use outlast_scenario::{PlannedEvent, Scenario};
use outlast_settings::array::ArrayConfig;
use outlast_settings::drive::SsdConfig;
use outlast_ssd::Ssd;
use outlast_units::rng::{mix, sub_seed};
use outlast_units::{Nanos, SECTOR_BYTES};
use std::sync::Arc;

/// An array of drives.
#[derive(Clone, Debug, outlast_persist::Restore)]
#[persist(check)]
pub(crate) struct ArrayVolume {
    pub(crate) array: Array<ArrayMember>,
    /// Scheduled happenings of the array and of whole members, the next one last.
    pending: Vec<(Nanos, PlannedEvent)>,
    /// Drives that were exchanged for others, whose counts are still needed.
    replaced: Vec<ArrayMember>,
    /// Counters of the array at the last reset.
    base: ArrayCounters,
    #[persist(skip)]
    sectors_per_unit: u32,
    #[persist(skip)]
    units: u64,
    /// Settings of drives made later, as replacements.
    #[persist(skip)]
    config: SsdConfig,
    seed: u64,
    /// Drives made so far: number of the next, for its seed.
    made: u64,
    /// Error that ends the run.
    #[persist(skip)]
    failure: Option<ConfigError>,
    /// Time since which the array is off, because it did not start after a loss of power.
    off_since: Option<Nanos>,
    /// Notes of happenings that the array refused, as sentences.
    pub(crate) notes: Vec<String>,
    /// Time until which the array worked after the host had ended.
    pub(crate) went_on_until: Option<Nanos>,
    #[persist(skip)]
    finish_rebuild: bool,
    /// Commands without time that have not been carried out.
    #[persist(skip)]
    backlog: UntimedBacklog,
    /// Store of the drives' contents, if not memory.
    #[persist(skip)]
    store: Option<Arc<dyn ByteStore>>,
}

/// Age of a member: mean P/E cycles in percent of the rating, or the cycles themselves without a rating. Stand-ins do not age.
fn age_of(member: &ArrayMember) -> f64 {
    let Some(ssd) = member.drive() else { return 0.0 };
    ssd.used_percent().unwrap_or_else(|| ssd.mean_cycles())
}

/// Checks that drives have a rating if members are replaced at a percentage of it.
fn check_rating(config: &ArrayConfig, device: &SsdConfig) -> Result<(), ConfigError> {
    let Some(limit) = config.replacement.limit_percent.filter(|_| device.rated_cycles().is_none()) else {
        return Ok(());
    };
    let needs = "needs a rating to be a percentage of: device.defects.endurance, or a published device.reliability.chip";
    Err(ConfigError::new("array.replacement.limit_percent", limit, needs))
}

/// The seed of drive `index`.
fn drive_seed(seed: u64, index: u64) -> u64 {
    mix(sub_seed(seed, "engine.drive") ^ index)
}

impl ArrayVolume {
    /// Checks relations between fields of state that has been read.
    fn check_restored(&self) -> Result<(), String> {
        if self.off_since.is_none() != self.array.is_powered() {
            return Err("the array is on and off at once".to_owned());
        }
        if !self.base.is_within(&self.array.counters()) || self.made > u64::from(u32::MAX) {
            return Err("more was counted at the last reset than since the beginning".to_owned());
        }
        Ok(())
    }

    /// Builds the drives and the array over them.
    ///
    /// # Errors
    /// The first setting that cannot work.
    pub(crate) fn new(scenario: &Scenario, config: &ArrayConfig) -> Result<Self, ConfigError> {
        Self::build(scenario, config, Ssd::new)
    }

    /// Builds the array over drives without tables ([`Ssd::without_tables`]); fails exactly if [`ArrayVolume::new`] does.
    ///
    /// # Errors
    /// Errors of [`ArrayVolume::new`].
    pub(crate) fn without_tables(scenario: &Scenario, config: &ArrayConfig) -> Result<Self, ConfigError> {
        Self::build(scenario, config, Ssd::without_tables)
    }

    fn build(
        scenario: &Scenario,
        config: &ArrayConfig,
        drive: fn(SsdConfig, u64) -> Result<Ssd, ConfigError>,
    ) -> Result<Self, ConfigError> {
        check_rating(config, &scenario.device)?;
        let mut drives = Vec::with_capacity(usize::from(config.devices()));
        for index in 0..config.devices() {
            let entry = config.member.iter().position(|member| member.device == index);
            let member_config = config_of(scenario, config, index);
            // The error names the setting that the user gave.
            let name_setting = |mut error: ConfigError| {
                if let (Some(entry), "device.ftl.capacity") = (entry, error.field.as_str()) {
                    error.field = format!("array.member[{entry}].capacity");
                }
                error
            };
            let seed = drive_seed(scenario.seed, index.into());
            if let Some(light) = config.light.as_ref().filter(|_| config.is_light(index)) {
                let capacity = member_config.ftl.user_capacity(&member_config.geometry);
                drives.push(ArrayMember::light(light, capacity, seed)?);
                continue;
            }
            let mut ssd = drive(member_config, seed).map_err(name_setting)?;
            // With a reliability model the initial cycles are part of its settings.
            if let (Some(cycles), None) =
                (config.member(index).and_then(|overrides| overrides.pe_cycles), &ssd.config().reliability)
            {
                ssd.pre_wear(cycles);
            }
            drives.push(ArrayMember::Drive(Box::new(ssd)));
        }
        let sectors_per_unit = drives.iter().find_map(ArrayMember::drive).map_or(1, Ssd::sectors_per_unit);
        let array = Array::new(config.clone(), drives, scenario.device.bytes)?.with_age(age_of);
        let sectors = array.identify().capacity.0 / SECTOR_BYTES;
        let full = array.devices().filter(|member| member.is_drive()).count();
        let team = ThreadTeam::new(scenario.run.threads, full);
        Ok(Self {
            array,
            pending: Vec::new(),
            replaced: Vec::new(),
            base: ArrayCounters::default(),
            sectors_per_unit,
            units: sectors / u64::from(sectors_per_unit),
            config: as_new(scenario.device.clone()),
            seed: scenario.seed,
            made: config.devices().into(),
            failure: None,
            off_since: None,
            notes: Vec::new(),
            went_on_until: None,
            finish_rebuild: scenario.run.finish_rebuild,
            backlog: UntimedBacklog::new(team, sectors),
            store: None,
        })
    }

    /// Keeps the contents of all drives in `store` from now on, those of replacements included.
    pub(crate) fn keep_contents_in(&mut self, store: &Arc<dyn ByteStore>) {
        self.array.with_devices(|_, member| {
            if let Some(ssd) = member.drive_mut() {
                ssd.keep_contents_in(store);
            }
        });
        self.store = Some(store.clone());
    }

    /// The capacity of the array, without building its drives.
    ///
    /// # Errors
    /// The first setting of the array that cannot work.
    pub(crate) fn capacity(
        scenario: &Scenario,
        config: &ArrayConfig,
    ) -> Result<outlast_units::Bytes, ConfigError> {
        config.validate()?;
        let sizes = (0..config.devices()).map(|index| {
            let member_config = config_of(scenario, config, index);
            member_config.ftl.user_capacity(&member_config.geometry)
        });
        outlast_array::capacity_over(config, sizes.min().unwrap_or_default())
    }

    /// Every drive that is or was in the array.
    pub(crate) fn drives(&self) -> impl Iterator<Item = &Ssd> {
        self.array.devices().chain(&self.replaced).filter_map(ArrayMember::drive)
    }

    /// Counters of the array since the last reset.
    pub(crate) fn counters(&self) -> ArrayCounters {
        self.array.counters() - self.base
    }

    /// Bytes that the host wrote since the last reset.
    pub(crate) fn host_bytes(&self) -> u64 {
        self.counters().sectors_written * SECTOR_BYTES
    }

    /// Number of happenings that are still to come.
    pub(crate) fn scheduled(&self) -> usize {
        self.pending.len()
    }

    /// Mapping units that the host addresses.
    pub(crate) fn units(&self) -> u64 {
        self.units
    }

    pub(crate) fn sectors_per_unit(&self) -> u32 {
        self.sectors_per_unit
    }

    /// Takes the error that ended the run early, if any.
    pub(crate) fn take_failure(&mut self) -> Option<ConfigError> {
        self.failure.take()
    }
}
