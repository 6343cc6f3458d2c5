//! The drive: a machine of host commands, flash cores, dies and channels.

use crate::config::{Identifier, SsdConfig, WriteCache};
use crate::core::{Core, Processor, Unsettled};
use crate::counters::Counters;
use crate::health::{Changes, Decisions, DieLayout, FaultSchedule, Timer};
use crate::host::HostSide;
use crate::op::{Op, Purpose};
use crate::placement::Classifier;
use crate::power::PowerCuts;
use crate::read::{CoreCells, Corrections, Ladder, Reliability, Retries};
use crate::repair::{Moves, Redirection, Watch};
use crate::wiring::DiePlace;
use outlast_device::{Command, Completion, Device, Identity, LbaRun, Notice, Smart, Tag};
use outlast_flash::{Flash, Setup, Source};
use outlast_ftl::{Ftl, FtlOptions, PagesRead, Tables, UnitsWritten};
use outlast_media::{ConfigError, Geometry, HazardClock, HazardConfig};
use outlast_units::slab::Slab;
use outlast_units::{Bytes, CoreId, DieId, IndexVec, LocalDie, Lpn, Nanos, SECTOR_BYTES};
use std::collections::VecDeque;

/// A simulated solid-state drive.
///
/// The way of a command: the host link brings it in, the master core splits it by mapping unit, the flash core of each unit
/// translates it, the die and its channel carry it out, the link takes the data back. Each stage is a machine that books
/// time; with one core, zero CPU cost and no link it is a plain SSD.
///
/// **Priorities** on a die: host reads, then host programs, then garbage collection, then background tasks. When host writes
/// wait for collection, collection goes before host programs, and every so often before host reads, so that it cannot starve.
/// Channels serve first come, first served.
///
/// **Time rule**: see [`Device`]. The sources of events are the dies, the flash cores' processors, the master core, and
/// the link; each has at most one pending event.
#[derive(Clone, Debug)]
pub struct Ssd {
    pub(crate) config: SsdConfig,
    pub(crate) cores: Vec<Core>,
    /// Dies, channels, and what is due.
    pub(crate) flash: Flash<Purpose>,
    /// The flash core of each die.
    pub(crate) places: IndexVec<DieId, DiePlace>,
    /// Reads in the flash room that carry more than a tag holds.
    pub(crate) reads: Slab<Op>,
    pub(crate) host: HostSide,
    pub(crate) master: Processor<u32>,
    pub(crate) sectors_per_unit: u32,
    /// log₂ of `sectors_per_unit` where it is a power of two.
    pub(crate) unit_shift: Option<u32>,
    pub(crate) units: u64,
    pub(crate) capacity_sectors: u64,
    /// What is to be looked at before the next event.
    pub(crate) unsettled: Unsettled,
    pub(crate) counters: Counters,
    /// Units lost to the host or to the drive before the last reset of the counters.
    pub(crate) errors_before: u64,
    /// Sums at the last reset, to be subtracted.
    pub(crate) base: Totals,
    pub(crate) base_by_core: Vec<UnitsWritten>,
    /// Whether anything can fail: errors are modelled, or faults expected.
    pub(crate) fallible: bool,
    /// Whether any data has parity.
    pub(crate) striped: bool,
    /// Dies that are not there yet.
    pub(crate) absent: Vec<DieId>,
    /// Which class writes belong to; absent where there is one only.
    pub(crate) classifier: Option<Box<Classifier>>,
    /// Absent where the flash never errs.
    pub(crate) reliability: Option<Box<Reliability>>,
    pub(crate) ladder: Ladder,
    pub(crate) corrections: Corrections,
    pub(crate) timer: Timer,
    pub(crate) decisions: Decisions,
    pub(crate) schedule: FaultSchedule,
    pub(crate) changes: Changes,
    pub(crate) power_cuts: PowerCuts,
    /// Which units live in another core than when the drive was new; absent where none do.
    pub(crate) redirection: Option<Box<Redirection>>,
    /// Failed dies for which space has been adjusted.
    pub(crate) adjusted: Vec<u16>,
    pub(crate) moves: Moves,
    /// What is known about the health of dies; absent where nobody cares.
    pub(crate) watch: Option<Box<Watch>>,
    /// What the host has not been told yet.
    pub(crate) notices: VecDeque<Notice>,
    pub(crate) seed: u64,
}

