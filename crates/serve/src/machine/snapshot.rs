//! A machine in service, written and read.

use super::Machine;
use outlast_engine::{EngineError, InService, Scenario, settings_of, write_snapshot};
use std::io::{self, Read, Write};

impl Machine {
    /// Writes all of it, commands under way included.
    ///
    /// # Errors
    /// `to` cannot be written.
    pub fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        write_snapshot(to, settings_of(self.service.scenario()), self)
    }

    /// The machine that [`Machine::write`] wrote: what it does from now on is the same to the byte. `scenario` is the one that it was made of.
    ///
    /// # Errors
    /// A setting that cannot work, or `from` is not such a machine as it was written.
    pub fn read(scenario: &Scenario, from: &mut dyn Read) -> Result<Self, EngineError> {
        let mut scenario = scenario.clone();
        scenario.device.bytes = true;
        InService::resume(scenario, from, Self::of)
    }
}
