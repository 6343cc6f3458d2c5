//! Bringing a drive into the state in which it is measured, without time, by the same translation layer that the run uses.

mod overwrite;
mod progress_bar;

use crate::clock::{ProgressTimer, Stopwatch};
use crate::error::EngineError;
use crate::progress::{OnProgress, RunControl, RunPhase, RunProgress};
use crate::simulated_device::SimulatedDevice;
use crate::spare_space::SpareSpaceWatch;
use crate::steady::{OverwriteRound, compared, expected_drive_writes_left, has_settled, mean_amplification};
use crate::team::ThreadTeam;
use outlast_device::Outcome;
use outlast_scenario::{FillPattern, OverwritePattern, PreconditionSpec};
use outlast_units::{Bytes, Nanos};
use outlast_workload::{WorkloadSpec, WorkloadTarget};
use progress_bar::{MOST_SHOWN, ProgressBar};

/// Default length of a round, in drive writes.
const ROUND: f64 = 0.1;
/// Least length of a default round, in superblocks of all flash cores: fewer victims make its write amplification a matter of chance.
const ROUND_SUPERBLOCKS: u64 = 8;
/// Units or commands between two checks of the clock.
const BETWEEN_CLOCKS: u64 = 1 << 14;

/// Outcome of preconditioning.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(crate) struct PreconditionRecord {
    pub(crate) rounds: Vec<OverwriteRound>,
    /// Mean write amplification of the rounds that were last compared.
    pub(crate) amplification: Option<f64>,
    /// Drive writes that would probably have been needed in addition.
    pub(crate) drive_writes_left: f64,
    /// True if the write amplification became steady; `None` where nothing was overwritten, or the caller stopped.
    pub(crate) steady: Option<bool>,
    #[persist(skip)]
    pub(crate) cpu_s: f64,
    #[persist(skip)]
    pub(crate) wall_s: f64,
    /// True if the caller stopped it.
    #[persist(skip)]
    pub(crate) stopped: bool,
    /// Note of the result, where nothing was overwritten.
    pub(crate) note: Option<String>,
}

impl PreconditionRecord {
    /// Note about a drive of `capacity` that did not become steady, with the setting to change.
    pub(crate) fn unsteady_note(&self, capacity: Bytes) -> Option<String> {
        let at = self.rounds.last().map_or(0.0, |round| round.drive_writes);
        if self.steady != Some(false) {
            return None;
        }
        let more = Bytes((self.drive_writes_left * capacity.0 as f64) as u64);
        Some(format!(
            "The write amplification was not steady when preconditioning ended after {at:.1} drive writes: overwriting about {more:.1} GiB \
             more may be enough (precondition.max_drive_writes = {:.0}).",
            (at + self.drive_writes_left).ceil(),
            more = more.as_mib() / 1024.0,
        ))
    }
}

/// Preconditioning under way. `written` and `planned` are mapping units.
struct Preconditioner<'a, 'b, M> {
    device: &'a mut M,
    spec: &'a PreconditionSpec,
    progress: OnProgress<'b>,
    pulse: ProgressTimer,
    team: ThreadTeam,
    since_clock: u64,
    written: u64,
    planned: u64,
    shown: ProgressBar,
    spare_space: SpareSpaceWatch,
}

/// Fills and overwrites `device` as `spec` says. Never inlined, because the instruction benchmarks find it by its symbol.
#[inline(never)]
pub(crate) fn prepare<M: SimulatedDevice>(
    device: &mut M,
    spec: &PreconditionSpec,
    workload: &WorkloadSpec,
    target: &WorkloadTarget,
    team: ThreadTeam,
    progress: OnProgress<'_>,
) -> Result<PreconditionRecord, EngineError> {
    let watch = Stopwatch::start();
    let units = device.units();
    let filled = match &target.zones {
        _ if spec.fill == FillPattern::None => 0,
        // Whole zones.
        Some(zones) => u64::from(zones.filled) * (zones.layout.capacity / u64::from(zones.layout.block)),
        None => (units as f64 * spec.fill_fraction) as u64,
    };
    // The first plan: the fill, and the least overwriting. Every round corrects it.
    let at_least = (spec.min_drive_writes * units as f64) as u64;
    let spare_space = SpareSpaceWatch::new(device);
    let mut preparer = Preconditioner {
        device,
        spare_space,
        spec,
        progress,
        pulse: ProgressTimer::new(),
        since_clock: 0,
        team,
        written: 0,
        planned: filled + at_least,
        shown: ProgressBar::default(),
    };
    let mut prepared = preparer.fill(filled)?;
    if !prepared.stopped {
        preparer.catch_up()?;
        // Counts begin after the fill, whose writes are no overwriting.
        preparer.spare_space = SpareSpaceWatch::new(preparer.device);
        match spec.overwrite {
            OverwritePattern::None => {}
            OverwritePattern::Random if filled == 0 => {
                prepared.note = Some("Nothing was filled, so nothing was overwritten.".to_owned());
            }
            OverwritePattern::Random => preparer.overwrite_randomly(filled, target.seed, &mut prepared)?,
            OverwritePattern::Workload => preparer.overwrite_with(workload, target, &mut prepared)?,
        }
    }
    preparer.catch_up()?;
    if prepared.stopped {
        // It might have become steady.
        prepared.steady = None;
    }
    prepared.cpu_s = watch.cpu_s();
    prepared.wall_s = watch.wall_s();
    Ok(prepared)
}

/// Mapping units of a round of default length, on a drive of `units` whose superblocks of all flash cores together hold `superblock` units.
fn default_round(units: f64, superblock: u64) -> u64 {
    ((units * ROUND) as u64).max(superblock * ROUND_SUPERBLOCKS).max(1)
}

