//! A machine in service, written and read.

use super::Machine;
use crate::store::FileStore;
use outlast_device::{Device, Tag};
use outlast_engine::{EngineError, InService, Scenario, settings_of, write_snapshot};
use outlast_media::Store;
use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::sync::Arc;

impl Machine {
    /// Whether what was read has come to a time that can be, knows of the commands that its drive or array has, and of no events to come.
    pub(super) fn check_restored(&self) -> Result<(), String> {
        let off = self.off.unwrap_or_default();
        if self.now > self.service.latest() || off > self.now || self.dark > self.now {
            return Err(format!("it has come to {}, without power from {off} on", self.now));
        }
        self.events.check(self.service.array().map_or(0, |array| array.events().len()))?;
        let under_way = self.service.under_way().filter(|_| self.off.is_none());
        let known: BTreeSet<Tag> = self.flight.tags().collect();
        let is_same = |of: &Vec<(Tag, _)>| of.iter().map(|&(tag, _)| tag).collect::<BTreeSet<Tag>>() == known;
        if under_way.as_ref().is_none_or(is_same) && (self.off.is_none() || known.is_empty()) {
            Ok(())
        } else {
            Err(format!("{} commands are under way, which are not those that are known", known.len()))
        }
    }

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
