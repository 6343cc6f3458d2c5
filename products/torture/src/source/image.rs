//! The log of a served device as a history.

use super::PayloadFiles;
use crate::error::TortureError;
use crate::history::{CommandHistory, FlushId, HistoryBuilder, WriteData, WriteId};
use outlast_device::{Op, Outcome, Tag};
use outlast_engine::{FillPattern, OnProgress};
use outlast_serve::{DeviceImage, DeviceInput, ServedDevice};
use outlast_units::{Nanos, SECTOR_BYTES};
use std::collections::BTreeMap;
use std::path::Path;

/// A write or flush under way.
enum PendingOp {
    Write(WriteId),
    Flush(FlushId),
}

/// Reads the history of the image in `folder` by replaying its log on its device, since a log has no completions. `None` where `progress` stopped it.
///
/// # Errors
/// The image or its log cannot be read, the device was not empty at first, or it lost its power within the log.
pub fn history_of_image(
    folder: &Path,
    progress: OnProgress<'_>,
) -> Result<Option<CommandHistory>, TortureError> {
    let begun = DeviceImage::prepare_with_records(folder, |_| (), progress)?;
    let Some((mut device, mut records)) = begun else { return Ok(None) };
    if device.scenario().precondition.fill != FillPattern::None {
        let why = "was filled before it was served: only of an empty drive (precondition.fill = \"none\") is known what every sector holds";
        return Err(TortureError::Foreign { path: folder.to_owned(), why: why.to_owned() });
    }
    let (mut builder, mut under_way) = (HistoryBuilder::new(), BTreeMap::new());
    while let Some((record, payload)) = records.next()? {
        let at = record.at;
        advance_to(&mut device, at, &mut builder, &mut under_way);
        let input = record.input();
        match input {
            DeviceInput::Command { tag, command, .. } => {
                let pending = match command.op {
                    Op::Write if command.sectors > 0 => {
                        let data = WriteData::At { file: payload.segment - 1, offset: payload.offset };
                        let flags = (command.fua, false);
                        Some(PendingOp::Write(builder.write(at, command.lba, command.sectors, data, flags)))
                    }
                    Op::Trim if command.sectors > 0 => {
                        let flags = (command.fua, true);
                        Some(PendingOp::Write(builder.write(
                            at,
                            command.lba,
                            command.sectors,
                            WriteData::Zeroes,
                            flags,
                        )))
                    }
                    Op::Flush => Some(PendingOp::Flush(builder.flush(at))),
                    Op::Write | Op::Trim | Op::Read | Op::LbaStatus | Op::Append | Op::ManageZone => None,
                };
                under_way.extend(pending.map(|pending| (tag, pending)));
            }
            DeviceInput::Mark(text) => builder.mark(at, text.to_owned()),
            DeviceInput::Power(_) => {
                let why = format!("lost its power at {at}; a recording ends before that");
                return Err(TortureError::Foreign { path: folder.to_owned(), why });
            }
            _ => {}
        }
        // An input that was refused while recording is refused again, and never completes.
        let _refused = device.apply(at, &input);
    }
    let end = records.end().max(device.now());
    advance_to(&mut device, end, &mut builder, &mut under_way);
    let capacity = device.identify().capacity.0 / SECTOR_BYTES;
    let files = PayloadFiles(records.open_segments()?);
    let finished = builder.finish(capacity, true, Box::new(files));
    let io = |source| TortureError::Io { path: folder.to_owned(), source };
    finished.map(Some).map_err(io)
}

/// Advances the device to `now`, and adds the completions on the way to the history.
fn advance_to(
    device: &mut ServedDevice,
    now: Nanos,
    builder: &mut HistoryBuilder,
    under_way: &mut BTreeMap<Tag, PendingOp>,
) {
    let mut completions = Vec::new();
    device.advance(now, &mut completions);
    for done in completions {
        let _ = device.take_data(done.tag);
        let _ = device.take_lba_status(done.tag);
        let _ = device.take_failed(done.tag);
        let pending = under_way.remove(&done.tag).filter(|_| done.outcome == Outcome::Ok);
        match pending {
            Some(PendingOp::Write(write)) => builder.write_done(done.at, write),
            Some(PendingOp::Flush(flush)) => builder.flush_done(done.at, flush),
            None => {}
        }
    }
}
