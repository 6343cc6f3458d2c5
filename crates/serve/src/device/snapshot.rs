//! Snapshots of a device in service.

use super::ServedDevice;
use crate::store::FileStore;
use outlast_device::{Device, Tag};
use outlast_engine::{EngineError, InService, Scenario, settings_of, write_snapshot};
use outlast_media::ByteStore;
use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::sync::Arc;

impl ServedDevice {
    /// Checks restored state: times are possible, tags are those of commands that the drive or array has under way, and no event lies in the future.
    pub(super) fn check_restored(&self) -> Result<(), String> {
        let off_since = self.off_since.unwrap_or_default();
        if self.now > self.service.latest() || off_since > self.now || self.total_off > self.now {
            return Err(format!("it has come to {}, without power from {off_since} on", self.now));
        }
        self.events.check(self.service.array().map_or(0, |array| array.events().len()))?;
        // Without power nothing is under way, though the drive may still list commands that were aborted.
        let under_way = self.service.under_way().filter(|_| self.off_since.is_none());
        let tags: BTreeSet<Tag> = self.tags.tags().collect();
        let is_same = |of: &Vec<(Tag, _)>| of.iter().map(|&(tag, _)| tag).collect::<BTreeSet<Tag>>() == tags;
        if under_way.as_ref().is_none_or(is_same) && (self.off_since.is_none() || tags.is_empty()) {
            Ok(())
        } else {
            Err(format!("{} commands are under way, which are not those of its device", tags.len()))
        }
    }

    /// Writes the whole state, commands under way included.
    ///
    /// # Errors
    /// `to` cannot be written, or stored bytes cannot be read.
    pub fn write(&self, to: &mut dyn Write) -> io::Result<()> {
        write_snapshot(to, settings_of(self.service.scenario()), self)?;
        self.check_contents()
    }

    /// Restores a device that [`ServedDevice::write`] wrote; it continues identically to the byte. `scenario` must be the one it was built from. Its
    /// bytes go to `store`, if there is one.
    ///
    /// # Errors
    /// A setting that cannot work, or a snapshot that is damaged or of another device.
    pub fn read(
        scenario: &Scenario,
        from: &mut dyn Read,
        store: Option<Arc<FileStore>>,
    ) -> Result<Self, EngineError> {
        let mut scenario = scenario.clone();
        scenario.device.bytes = true;
        let contents_store = store.clone().map(|store| store as Arc<dyn ByteStore>);
        InService::resume(scenario, from, contents_store.as_ref(), |service| Self {
            store,
            ..Self::with_service(service)
        })
    }
}