outlast_units::counters! {
    /// What the translation layers count since the beginning.
    #[derive(Clone, Copy, Debug, Default)]
    pub(crate) struct Totals {
        pub(crate) written: UnitsWritten,
        pub(crate) programs: u64,
        pub(crate) multi_plane_programs: u64,
        pub(crate) erases: u64,
        pub(crate) untimed_reads: PagesRead,
        pub(crate) victims: u64,
        pub(crate) victim_units: u64,
    }
}

impl Ssd {
    /// Builds the drive, empty.
    ///
    /// # Errors
    /// The first setting that cannot work, with its value and limit; nothing is allocated before the sizes are known to be sane.
    pub fn new(config: SsdConfig, seed: u64) -> Result<Self, ConfigError> {
        Self::assemble(config, seed, Tables::Built)
    }

    /// The drive without its tables: what refuses to be built is refused, in the same words. It can be asked for its capacity and for
    /// [`Ssd::bytes_when_built`], and takes no command.
    ///
    /// # Errors
    /// Those of [`Ssd::new`].
    pub fn without_tables(config: SsdConfig, seed: u64) -> Result<Self, ConfigError> {
        // Giving up dies that were repaired before takes note of superblocks.
        let repaired = config.repair.as_ref().is_some_and(|repair| !repair.repaired_dies.is_empty());
        Self::assemble(config, seed, if repaired { Tables::Superblocks } else { Tables::LeftOut })
    }

    fn assemble(config: SsdConfig, seed: u64, tables: Tables) -> Result<Self, ConfigError> {
        config.validate()?;
        let whole = tables == Tables::Built;
        let geometry = &config.geometry;
        let unit = config.ftl.mapping_unit;
        let capacity = config.ftl.user_capacity(geometry);
        let units = capacity.0 / unit.0;
        let flash_cores = u64::from(config.controller.flash_cores);
        let (cores, places) = cores_of(&config, seed, tables, units)?;
        if let Some(protection) = &config.protection {
            let ftl = &cores[0].ftl;
            let parities = ftl.open_parities() * flash_cores;
            protection.check_cache(geometry, parities, u64::from(ftl.layout().units_per_pu()) * unit.0)?;
        }
        let owners = places.iter().map(|place| place.core).collect();
        let flash = Flash::new(&Setup {
            geometry,
            timing: &config.timing,
            unit_size: unit,
            program_unit: cores[0].ftl.layout().program_unit(),
            cores: &owners,
            program_every: config.controller.program_every,
            background_every: config.controller.background_every,
            internal_operations: config.controller.internal_operations,
        })?;
        let sectors_per_unit = (unit.0 / SECTOR_BYTES) as u32;
        let reliability = config.reliability.as_ref().map(|r| Box::new(Reliability::new(&config, r, seed)));
        let max = config.reliability.as_ref().map_or(Some(FAULT_RETRIES), |r| r.rereads.max_retries);
        let if_protected = config.reliability.as_ref().and_then(|r| r.rereads_if_protected);
        let hazards = HazardClock::new(&config.hazards, geometry, Nanos::ZERO, seed);
        let mut ssd = Self {
            fallible: reliability.is_some(),
            striped: config.protection.is_some() || cores[0].ftl.layout().list_rows() != 0,
            absent: config.absent_dies.iter().map(|&die| DieId(die)).collect(),
            classifier: Classifier::new(&config, if whole { units * u64::from(sectors_per_unit) } else { 0 })
                .map(Box::new),
            reliability,
            ladder: Ladder::new(Retries::new(max, if_protected)),
            corrections: Corrections::default(),
            timer: Timer::default(),
            decisions: Decisions::default(),
            schedule: FaultSchedule::default(),
            changes: Changes::default(),
            power_cuts: PowerCuts::default(),
            redirection: None,
            adjusted: Vec::new(),
            moves: Moves::default(),
            watch: config
                .repair
                .as_ref()
                .map(|repair| Box::new(Watch::new(repair, die_layout(&cores, repair.bad_blocks)))),
            notices: VecDeque::new(),
            seed,
            flash,
            places,
            reads: Slab::default(),
            host: HostSide::new(&config),
            master: Processor::default(),
            sectors_per_unit,
            unit_shift: sectors_per_unit.is_power_of_two().then(|| sectors_per_unit.trailing_zeros()),
            units,
            capacity_sectors: units * u64::from(sectors_per_unit),
            unsettled: Unsettled::default(),
            counters: Counters::default(),
            errors_before: 0,
            base: Totals::default(),
            base_by_core: vec![UnitsWritten::default(); cores.len()],
            cores,
            config,
        };
        if ssd.config.hazards != HazardConfig::default() {
            ssd.expect_faults();
            let first = hazards.next();
            ssd.schedule.begin_hazards(hazards);
            ssd.call_housekeeping(first);
        }
        ssd.begin_repaired()?;
        ssd.settle(Nanos::ZERO);
        Ok(ssd)
    }

