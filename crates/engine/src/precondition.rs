//! Bringing a drive into the state in which it is measured, without time, by the same translation layer that the run uses.

use crate::clock::{Pulse, Stopwatch};
use crate::error::EngineError;
use crate::machine::Machine;
use crate::progress::{Control, OnProgress, Phase, Progress};
use crate::scenario::{Fill, Overwrite, PreconditionSpec};
use crate::steady::is_steady;
use outlast_device::{Op, Outcome};
use outlast_units::Nanos;
use outlast_units::rng::{SplitMix, mix, sub_seed};
use outlast_workload::{Target, WorkloadSpec};

/// Units or commands between two looks at the clock.
const CHUNK: usize = 64;
const CHUNKS_BETWEEN_CLOCKS: u64 = 256;

/// What preconditioning did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prepared {
    /// Drive writes and write amplification at the end of each round.
    pub(crate) rounds: Vec<(f64, f64)>,
    /// Whether the write amplification became steady; absent where nothing was overwritten.
    pub(crate) steady: Option<bool>,
    pub(crate) cpu_s: f64,
    pub(crate) wall_s: f64,
    pub(crate) stopped: bool,
    pub(crate) note: Option<String>,
}

struct Preparer<'a, 'b, M> {
    machine: &'a mut M,
    spec: &'a PreconditionSpec,
    progress: OnProgress<'b>,
    pulse: Pulse,
    chunks: u64,
    written: u64,
    planned: u64,
}

/// Fills and overwrites `machine` as `spec` says.
pub(crate) fn prepare<M: Machine>(
    machine: &mut M,
    spec: &PreconditionSpec,
    workload: &WorkloadSpec,
    target: &Target,
    progress: OnProgress<'_>,
) -> Result<Prepared, EngineError> {
    let watch = Stopwatch::start();
    let units = machine.units();
    let filled = if spec.fill == Fill::None { 0 } else { (units as f64 * spec.fill_fraction) as u64 };
    let at_least = (spec.min_drive_writes * units as f64) as u64;
    let mut preparer = Preparer {
        machine,
        spec,
        progress,
        pulse: Pulse::new(),
        chunks: 0,
        written: 0,
        planned: filled + at_least,
    };
    let mut prepared = preparer.fill(filled)?;
    if !prepared.stopped {
        match spec.overwrite {
            Overwrite::None => {}
            Overwrite::Random if filled == 0 => {
                prepared.note = Some("Nothing was filled, so nothing was overwritten.".to_owned());
            }
            Overwrite::Random => preparer.overwrite_randomly(filled, target.seed, &mut prepared)?,
            Overwrite::Workload => preparer.overwrite_with(workload, target, &mut prepared)?,
        }
    }
    if prepared.stopped {
        // Whether it would have become steady is not known.
        prepared.steady = None;
    }
    prepared.cpu_s = watch.cpu_s();
    prepared.wall_s = watch.wall_s();
    Ok(prepared)
}

/// Reports progress; whether the caller wants to stop.
fn ask(progress: OnProgress<'_>, written: u64, planned: u64) -> bool {
    let report = Progress {
        phase: Phase::Precondition,
        fraction: Some((written as f64 / planned.max(1) as f64).min(1.0)),
        requests: written,
        simulated: Nanos::ZERO,
    };
    progress(&report) == Control::Stop
}

impl<M: Machine> Preparer<'_, '_, M> {
    /// Whether the caller wants to stop; asks now and then.
    fn is_stopped(&mut self) -> bool {
        self.chunks += 1;
        if !self.chunks.is_multiple_of(CHUNKS_BETWEEN_CLOCKS) || !self.pulse.is_due() {
            return false;
        }
        ask(self.progress, self.written, self.planned)
    }

    fn write(&mut self, unit: u64) -> Result<(), EngineError> {
        self.written += 1;
        let (written, planned) = (self.written, self.planned);
        self.machine.write_unit(unit).map_err(|_| EngineError::WornOut { written, planned })
    }

