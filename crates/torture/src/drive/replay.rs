//! A recording is given again to its machine, from one event to the next.

use super::cut::come_to;
use super::what::What;
use crate::error::TortureError;
use outlast_device::{Command, Tag};
use outlast_engine::OnProgress;
use outlast_serve::{DeviceImage, DeviceInput, LogRecords, RefusedInput, ServedDevice, TAG_LIMIT};
use outlast_units::Nanos;
use std::ops::{ControlFlow, Range};
use std::path::Path;

/// A machine that is given a recording.
#[derive(Debug)]
pub(super) struct Replay {
    machine: ServedDevice,
    records: LogRecords,
    /// The tag of the next command, where the machine is another than the one that was recorded: its commands end at other times, so that a tag may
    /// still be in use.
    next_tag: Option<u32>,
}

impl Replay {
    /// The machine of the image in `folder`, except for what `what` changes of it. `None` where `progress` stopped it.
    pub(super) fn new(
        folder: &Path,
        what: &What,
        progress: OnProgress<'_>,
    ) -> Result<Option<Self>, TortureError> {
        let begun = DeviceImage::prepare_with_records(folder, |scenario| what.change(scenario), progress)?;
        let next_tag = matches!(what, What::Liar(_)).then_some(0);
        Ok(begun.map(|(machine, records)| Self { machine, records, next_tag }))
    }

    /// The machine, as it is.
    pub(super) fn machine(&self) -> &ServedDevice {
        &self.machine
    }

    /// Calls `look` with the machine for each stretch of time within `window` in which nothing happens, neither from outside nor within the
    /// machine: all that happens in its first nanosecond has happened. Stretches come in order and cover the window. Ends early where `look` says so.
    pub(super) fn walk(
        &mut self,
        window: &Range<Nanos>,
        mut look: impl FnMut(&ServedDevice, Range<Nanos>) -> Result<ControlFlow<()>, TortureError>,
    ) -> Result<(), TortureError> {
        let mut since = window.start;
        let Self { machine, records, next_tag } = self;
        loop {
            let next = records.next()?;
            let at = next.as_ref().map_or(window.end, |(record, _)| record.at);
            while since < window.end {
                let own = machine.next_deadline().map_or(Nanos::MAX, |own| own.max(machine.now()));
                let until = own.min(at).min(window.end);
                if until > since {
                    if look(machine, since..until)?.is_break() {
                        return Ok(());
                    }
                    since = until;
                }
                if own > at {
                    break;
                }
                come_to(machine, own);
            }
            let Some((record, _)) = next.filter(|_| since < window.end) else { return Ok(()) };
            come_to(machine, at);
            // What was refused is refused again.
            let _refused = give(machine, at, &record.input(), next_tag);
        }
    }
}

/// Gives `machine` an input at `at`, under another tag where there is a next one.
fn give(
    machine: &mut ServedDevice,
    at: Nanos,
    input: &DeviceInput<'_>,
    next_tag: &mut Option<u32>,
) -> Result<(), RefusedInput> {
    let (DeviceInput::Command { command, data, .. }, Some(next)) = (input, next_tag) else {
        return machine.apply(at, input);
    };
    let command: Command = *command;
    loop {
        let tag = Tag(*next % TAG_LIMIT);
        *next = next.wrapping_add(1);
        match machine.apply(at, &DeviceInput::Command { tag, command, data }) {
            Err(RefusedInput::TagInUse(_)) => {}
            done => return done,
        }
    }
}
