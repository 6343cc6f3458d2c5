//! Sectors are read by commands, where only a read can tell.

use crate::error::TortureError;
use outlast_device::{Command, Completion, Op, Outcome, Tag};
use outlast_serve::{DeviceInput, ServedDevice};
use outlast_units::{Lba, SECTOR_BYTES};
use std::ops::Range;

/// Reads under way at once.
const DEPTH: u32 = 64;

/// The bytes of a sector; none where it cannot be read.
type Sector = Option<Box<[u8]>>;

/// What reading each of `ranges`, of a few sectors each, gives.
pub(super) fn read(
    machine: &mut ServedDevice,
    ranges: impl Iterator<Item = Range<u64>>,
) -> Result<Vec<Vec<Sector>>, TortureError> {
    let ranges: Vec<_> = ranges.collect();
    let mut found = vec![Vec::new(); ranges.len()];
    for (ranges, found) in ranges.chunks(DEPTH as usize).zip(found.chunks_mut(DEPTH as usize)) {
        let answers = together(machine, ranges)?;
        for ((range, found), answer) in ranges.iter().zip(found).zip(answers) {
            if let Some(bytes) = answer {
                found.extend(bytes.chunks_exact(SECTOR_BYTES as usize).map(|sector| Some(sector.into())));
                continue;
            }
            // What a failed read says of its sectors may be less than the truth, and more.
            let sectors: Vec<_> = range.clone().map(|sector| sector..sector + 1).collect();
            let answers = together(machine, &sectors)?;
            found.extend(answers.into_iter().map(|bytes| bytes.map(Into::into)));
        }
    }
    Ok(found)
}

/// Reads all of `ranges` at once; nothing of those that fail.
fn together(machine: &mut ServedDevice, ranges: &[Range<u64>]) -> Result<Vec<Option<Vec<u8>>>, TortureError> {
    let failed = |why: String| TortureError::state(&"a machine that is read", &why);
    for (tag, range) in (0..).map(Tag).zip(ranges) {
        let sectors = (range.end - range.start) as u32;
        let command = Command::new(Op::Read, Lba(range.start), sectors);
        let read = DeviceInput::Command { tag, command, data: &[] };
        machine.apply(machine.now(), &read).map_err(|refused| failed(refused.to_string()))?;
    }
    let (mut answers, mut left) = (vec![None; ranges.len()], ranges.len());
    let mut done: Vec<Completion> = Vec::new();
    while left > 0 {
        let at = machine.next_deadline().ok_or_else(|| failed("a read never ends".to_owned()))?;
        machine.advance(at, &mut done);
        for Completion { tag, outcome, .. } in done.drain(..) {
            let data = machine.take_data(tag);
            drop(machine.take_failed(tag));
            if let Some(answer) = answers.get_mut(tag.0 as usize) {
                *answer = data.filter(|_| outcome == Outcome::Ok);
            }
            left -= 1;
        }
    }
    Ok(answers)
}
