//! Parts of writes, of which a loss of power loses some.

use crate::error::TortureError;
use crate::history::{CommandHistory, WriteId};
use std::fmt;
use std::ops::Range;

/// A part of a write, or all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WritePiece {
    /// The write.
    pub write: WriteId,
    /// First sector.
    pub lba: u64,
    /// Number of sectors, at least 1.
    pub sectors: u32,
}

impl WritePiece {
    /// The sectors of the piece.
    pub fn range(&self) -> Range<u64> {
        self.lba..self.lba + u64::from(self.sectors)
    }
}

/// A sorted set of pieces; pieces of one write neither overlap nor touch.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct WritePieces(Vec<WritePiece>);

impl WritePieces {
    /// Sorts `pieces`, and joins those of one write that touch.
    pub fn new(mut pieces: Vec<WritePiece>) -> Self {
        pieces.sort_unstable();
        let mut joined: Vec<WritePiece> = Vec::with_capacity(pieces.len());
        for piece in pieces {
            match joined.last_mut() {
                Some(last) if last.write == piece.write && piece.lba <= last.range().end => {
                    let end = last.range().end.max(piece.range().end);
                    last.sectors = (end - last.lba) as u32;
                }
                _ => joined.push(piece),
            }
        }
        Self(joined)
    }

    /// The piece that is all of a write.
    pub fn whole(history: &CommandHistory, write: WriteId) -> WritePiece {
        let recorded = &history.writes[write.0 as usize];
        WritePiece { write, lba: recorded.lba.0, sectors: recorded.sectors }
    }

    /// The pieces, by write, then by sector.
    pub fn iter(&self) -> impl Iterator<Item = &WritePiece> {
        self.0.iter()
    }

    /// True if there is no piece.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if a piece contains `sector` of `write`.
    pub fn contains(&self, write: WriteId, sector: u64) -> bool {
        let after = self.0.partition_point(|piece| (piece.write, piece.lba) <= (write, sector));
        let before = after.checked_sub(1).map(|at| self.0[at]);
        before.is_some_and(|piece| piece.write == write && piece.range().contains(&sector))
    }

    /// The pieces, grouped by write.
    pub fn by_write(&self) -> impl Iterator<Item = &[WritePiece]> {
        self.0.chunk_by(|one, other| one.write == other.write)
    }

    /// Names of the pieces: all of write 3 is `3`, eight sectors of it from 4711 on are `3:4711+8`.
    pub fn names(&self, history: &CommandHistory) -> Vec<String> {
        self.0.iter().map(|piece| piece_name(piece, history)).collect()
    }

    /// Parses names as [`WritePieces::names`] gives them.
    ///
    /// # Errors
    /// The first name that is not of a piece of `history`, and why.
    pub fn parse<'a>(
        names: impl Iterator<Item = &'a str>,
        history: &CommandHistory,
    ) -> Result<Self, TortureError> {
        Ok(Self::new(names.map(|name| parse_piece(name, history)).collect::<Result<_, _>>()?))
    }
}

fn piece_name(piece: &WritePiece, history: &CommandHistory) -> String {
    if *piece == WritePieces::whole(history, piece.write) {
        return piece.write.0.to_string();
    }
    format!("{}:{}+{}", piece.write.0, piece.lba, piece.sectors)
}

fn parse_piece(name: &str, history: &CommandHistory) -> Result<WritePiece, TortureError> {
    let bad = |why: &str| TortureError::state(name, why);
    let (write, sectors) =
        name.split_once(':').map_or((name, None), |(write, sectors)| (write, Some(sectors)));
    let write = write.parse().map_err(|_| bad("a lost write is a number, such as 12 or 12:4711+8"))?;
    if write as usize >= history.writes.len() {
        return Err(bad(&format!("the recording has {} writes, counted from 0", history.writes.len())));
    }
    let whole = WritePieces::whole(history, WriteId(write));
    let Some(range) = sectors else { return Ok(whole) };
    let numbers =
        range.split_once('+').and_then(|(lba, sectors)| Some((lba.parse().ok()?, sectors.parse().ok()?)));
    let (lba, sectors): (u64, u32) = numbers.ok_or_else(|| bad("must be WRITE:SECTOR+COUNT"))?;
    let piece = WritePiece { write: WriteId(write), lba, sectors };
    let fits = sectors > 0 && lba >= whole.lba && lba.checked_add(sectors.into()) <= Some(whole.range().end);
    if fits { Ok(piece) } else { Err(bad("is not within its write")) }
}

impl fmt::Display for WritePiece {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}:{}+{}", self.write.0, self.lba, self.sectors)
    }
}
