//! Kinds of states, and what each loses.

use super::Settings;
use crate::history::{History, WriteId};
use crate::open::open_pieces;
use crate::pieces::Piece;
use outlast_units::rng::{SplitMix, mix};

/// What is lost of all that may be lost at a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Nothing.
    Nothing,
    /// This write.
    Missing(WriteId),
    /// The last pieces of this write: all but so many.
    Torn(WriteId, u32),
    /// This write and all later ones.
    From(WriteId),
    /// All of it.
    All,
    /// A random half of the pieces, by the number of the draw.
    Random(u32),
    /// All but this write.
    Alone(WriteId),
}

/// A state of the contract, in a few bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Candidate {
    /// After so many events.
    pub cut: u32,
    /// What is lost.
    pub kind: Kind,
}

impl Candidate {
    /// Of two states with one content, that of the lower rank is shown.
    pub(super) fn rank(self) -> (u8, u32) {
        let rank = match self.kind {
            Kind::Nothing => 0,
            Kind::Missing(_) => 1,
            Kind::Torn(..) => 2,
            Kind::From(_) => 3,
            Kind::All => 4,
            Kind::Random(_) => 5,
            Kind::Alone(_) => 6,
        };
        (rank, self.cut)
    }

    /// The name of its kind.
    pub fn kind_name(self) -> &'static str {
        match self.kind {
            Kind::Nothing => "nothing",
            Kind::Missing(_) => "missing",
            Kind::Torn(..) => "torn",
            Kind::From(_) => "prefix",
            Kind::All => "all",
            Kind::Random(_) => "random",
            Kind::Alone(_) => "alone",
        }
    }
}

/// Where a write may be torn: after how many pieces, and the first sector that is lost then. After the first, in the middle, before the last.
pub(super) fn tears(history: &History, id: WriteId, piece: u64) -> Vec<(u32, u64)> {
    let range = history.writes[id.0 as usize].range();
    let first = range.start / piece;
    let count = (range.end.div_ceil(piece) - first) as u32;
    let mut after = vec![1, count / 2, count.saturating_sub(1)];
    after.retain(|&kept| kept > 0 && kept < count);
    after.dedup();
    after.into_iter().map(|kept| (kept, (first + u64::from(kept)) * piece)).collect()
}

/// What a candidate loses.
pub(super) fn lost(history: &History, settings: &Settings, candidate: Candidate) -> Vec<Piece> {
    let cut = candidate.cut as usize;
    let come = history.writes.partition_point(|write| write.submitted < cut);
    let open = (0..come as u32).map(WriteId).filter(|id| !history.writes[id.0 as usize].is_covered(cut));
    lost_of_open(history, settings, candidate, open)
}

/// The same, of the writes that are not covered.
pub(super) fn lost_of_open(
    history: &History,
    settings: &Settings,
    candidate: Candidate,
    open: impl Iterator<Item = WriteId>,
) -> Vec<Piece> {
    let Candidate { cut, kind } = candidate;
    let pieces = |id| open_pieces(history, cut as usize, id, settings.piece);
    match kind {
        Kind::Nothing => Vec::new(),
        Kind::Missing(id) => pieces(id),
        Kind::Torn(id, kept) => {
            let tears = tears(history, id, settings.piece);
            let first =
                tears.iter().find(|&&(pieces, _)| pieces == kept).map_or(u64::MAX, |&(_, first)| first);
            pieces(id).into_iter().filter(|piece| piece.lba >= first).collect()
        }
        Kind::From(first) => open.filter(|&id| id >= first).flat_map(pieces).collect(),
        Kind::All => open.flat_map(pieces).collect(),
        Kind::Alone(kept) => open.filter(|&id| id != kept).flat_map(pieces).collect(),
        Kind::Random(draw) => {
            let seed = mix(settings.seed ^ mix(u64::from(cut) << 32 | u64::from(draw)));
            let mut rng = SplitMix::new(seed, "torture subset");
            open.flat_map(pieces).filter(|_| rng.next_u64() & 1 == 0).collect()
        }
    }
}
