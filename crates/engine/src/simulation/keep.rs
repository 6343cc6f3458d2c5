//! A prepared drive or array, written to be used by other runs.

use super::{Built, Simulation};
use crate::error::EngineError;
use crate::machine::Machine;
use crate::progress::OnProgress;
use crate::snapshot::{PreparedMachine, write_prepared};
use outlast_media::ConfigError;
use std::io::Write;

impl Simulation {
    /// Prepares the drive or the array, and writes it as it then is. False where `progress` stopped that: then nothing has been written.
    ///
    /// # Errors
    /// Those of [`Simulation::open_run`], the run has begun, or `to` cannot be written.
    pub fn snapshot(&mut self, to: &mut dyn Write, progress: OnProgress<'_>) -> Result<bool, EngineError> {
        self.open_run(progress)?;
        let Some(underway) = &mut self.underway else { return Ok(false) };
        if underway.prepared.stopped {
            return Ok(false);
        }
        if underway.course.as_ref().is_none_or(|course| course.has_begun) {
            let limit = "must be before the first step: the run has begun";
            return Err(ConfigError::new("snapshot", "of a run", limit).into());
        }
        let (scenario, prepared) = (&self.scenario, &mut underway.prepared);
        either!(&mut self.built, machine => {
            // So that what is written is whole: whoever reads it checks what the buffers hold.
            machine.end_untimed();
            write_prepared(to, scenario, &PreparedMachine { prepared, machine })
        })
        .map_err(EngineError::Snapshot)?;
        Ok(true)
    }
}
