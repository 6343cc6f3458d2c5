//! Saving a prepared drive or array for other runs.

use super::{BuiltDevice, Simulation};
use crate::error::EngineError;
use crate::progress::OnProgress;
use crate::snapshot::{PreparedDevice, write_prepared};
use outlast_media::ConfigError;
use std::io::Write;

impl Simulation {
    /// Prepares the drive or the array and writes its state. False if `progress` stopped it; nothing has been written then.
    ///
    /// # Errors
    /// Errors of [`Simulation::open_run`], a run that has begun, or a failure to write `to`.
    pub fn snapshot(&mut self, to: &mut dyn Write, progress: OnProgress<'_>) -> Result<bool, EngineError> {
        self.open_run(progress)?;
        let Some(current_run) = &mut self.current_run else { return Ok(false) };
        if current_run.prepared.stopped {
            return Ok(false);
        }
        if current_run.state.as_ref().is_none_or(|state| state.has_begun) {
            let limit = "must be before the first step: the run has begun";
            return Err(ConfigError::new("snapshot", "of a run", limit).into());
        }
        let (scenario, prepared) = (&self.scenario, &mut current_run.prepared);
        either!(&mut self.built, device => {
            write_prepared(to, scenario, &PreparedDevice { prepared, device })
        })
        .map_err(EngineError::Snapshot)?;
        Ok(true)
    }
}
