//! An array of drives, with the happenings that the scenario schedules for it.

use crate::counts::{DriveSnapshot, snapshot_of};
use crate::error::ServiceError;
use crate::member::ArrayMember;
use crate::member_config::{as_new, config_of};
use crate::progress::{OnProgress, RunControl, RunPhase, RunProgress};
use crate::simulated_device::{SimulatedDevice, unit_write};
use crate::team::ThreadTeam;
use crate::untimed::UntimedBacklog;
use outlast_array::{Array, ArrayCondition, ArrayCounters, ArrayError};
use outlast_device::{
    Command, Completion, Device, Extent, Identity, LatencyParts, Outcome, Peek, SectorRun, Smart, Tag,
};
use outlast_ftl::Ftl;
use outlast_media::{ByteStore, ConfigError, UnitTear};
use outlast_scenario::{FaultTarget, PlannedEvent, Scenario};
use outlast_settings::array::ArrayConfig;
use outlast_settings::drive::SsdConfig;
use outlast_ssd::Ssd;
use outlast_units::rng::{mix, sub_seed};
use outlast_units::{Lba, Nanos, SECTOR_BYTES};
use std::cmp::Reverse;
use std::sync::Arc;

/// Events between two progress reports while the array finishes its work after the host's end.
const BETWEEN_CLOCKS: u64 = 4096;
/// Units written between two checks of the clock.
const BATCH: usize = 64;
/// Units of a drive that are filled in one turn, between two checks of the clock: enough for its tables to pay for their way into the cache.
const FILL_STEP: usize = 1 << 16;

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

/// Error of a new drive with settings that have been checked: by chance it has more factory bad blocks than spare ones.
#[allow(clippy::needless_pass_by_value, reason = "the way of an error")]
fn unusable(error: ConfigError) -> ArrayError {
    ArrayError::Unusable { reason: error.to_string() }
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

    /// Time of the next happening; none while the array is off.
    #[inline]
    fn next_happening(&self) -> Nanos {
        match self.pending.last() {
            Some(&(at, _)) if self.off_since.is_none() => at,
            _ => Nanos::MAX,
        }
    }

    /// Carries out the happenings due at `now`. Refusals become notes, except the exchange of an only copy, which ends the run.
    #[cold]
    fn apply_due(&mut self, now: Nanos) {
        while let Some(&(at, happening)) = self.pending.last()
            && at <= now
            && self.off_since.is_none()
        {
            self.pending.pop();
            match (self.carry_out(now, happening), happening) {
                (Err(error @ ArrayError::OnlyCopy { .. }), PlannedEvent::Replace { member, fault, .. }) => {
                    self.failure =
                        Some(ConfigError::new(&format!("faults[{fault}].device"), member, error.to_string()));
                    self.pending.clear();
                }
                (Err(error), PlannedEvent::PowerCut { .. }) => {
                    self.notes.push(format!(
                        "Power failed at {at}, the array did not start again, and the run ended: {error}."
                    ));
                }
                (Err(error), _) => self.notes.push(format!("At {at} nothing happened: {error}.")),
                (Ok(()), _) => {}
            }
        }
    }

    /// Carries out `happening` now.
    ///
    /// # Errors
    /// The array refuses it. An array that refuses to start after a loss of power stays off.
    pub(crate) fn carry_out(&mut self, now: Nanos, happening: PlannedEvent) -> Result<(), ArrayError> {
        match happening {
            PlannedEvent::Fail { member } => self.array.fail_member(now, member.into()),
            PlannedEvent::Replace { .. } => self.exchange(now, happening),
            PlannedEvent::PowerCut { force, tear } => {
                self.tear_next(tear);
                self.power_cycle(now, now, force)
            }
        }
    }

    /// Sets how much of the operations under way the next loss of power leaves on the flash of every drive.
    pub(crate) fn tear_next(&mut self, tear: UnitTear) {
        self.array.with_devices(|_, member| {
            if let Some(ssd) = member.drive_mut() {
                ssd.tear_next(tear);
            }
        });
    }

    /// Cuts the power of every device at `off` and restores it at `on`; commands of the host under way are aborted.
    ///
    /// # Errors
    /// The array does not start, and is off.
    pub(crate) fn power_cycle(&mut self, off: Nanos, on: Nanos, force: bool) -> Result<(), ArrayError> {
        self.array.power_failure_until(off, on);
        self.off_since = Some(on);
        self.start(on, force)
    }

    /// Cuts and restores power at `now`; member `member` is gone afterwards.
    ///
    /// # Errors
    /// There is no such member, or the array does not start, and is off.
    pub(crate) fn power_cycle_without(
        &mut self,
        now: Nanos,
        member: u16,
        force: bool,
    ) -> Result<(), ArrayError> {
        self.array.power_failure_until(now, now);
        self.off_since = Some(now);
        self.array.fail_member(now, member.into())?;
        self.start(now, force)
    }

    /// Starts the array if it is off.
    ///
    /// # Errors
    /// The array refuses, and stays off.
    pub(crate) fn start(&mut self, now: Nanos, force: bool) -> Result<(), ArrayError> {
        self.array.power_on(now, force)?;
        self.off_since = None;
        Ok(())
    }

    /// Exchanges a member for a new drive, or a new stand-in in a stand-in's place.
    fn exchange(&mut self, now: Nanos, happening: PlannedEvent) -> Result<(), ArrayError> {
        let PlannedEvent::Replace { member, force, .. } = happening else { return Ok(()) };
        // Also counted if the array refuses the drive, so that a later one is never a copy of it.
        let seed = drive_seed(self.seed, self.made);
        self.made += 1;
        let light = self.array.config().light.as_ref().filter(|_| self.array.config().is_light(member));
        if let Some(light) = light {
            let capacity = self.config.ftl.user_capacity(&self.config.geometry);
            let drive = ArrayMember::light(light, capacity, seed).map_err(unusable)?;
            self.replaced.extend(self.array.replace(now, member.into(), drive, force)?);
            return Ok(());
        }
        let mut drive = Ssd::new(self.config.clone(), seed).map_err(unusable)?;
        if let Some(store) = &self.store {
            drive.keep_contents_in(store);
        }
        drive.begin_timed();
        if self.array.splits_latencies() {
            drive.split_latencies();
        }
        drive.reset_counters(now);
        let drive = ArrayMember::Drive(Box::new(drive));
        self.replaced.extend(self.array.replace(now, member.into(), drive, force)?);
        Ok(())
    }
}