    /// The settings.
    pub fn config(&self) -> &SsdConfig {
        &self.config
    }

    /// Mapping units that the host addresses.
    pub fn units(&self) -> u64 {
        self.units
    }

    /// Host sectors in a mapping unit.
    pub fn sectors_per_unit(&self) -> u32 {
        self.sectors_per_unit
    }

    /// The flash core that unit `unit` belongs to, and its number there.
    #[inline]
    pub(crate) fn core_of(&self, unit: u64) -> (usize, u32) {
        if self.cores.len() == 1 {
            return (0, unit as u32);
        }
        let (core, number) = self.former_core_of(unit);
        match &self.redirection {
            None => (core, number),
            Some(redirection) => redirection.home(core, number).unwrap_or((core, number)),
        }
    }

    /// The unit in which a sector lies, and the sector's place in it.
    #[inline]
    pub(crate) fn unit_of(&self, sector: u64) -> (u64, u32) {
        if let Some(shift) = self.unit_shift {
            (sector >> shift, (sector & ((1 << shift) - 1)) as u32)
        } else {
            let per_unit = u64::from(self.sectors_per_unit);
            (sector / per_unit, (sector % per_unit) as u32)
        }
    }

    /// The flash core that owns die `die`, and the die's number there.
    pub(crate) fn core_of_die(&self, die: u16) -> (usize, u16) {
        let DiePlace { core, local } = self.places[DieId(die)];
        (core.index(), local.0)
    }

    fn totals(&self) -> Totals {
        let of = |ftl: &Ftl| {
            let (victims, victim_units) = ftl.victims();
            Totals {
                written: ftl.written(),
                programs: ftl.pages_programmed(),
                multi_plane_programs: ftl.multi_plane_programs(),
                erases: ftl.blocks().erases(),
                untimed_reads: ftl.untimed_reads(),
                victims,
                victim_units,
            }
        };
        self.ftls().map(of).sum()
    }

    /// What the translation layers have counted since the last reset.
    fn since_reset(&self) -> Totals {
        self.totals() - self.base
    }

    /// Counters since the last reset.
    pub fn counters(&self) -> Counters {
        let Totals { programs, multi_plane_programs, erases, untimed_reads, .. } = self.since_reset();
        let reads = self.counters.reads + untimed_reads;
        let suspends = self.flash.suspends();
        Counters { reads, programs, multi_plane_programs, erases, suspends, ..self.counters }
    }

