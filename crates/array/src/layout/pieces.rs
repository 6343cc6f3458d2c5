//! Cutting a run of sectors into rectangles of groups.

use super::GroupLayout;
use super::rows::{GroupPiece, RowRange, to_row};
use crate::ids::GroupIndex;
use crate::roles::to_role;
use outlast_units::to_length;

/// The rectangles of a run of sectors.
#[derive(Clone, Debug)]
pub(crate) struct GroupPieces {
    chunk: u64,
    data: u64,
    at: u64,
    end: u64,
    banded: bool,
    bands: Option<PieceBands>,
}

impl Iterator for GroupPieces {
    type Item = GroupPiece;

    #[inline]
    fn next(&mut self) -> Option<GroupPiece> {
        if let Some(piece) = self.bands.as_mut().and_then(PieceBands::next) {
            return Some(piece);
        }
        if self.at == self.end {
            return None;
        }
        let chunk = self.at / self.chunk;
        let (group, role) = (GroupIndex(chunk / self.data), chunk % self.data);
        let row = self.at - chunk * self.chunk;
        let left = self.end - self.at;
        if row + left > self.chunk && self.banded && role + 1 < self.data {
            return self.first_band(group, role, row);
        }
        let here = left.min(self.chunk - row);
        self.at += here;
        let role = to_role(to_length(role));
        let rows = RowRange::new(to_row(row), to_row(row + here));
        Some(GroupPiece { group, first_role: role, end_role: role + 1, rows })
    }
}

impl GroupPieces {
    /// The pieces of `sectors` sectors from `first` on, in chunks of `chunk` sectors, `data` of which make a group.
    pub(super) fn new(chunk: u64, data: u64, first: u64, sectors: u64, banded: bool) -> Self {
        Self { chunk, data, at: first, end: first + sectors, banded: banded && data > 1, bands: None }
    }

    /// Cuts a run over several chunks of one group into rectangles, and returns the first.
    #[cold]
    fn first_band(&mut self, group: GroupIndex, role: u64, row: u64) -> Option<GroupPiece> {
        let here = ((self.data - role) * self.chunk - row).min(self.end - self.at);
        self.at += here;
        let last = role + (row + here - 1) / self.chunk;
        let end = (row + here) - (last - role) * self.chunk;
        // Rows at which the set of chunks changes. `min` and `max`: the run may end above the row at which it begins.
        let bounds = [0, row.min(end), row.max(end), self.chunk];
        let bands = PieceBands { group, first: role, last, row, end, bounds, at: 0 };
        self.bands.insert(bands).next()
    }
}

impl GroupLayout {
    /// Sectors `first..first + sectors` of the array as one piece, if they lie in one chunk.
    #[inline]
    pub(crate) fn piece_in_chunk(&self, first: u64, sectors: u64) -> Option<GroupPiece> {
        let (group, role, row) = self.chunk_of(first);
        let (role, end) = (to_role(role), row + sectors);
        let is_within = sectors > 0 && end <= self.chunk;
        is_within.then(|| {
            let rows = RowRange::new(to_row(row), to_row(end));
            GroupPiece { group, first_role: role, end_role: role + 1, rows }
        })
    }
}

/// A run over several chunks of one group, as at most three rectangles: the first chunk begins at `row`, the last ends at `end`, and
/// between two of these bounds the same chunks take part.
#[derive(Clone, Debug)]
struct PieceBands {
    group: GroupIndex,
    first: u64,
    last: u64,
    row: u64,
    end: u64,
    bounds: [u64; 4],
    at: usize,
}

impl Iterator for PieceBands {
    type Item = GroupPiece;

    fn next(&mut self) -> Option<GroupPiece> {
        while self.at < 3 {
            let (from, to) = (self.bounds[self.at], self.bounds[self.at + 1]);
            self.at += 1;
            let first_role = if from >= self.row { self.first } else { self.first + 1 };
            let end_role = if to <= self.end { self.last + 1 } else { self.last };
            if from < to && first_role < end_role {
                let rows = RowRange::new(to_row(from), to_row(to));
                let (first_role, end_role) = (to_role(to_length(first_role)), to_role(to_length(end_role)));
                return Some(GroupPiece { group: self.group, first_role, end_role, rows });
            }
        }
        None
    }
}