impl ArrayVolume {
    /// True if the array has work to finish after the host's end: a rebuild, or parity in doubt.
    fn is_unfinished(&self) -> bool {
        let failed = self.failure.is_some() || self.array.has_policy_failed();
        (self.array.is_rebuilding() || self.array.is_in_doubt()) && !failed && self.is_up()
    }
}

impl Device for ArrayVolume {
    #[inline]
    fn submit(&mut self, now: Nanos, command: Command, tag: Tag) {
        self.array.submit(now, command, tag);
    }

    fn submit_data(&mut self, now: Nanos, command: Command, tag: Tag, data: &[u8]) {
        self.array.submit_data(now, command, tag, data);
    }

    fn take_data(&mut self, tag: Tag) -> Option<Vec<u8>> {
        self.array.take_data(tag)
    }

    fn take_parts(&mut self, tag: Tag) -> Option<LatencyParts> {
        self.array.take_parts(tag)
    }

    fn take_failed(&mut self, tag: Tag) -> Option<Vec<SectorRun>> {
        self.array.take_failed(tag)
    }

    fn peek(&self, lba: Lba, sectors: u64, to: &mut Vec<Peek>) {
        self.array.peek(lba, sectors, to);
    }

    fn under_way(&self) -> Option<Vec<(Tag, Option<u32>)>> {
        self.array.under_way()
    }

    fn extents(&self, lba: Lba, sectors: u64) -> Vec<Extent> {
        self.array.extents(lba, sectors)
    }

    fn next_deadline(&self) -> Option<Nanos> {
        let next = self.array.next_deadline().unwrap_or(Nanos::MAX).min(self.next_happening());
        (next != Nanos::MAX).then_some(next)
    }

    fn advance(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        while self.next_happening() <= now {
            // Everything due before the happening, or at its time, is done first.
            let at = self.next_happening();
            self.array.advance(at, completions);
            self.apply_due(at);
        }
        self.array.advance(now, completions);
    }

