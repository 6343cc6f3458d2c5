//! The log of an image as a trace: the commands that a machine was given, for a run to give them to another.

use super::files::Files;
use super::{Image, ImageError};
use crate::input::{Input, Power};
use crate::log::{Damage, Reader, Record};
use crate::machine::fault_in_words;
use outlast_device::Op;
use outlast_media::Tear;
use outlast_units::Nanos;
use outlast_workload::{TraceFormat, TraceWriter, WorkloadRequest};
use std::io::{BufReader, Write};
use std::path::Path;

/// Bytes of a segment read at once.
const BUFFER: usize = 1 << 20;

/// What a trace of a log has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traced {
    /// Requests.
    pub requests: u64,
    /// What else was given to the machine, such as faults and losses of power: remarks, which a run passes over.
    pub remarks: u64,
    /// Whether the log is there from its beginning; otherwise a checkpoint has taken the place of what was before.
    pub is_whole: bool,
}

impl Image {
    /// Writes all commands in the log of the image in `folder` to `to`, as blkparse prints them, which keeps every kind of command and times
    /// exactly: those of the machine. What refused them is not told apart. The image stays as it is, and may be in use.
    ///
    /// # Errors
    /// No image, one of another version, damage within the log, or `to` cannot be written.
    pub fn trace(folder: &Path, to: &mut dyn Write) -> Result<Traced, ImageError> {
        let files = Files::of(folder)?;
        let image = files.read()?.0;
        let segments = files.segments()?;
        let mut traced = Traced { is_whole: segments.first() == Some(&1), ..Traced::default() };
        let mut writer = TraceWriter::new(TraceFormat::Blkparse, to)?;
        for &segment in &segments {
            let path = files.segment_path(segment);
            let log = |damage| ImageError::Log { path: path.clone(), damage };
            let file = BufReader::with_capacity(BUFFER, files.open_segment(segment)?);
            let ended = one_segment(file, image, segment, &mut writer, &mut traced);
            match ended {
                Err(Ended::Log(Damage::Record { .. })) if segments.last() == Some(&segment) => {}
                Err(Ended::Log(damage)) => return Err(log(damage)),
                Err(Ended::Trace(error)) => return Err(error.into()),
                Ok(()) => {}
            }
        }
        traced.requests = writer.finish()?;
        Ok(traced)
    }
}

/// What keeps a segment from being written as a trace.
enum Ended {
    Log(Damage),
    Trace(outlast_workload::WorkloadError),
}

fn one_segment(
    from: impl std::io::Read,
    image: u64,
    segment: u32,
    to: &mut TraceWriter<'_>,
    traced: &mut Traced,
) -> Result<(), Ended> {
    let mut reader = Reader::new(from, image, segment).map_err(Ended::Log)?;
    while let Some(record) = reader.next().map_err(Ended::Log)? {
        let done = match command(&record) {
            Some(request) => to.write(&request),
            None => remark(record.at, &record.input(), to, traced),
        };
        done.map_err(Ended::Trace)?;
    }
    Ok(())
}

/// The record as a request of a trace, if it is one.
fn command(record: &Record<'_>) -> Option<WorkloadRequest> {
    match record.input() {
        Input::Command { command, .. }
            if command.op == Op::Flush || command.op != Op::LbaStatus && command.sectors > 0 =>
        {
            Some(WorkloadRequest { at: record.at, command })
        }
        _ => None,
    }
}

fn remark(
    at: Nanos,
    input: &Input<'_>,
    to: &mut TraceWriter<'_>,
    traced: &mut Traced,
) -> Result<(), outlast_workload::WorkloadError> {
    let text = match *input {
        Input::Advance => return Ok(()),
        Input::Command { command, .. } => format!("{:?} of {} sectors", command.op, command.sectors),
        Input::ReadMember { member, lba, sectors, .. } => {
            format!("read member {member}: {sectors} sectors from {lba}")
        }
        Input::Fault(fault) => format!("fault {}", fault_in_words(fault)),
        Input::Power(Power::Cut { .. }) => "power cut".to_owned(),
        Input::Power(Power::Off) => "power off".to_owned(),
        Input::Power(Power::On { .. }) => "power on".to_owned(),
        Input::Tear(Tear::Nothing) => "the next loss of power tears nothing".to_owned(),
        Input::Tear(Tear::Shorn(share)) => format!("the next loss of power leaves units shorn at {share}"),
        Input::Tear(Tear::Torn { run }) => format!("the next loss of power leaves units torn by {run} bytes"),
        Input::Replace { member, .. } => format!("replace {member}"),
        Input::Repair => "repair".to_owned(),
        Input::Mark(text) => format!("mark {text}"),
    };
    traced.remarks += 1;
    to.write_message(at, &text)
}
