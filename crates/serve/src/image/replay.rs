//! Replay of a log.

use super::ImageError;
use super::files::ImageFiles;
use crate::device::ServedDevice;
use crate::log::{AcknowledgedPoint, LogDamage, RecordPlace, SegmentReader};
use outlast_units::Nanos;
use std::io::BufReader;

/// Bytes read with one call.
const BUFFER: usize = 1 << 20;

/// Progress of a replay.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReplayEnd {
    /// Place of the next record.
    pub(super) place: RecordPlace,
    /// Number of inputs given to the device.
    pub(super) inputs: u64,
    /// True if the log ends with bytes that are no record.
    pub(super) torn: bool,
    /// True once an input was found that comes after the time asked for.
    is_past: bool,
}

/// Gives `device` the inputs of the log from `first` on, up to time `until` if there is one, and advances it to that time. A torn end is an error
/// only if it lies before `acknowledged`, and `salvage` is not set. What comes after `until` is not looked at.
pub(super) fn replay(
    device: &mut ServedDevice,
    files: &ImageFiles,
    first: RecordPlace,
    acknowledged: AcknowledgedPoint,
    salvage: bool,
    until: Option<Nanos>,
) -> Result<ReplayEnd, ImageError> {
    let image = first.image;
    let segments = files.segments()?.into_iter().filter(|&segment| segment >= first.segment);
    let mut progress = ReplayEnd { place: first, inputs: 0, torn: false, is_past: false };
    let promised = RecordPlace { image, segment: acknowledged.segment, offset: acknowledged.offset };
    // Each segment continues the one before, so none may be missing.
    for (segment, number) in segments.zip(first.segment..) {
        if segment != number {
            let why = format!("segment {number} of the log is missing");
            return Err(ImageError::Foreign { path: files.log(), why });
        }
        let outcome = replay_segment(device, files, segment, until, &mut progress);
        let path = files.segment_path(segment);
        match outcome {
            Ok(()) => {}
            // Behind the promised point nothing was acknowledged: a torn record there is what a crash leaves.
            Err(LogDamage::Record { .. }) if salvage || progress.place >= promised => progress.torn = true,
            Err(damage) => return Err(ImageError::Log { path, damage }),
        }
        if progress.torn || progress.is_past {
            break;
        }
    }
    if progress.place < promised && !salvage && !progress.is_past {
        let path = files.segment_path(progress.place.segment);
        let (length, promised) = (progress.place.offset, promised.offset);
        return Err(ImageError::Short { path, length, segment: acknowledged.segment, promised });
    }
    if let Some(until) = until {
        // After its last input the server may have told clients of a later time.
        let end = device.now().max(acknowledged.now);
        if end < until {
            let why = format!("ends at {end}, before {until}");
            return Err(ImageError::Foreign { path: files.log(), why });
        }
        catch_up(device, until);
    }
    Ok(progress)
}

fn replay_segment(
    device: &mut ServedDevice,
    files: &ImageFiles,
    segment: u32,
    until: Option<Nanos>,
    progress: &mut ReplayEnd,
) -> Result<(), LogDamage> {
    progress.place = RecordPlace { segment, offset: 0, ..progress.place };
    let file = files.open_segment(segment).map_err(std::io::Error::other)?;
    let mut reader =
        SegmentReader::new(BufReader::with_capacity(BUFFER, file), progress.place.image, segment)?;
    progress.place = reader.place();
    while let Some(record) = reader.next()? {
        if until.is_some_and(|until| record.at > until) {
            progress.is_past = true;
            return Ok(());
        }
        // The server did the same before each input. An input that was refused is refused again.
        catch_up(device, record.at);
        let _refused = device.apply(record.at, &record.input());
        progress.inputs += 1;
        progress.place = reader.place();
    }
    Ok(())
}

/// Advances `device` to `now` and drops all completions.
pub(super) fn catch_up(device: &mut ServedDevice, now: Nanos) {
    let mut completions = Vec::new();
    device.advance(now, &mut completions);
    for completion in completions {
        device.drop_outcome(completion.tag);
    }
}