/// Drive writes at which the write amplification can be found steady at the earliest, plus one round.
pub(crate) fn least_drive_writes(spec: &PreconditionSpec, units: f64, superblock: u64) -> f64 {
    let round = spec.round.unwrap_or_else(|| default_round(units, superblock) as f64 / units);
    spec.min_drive_writes.max(f64::from(spec.rounds) * round) + round
}

/// Reports progress; true if the caller wants to stop.
fn report_progress(progress: OnProgress<'_>, fraction: f64, written: u64) -> bool {
    let report = RunProgress {
        phase: RunPhase::Precondition,
        fraction: Some(fraction.min(MOST_SHOWN)),
        requests: written,
        simulated: Nanos::ZERO,
    };
    progress(&report) == RunControl::Stop
}

impl<M: SimulatedDevice> Preconditioner<'_, '_, M> {
    /// Counts `more` units or commands, and reports progress if it is time; true if the caller wants to stop.
    fn is_stopped(&mut self, more: u64) -> bool {
        self.since_clock += more;
        if self.since_clock < BETWEEN_CLOCKS {
            return false;
        }
        self.since_clock = 0;
        if !self.pulse.is_due() {
            return false;
        }
        report_progress(self.progress, self.shown.fraction_at(self.written, self.planned), self.written)
    }

    /// Carries out the backlog of the device.
    fn catch_up(&mut self) -> Result<(), EngineError> {
        match self.device.catch_up() {
            Outcome::ReadOnly => Err(EngineError::WornOut { written: self.written, planned: self.planned }),
            _ => Ok(()),
        }
    }

    /// Writes these units.
    fn write(&mut self, units: &[u64]) -> Result<(), EngineError> {
        let (before, planned) = (self.written, self.planned);
        self.written += units.len() as u64;
        let done = self.device.write_units(units, self.team);
        // The unit that failed is counted as well.
        done.map_err(|written| EngineError::WornOut { written: before + written as u64 + 1, planned })
    }

    /// Writes the first `units` units in order.
    fn fill(&mut self, units: u64) -> Result<PreconditionRecord, EngineError> {
        let step = self.device.fill_units();
        let (written, planned) = (self.written, self.planned);
        let (pulse, progress, mut stopped) = (&mut self.pulse, &mut *self.progress, false);
        let shown = self.shown;
        let filled = self.device.fill_first(units, self.team, &mut |done| {
            stopped = pulse.is_due()
                && report_progress(progress, shown.fraction_at(written + done, planned), written + done);
            !stopped
        });
        let filled = filled.map_err(|_| EngineError::WornOut { written, planned })?;
        self.written += filled;
        if stopped {
            return Ok(PreconditionRecord { stopped, ..PreconditionRecord::default() });
        }
        for first in (filled..units).step_by(step as usize) {
            let end = units.min(first + step);
            let (written, planned) = (self.written, self.planned);
            self.device.fill(first, end).map_err(|_| EngineError::WornOut { written, planned })?;
            self.written = written + (end - first);
            if self.is_stopped(end - first) {
                return Ok(PreconditionRecord { stopped: true, ..PreconditionRecord::default() });
            }
        }
        Ok(PreconditionRecord::default())
    }

    /// Mapping units of a round.
    fn round_units(&self) -> u64 {
        let units = self.device.units() as f64;
        if let Some(round) = self.spec.round {
            return ((units * round) as u64).max(1);
        }
        let (mut layers, mut largest) = (0, 0);
        self.device.each_ftl(&mut |ftl| {
            layers += 1;
            largest = ftl.layout().units_per_superblock().max(largest);
        });
        default_round(units, u64::from(largest) * layers)
    }

    /// Records a round of `units` with the write amplification that was counted; true if it was the last.
    fn end_round(&mut self, prepared: &mut PreconditionRecord, units: u64, amplification: f64) -> bool {
        let length = units as f64 / self.device.units() as f64;
        let before = prepared.rounds.last().map_or(0.0, |round| round.drive_writes);
        let drive_writes = before + length;
        let change = self.spare_space.end_round(self.device);
        // `amplification` includes what an array adds. Only the share of collection depends on where the round ends, so it alone is replaced
        // by its weighed value.
        let correction = change.amplification.map_or(1.0, |weighed| weighed / change.counted);
        prepared.rounds.push(OverwriteRound {
            drive_writes,
            amplification: amplification * correction,
            drift: change.drift / length,
            first_written: change.first_written,
            reclaimed: change.reclaimed,
            expected_drive_writes: 0.0,
        });
        let spec = self.spec;
        let rounds = &prepared.rounds;
        let parts = spec.rounds as usize;
        let last = compared(rounds, parts);
        prepared.amplification = Some(mean_amplification(last.unwrap_or(rounds)));
        let steady = last.is_some_and(|last| has_settled(last, parts, spec.tolerance));
        // Sums of rounds miss a limit by rounding.
        let enough = drive_writes >= spec.min_drive_writes - 1e-9;
        prepared.steady = Some(steady);
        prepared.drive_writes_left = expected_drive_writes_left(rounds, parts, spec.tolerance);
        let most = spec.max_drive_writes.max(drive_writes);
        let expected = (drive_writes + prepared.drive_writes_left).max(spec.min_drive_writes).min(most);
        if let Some(round) = prepared.rounds.last_mut() {
            round.expected_drive_writes = expected;
        }
        self.shown.replan(self.written, self.planned);
        self.planned = self.written + ((expected - drive_writes) * self.device.units() as f64) as u64;
        (steady && enough) || drive_writes >= spec.max_drive_writes - 1e-9
    }
}
