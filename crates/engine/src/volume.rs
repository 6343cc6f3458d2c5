//! An array of drives with what is to happen to its members.

use crate::counts::{DriveSnapshot, snapshot_of};
use crate::error::ServiceError;
use crate::member::ArrayMember;
use crate::member_config::{as_new, config_of};
use crate::progress::{OnProgress, RunControl, RunPhase, RunProgress};
use crate::simulated_device::{SimulatedDevice, unit_write};
use crate::team::ThreadTeam;
use crate::untimed::UntimedBacklog;
use outlast_array::{Array, ArrayError, ArrayCondition, ArrayCounters};
use outlast_device::{
    Command, Completion, Device, Extent, Identity, LatencyParts, Outcome, Peek, SectorRun, Smart, Tag,
};
use outlast_ftl::Ftl;
use outlast_media::{ConfigError, Store, Tear};
use outlast_scenario::{Happening, Scenario, Strike};
use outlast_settings::array::ArrayConfig;
use outlast_settings::drive::SsdConfig;
use outlast_ssd::Ssd;
use outlast_units::rng::{mix, sub_seed};
use outlast_units::{Lba, Nanos, SECTOR_BYTES};
use std::cmp::Reverse;
use std::sync::Arc;

/// Steps between two looks at the clock while the array finishes what it has begun.
const BETWEEN_CLOCKS: u64 = 4096;
/// Units written between two looks at the clock.
const BATCH: usize = 64;
/// Units of a drive that are filled between two looks at the clock: a drive's tables stay in the processor's cache meanwhile.
const FILL_STEP: usize = 1 << 16;

/// An array of drives.
#[derive(Clone, Debug, outlast_persist::Restore)]
#[persist(check)]
pub(crate) struct ArrayVolume {
    pub(crate) array: Array<ArrayMember>,
    /// What is to happen to the array and to members as wholes, the next one last.
    pending: Vec<(Nanos, Happening)>,
    /// Drives that were exchanged on demand.
    replaced: Vec<ArrayMember>,
    /// Sums at the last reset.
    base: ArrayCounters,
    #[persist(skip)]
    sectors_per_unit: u32,
    #[persist(skip)]
    units: u64,
    /// For drives that are made later.
    #[persist(skip)]
    config: SsdConfig,
    seed: u64,
    made: u64,
    /// Why the run cannot go on.
    #[persist(skip)]
    failure: Option<ConfigError>,
    /// When power failed and the array did not start again.
    off_since: Option<Nanos>,
    /// What was to happen and did not, in words.
    pub(crate) notes: Vec<String>,
    /// Until when the array went on after the host had ended.
    pub(crate) went_on_until: Option<Nanos>,
    #[persist(skip)]
    finish_rebuild: bool,
    /// Commands without time that are still to be carried out.
    #[persist(skip)]
    backlog: UntimedBacklog,
    /// Where the drives keep their bytes, if not in memory.
    #[persist(skip)]
    store: Option<Arc<dyn Store>>,
}

/// The age of a drive: mean P/E cycles in percent of its rating, or the cycles themselves where it has none. Stand-ins do not age.
fn age_of(member: &ArrayMember) -> f64 {
    let Some(ssd) = member.drive() else { return 0.0 };
    ssd.used_percent().unwrap_or_else(|| ssd.mean_cycles())
}

/// Members are replaced at a percentage of their rating: there must be one.
fn check_rating(config: &ArrayConfig, device: &SsdConfig) -> Result<(), ConfigError> {
    let Some(limit) = config.replacement.limit_percent.filter(|_| device.rated_cycles().is_none()) else {
        return Ok(());
    };
    let needs = "needs a rating to be a percentage of: device.defects.endurance, or a published device.reliability.chip";
    Err(ConfigError::new("array.replacement.limit_percent", limit, needs))
}

/// A new drive of settings that others were made of: by chance it has more bad blocks from the factory than it can do without.
#[allow(clippy::needless_pass_by_value, reason = "the way of an error")]
fn unusable(error: ConfigError) -> ArrayError {
    ArrayError::Unusable { reason: error.to_string() }
}

/// The seed of drive `index`.
fn drive_seed(seed: u64, index: u64) -> u64 {
    mix(sub_seed(seed, "engine.drive") ^ index)
}

