//! Replay of a recording on its device, from event to event.

use super::cut::advance_to;
use super::model::CrashModel;
use crate::error::TortureError;
use outlast_device::{Command, Tag};
use outlast_engine::OnProgress;
use outlast_serve::{DeviceImage, DeviceInput, LogRecords, RefusedInput, ServedDevice, TAG_LIMIT};
use outlast_units::Nanos;
use std::ops::{ControlFlow, Range};
use std::path::Path;

/// A device with the recording that is replayed on it.
#[derive(Debug)]
pub(super) struct RecordingReplay {
    device: ServedDevice,
    records: LogRecords,
    /// Tag of the next command, where the device differs from the recorded one: its commands complete at other times, so that a recorded tag may
    /// still be in use.
    next_tag: Option<u32>,
}

impl RecordingReplay {
    /// Prepares the device of the image in `folder`, changed as `model` says. `None` where `progress` stopped it.
    pub(super) fn new(
        folder: &Path,
        model: &CrashModel,
        progress: OnProgress<'_>,
    ) -> Result<Option<Self>, TortureError> {
        let begun = DeviceImage::prepare_with_records(folder, |scenario| model.apply_to(scenario), progress)?;
        let next_tag = matches!(model, CrashModel::Liar(_)).then_some(0);
        Ok(begun.map(|(device, records)| Self { device, records, next_tag }))
    }

    /// The device in its present state.
    pub(super) fn device(&self) -> &ServedDevice {
        &self.device
    }

    /// Calls `examine` with the device for each span of time within `window` in which no command arrives and the device has no event; those of its
    /// first nanosecond have been handled. Spans come in order and cover the window. Ends early where `examine` says so.
    pub(super) fn visit_spans(
        &mut self,
        window: &Range<Nanos>,
        mut examine: impl FnMut(&ServedDevice, Range<Nanos>) -> Result<ControlFlow<()>, TortureError>,
    ) -> Result<(), TortureError> {
        let mut since = window.start;
        let Self { device, records, next_tag } = self;
        loop {
            let next = records.next()?;
            let at = next.as_ref().map_or(window.end, |(record, _)| record.at);
            while since < window.end {
                let deadline = device.next_deadline().map_or(Nanos::MAX, |time| time.max(device.now()));
                let until = deadline.min(at).min(window.end);
                if until > since {
                    if examine(device, since..until)?.is_break() {
                        return Ok(());
                    }
                    since = until;
                }
                if deadline > at {
                    break;
                }
                advance_to(device, deadline);
            }
            let Some((record, _)) = next.filter(|_| since < window.end) else { return Ok(()) };
            advance_to(device, at);
            // An input that was refused while recording is refused again.
            let _refused = submit_input(device, at, &record.input(), next_tag);
        }
    }
}

/// Submits an input at `at`, under the next free tag if `next_tag` is set.
fn submit_input(
    device: &mut ServedDevice,
    at: Nanos,
    input: &DeviceInput<'_>,
    next_tag: &mut Option<u32>,
) -> Result<(), RefusedInput> {
    let (DeviceInput::Command { command, data, .. }, Some(next)) = (input, next_tag) else {
        return device.apply(at, input);
    };
    let command: Command = *command;
    loop {
        let tag = Tag(*next % TAG_LIMIT);
        *next = next.wrapping_add(1);
        match device.apply(at, &DeviceInput::Command { tag, command, data }) {
            Err(RefusedInput::TagInUse(_)) => {}
            done => return done,
        }
    }
}