    fn advance_to_completion(&mut self, limit: Nanos, completions: &mut Vec<Completion>) -> Nanos {
        loop {
            let due = self.next_happening();
            if due > limit || due == Nanos::MAX {
                return self.array.advance_to_completion(limit, completions);
            }
            // The happening may change what completes, so the array must not pass it.
            let before = completions.len();
            let reached = self.array.advance_to_completion(due, completions);
            if completions.len() > before {
                // The caller reacts first; the happening waits for the next call.
                return reached;
            }
            self.apply_due(due);
        }
    }

    fn hint(&self, upcoming: &[Command]) {
        self.array.hint(upcoming);
    }

    fn identify(&self) -> Identity {
        self.array.identify()
    }

    fn smart(&self) -> Smart {
        self.array.smart()
    }

    fn self_check(&self) -> Result<(), String> {
        self.array.self_check()
    }
}

impl SimulatedDevice for ArrayVolume {
    /// False: which of several members acts first at one moment depends on how far each has been advanced.
    const MAY_WAIT: bool = false;

    fn units(&self) -> u64 {
        ArrayVolume::units(self)
    }

    /// Units of a stripe, so that its parity is written once.
    fn fill_units(&self) -> u64 {
        let stripe = self.array.identify().optimal_io.0 / SECTOR_BYTES / u64::from(self.sectors_per_unit);
        stripe.clamp(1, 1 << 20)
    }

    fn fill(&mut self, first: u64, end: u64) -> Result<(), Outcome> {
        match self.apply(unit_write(self.sectors_per_unit, first, end)) {
            Outcome::Ok => Ok(()),
            other => Err(other),
        }
    }