impl ArrayVolume {
    /// Whether state that has been read is that of an array.
    fn check_restored(&self) -> Result<(), String> {
        if self.off_since.is_none() != self.array.is_powered() {
            return Err("power is there, and is not".to_owned());
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

    /// The array over drives without tables ([`Ssd::without_tables`]): refused where [`ArrayVolume::new`] is.
    ///
    /// # Errors
    /// Those of [`ArrayVolume::new`].
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
            let place = config.member.iter().position(|member| member.device == index);
            let own = config_of(scenario, config, index);
            let refused = |mut error: ConfigError| {
                if let (Some(place), "device.ftl.capacity") = (place, error.field.as_str()) {
                    error.field = format!("array.member[{place}].capacity");
                }
                error
            };
            let seed = drive_seed(scenario.seed, index.into());
            if let Some(light) = config.light.as_ref().filter(|_| config.is_light(index)) {
                let capacity = own.ftl.user_capacity(&own.geometry);
                drives.push(ArrayMember::light(light, capacity, seed)?);
                continue;
            }
            let mut ssd = drive(own, seed).map_err(refused)?;
            if let (Some(cycles), None) =
                (config.member(index).and_then(|own| own.pe_cycles), &ssd.config().reliability)
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

    /// Has `store` keep the bytes of all drives from now on, those that are still to come included.
    pub(crate) fn keep_contents_in(&mut self, store: &Arc<dyn Store>) {
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
            let own = config_of(scenario, config, index);
            own.ftl.user_capacity(&own.geometry)
        });
        outlast_array::capacity_over(config, sizes.min().unwrap_or_default())
    }

    /// Every drive that is or was in the array.
    pub(crate) fn drives(&self) -> impl Iterator<Item = &Ssd> {
        self.array.devices().chain(&self.replaced).filter_map(ArrayMember::drive)
    }

    /// Figures of the array since the last reset.
    pub(crate) fn counters(&self) -> ArrayCounters {
        self.array.counters() - self.base
    }

    /// Bytes that the host wrote since the last reset.
    pub(crate) fn host_bytes(&self) -> u64 {
        self.counters().sectors_written * SECTOR_BYTES
    }

    /// Happenings that lie beyond the end of the run.
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

    /// Why the run ended early, if it did.
    pub(crate) fn take_failure(&mut self) -> Option<ConfigError> {
        self.failure.take()
    }

    #[inline]
    fn next_happening(&self) -> Nanos {
        match self.pending.last() {
            Some(&(at, _)) if self.off_since.is_none() => at,
            _ => Nanos::MAX,
        }
    }

    /// What is due at `now` happens.
    #[cold]
    fn apply_due(&mut self, now: Nanos) {
        while let Some(&(at, happening)) = self.pending.last()
            && at <= now
            && self.off_since.is_none()
        {
            self.pending.pop();
            match (self.carry_out(now, happening), happening) {
                (Err(error @ ArrayError::OnlyCopy { .. }), Happening::Replace { member, fault, .. }) => {
                    self.failure =
                        Some(ConfigError::new(&format!("faults[{fault}].device"), member, error.to_string()));
                    self.pending.clear();
                }
                (Err(error), Happening::PowerCut { .. }) => {
                    self.notes.push(format!(
                        "Power failed at {at}, the array did not start again, and the run ended: {error}."
                    ));
                }
                (Err(error), _) => self.notes.push(format!("At {at} nothing happened: {error}.")),
                (Ok(()), _) => {}
            }
        }
    }

    /// `happening` happens now.
    ///
    /// # Errors
    /// What the array refuses; after a loss of power that it refuses to start from, it is off.
    pub(crate) fn carry_out(&mut self, now: Nanos, happening: Happening) -> Result<(), ArrayError> {
        match happening {
            Happening::Fail { member } => self.array.fail_member(now, member.into()),
            Happening::Replace { .. } => self.exchange(now, happening),
            Happening::PowerCut { force, tear } => {
                self.tear_next(tear);
                self.power_cycle(now, now, force)
            }
        }
    }

    /// The next loss of power leaves `tear` of what every drive is programming then.
    pub(crate) fn tear_next(&mut self, tear: Tear) {
        self.array.with_devices(|_, member| {
            if let Some(ssd) = member.drive_mut() {
                ssd.tear_next(tear);
            }
        });
    }