    /// Units written since the last reset, by cause; what still waits in the buffer included.
    pub fn written(&self) -> UnitsWritten {
        self.since_reset().written
    }

    /// Superblocks relocated since the last reset, and the valid units they held.
    pub fn victims(&self) -> (u64, u64) {
        let Totals { victims, victim_units, .. } = self.since_reset();
        (victims, victim_units)
    }

    /// Starts counting anew. Wear and state stay.
    pub fn reset_counters(&mut self, now: Nanos) {
        self.errors_before += self.counters.medium_errors + self.counters.lost_units;
        self.counters = Counters::default();
        self.corrections = Corrections::default();
        self.ladder.reset();
        self.decisions = Decisions::default();
        if let Some(reliability) = &mut self.reliability {
            reliability.reset();
        }
        for scrub in self.cores.iter_mut().filter_map(|core| core.scrub.as_mut()) {
            scrub.reset();
        }
        self.reset_exposed(now);
        self.base = self.totals();
        self.base_by_core = self.cores.iter().map(|core| core.ftl.written()).collect();
        self.flash.reset_figures(now);
    }

    /// The share of `span`, which ends at `now`, for which each channel was busy since the last reset.
    pub fn channel_utilisation(&self, now: Nanos, span: Nanos) -> Vec<f64> {
        self.flash.channel_utilisation(now, span)
    }

    /// The share of `span`, which ends at `now`, for which each die was busy since the last reset.
    pub fn die_utilisation(&self, now: Nanos, span: Nanos) -> Vec<f64> {
        self.flash.die_utilisation(now, span)
    }

    /// The translation layers, by flash core.
    pub fn ftls(&self) -> impl ExactSizeIterator<Item = &Ftl> {
        self.cores.iter().map(|core| &core.ftl)
    }

    /// The dies (numbers over the drive) that flash core `core` owns, in the order of its own numbering.
    pub fn dies_of_core(&self, core: usize) -> &[u16] {
        &self.cores[core].dies
    }

    /// The latest simulated time that the drive can handle: 2^64 ns divided by the number of its dies and cores (and three more), rounded up
    /// to a power of two: 4.5 years with up to 124 dies, 208 days with up to 1000, 1.6 days with 65 535. A run that gets there ends with an
    /// error.
    pub fn horizon(&self) -> Nanos {
        self.flash.horizon()
    }

    /// Free superblocks, over all cores.
    pub fn free_superblocks(&self) -> u32 {
        self.cores.iter().map(|core| core.ftl.free_superblocks()).sum()
    }

    /// Whether nothing is under way: no command, no flash operation, no internal task. Housekeeping may be waiting for its time.
    pub fn is_idle(&self) -> bool {
        self.commands_in_flight() == 0 && self.flash.all_idle() && self.host.completions.next() == Nanos::MAX
    }

    /// Resident bytes of all tables of the drive when they are built and in use, the bytes of the flash included where it keeps them.
    pub fn bytes_when_built(&self) -> u64 {
        let geometry = &self.config.geometry;
        let layers = || self.cores.iter().map(|core| &core.ftl);
        let tables: u64 = layers().map(|ftl| ftl.heap_bytes_when_built(geometry)).sum();
        let cells: u64 = if let Some(reliability) = &self.config.reliability {
            layers().map(|ftl| CoreCells::bytes(geometry, reliability, ftl.layout())).sum()
        } else {
            0
        };
        let heat = self.classifier.as_ref().map_or(0, |own| own.bytes_over(self.capacity_sectors));
        let kept = if self.config.bytes {
            self.kept_units() * (self.config.ftl.mapping_unit.0 + UNIT_NODE)
        } else {
            0
        };
        tables + cells + heat + kept
    }

    /// Units whose bytes are kept at most: the live ones, or all of the flash where stale ones stay readable.
    fn kept_units(&self) -> u64 {
        let image = self.config.protection.is_some() || self.write_cache() != WriteCache::Protected;
        if image {
            self.cores.iter().map(|core| u64::from(core.ftl.layout().slots())).sum()
        } else {
            self.units
        }
    }

