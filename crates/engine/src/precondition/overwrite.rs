//! Overwriting a filled drive, round after round: with random units, or with the workload's own writes and trims.

use super::{PreconditionRecord, Preconditioner};
use crate::error::EngineError;
use crate::simulated_device::SimulatedDevice;
use outlast_device::{Op, Outcome};
use outlast_units::rng::SplitMix;
use outlast_workload::{WorkloadSpec, WorkloadTarget};

/// Commands taken from a workload together.
const CHUNK: usize = 64;
/// Commands of a workload without end, of which none has written, after which none will: four million. Of a write, in a mix of one to a hundred
/// thousand, they miss all by a chance of e^-42.
const MOST_WITHOUT_WRITE: u64 = 1 << 22;
/// Note of the result, where nothing was overwritten because the workload does not write.
const NOTHING_WRITTEN: &str = "The workload writes nothing, so it overwrote nothing.";

impl<M: SimulatedDevice> Preconditioner<'_, '_, M> {
    /// Overwrites random units below `span`, round after round, until the write amplification is steady.
    pub(super) fn overwrite_randomly(
        &mut self,
        span: u64,
        seed: u64,
        prepared: &mut PreconditionRecord,
    ) -> Result<(), EngineError> {
        let mut rng = SplitMix::new(seed, "engine.precondition");
        let mut batch = vec![0u64; self.device.batch()];
        let round = self.round_units();
        loop {
            let before = self.device.programmed_units();
            let mut remaining = round;
            while remaining != 0 {
                let units = &mut batch[..remaining.min(self.device.batch() as u64) as usize];
                units.fill_with(|| rng.below(span));
                self.write(units)?;
                let count = units.len() as u64;
                remaining -= count;
                if self.is_stopped(count) {
                    prepared.stopped = true;
                    return Ok(());
                }
            }
            self.catch_up()?;
            let amplification = (self.device.programmed_units() - before) as f64 / round as f64;
            if self.end_round(prepared, round, amplification) {
                return Ok(());
            }
        }
    }

    /// Overwrites with the writes and trims of the workload, pass after pass, until the write amplification is steady. Every pass draws from a
    /// new seed, since repeating the same addresses in the same order is no realistic workload; hot addresses stay the same. A trace has no
    /// seed and is replayed as it is.
    pub(super) fn overwrite_with(
        &mut self,
        spec: &WorkloadSpec,
        target: &WorkloadTarget,
        prepared: &mut PreconditionRecord,
    ) -> Result<(), EngineError> {
        let round = self.round_units();
        let mut batch = Vec::new();
        let mut before = (self.device.host_units(), self.device.programmed_units());
        let mut pass_start = before.0;
        let (written_before, host_before) = (self.written, before.0);
        let (mut idle, mut last_written) = (0, before.0);
        let mut pass = 0u64;
        let mut open = || {
            pass += 1;
            spec.open_pass(target, pass)
        };
        let mut workload = open()?;
        loop {
            batch.clear();
            // A source without end that does not write any more is at its end as well.
            if idle >= MOST_WITHOUT_WRITE || workload.source.fill(&mut batch, CHUNK)? == 0 {
                idle = 0;
                let written = self.device.host_units();
                if written == pass_start {
                    // A pass without writes would repeat for ever.
                    prepared.note = Some(NOTHING_WRITTEN.to_owned());
                    break;
                }
                pass_start = written;
                workload = open()?;
                continue;
            }
            for request in batch.iter().filter(|request| matches!(request.command.op, Op::Write | Op::Trim)) {
                if self.device.apply(&request.command) == Outcome::ReadOnly {
                    return Err(EngineError::WornOut { written: self.written, planned: self.planned });
                }
            }
            let written = self.device.host_units();
            self.written = written_before + written - host_before;
            idle = if written == last_written { idle + batch.len() as u64 } else { 0 };
            last_written = written;
            // Jobs end by a time of their own, even here, and a phase that another follows ends by itself.
            if !workload.endless || workload.jobs.is_some() || !workload.source.is_in_last_phase() {
                idle = 0;
            }
            if self.is_stopped(batch.len() as u64) {
                prepared.stopped = true;
                break;
            }
            // A round ends after a batch, so it may be a little longer than set: its own length counts.
            let host = written - before.0;
            if host >= round {
                self.catch_up()?;
                let programmed = self.device.programmed_units();
                let amplification = (programmed - before.1) as f64 / host as f64;
                before = (written, programmed);
                if self.end_round(prepared, host, amplification) {
                    break;
                }
            }
        }
        Ok(())
    }
}
