//! A drive is put together: its flash cores over its dies, and the parts beside them.

use crate::drive::{HostHandles, IdleWatch, Mounts, ZoneSplit, group_count, groups_of, zones_of};
use crate::health::{Changes, FaultSchedule};
use crate::heat::PowerWatch;
use crate::host::HostSide;
use crate::placement::Classifier;
use crate::shutdowns::Shutdowns;
use crate::slc_cache::rules_of;
use crate::ssd::Ssd;
use crate::totals::{AtReset, PowerCuts};
use outlast_controller::{
    CoreCells, CoreContext, Cores, DieLayout, DiePlace, DieWatch, FlashCore, Processor, SharedParts, Size,
    units_of_core, zone_streams,
};
use outlast_flash::{Flash, FlashSetup};
use outlast_ftl::{Ftl, FtlOptions, FtlTables, MountOptions, SlotLayout, StreamCause, StreamModes};
use outlast_media::{ConfigError, Geometry, HazardClock, HazardConfig};
use outlast_settings::drive::{ControllerConfig, Identifier, MountConfig, SsdConfig, WriteCache};
use outlast_settings::ftl::FtlConfig;
use outlast_units::{Bytes, CoreId, DieId, IndexVec, LocalDie, Nanos, SECTOR_BYTES};
use std::collections::VecDeque;

impl Ssd {
    /// Builds the drive, empty.
    ///
    /// # Errors
    /// The first setting that cannot work, with its value and limit; nothing is allocated before the sizes are known to be sane.
    pub fn new(config: SsdConfig, seed: u64) -> Result<Self, ConfigError> {
        Self::assemble(config, seed, FtlTables::Built)
    }

    /// The drive without its tables: what refuses to be built is refused, in the same words. It can be asked for its capacity and for
    /// [`Ssd::bytes_when_built`], and takes no command.
    ///
    /// # Errors
    /// Those of [`Ssd::new`].
    pub fn without_tables(config: SsdConfig, seed: u64) -> Result<Self, ConfigError> {
        // Giving up dies that were repaired before takes note of superblocks.
        let repaired = config.repair.as_ref().is_some_and(|repair| !repair.repaired_dies.is_empty());
        Self::assemble(config, seed, if repaired { FtlTables::Superblocks } else { FtlTables::LeftOut })
    }

    fn assemble(mut config: SsdConfig, seed: u64, tables: FtlTables) -> Result<Self, ConfigError> {
        config.validate()?;
        let zones = if config.zones.is_some() {
            // Of one unit, to be asked what a superblock holds.
            let (probe, _) =
                cores_of(&config, seed, FtlTables::LeftOut, config.controller.flash_cores.into())?;
            zones_of(&mut config, probe[CoreId(0)].ftl())?
        } else {
            None
        };
        let whole = tables == FtlTables::Built;
        let (geometry, unit) = (&config.geometry, config.ftl.mapping_unit);
        let units = config.ftl.user_capacity(geometry).0 / unit.0;
        let (cores, places) =
            cores_of(&config, seed, tables, units).map_err(|error| of_zones(error, &config))?;
        if let Some(protection) = &config.protection {
            let ftl = cores[CoreId(0)].ftl();
            let parities = ftl.parity().open_units() * u64::from(config.controller.flash_cores);
            protection.check_cache(geometry, parities, u64::from(ftl.layout().units_per_pu()) * unit.0)?;
        }
        assert!(places.len() == usize::from(geometry.dies()), "every die has a flash core");
        let hazards = HazardClock::new(&config.hazards, geometry, Nanos::ZERO, seed);
        let sectors = if whole { units * u64::from(sectors_per_unit_of(&config)) } else { 0 };
        let classifier = Classifier::new(&config, sectors).map(Box::new);
        let flash = flash_of(&config, &places, cores[CoreId(0)].ftl().layout())?;
        let watch = watch_of(&config, &cores);
        let size = Size::new(units, sectors_per_unit_of(&config));
        let context = CoreContext::new(config, seed, SharedParts { flash, watch, size, places }, &cores);
        let handles = HostHandles::new(context.config.placement.as_ref(), cores.len());
        let pause = context.config.slc_cache.as_ref().and_then(|cache| cache.fold_after_idle);
        let idle = pause.map(IdleWatch::new);
        let power_watch = PowerWatch::new(context.config.energy.as_ref(), context.config.heat.as_ref());
        let mut ssd = Self {
            is_settling: false,
            schedule: FaultSchedule::default(),
            changes: Changes::default(),
            host: HostSide::new(&context.config),
            context,
            classifier,
            power_cuts: PowerCuts::default(),
            handles,
            zone_split: ZoneSplit::default(),
            mounts: Mounts::default(),
            idle,
            power_watch,
            shutdowns: Shutdowns::default(),
            notices: VecDeque::new(),
            seed,
            master: Processor::default(),
            at_reset: AtReset::new(cores.len()),
            cores,
        };
        ssd.context.zones = zones.map(Box::new);
        ssd.context.homes = groups_of(&ssd.context.config, if whole { units } else { 0 }).map(Box::new);
        if ssd.context.config.hazards != HazardConfig::default() {
            ssd.expect_hazards(hazards);
        }
        ssd.context.call_housekeeping(ssd.context.next_map_flush());
        if let Some(heat) = &ssd.context.config.heat {
            ssd.context.call_housekeeping(heat.every);
        }
        ssd.begin_repaired()?;
        ssd.settle(Nanos::ZERO);
        Ok(ssd)
    }

