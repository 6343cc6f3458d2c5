//! The log of a served machine as a history.

use super::Files;
use crate::error::TortureError;
use crate::history::{Builder, Data, FlushId, History, WriteId};
use outlast_device::{Op, Outcome, Tag};
use outlast_engine::{FillPattern, OnProgress};
use outlast_serve::{DeviceImage, DeviceInput, ServedDevice};
use outlast_units::{Nanos, SECTOR_BYTES};
use std::collections::BTreeMap;
use std::path::Path;

/// What is under way.
enum Asked {
    Write(WriteId),
    Flush(FlushId),
}

/// What the machine of the image in `folder` was asked, and when it answered: its log is given to it again.
///
/// # Errors
/// The image or its log cannot be read; the machine was not empty at first; its power was lost within the log. `None` where `progress` stopped
/// it.
pub fn history_of_image(folder: &Path, progress: OnProgress<'_>) -> Result<Option<History>, TortureError> {
    let begun = DeviceImage::prepare_with_records(folder, |_| (), progress)?;
    let Some((mut machine, mut records)) = begun else { return Ok(None) };
    if machine.scenario().precondition.fill != FillPattern::None {
        let why = "was filled before it was served: only of an empty drive (precondition.fill = \"none\") is known what every sector holds";
        return Err(TortureError::Foreign { path: folder.to_owned(), why: why.to_owned() });
    }
    let (mut builder, mut under_way) = (Builder::new(), BTreeMap::new());
    while let Some((record, payload)) = records.next()? {
        let at = record.at;
        come_to(&mut machine, at, &mut builder, &mut under_way);
        let input = record.input();
        match input {
            DeviceInput::Command { tag, command, .. } => {
                let asked = match command.op {
                    Op::Write if command.sectors > 0 => {
                        let data = Data::At { file: payload.segment - 1, offset: payload.offset };
                        let flags = (command.fua, false);
                        Some(Asked::Write(builder.write(at, command.lba, command.sectors, data, flags)))
                    }
                    Op::Trim if command.sectors > 0 => {
                        let flags = (command.fua, true);
                        Some(Asked::Write(builder.write(
                            at,
                            command.lba,
                            command.sectors,
                            Data::Zeroes,
                            flags,
                        )))
                    }
                    Op::Flush => Some(Asked::Flush(builder.flush(at))),
                    Op::Write | Op::Trim | Op::Read | Op::LbaStatus => None,
                };
                under_way.extend(asked.map(|asked| (tag, asked)));
            }
            DeviceInput::Mark(text) => builder.mark(at, text.to_owned()),
            DeviceInput::Power(_) => {
                let why = format!("lost its power at {at}; a recording ends before that");
                return Err(TortureError::Foreign { path: folder.to_owned(), why });
            }
            _ => {}
        }
        // What was refused is refused again, and never completes.
        let _refused = machine.apply(at, &input);
    }
    let end = records.end().max(machine.now());
    come_to(&mut machine, end, &mut builder, &mut under_way);
    let capacity = machine.identify().capacity.0 / SECTOR_BYTES;
    let files = Files(records.open_segments()?);
    let finished = builder.finish(capacity, true, Box::new(files));
    let io = |source| TortureError::Io { path: folder.to_owned(), source };
    finished.map(Some).map_err(io)
}

/// Lets the machine come to `now`; what completes on the way is noted with its time.
fn come_to(
    machine: &mut ServedDevice,
    now: Nanos,
    builder: &mut Builder,
    under_way: &mut BTreeMap<Tag, Asked>,
) {
    let mut completions = Vec::new();
    machine.advance(now, &mut completions);
    for done in completions {
        let _ = machine.take_data(done.tag);
        let _ = machine.take_lba_status(done.tag);
        let _ = machine.take_failed(done.tag);
        let asked = under_way.remove(&done.tag).filter(|_| done.outcome == Outcome::Ok);
        match asked {
            Some(Asked::Write(write)) => builder.write_done(done.at, write),
            Some(Asked::Flush(flush)) => builder.flush_done(done.at, flush),
            None => {}
        }
    }
}
