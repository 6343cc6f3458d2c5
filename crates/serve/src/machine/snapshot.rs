//! A machine in service, written and read.

use super::Machine;
use crate::store::FileStore;
use outlast_engine::{EngineError, InService, Scenario, settings_of, write_snapshot};
use outlast_media::Store;
use std::io::{self, Read, Write};
use std::sync::Arc;

impl Machine {
    /// Writes all of it, commands under way included.
    ///
    /// # Errors
    /// `to` cannot be written, or its bytes could not be read from where they are kept.
    pub fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        write_snapshot(to, settings_of(self.service.scenario()), self)?;
        self.check_contents()
    }

    /// The machine that [`Machine::write`] wrote: what it does from now on is the same to the byte. `scenario` is the one that it was made of;
    /// its bytes go to `store`, if there is one.
    ///
    /// # Errors
    /// A setting that cannot work, or `from` is not such a machine as it was written.
    pub fn read(
        scenario: &Scenario,
        from: &mut dyn Read,
        store: Option<Arc<FileStore>>,
    ) -> Result<Self, EngineError> {
        let mut scenario = scenario.clone();
        scenario.device.bytes = true;
        let own = store.clone().map(|store| store as Arc<dyn Store>);
        InService::resume(scenario, from, own.as_ref(), |service| Self { store, ..Self::of(service) })
    }
}
