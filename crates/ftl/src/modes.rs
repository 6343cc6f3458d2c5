//! Modes of superblocks, and the mode in which each stream opens them.

use crate::streams::StreamCause;
use outlast_media::CellMode;
use outlast_units::ModeId;

/// Modes of superblocks beside that of the drive's settings, and what is written in them. By default there are none.
///
/// Addresses have the stride of the first mode, which has the most rows: a superblock in a mode with fewer rows leaves the slots of the others unused.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamModes {
    modes: Vec<CellMode>,
    of_cause: Vec<(StreamCause, ModeId)>,
}

impl StreamModes {
    /// Streams of `cause` open superblocks in `mode`, the only further one; all others in the first.
    pub fn one(cause: StreamCause, mode: CellMode) -> Self {
        Self { modes: vec![mode], of_cause: vec![(cause, ModeId(1))] }
    }

    /// The further modes.
    pub fn modes(&self) -> &[CellMode] {
        &self.modes
    }

    /// The mode in which streams of `cause` open superblocks.
    pub(crate) fn of(&self, cause: StreamCause) -> ModeId {
        let found = self.of_cause.iter().find(|&&(other, _)| other == cause);
        found.map_or(ModeId::FIRST, |&(_, mode)| mode)
    }
}
