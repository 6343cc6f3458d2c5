//! A device whose writes and reads end as a test has it.

use outlast_array::PlainDevice;
use outlast_device::{Command, Completion, Device, Extent, Identity, Op, Outcome, Smart, Tag};
use outlast_units::{Lba, Nanos};
use std::collections::BTreeSet;

/// A [`PlainDevice`] whose every write ends with `writes_end`, where that is set: it has not taken the write. Reads with limited retry fail where
/// `retries_help`, and all reads where `is_unreadable`.
#[derive(Clone, Debug)]
pub(crate) struct Failing {
    pub(crate) inner: PlainDevice,
    pub(crate) writes_end: Option<Outcome>,
    pub(crate) retries_help: bool,
    pub(crate) is_unreadable: bool,
    /// Writes that it has taken.
    pub(crate) writes: u64,
    /// Commands under way that will end so.
    tags: BTreeSet<Tag>,
}

impl Failing {
    pub(crate) fn new(inner: PlainDevice) -> Self {
        Self {
            inner,
            writes_end: None,
            retries_help: false,
            is_unreadable: false,
            writes: 0,
            tags: BTreeSet::new(),
        }
    }
}

impl Device for Failing {
    fn submit(&mut self, now: Nanos, command: Command, tag: Tag) {
        self.submit_data(now, command, tag, &[]);
    }
    fn submit_data(&mut self, now: Nanos, command: Command, tag: Tag, data: &[u8]) {
        if command.op == Op::Write && self.writes_end.is_some() {
            // The time passes, nothing is stored.
            self.tags.insert(tag);
            let kept = Command { op: Op::Read, ..command };
            self.inner.submit(now, kept, tag);
            return;
        }
        let fails = self.is_unreadable || self.retries_help && command.limited_retry;
        if command.op == Op::Read && fails {
            self.tags.insert(tag);
        }
        self.writes += u64::from(command.op == Op::Write);
        self.inner.submit_data(now, command, tag, data);
    }
    fn take_data(&mut self, tag: Tag) -> Option<Vec<u8>> {
        self.inner.take_data(tag)
    }
    fn next_deadline(&self) -> Option<Nanos> {
        self.inner.next_deadline()
    }
    fn advance(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        let from = completions.len();
        self.inner.advance(now, completions);
        for completion in &mut completions[from..] {
            if self.tags.remove(&completion.tag) {
                completion.outcome = self.writes_end.unwrap_or(Outcome::MediumError);
            }
        }
    }
    fn extents(&self, lba: Lba, sectors: u64) -> Vec<Extent> {
        self.inner.extents(lba, sectors)
    }
    fn identify(&self) -> Identity {
        self.inner.identify()
    }
    fn smart(&self) -> Smart {
        self.inner.smart()
    }
    fn self_check(&self) -> Result<(), String> {
        self.inner.self_check()
    }
}