    /// The power of every device fails at `off` and is back at `on`: what the host had under way is aborted.
    ///
    /// # Errors
    /// The array does not start, and is off.
    pub(crate) fn power_cycle(&mut self, off: Nanos, on: Nanos, force: bool) -> Result<(), ArrayError> {
        self.array.power_failure_until(off, on);
        self.off_since = Some(on);
        self.start(on, force)
    }

    /// As [`ArrayVolume::power_cycle`] at one moment, and member `member` is gone when power is back.
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
    /// It refuses, and stays off.
    pub(crate) fn start(&mut self, now: Nanos, force: bool) -> Result<(), ArrayError> {
        self.array.power_on(now, force)?;
        self.off_since = None;
        Ok(())
    }

    /// A member goes out, a new drive comes in.
    fn exchange(&mut self, now: Nanos, happening: Happening) -> Result<(), ArrayError> {
        let Happening::Replace { member, force, .. } = happening else { return Ok(()) };
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
    /// Whether the array, when the host has ended, is to go on by itself.
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
            let before = completions.len();
            let reached = self.array.advance_to_completion(due, completions);
            if completions.len() > before {
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
    /// Of members that do something at one time the first in line depends on how far each was let go.
    const MAY_WAIT: bool = false;

    fn units(&self) -> u64 {
        ArrayVolume::units(self)
    }

    /// A stripe, so that its parity is written once.
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

    /// Drive by drive, which keeps one drive's tables in the processor's cache and passes over stand-ins, or several at once on threads of
    /// their own. Members get the same writes in the same order as through the array.
    fn fill_first(
        &mut self,
        units: u64,
        _team: ThreadTeam,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<u64, Outcome> {
        let per_unit = u64::from(self.sectors_per_unit);
        let config = self.array.config();
        if self.config.bytes || !config.chunk.0.is_multiple_of(per_unit * SECTOR_BYTES) {
            return Ok(0);
        }
        let Some((filled, sectors)) = self.array.filled_by(units * per_unit).filter(|&(_, own)| own != 0)
        else {
            return Ok(0);
        };
        let whole = filled / per_unit;
        let own_units = sectors / per_unit;
        let team = self.backlog.team();
        for first in (0..own_units).step_by(FILL_STEP) {
            let end = own_units.min(first + FILL_STEP as u64);
            let drives = self.array.members_mut().filter_map(|(_, member)| member.drive_mut());
            let mut drives: Vec<_> = drives.map(|ssd| (ssd, Ok(()))).collect();
            team.for_each(&mut drives, |(ssd, outcome)| {
                *outcome = (first..end).try_for_each(|unit| ssd.write_unit_untimed(unit, 0));
            });
            drives.into_iter().try_for_each(|(_, outcome)| outcome)?;
            if !go_on(end * whole / own_units) {
                break;
            }
        }
        Ok(whole)
    }

    fn batch(&self) -> usize {
        BATCH
    }

    /// On the backlog's threads: members are told apart by commands.
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
            let own: Vec<_> = faults
                .iter()
                .filter(|(device, ..)| usize::from(*device) == index)
                .map(|&(_, at, fault)| (at, fault))
                .collect();
            ssd.schedule_faults(&own);
            ssd.schedule_changes(&scenario.changes);
            for ageing in &scenario.run.ageing {
                ssd.schedule_ageing(ageing.at, ageing.by);
            }
        });
        // Of equal times the first given comes first, that is, last: the sort is stable.
        self.pending = scenario.happenings()?;
        self.pending.reverse();
        self.pending.sort_by_key(|&(at, _)| Reverse(at));
        Ok(())
    }

    fn strike(&mut self, now: Nanos, strike: Strike) -> Result<(), ServiceError> {
        match strike {
            Strike::Flash { device, fault } => self.array.with_devices(|index, member| {
                if let Some(ssd) = member.drive_mut().filter(|_| index == usize::from(device)) {
                    ssd.inject(now, fault);
                }
            }),
            Strike::Whole(happening) => self.carry_out(now, happening)?,
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

    /// Members that are being rebuilt, and parity in doubt, are whole before the run ends, unless the scenario leaves that out.
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