    /// Failures come by chance, when `hazards` says.
    fn expect_hazards(&mut self, hazards: HazardClock) {
        self.expect_faults();
        let first = hazards.next();
        self.schedule.begin_hazards(hazards);
        self.context.call_housekeeping(first);
    }
}

/// `error` by the setting of zones, whose number says the capacity.
fn of_zones(error: ConfigError, config: &SsdConfig) -> ConfigError {
    match &config.zones {
        Some(zones) if error.field == "device.ftl.capacity" => {
            ConfigError::new("device.zones.count", zones.count, error.limit)
        }
        _ => error,
    }
}

/// Host sectors in a mapping unit.
fn sectors_per_unit_of(config: &SsdConfig) -> u32 {
    (config.ftl.mapping_unit.0 / SECTOR_BYTES) as u32
}

/// What is known about the health of dies, where a repair is for those that fail.
fn watch_of(config: &SsdConfig, cores: &Cores) -> Option<Box<DieWatch>> {
    let repair = config.repair.as_ref()?;
    Some(Box::new(DieWatch::new(
        repair,
        &config.ftl.own,
        die_layout(cores, &config.geometry, repair.bad_blocks),
    )))
}

/// The dies and channels of a drive, whose flash cores own them as `places` says.
///
/// # Errors
/// Settings of timing that cannot work.
pub(crate) fn flash_of<T: Copy>(
    config: &SsdConfig,
    places: &IndexVec<DieId, DiePlace>,
    layout: &SlotLayout,
) -> Result<Flash<T>, ConfigError> {
    let owners = places.iter().map(|place| place.core).collect();
    Flash::new(&FlashSetup {
        geometry: &config.geometry,
        timing: &config.timing,
        modes: &config.modes(),
        unit_size: config.ftl.mapping_unit,
        program_unit: layout.program_unit(),
        one_shot: u32::from(config.ftl.one_shot),
        two_pass: config.ftl.two_pass,
        cores: &owners,
        program_every: ControllerConfig::PROGRAM_EVERY,
        background_every: ControllerConfig::BACKGROUND_EVERY,
        internal_operations: config.controller.internal_operations,
        think_time: config.controller.think_time,
    })
}

/// The flash cores of a drive of `units` mapping units, and to which of them each die belongs.
fn cores_of(
    config: &SsdConfig,
    seed: u64,
    tables: FtlTables,
    units: u64,
) -> Result<(Cores, IndexVec<DieId, DiePlace>), ConfigError> {
    let geometry = &config.geometry;
    let flash_cores = u64::from(config.controller.flash_cores);
    let shares = dies_of_cores(geometry, config.controller.flash_cores);
    let mut cores = Vec::with_capacity(shares.len());
    let nowhere = DiePlace { core: CoreId(0), local: LocalDie(0) };
    let mut places = IndexVec::filled(nowhere, usize::from(geometry.dies()));
    for (index, share) in shares.iter().enumerate() {
        for (local, &die) in (0u16..).zip(share) {
            places[die] = DiePlace { core: CoreId(index as u16), local: LocalDie(local) };
        }
        // Without reclaim groups unit u belongs to core u mod N, so the first cores get one more where N does not divide.
        let (own_units, numbers) =
            units_of_core(units, index as u64, flash_cores, group_count(config).into());
        let options = FtlOptions { tables, room_for: Some(own_units), ..options_of(config, share, seed) };
        let mut ftl = Ftl::new(
            geometry,
            &share_of(&config.ftl, flash_cores, config.zones.as_ref().map(zone_streams)),
            &config.defects,
            share,
            numbers,
            &options,
        )?;
        let cells = match &config.reliability {
            None => None,
            Some(reliability) if tables != FtlTables::Built => {
                reliability.rber_model()?;
                None
            }
            Some(reliability) => {
                let own = CoreCells::new(config, reliability, ftl.layout(), share[0].0, seed)?;
                ftl.set_wear(&own.cells.draw_cycles(&reliability.initial));
                Some(own)
            }
        };
        cores.push(FlashCore::new(CoreId(cores.len() as u16), ftl, cells, share, config)?);
    }
    Ok((cores.into(), places))
}