    /// Fills drive by drive, or several on threads of their own. That keeps the tables of a drive in the processor's cache and skips stand-ins.
    /// Members get the same writes in the same order as through the array.
    fn fill_first(
        &mut self,
        units: u64,
        _team: ThreadTeam,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<u64, Outcome> {
        let per_unit = u64::from(self.sectors_per_unit);
        let config = self.array.config();
        // Contents must pass through the array, which computes parity; and a unit must lie in one chunk.
        if self.config.bytes || !config.chunk.0.is_multiple_of(per_unit * SECTOR_BYTES) {
            return Ok(0);
        }
        let Some((filled, sectors)) =
            self.array.filled_by(units * per_unit).filter(|&(_, sectors)| sectors != 0)
        else {
            return Ok(0);
        };
        let whole = filled / per_unit;
        let member_units = sectors / per_unit;
        let team = self.backlog.team();
        for first in (0..member_units).step_by(FILL_STEP) {
            let end = member_units.min(first + FILL_STEP as u64);
            let drives = self.array.members_mut().filter_map(|(_, member)| member.drive_mut());
            let mut drives: Vec<_> = drives.map(|ssd| (ssd, Ok(()))).collect();
            team.for_each(&mut drives, |(ssd, outcome)| {
                *outcome = (first..end).try_for_each(|unit| ssd.write_unit_untimed(unit, 0));
            });
            drives.into_iter().try_for_each(|(_, outcome)| outcome)?;
            if !go_on(end * whole / member_units) {
                break;
            }
        }
        Ok(whole)
    }

    fn batch(&self) -> usize {
        BATCH
    }

    /// Writes by commands, on the threads of the backlog: each command belongs to certain members.
    fn write_units(&mut self, units: &[u64], _team: ThreadTeam) -> Result<(), usize> {
        for (written, &unit) in units.iter().enumerate() {
            self.fill(unit, unit + 1).map_err(|_| written)?;
        }
        Ok(())
    }

    fn apply(&mut self, command: Command) -> Outcome {
        self.backlog.push(&mut self.array, command)
    }

    fn catch_up(&mut self) -> Outcome {
        self.backlog.carry_out(&mut self.array)
    }

    fn end_untimed(&mut self) {
        self.array.with_devices(|_, member| {
            if let Some(ssd) = member.drive_mut() {
                ssd.end_untimed();
            }
        });
    }

    fn each_ftl(&self, visit: &mut dyn FnMut(&Ftl)) {
        self.array.devices().filter_map(ArrayMember::drive).flat_map(Ssd::ftls).for_each(visit);
    }

    fn host_units(&self) -> u64 {
        let sectors = self.counters().sectors_written + self.backlog.host_sectors();
        sectors / u64::from(self.sectors_per_unit)
    }

    fn programmed_units(&self) -> u64 {
        self.drives().map(|ssd| ssd.written().total()).sum()
    }

    fn begin(&mut self, scenario: &Scenario) -> Result<(), ConfigError> {
        let faults = scenario.flash_faults()?;
        if scenario.run.causes {
            self.array.split_latencies();
        }
        self.array.with_devices(|index, member| {
            let Some(ssd) = member.drive_mut() else { return };
            ssd.begin_timed();
            if scenario.run.causes {
                ssd.split_latencies();
            }
            if scenario.run.utilisation {
                ssd.keep_victims();
            }
            let member_faults: Vec<_> = faults
                .iter()
                .filter(|(device, ..)| usize::from(*device) == index)
                .map(|&(_, at, fault)| (at, fault))
                .collect();
            ssd.schedule_faults(&member_faults);
            ssd.schedule_changes(&scenario.changes);
            for ageing in &scenario.run.ageing {
                ssd.schedule_ageing(ageing.at, ageing.by);
            }
        });
        // The next happening is taken from the end. The stable sort keeps those of equal times in reversed order, so the first given is taken first.
        self.pending = scenario.planned_events()?;
        self.pending.reverse();
        self.pending.sort_by_key(|&(at, _)| Reverse(at));
        Ok(())
    }

    fn strike(&mut self, now: Nanos, strike: FaultTarget) -> Result<(), ServiceError> {
        match strike {
            FaultTarget::Flash { device, fault } => self.array.with_devices(|index, member| {
                if let Some(ssd) = member.drive_mut().filter(|_| index == usize::from(device)) {
                    ssd.inject(now, fault);
                }
            }),
            FaultTarget::Array(happening) => self.carry_out(now, happening)?,
        }
        Ok(())
    }

    fn reset(&mut self, now: Nanos) {
        self.base = self.array.counters();
        self.array.with_devices(|_, member| {
            if let Some(ssd) = member.drive_mut() {
                ssd.reset_counters(now);
            }
        });
        for ssd in self.replaced.iter_mut().filter_map(ArrayMember::drive_mut) {
            ssd.reset_counters(now);
        }
    }

    fn snapshot(&self, now: Nanos) -> DriveSnapshot {
        let mut snapshot = snapshot_of(self.drives(), now);
        snapshot.counts.host_bytes = self.host_bytes();
        snapshot
    }

    fn latest(&self) -> Nanos {
        self.drives().map(Ssd::horizon).min().unwrap_or(Nanos::MAX)
    }

    fn has_failed(&self) -> bool {
        self.failure.is_some()
            || self.array.has_policy_failed()
            || self.drives().any(SimulatedDevice::has_failed)
    }

    fn policy_failure(&self) -> Option<ConfigError> {
        self.array.policy_failure().or_else(|| self.drives().find_map(SimulatedDevice::policy_failure))
    }

    #[inline]
    fn is_up(&self) -> bool {
        self.off_since.is_none()
    }

    #[inline]
    fn condition(&self) -> Option<ArrayCondition> {
        Some(self.array.condition())
    }

    /// Finishes rebuilds, and resolves parity in doubt, unless `run.finish_rebuild` is false.
    fn finish(&mut self, progress: OnProgress<'_>) -> bool {
        let mut completions = Vec::new();
        let mut steps = 0u64;
        while self.finish_rebuild && self.is_unfinished() {
            let Some(at) = self.next_deadline() else { break };
            self.advance(at, &mut completions);
            self.went_on_until = Some(at);
            steps += 1;
            if steps.is_multiple_of(BETWEEN_CLOCKS) {
                let done = self.array.progress(at);
                let report = RunProgress {
                    phase: RunPhase::Rebuild,
                    fraction: done.map(|pass| pass.done.0 as f64 / pass.total.0.max(1) as f64),
                    requests: steps,
                    simulated: at,
                };
                if progress(&report) == RunControl::Stop {
                    return true;
                }
            }
        }
        false
    }
}