    fn fill(&mut self, units: u64) -> Result<Prepared, EngineError> {
        let step = self.machine.fill_units();
        let (written, planned) = (self.written, self.planned);
        let (pulse, progress, mut stopped) = (&mut self.pulse, &mut *self.progress, false);
        let begun = self.machine.fill_first(units, &mut |done| {
            stopped = pulse.is_due() && ask(progress, written + done, planned);
            !stopped
        });
        let begun = begun.map_err(|_| EngineError::WornOut { written, planned })?;
        self.written += begun;
        if stopped {
            return Ok(Prepared { stopped, ..Prepared::default() });
        }
        for first in (begun..units).step_by(step as usize) {
            let end = units.min(first + step);
            let (written, planned) = (self.written, self.planned);
            self.machine.fill(first, end).map_err(|_| EngineError::WornOut { written, planned })?;
            self.written = written + (end - first);
            if self.is_stopped() {
                return Ok(Prepared { stopped: true, ..Prepared::default() });
            }
        }
        Ok(Prepared::default())
    }

    fn round_units(&self) -> u64 {
        ((self.machine.units() as f64 * self.spec.round) as u64).max(1)
    }

    fn overwrite_randomly(
        &mut self,
        span: u64,
        seed: u64,
        prepared: &mut Prepared,
    ) -> Result<(), EngineError> {
        let mut rng = SplitMix::new(seed, "engine.precondition");
        let mut chunk = [0u64; CHUNK];
        let round = self.round_units();
        loop {
            let before = self.machine.written_units().1;
            let mut left = round;
            while left != 0 {
                let count = left.min(CHUNK as u64) as usize;
                for unit in &mut chunk[..count] {
                    *unit = rng.below(span);
                }
                self.machine.touch(&chunk[..count]);
                for &unit in &chunk[..count] {
                    self.write(unit)?;
                }
                left -= count as u64;
                if self.is_stopped() {
                    prepared.stopped = true;
                    return Ok(());
                }
            }
            let amplification = (self.machine.written_units().1 - before) as f64 / round as f64;
            if self.end_round(prepared, round, amplification) {
                return Ok(());
            }
        }
    }

    /// The workload's own writes and trims, pass after pass, until the write amplification is steady. Every pass has a seed of
    /// its own: the same random addresses in the same order again and again would be a workload that nobody runs (a trace
    /// has no seed, and is replayed as it is).
    fn overwrite_with(
        &mut self,
        spec: &WorkloadSpec,
        target: &Target,
        prepared: &mut Prepared,
    ) -> Result<(), EngineError> {
        let round = self.round_units();
        let mut batch = Vec::new();
        let mut before = self.machine.written_units();
        let mut pass_start = before.0;
        let (written_before, host_before) = (self.written, before.0);
        let mut pass = 0u64;
        let mut open = || {
            pass += 1;
            let seed = mix(sub_seed(target.seed, "engine.precondition") ^ pass);
            spec.open_pass(&Target { seed, ..*target }, pass)
        };
        let mut workload = open()?;
        loop {
            batch.clear();
            if workload.source.fill(&mut batch, CHUNK)? == 0 {
                let written = self.machine.written_units().0;
                if written == pass_start {
                    prepared.note = Some("The workload writes nothing, so it overwrote nothing.".to_owned());
                    break;
                }
                pass_start = written;
                workload = open()?;
                continue;
            }
            for request in batch.iter().filter(|request| matches!(request.command.op, Op::Write | Op::Trim)) {
                if self.machine.apply(request.command) == Outcome::ReadOnly {
                    return Err(EngineError::WornOut { written: self.written, planned: self.planned });
                }
            }
            let now = self.machine.written_units();
            self.written = written_before + now.0 - host_before;
            if self.is_stopped() {
                prepared.stopped = true;
                break;
            }
            let host = now.0 - before.0;
            if host >= round {
                let amplification = (now.1 - before.1) as f64 / host as f64;
                before = now;
                if self.end_round(prepared, host, amplification) {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Notes a round; whether it was the last.
    fn end_round(&mut self, prepared: &mut Prepared, units: u64, amplification: f64) -> bool {
        let drive_writes =
            prepared.rounds.last().map_or(0.0, |&(at, _)| at) + units as f64 / self.machine.units() as f64;
        prepared.rounds.push((drive_writes, amplification));
        let spec = self.spec;
        let last: Vec<f64> = prepared
            .rounds
            .iter()
            .rev()
            .take(spec.rounds as usize)
            .map(|&(_, amplification)| amplification)
            .collect();
        let steady =
            last.len() == spec.rounds as usize && is_steady(&last, spec.tolerance, spec.tolerance / 2.0);
        let enough = drive_writes >= spec.min_drive_writes - 1e-9;
        prepared.steady = Some(steady);
        // A steady drive that goes on is only waiting for the least number of drive writes.
        self.planned = self.planned.max(self.written + units);
        (steady && enough) || drive_writes >= spec.max_drive_writes - 1e-9
    }
}
