//! Stream hints of the writes of a trace.

use super::formats::TraceRecord;
use outlast_device::{Op, PlacementId};
use std::collections::BTreeMap;

/// Stream hints of writes, by device of the trace.
pub(super) struct DeviceStreams {
    by_name: BTreeMap<String, PlacementId>,
    /// The same by number of the device, as far as devices have appeared. Numbers are in order of appearance, in each pass the same.
    by_number: Vec<PlacementId>,
}

impl DeviceStreams {
    /// Stream hints as the settings name them; `None` if they name none.
    pub(super) fn new(streams: &BTreeMap<String, PlacementId>) -> Option<Box<Self>> {
        let hints = Self { by_name: streams.clone(), by_number: Vec::new() };
        (!streams.is_empty()).then(|| Box::new(hints))
    }

    /// Note about devices that the settings name and that are not among the devices of the records replayed.
    pub(super) fn note_absent(&self, found: &[Box<[u8]>]) -> Option<String> {
        let is_absent = |name: &&str| !found.iter().any(|own| **own == *name.as_bytes());
        let absent: Vec<&str> = self.by_name.keys().map(String::as_str).filter(is_absent).collect();
        if absent.is_empty() {
            return None;
        }
        let names: Vec<_> = found.iter().take(8).map(|name| String::from_utf8_lossy(name)).collect();
        let (absent, names) = (absent.join(", "), names.join(", "));
        Some(format!("workload.trace.streams names {absent}; the records replayed are of {names}."))
    }

    /// Stream hint of a record's command; 0 if it is no write, or of a device that the settings do not name.
    #[inline(never)]
    pub(super) fn hint(&mut self, record: &TraceRecord, names: &[Box<[u8]>]) -> PlacementId {
        if record.op != Op::Write {
            return PlacementId::default();
        }
        for name in names.iter().skip(self.by_number.len()) {
            let hint = std::str::from_utf8(name).ok().and_then(|name| self.by_name.get(name));
            self.by_number.push(hint.copied().unwrap_or_default());
        }
        self.by_number.get(record.device as usize).copied().unwrap_or_default()
    }
}
