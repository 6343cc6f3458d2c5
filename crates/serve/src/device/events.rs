//! Events of a device, as text for people.

use outlast_device::{Device, Notice, NoticeKind};
use outlast_engine::InService;
use outlast_media::FaultSpec;
use outlast_units::Nanos;
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::VecDeque;

/// Number of latest events that are kept.
const MAX_EVENTS: usize = 1024;

/// An event of a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, outlast_persist::Persist)]
pub struct DeviceEvent {
    /// Number of the event, counted from 0 over the life of the device.
    pub number: u64,
    /// Simulated time, in nanoseconds.
    pub at_ns: u64,
    /// Kind of event, one word such as `fault`.
    pub kind: Cow<'static, str>,
    /// Description, a sentence without its full stop.
    pub text: String,
}

/// The latest events of a device.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(super) struct EventHistory {
    events: VecDeque<DeviceEvent>,
    next: u64,
    /// Number of events of the array that have been copied.
    array_events: usize,
}

impl EventHistory {
    pub(super) fn record(&mut self, at: Nanos, kind: &'static str, text: String) {
        if self.events.len() == MAX_EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(DeviceEvent { number: self.next, at_ns: at.0, kind: kind.into(), text });
        self.next += 1;
    }

    /// Checks restored state: at most as many array events are copied as the array has had, and the list is within its bound.
    pub(super) fn check(&self, array_events: usize) -> Result<(), String> {
        if self.array_events <= array_events && self.events.len() <= MAX_EVENTS && self.next < 1 << 60 {
            Ok(())
        } else {
            Err(format!("{} events of an array are known, which has had {array_events}", self.array_events))
        }
    }

    /// Number of events over the life of the device.
    pub(super) fn count(&self) -> u64 {
        self.next
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &DeviceEvent> {
        self.events.iter()
    }

    /// Copies new notices of the drive, and new events of the array.
    #[inline]
    pub(super) fn collect(&mut self, service: &mut InService) {
        if service.has_notice()
            || service.array().is_some_and(|array| array.events().len() != self.array_events)
        {
            self.take_notices(service);
        }
    }

    #[cold]
    fn take_notices(&mut self, service: &mut InService) {
        while let Some(notice) = service.take_notice() {
            let (kind, text) = notice_in_words(notice);
            self.record(notice.at, kind, text);
        }
        let Some(array) = service.array() else { return };
        for event in &array.events()[self.array_events..] {
            self.record(event.at, "array", in_words(&event.kind, "what"));
        }
        self.array_events = array.events().len();
    }
}

fn notice_in_words(notice: Notice) -> (&'static str, String) {
    match notice.kind {
        NoticeKind::DieFailed { die } => {
            ("die-failed", format!("die {die} has failed; the drive goes on without it"))
        }
        NoticeKind::DieFailing { die } => {
            ("die-failing", format!("die {die} is expected to fail; its data is moved away"))
        }
        NoticeKind::LastRepair { die } => (
            "last-repair",
            format!("die {die} was the last that may fail: no spare space is left for another"),
        ),
        NoticeKind::BeyondRepair { die } => {
            ("beyond-repair", format!("no spare space can take the data of die {die}: replace the drive"))
        }
    }
}

/// Description of a fault: its kind, then its other fields.
pub(crate) fn fault_in_words(fault: &FaultSpec) -> String {
    in_words(fault, "kind")
}

/// Fields of a serialised value as text: the value of the field `first`, then the others with their names. The time `at` is left out, since events
/// show theirs.
fn in_words(value: &impl Serialize, first: &str) -> String {
    let Ok(Value::Object(mut fields)) = serde_json::to_value(value) else { return String::new() };
    let name = fields.remove(first);
    fields.remove("at");
    let as_text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let others = fields.iter().map(|(name, value)| format!("{name} {}", as_text(value)));
    let words: Vec<String> =
        name.iter().map(as_text).chain([others.collect::<Vec<_>>().join(", ")]).collect();
    words.join(" ").trim_end().to_owned()
}
