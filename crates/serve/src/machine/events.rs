//! What has happened to a machine, for people.

use outlast_device::{Device, Notice, NoticeKind};
use outlast_engine::InService;
use outlast_media::FaultSpec;
use outlast_units::Nanos;
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::VecDeque;

/// Events kept.
const KEPT: usize = 1024;

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, outlast_persist::Persist)]
pub struct Event {
    /// Counted from 0 over the life of the machine.
    pub number: u64,
    /// When, in nanoseconds of its time.
    pub at_ns: u64,
    /// What kind, in a word.
    pub kind: Cow<'static, str>,
    /// What, in a sentence without its full stop.
    pub text: String,
}

/// The latest events.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(super) struct Events {
    kept: VecDeque<Event>,
    next: u64,
    /// Events of the array that have been taken over.
    of_array: usize,
}

impl Events {
    pub(super) fn note(&mut self, at: Nanos, kind: &'static str, text: String) {
        if self.kept.len() == KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(Event { number: self.next, at_ns: at.0, kind: kind.into(), text });
        self.next += 1;
    }

    /// Whether what was read has taken over some of the `of_array` events that an array has, and no more than are kept.
    pub(super) fn check(&self, of_array: usize) -> Result<(), String> {
        if self.of_array <= of_array && self.kept.len() <= KEPT && self.next < 1 << 60 {
            Ok(())
        } else {
            Err(format!("{} events of an array are known, which has had {of_array}", self.of_array))
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Event> {
        self.kept.iter()
    }

    /// Takes over what the drive or the array has to tell.
    #[inline]
    pub(super) fn collect(&mut self, service: &mut InService) {
        if service.has_notice() || service.array().is_some_and(|array| array.events().len() != self.of_array)
        {
            self.take_over(service);
        }
    }

    #[cold]
    fn take_over(&mut self, service: &mut InService) {
        while let Some(notice) = service.take_notice() {
            let (kind, text) = notice_in_words(notice);
            self.note(notice.at, kind, text);
        }
        let Some(array) = service.array() else { return };
        for event in &array.events()[self.of_array..] {
            self.note(event.at, "array", in_words(&event.kind, "what"));
        }
        self.of_array = array.events().len();
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

/// A fault as its entry has it.
pub(crate) fn fault_in_words(fault: &FaultSpec) -> String {
    in_words(fault, "kind")
}

/// What a serialised value says: the field `first`, then the others by name; times are told elsewhere.
fn in_words(what: &impl Serialize, first: &str) -> String {
    let Ok(Value::Object(mut fields)) = serde_json::to_value(what) else { return String::new() };
    let name = fields.remove(first);
    fields.remove("at");
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let others = fields.iter().map(|(name, value)| format!("{name} {}", plain(value)));
    let words: Vec<String> = name.iter().map(plain).chain([others.collect::<Vec<_>>().join(", ")]).collect();
    words.join(" ").trim_end().to_owned()
}
