//! What a loss of power may take: the contract of a device with a volatile cache.
//!
//! **The contract.** A write is covered from the moment on when a flush completes that was asked for after the write had completed; with forced
//! unit access, when it completes. At a cut a sector holds the last covered version, by order of arrival, or any later one that had arrived. So
//! any part of what has arrived, is not covered, and has no covered version after it may be lost, whether it had completed or not.

use crate::history::{History, WriteId};
use crate::pieces::{Piece, Pieces};

/// Whether the version at `place` may be lost at `cut`: it has arrived, and neither it nor a later one of its sector is covered.
pub(crate) fn is_open(history: &History, cut: usize, place: usize) -> bool {
    let versions = history.versions();
    let write = |id: WriteId| &history.writes[id.0 as usize];
    let own = write(versions.all()[place].write);
    own.submitted < cut
        && !own.is_covered(cut)
        && !versions.after(place).any(|version| write(version.write).is_covered(cut))
}

/// Whether the contract allows all of `lost` to be lost at `cut`.
pub(crate) fn allowed(history: &History, cut: usize, lost: &Pieces) -> bool {
    lost.iter().all(|piece| {
        let mut places = piece.range().filter_map(|sector| history.versions().place(piece.write, sector));
        places.all(|place| is_open(history, cut, place))
    })
}

/// What may be lost of a write at `cut`, in pieces that do not cross a multiple of `unit` sectors.
pub(crate) fn open_pieces(history: &History, cut: usize, write: WriteId, unit: u64) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for place in history.versions().of_write(write).filter(|&place| is_open(history, cut, place)) {
        let lba = history.versions().all()[place].sector;
        match pieces.last_mut() {
            Some(last) if last.range().end == lba && !lba.is_multiple_of(unit) => last.sectors += 1,
            _ => pieces.push(Piece { write, lba, sectors: 1 }),
        }
    }
    pieces
}
