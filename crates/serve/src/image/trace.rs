//! The log of an image as a trace, which a run can give to another device.

use super::{DeviceImage, ImageError, LogRecords};
use crate::device::fault_in_words;
use crate::input::{DeviceInput, PowerChange};
use crate::log::LogRecord;
use outlast_device::Op;
use outlast_media::UnitTear;
use outlast_units::Nanos;
use outlast_workload::{TraceFormat, TraceWriter, WorkloadRequest};
use std::io::Write;
use std::path::Path;

/// Facts about a trace of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogTraceSummary {
    /// Number of requests.
    pub requests: u64,
    /// Number of other inputs, such as faults and losses of power. They are remarks in the trace, which a run skips.
    pub remarks: u64,
    /// True if the log goes back to the beginning; otherwise the trace begins at a checkpoint.
    pub is_whole: bool,
}

impl DeviceImage {
    /// Writes the commands in the log of the image in `folder` to `to` in the format of blkparse, which keeps kinds and times of commands exactly.
    /// Refused commands are included. The image is not changed, and may be in use.
    ///
    /// # Errors
    /// The image is missing or of another version, its log is damaged or has a gap before the point on which replies depend, or `to` cannot be
    /// written.
    pub fn trace(folder: &Path, to: &mut dyn Write) -> Result<LogTraceSummary, ImageError> {
        let mut records = LogRecords::from_oldest(folder)?;
        let mut summary = LogTraceSummary { is_whole: records.is_whole(), ..LogTraceSummary::default() };
        let mut writer = TraceWriter::new(TraceFormat::Blkparse, to)?;
        while let Some((record, _)) = records.next()? {
            match as_request(&record) {
                Some(request) => writer.write(&request)?,
                None => write_remark(record.at, &record.input(), &mut writer, &mut summary)?,
            }
        }
        summary.requests = writer.finish()?;
        Ok(summary)
    }
}

/// The record as a request of a trace, if it is a command.
fn as_request(record: &LogRecord<'_>) -> Option<WorkloadRequest> {
    match record.input() {
        DeviceInput::Command { command, .. }
            if command.op == Op::Flush || command.op <= Op::Flush && command.sectors > 0 =>
        {
            Some(WorkloadRequest { at: record.at, command })
        }
        _ => None,
    }
}

fn write_remark(
    at: Nanos,
    input: &DeviceInput<'_>,
    to: &mut TraceWriter<'_>,
    summary: &mut LogTraceSummary,
) -> Result<(), outlast_workload::WorkloadError> {
    let text = match *input {
        DeviceInput::Advance => return Ok(()),
        DeviceInput::Command { command, .. } => format!("{:?} of {} sectors", command.op, command.sectors),
        DeviceInput::ReadMember { member, lba, sectors, .. } => {
            format!("read member {member}: {sectors} sectors from {lba}")
        }
        DeviceInput::Fault(fault) => format!("fault {}", fault_in_words(fault)),
        DeviceInput::Power(PowerChange::Cut { .. }) => "power cut".to_owned(),
        DeviceInput::Power(PowerChange::Off) => "power off".to_owned(),
        DeviceInput::Power(PowerChange::On { .. }) => "power on".to_owned(),
        DeviceInput::Tear(UnitTear::Nothing) => "the next loss of power tears nothing".to_owned(),
        DeviceInput::Tear(UnitTear::Shorn(share)) => {
            format!("the next loss of power leaves units shorn at {share}")
        }
        DeviceInput::Tear(UnitTear::Torn { run }) => {
            format!("the next loss of power leaves units torn by {run} bytes")
        }
        DeviceInput::Replace { member, .. } => format!("replace {member}"),
        DeviceInput::UpdateHandle(identifier) => format!("update of handle {}", identifier.0),
        DeviceInput::Repair => "repair".to_owned(),
        DeviceInput::Mark(text) => format!("mark {text}"),
    };
    summary.remarks += 1;
    to.write_message(at, &text)
}
