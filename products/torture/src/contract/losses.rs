//! Kinds of losses at a cut, and the pieces that each loses.

use super::ContractSettings;
use crate::history::{CommandHistory, WriteId};
use crate::losable::losable_pieces;
use crate::pieces::WritePiece;
use outlast_units::rng::{SplitMix, mix};

/// A selection of the pieces that may be lost at a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LossKind {
    /// No piece.
    Nothing,
    /// One write.
    Missing(WriteId),
    /// The last pieces of one write; the number is that of the pieces kept.
    Torn(WriteId, u32),
    /// One write and all later ones.
    From(WriteId),
    /// All pieces that may be lost.
    All,
    /// A random half of the pieces; the number is that of the draw.
    Random(u32),
    /// All but one write.
    Alone(WriteId),
}

/// A state of the contract, named by its cut and its kind of loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CandidateState {
    /// Number of events before the cut.
    pub cut: u32,
    /// Selection of lost pieces.
    pub kind: LossKind,
}

impl CandidateState {
    /// Order of preference among candidates of equal content: the lowest rank is kept.
    pub(super) fn rank(self) -> (u8, u32) {
        let rank = match self.kind {
            LossKind::Nothing => 0,
            LossKind::Missing(_) => 1,
            LossKind::Torn(..) => 2,
            LossKind::From(_) => 3,
            LossKind::All => 4,
            LossKind::Random(_) => 5,
            LossKind::Alone(_) => 6,
        };
        (rank, self.cut)
    }

    /// Name of the kind of loss.
    pub fn kind_name(self) -> &'static str {
        match self.kind {
            LossKind::Nothing => "nothing",
            LossKind::Missing(_) => "missing",
            LossKind::Torn(..) => "torn",
            LossKind::From(_) => "prefix",
            LossKind::All => "all",
            LossKind::Random(_) => "random",
            LossKind::Alone(_) => "alone",
        }
    }
}

/// Points at which a write is torn: number of pieces kept, and the first lost sector. Three for a long write: after its first piece, in the middle,
/// before its last piece.
pub(super) fn tear_points(history: &CommandHistory, id: WriteId, piece: u64) -> Vec<(u32, u64)> {
    let range = history.writes[id.0 as usize].range();
    let first = range.start / piece;
    let count = (range.end.div_ceil(piece) - first) as u32;
    let mut after = vec![1, count / 2, count.saturating_sub(1)];
    after.retain(|&kept| kept > 0 && kept < count);
    after.dedup();
    after.into_iter().map(|kept| (kept, (first + u64::from(kept)) * piece)).collect()
}

/// Pieces that a candidate loses.
pub(super) fn lost_pieces(
    history: &CommandHistory,
    settings: &ContractSettings,
    candidate: CandidateState,
) -> Vec<WritePiece> {
    let cut = candidate.cut as usize;
    let arrived = history.writes.partition_point(|write| write.submitted < cut);
    let open = (0..arrived as u32).map(WriteId).filter(|id| !history.writes[id.0 as usize].is_covered(cut));
    lost_pieces_of(history, settings, candidate, open)
}

/// Pieces that a candidate loses, out of the writes `open` that are not covered.
pub(super) fn lost_pieces_of(
    history: &CommandHistory,
    settings: &ContractSettings,
    candidate: CandidateState,
    open: impl Iterator<Item = WriteId>,
) -> Vec<WritePiece> {
    let CandidateState { cut, kind } = candidate;
    let pieces = |id| losable_pieces(history, cut as usize, id, settings.piece);
    match kind {
        LossKind::Nothing => Vec::new(),
        LossKind::Missing(id) => pieces(id),
        LossKind::Torn(id, kept) => {
            let tear_points = tear_points(history, id, settings.piece);
            let first =
                tear_points.iter().find(|&&(pieces, _)| pieces == kept).map_or(u64::MAX, |&(_, first)| first);
            pieces(id).into_iter().filter(|piece| piece.lba >= first).collect()
        }
        LossKind::From(first) => open.filter(|&id| id >= first).flat_map(pieces).collect(),
        LossKind::All => open.flat_map(pieces).collect(),
        LossKind::Alone(kept) => open.filter(|&id| id != kept).flat_map(pieces).collect(),
        LossKind::Random(draw) => {
            let seed = mix(settings.seed ^ mix(u64::from(cut) << 32 | u64::from(draw)));
            let mut rng = SplitMix::new(seed, "torture subset");
            open.flat_map(pieces).filter(|_| rng.next_u64() & 1 == 0).collect()
        }
    }
}