    /// Resident bytes of the mapping and superblock tables.
    pub fn table_bytes(&self) -> usize {
        self.cores.iter().map(|core| core.ftl.heap_bytes()).sum()
    }

    pub(crate) fn write_cache(&self) -> WriteCache {
        self.config.controller.write_cache
    }

    #[inline]
    pub(crate) fn next_event(&self) -> Nanos {
        self.flash.next_event().min(self.host.completions.next())
    }

    /// Does what is due first; the caller has checked that something is.
    #[inline]
    pub(crate) fn step(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        let at = self.flash.next_event();
        let completes = self.host.completions.next();
        if completes <= at {
            self.emit(completions);
            self.settle(completes);
            return;
        }
        debug_assert!(at <= now, "an event of the future handled now");
        match self.flash.next_source() {
            Source::Die(die) => self.die_event(at, die),
            Source::Core(core) => self.cpu_event(at, core.index()),
            Source::Master => self.master_event(at),
            Source::Link => self.link_event(at),
            Source::Housekeeping => self.house_event(at),
        }
        self.settle(at);
    }
}

/// What keeping a unit's bytes takes beside them: its entry in the tree, and the allocator's.
const UNIT_NODE: u64 = 64;
/// Re-reads of a drive whose flash never errs, after a sensing that failed for a passing reason.
const FAULT_RETRIES: u32 = 3;

/// The flash cores of a drive of `units` mapping units, and to which of them each die belongs.
fn cores_of(
    config: &SsdConfig,
    seed: u64,
    tables: Tables,
    units: u64,
) -> Result<(Vec<Core>, IndexVec<DieId, DiePlace>), ConfigError> {
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
        // Unit u belongs to core u mod N, so the first cores get one more where N does not divide.
        let own_units = units / flash_cores + u64::from((index as u64) < units % flash_cores);
        let options = FtlOptions { tables, ..options_of(config, share, seed) };
        let mut ftl = Ftl::new(geometry, &config.ftl, &config.defects, share, own_units, options)?;
        let cells = match &config.reliability {
            None => None,
            Some(reliability) if tables != Tables::Built => {
                reliability.rber_model()?;
                None
            }
            Some(reliability) => {
                let own = CoreCells::new(config, reliability, ftl.layout(), share[0].0, seed)?;
                ftl.wear(&own.cells.draw_cycles(&reliability.initial));
                Some(own)
            }
        };
        cores.push(Core { cells, ..Core::new(ftl, share, config)? });
    }
    Ok((cores, places))
}

/// The blocks of the dies of a drive, of which a die may have `most_bad` bad ones.
fn die_layout(cores: &[Core], most_bad: u32) -> DieLayout {
    let (ftl, dies) = (&cores[0].ftl, cores[0].dies.len());
    let planes_per_die = u32::from(ftl.layout().planes_per_die());
    let ids = |core: &Core| core.dies.iter().copied().map(DieId).collect();
    DieLayout {
        dies_of_cores: cores.iter().map(ids).collect(),
        blocks_per_die: (ftl.blocks().all_cycles().len() / dies) as u32,
        planes_per_die,
        in_use: ftl.layout().superblocks() * planes_per_die,
        most_bad,
    }
}

/// What the controller decides for the translation layer over `share`.
fn options_of(config: &SsdConfig, share: &[DieId], seed: u64) -> FtlOptions {
    FtlOptions {
        keep_bytes: config.bytes,
        erases_late: config.controller.write_cache != WriteCache::Protected,
        protection: config.protection.clone(),
        scrub: config.scrubs(),
        lists: config.repair.as_ref().is_some_and(|own| own.identifier == Identifier::P2lBlock),
        absent: absent_of(&config.absent_dies, share),
        seed,
        tables: Tables::Built,
    }
}

