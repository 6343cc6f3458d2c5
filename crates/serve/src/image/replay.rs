//! A machine is given again what its log has.

use super::ImageError;
use super::files::Files;
use crate::log::{Acknowledged, Damage, Place, Reader};
use crate::machine::Machine;
use outlast_units::Nanos;
use std::io::BufReader;

/// Bytes of a segment read at once.
const BUFFER: usize = 1 << 20;

/// How far a log goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replayed {
    /// Where the next record belongs.
    pub(super) place: Place,
    /// Records given.
    pub(super) inputs: u64,
    /// Whether something lay behind them that was no record.
    pub(super) torn: bool,
}

/// Gives `machine` every input of the log from `first` on, or those up to `until`, and has it come to that time. A torn end is no error as
/// long as nothing before `acknowledged` is missing, or with `salvage`.
pub(super) fn replay(
    machine: &mut Machine,
    files: &Files,
    first: Place,
    acknowledged: Acknowledged,
    salvage: bool,
    until: Option<Nanos>,
) -> Result<Replayed, ImageError> {
    let image = first.image;
    let segments = files.segments()?.into_iter().filter(|&segment| segment >= first.segment);
    let mut done = Replayed { place: first, inputs: 0, torn: false };
    let promised = Place { image, segment: acknowledged.segment, offset: acknowledged.offset };
    for (segment, number) in segments.zip(first.segment..) {
        if segment != number {
            let why = format!("segment {number} of the log is missing");
            return Err(ImageError::Foreign { path: files.log(), why });
        }
        let ended = one_segment(machine, files, segment, until, &mut done);
        let path = files.segment_path(segment);
        match ended {
            Ok(()) => {}
            Err(Damage::Record { .. }) if salvage || done.place >= promised => done.torn = true,
            Err(damage) => return Err(ImageError::Log { path, damage }),
        }
        if done.torn || until.is_some_and(|until| machine.now() >= until) {
            break;
        }
    }
    if let Some(until) = until {
        let end = machine.now().max(acknowledged.now);
        if end < until {
            let why = format!("ends at {end}, before {until}");
            return Err(ImageError::Foreign { path: files.log(), why });
        }
        catch_up(machine, until);
    } else if done.place < promised && !salvage {
        let path = files.segment_path(done.place.segment);
        let (found, promised) = (done.place.offset, promised.offset);
        return Err(ImageError::Short { path, found, segment: acknowledged.segment, promised });
    }
    Ok(done)
}

fn one_segment(
    machine: &mut Machine,
    files: &Files,
    segment: u32,
    until: Option<Nanos>,
    done: &mut Replayed,
) -> Result<(), Damage> {
    done.place = Place { segment, offset: 0, ..done.place };
    let file = files.open_segment(segment).map_err(std::io::Error::other)?;
    let mut reader = Reader::new(BufReader::with_capacity(BUFFER, file), done.place.image, segment)?;
    done.place = reader.place();
    while let Some(record) = reader.next()? {
        if until.is_some_and(|until| record.at > until) {
            catch_up(machine, until.unwrap_or(record.at));
            return Ok(());
        }
        // As the server did, which had heard of what had completed. What was refused is refused again.
        catch_up(machine, record.at);
        let _refused = machine.apply(record.at, &record.input());
        done.inputs += 1;
        done.place = reader.place();
    }
    Ok(())
}

/// Advances `machine` to `now`; nobody waits for what completes.
pub(super) fn catch_up(machine: &mut Machine, now: Nanos) {
    let mut completions = Vec::new();
    machine.advance(now, &mut completions);
    for done in completions {
        machine.forget(done.tag);
    }
}