/// The settings of the translation layer of one of `cores` flash cores: each counts its share of what the host writes.
fn share_of(config: &FtlConfig, cores: u64, streams: Option<u8>) -> FtlConfig {
    let mut own = config.clone();
    if let Some(streams) = streams {
        own.streams = streams;
    }
    if let Some(written) = own.map_flush.as_mut().and_then(|own| own.written.as_mut()) {
        written.0 = (written.0 / cores).max(own.mapping_unit.0);
    }
    own
}

/// The blocks of the dies of a drive, of which a die may have `most_bad` bad ones.
fn die_layout(cores: &Cores, geometry: &Geometry, most_bad: u32) -> DieLayout {
    let layout = cores[CoreId(0)].ftl().layout();
    let planes_per_die = u32::from(layout.planes_per_die());
    let ids = |core: &FlashCore| core.dies().iter().copied().collect();
    DieLayout {
        dies_of_cores: cores.iter().map(ids).collect(),
        blocks_per_die: geometry.blocks_per_plane * planes_per_die,
        planes_per_die,
        in_use: layout.superblocks() * planes_per_die,
        most_bad,
    }
}

/// What the controller decides for the translation layer over `share`.
fn options_of(config: &SsdConfig, share: &[DieId], seed: u64) -> FtlOptions {
    FtlOptions {
        keep_bytes: config.bytes,
        erases_late: config.controller.write_cache != WriteCache::Protected,
        protection: config.protection.clone(),
        placement: config.placement.clone(),
        scrub: config.scrubs(),
        rebuild: config.rebuilds(),
        lists: config.repair.as_ref().is_some_and(|own| own.identifier == Identifier::P2lBlock),
        absent: absent_of(&config.absent_dies, share),
        coalesce: config.units_held_back(),
        mount: config.mount.as_ref().map(|mount| mount_options(mount, config)),
        background_every: ControllerConfig::BACKGROUND_EVERY,
        seed,
        modes: config
            .modes()
            .pop()
            .map_or_else(StreamModes::default, |mode| StreamModes::one(StreamCause::Host, mode)),
        slc_cache: config.slc_cache.as_ref().map(|cache| rules_of(cache, config, share.len())),
        ..FtlOptions::default()
    }
}

/// How the mount of a flash core of drive `config` is prepared, by `mount`.
pub(crate) fn mount_options(mount: &MountConfig, config: &SsdConfig) -> MountOptions {
    let share = |every: Bytes| Bytes(every.0 / u64::from(config.controller.flash_cores));
    MountOptions {
        checkpoint_every: mount.checkpoint_every.map(share),
        lists: mount.lists,
        reads_table: config.ftl.map_cache.is_some(),
    }
}

/// The dies of a core's share that are not there yet, numbered within it.
fn absent_of(absent: &[u16], share: &[DieId]) -> Vec<LocalDie> {
    (0..)
        .map(LocalDie)
        .zip(share)
        .filter(|(_, die)| absent.contains(&die.0))
        .map(|(local, _)| local)
        .collect()
}

/// The dies of each flash core: whole channels where they divide evenly, else every N-th die, so that each core has dies on
/// as many channels as possible.
fn dies_of_cores(geometry: &Geometry, cores: u16) -> Vec<Vec<DieId>> {
    let mut shares = vec![Vec::new(); usize::from(cores)];
    for die in 0..geometry.dies() {
        let owner = if geometry.channels.is_multiple_of(cores) {
            geometry.locate(DieId(die)).channel.0 / (geometry.channels / cores)
        } else {
            die % cores
        };
        shares[usize::from(owner)].push(DieId(die));
    }
    assert!(shares.iter().all(|share| !share.is_empty()), "every flash core has dies");
    shares
}