/// The dies of a core's share that are not there yet, numbered within it.
fn absent_of(absent: &[u16], share: &[DieId]) -> Vec<u16> {
    (0u16..).zip(share).filter(|(_, die)| absent.contains(&die.0)).map(|(local, _)| local).collect()
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
    shares
}

impl Device for Ssd {
    fn submit(&mut self, now: Nanos, command: Command, tag: Tag) {
        self.receive(now, command, tag, &[]);
        self.settle(now);
    }

    fn submit_data(&mut self, now: Nanos, command: Command, tag: Tag, data: &[u8]) {
        self.receive(now, command, tag, data);
        self.settle(now);
    }

    fn take_data(&mut self, tag: Tag) -> Option<Vec<u8>> {
        self.host.bytes.take(tag)
    }

    fn take_lba_status(&mut self, tag: Tag) -> Option<Vec<LbaRun>> {
        self.host.bytes.take_answer(tag)
    }

    #[inline]
    fn take_notice(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }

    #[inline]
    fn has_notice(&self) -> bool {
        !self.notices.is_empty()
    }

    fn next_deadline(&self) -> Option<Nanos> {
        Some(self.next_event()).filter(|&at| at != Nanos::MAX)
    }

    fn advance(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        while self.next_event() <= now && self.next_event() != Nanos::MAX {
            self.step(now, completions);
        }
    }

    fn advance_to_completion(&mut self, limit: Nanos, completions: &mut Vec<Completion>) -> Nanos {
        loop {
            let at = self.next_event();
            if at > limit || at == Nanos::MAX {
                return limit;
            }
            let due = self.host.completions.next() <= self.flash.next_event();
            self.step(at, completions);
            if due || !self.notices.is_empty() {
                return at;
            }
        }
    }

    fn hint(&self, upcoming: &[Command]) {
        for (index, core) in self.cores.iter().enumerate() {
            let units = upcoming.iter().map(|command| self.unit_of(command.lba.0).0);
            let own = units.map(|unit| self.core_of(unit)).filter(|&(owner, _)| owner == index);
            core.ftl.touch(own.map(|(_, lpn)| Lpn(lpn)));
        }
    }

    fn identify(&self) -> Identity {
        Identity {
            model: self.config.model.clone(),
            capacity: Bytes(self.capacity_sectors * SECTOR_BYTES),
            optimal_io: self.config.ftl.mapping_unit,
            link: self.config.controller.link,
        }
    }

    fn smart(&self) -> Smart {
        let worn = self.cores.iter().map(|core| core.ftl.blocks().mean_cycles()).sum::<f64>()
            / self.cores.len() as f64;
        let rated = self.config.defects.endurance;
        let left: u64 = self.cores.iter().map(|core| core.ftl.spare_blocks_left()).sum();
        let made = u64::from(self.config.ftl.spare_blocks) * self.config.geometry.planes() as u64;
        Smart {
            host_read_commands: self.host.life.commands[0],
            host_write_commands: self.host.life.commands[1],
            data_units_read: self.host.life.sectors[0].div_ceil(1000),
            data_units_written: self.host.life.sectors[1].div_ceil(1000),
            media_errors: self.host.life.media_errors,
            available_spare: (left * 100).checked_div(made).map_or(100, |percent| percent as u8),
            percentage_used: rated.map_or(0, |rated| (worn * 100.0 / f64::from(rated)) as u32),
            read_only: self.cores.iter().any(|core| core.ftl.is_read_only()),
        }
    }

    fn self_check(&self) -> Result<(), String> {
        for (index, core) in self.cores.iter().enumerate() {
            core.ftl.self_check().map_err(|error| format!("core {index}: {error}"))?;
        }
        self.check_health()?;
        self.flash.self_check()?;
        self.check_records()?;
        self.check_redirection()?;
        self.check_settled()?;
        self.check_requests()?;
        self.check_buffers()
    }
}
