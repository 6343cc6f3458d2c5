//! Writes that a loss of power may lose: the contract of a device with a volatile cache.
//!
//! **The contract.** A write is covered as soon as a flush completes that arrived after the write had completed; with forced unit access, as soon
//! as the write itself completes. At a cut, a sector holds its last covered version, by order of arrival, or any later version that had arrived. So
//! any part of a write may be lost, completed or not, unless it is covered or a later version of the same sector is.

use crate::history::{CommandHistory, WriteId};
use crate::pieces::{WritePiece, WritePieces};

/// True if the version at `index` may be lost at `cut`: it has arrived, and neither it nor a later version of its sector is covered.
pub(crate) fn may_be_lost(history: &CommandHistory, cut: usize, index: usize) -> bool {
    let versions = history.versions();
    let write = |id: WriteId| &history.writes[id.0 as usize];
    let writer = write(versions.all()[index].write);
    writer.submitted < cut
        && !writer.is_covered(cut)
        && !versions.later(index).any(|version| write(version.write).is_covered(cut))
}

/// True if the contract allows all of `lost` to be lost at `cut`.
pub(crate) fn is_loss_allowed(history: &CommandHistory, cut: usize, lost: &WritePieces) -> bool {
    lost.iter().all(|piece| {
        // A sector without a version held zeroes before and after: its loss changes nothing.
        let mut indices = piece.range().filter_map(|sector| history.versions().index_of(piece.write, sector));
        indices.all(|index| may_be_lost(history, cut, index))
    })
}

/// The parts of a write that may be lost at `cut`, in pieces that do not cross a multiple of `unit` sectors.
pub(crate) fn losable_pieces(
    history: &CommandHistory,
    cut: usize,
    write: WriteId,
    unit: u64,
) -> Vec<WritePiece> {
    let mut pieces: Vec<WritePiece> = Vec::new();
    for index in history.versions().of_write(write).filter(|&index| may_be_lost(history, cut, index)) {
        let lba = history.versions().all()[index].sector;
        match pieces.last_mut() {
            Some(last) if last.range().end == lba && !lba.is_multiple_of(unit) => last.sectors += 1,
            _ => pieces.push(WritePiece { write, lba, sectors: 1 }),
        }
    }
    pieces
}
