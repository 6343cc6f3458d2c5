//! Reading sectors by commands, where a peek does not tell their content.

use crate::error::TortureError;
use outlast_device::{Command, Completion, Op, Outcome, Tag};
use outlast_serve::{DeviceInput, ServedDevice};
use outlast_units::{Lba, SECTOR_BYTES};
use std::ops::Range;

/// Reads under way at once.
const DEPTH: u32 = 64;

/// Bytes of a sector; `None` if it is unreadable.
type SectorData = Option<Box<[u8]>>;

/// Reads `ranges`, of a few sectors each.
pub(super) fn read_ranges(
    device: &mut ServedDevice,
    ranges: impl Iterator<Item = Range<u64>>,
) -> Result<Vec<Vec<SectorData>>, TortureError> {
    let ranges: Vec<_> = ranges.collect();
    let mut sectors_read = vec![Vec::new(); ranges.len()];
    for (ranges, results) in ranges.chunks(DEPTH as usize).zip(sectors_read.chunks_mut(DEPTH as usize)) {
        let outcomes = read_together(device, ranges)?;
        for ((range, result), outcome) in ranges.iter().zip(results).zip(outcomes) {
            if let Some(bytes) = outcome {
                result.extend(bytes.chunks_exact(SECTOR_BYTES as usize).map(|sector| Some(sector.into())));
                continue;
            }
            // A failed read does not say exactly which of its sectors failed: each is read by itself.
            let sectors: Vec<_> = range.clone().map(|sector| sector..sector + 1).collect();
            let outcomes = read_together(device, &sectors)?;
            result.extend(outcomes.into_iter().map(|bytes| bytes.map(Into::into)));
        }
    }
    Ok(sectors_read)
}

/// Reads all of `ranges` at the same time; `None` for a read that fails.
fn read_together(
    device: &mut ServedDevice,
    ranges: &[Range<u64>],
) -> Result<Vec<Option<Vec<u8>>>, TortureError> {
    let failed = |why: String| TortureError::state(&"a machine that is read", &why);
    for (tag, range) in (0..).map(Tag).zip(ranges) {
        let sectors = (range.end - range.start) as u32;
        let command = Command::new(Op::Read, Lba(range.start), sectors);
        let read = DeviceInput::Command { tag, command, data: &[] };
        device.apply(device.now(), &read).map_err(|refused| failed(refused.to_string()))?;
    }
    let (mut outcomes, mut left) = (vec![None; ranges.len()], ranges.len());
    let mut done: Vec<Completion> = Vec::new();
    while left > 0 {
        let at = device.next_deadline().ok_or_else(|| failed("a read never ends".to_owned()))?;
        device.advance(at, &mut done);
        for Completion { tag, outcome, .. } in done.drain(..) {
            let data = device.take_data(tag);
            drop(device.take_failed(tag));
            if let Some(slot) = outcomes.get_mut(tag.0 as usize) {
                *slot = data.filter(|_| outcome == Outcome::Ok);
            }
            left -= 1;
        }
    }
    Ok(outcomes)
}
