//! Parts of writes: what is lost.

use crate::error::TortureError;
use crate::history::{History, WriteId};
use std::fmt;
use std::ops::Range;

/// A part of a write, or all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Piece {
    /// The write.
    pub write: WriteId,
    /// Its first sector.
    pub lba: u64,
    /// How many; not 0.
    pub sectors: u32,
}

impl Piece {
    /// Its sectors.
    pub fn range(&self) -> Range<u64> {
        self.lba..self.lba + u64::from(self.sectors)
    }
}

/// Pieces in order, of which none overlap or touch.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pieces(Vec<Piece>);

impl Pieces {
    /// Of pieces in any order: those of one write that touch are joined.
    pub fn new(mut pieces: Vec<Piece>) -> Self {
        pieces.sort_unstable();
        let mut joined: Vec<Piece> = Vec::with_capacity(pieces.len());
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

    /// All of a write.
    pub fn whole(history: &History, write: WriteId) -> Piece {
        let own = &history.writes[write.0 as usize];
        Piece { write, lba: own.lba.0, sectors: own.sectors }
    }

    /// In order.
    pub fn iter(&self) -> impl Iterator<Item = &Piece> {
        self.0.iter()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether they have the sector of the write.
    pub fn has(&self, write: WriteId, sector: u64) -> bool {
        let after = self.0.partition_point(|piece| (piece.write, piece.lba) <= (write, sector));
        let before = after.checked_sub(1).map(|at| self.0[at]);
        before.is_some_and(|piece| piece.write == write && piece.range().contains(&sector))
    }

    /// The pieces of one write each.
    pub fn by_write(&self) -> impl Iterator<Item = &[Piece]> {
        self.0.chunk_by(|one, other| one.write == other.write)
    }

    /// As they are named: all of write 3 is `3`, eight sectors of it from 4711 on are `3:4711+8`.
    pub fn names(&self, history: &History) -> Vec<String> {
        self.0.iter().map(|piece| name(piece, history)).collect()
    }

    /// Those of their names.
    ///
    /// # Errors
    /// What is wrong with the first that is none of `history`.
    pub fn parse<'a>(names: impl Iterator<Item = &'a str>, history: &History) -> Result<Self, TortureError> {
        Ok(Self::new(names.map(|name| parse(name, history)).collect::<Result<_, _>>()?))
    }
}

fn name(piece: &Piece, history: &History) -> String {
    if *piece == Pieces::whole(history, piece.write) {
        return piece.write.0.to_string();
    }
    format!("{}:{}+{}", piece.write.0, piece.lba, piece.sectors)
}

fn parse(name: &str, history: &History) -> Result<Piece, TortureError> {
    let bad = |why: &str| TortureError::state(name, why);
    let (write, rest) = name.split_once(':').map_or((name, None), |(write, rest)| (write, Some(rest)));
    let write = write.parse().map_err(|_| bad("a lost write is a number, such as 12 or 12:4711+8"))?;
    if write as usize >= history.writes.len() {
        return Err(bad(&format!("the recording has {} writes, counted from 0", history.writes.len())));
    }
    let whole = Pieces::whole(history, WriteId(write));
    let Some(rest) = rest else { return Ok(whole) };
    let numbers =
        rest.split_once('+').and_then(|(lba, sectors)| Some((lba.parse().ok()?, sectors.parse().ok()?)));
    let (lba, sectors): (u64, u32) = numbers.ok_or_else(|| bad("must be WRITE:SECTOR+COUNT"))?;
    let piece = Piece { write: WriteId(write), lba, sectors };
    let fits = sectors > 0 && lba >= whole.lba && lba.checked_add(sectors.into()) <= Some(whole.range().end);
    if fits { Ok(piece) } else { Err(bad("is not within its write")) }
}

impl fmt::Display for Piece {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}:{}+{}", self.write.0, self.lba, self.sectors)
    }
}
