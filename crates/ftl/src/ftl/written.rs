//! What a stream or a relocation is for, and under which cause its units count.

use crate::causes::{ProgramCause, ReadCause};

/// What a stream or a relocation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The host writes.
    Host,
    /// Garbage collection moves data.
    Gc,
    /// Static wear levelling moves data.
    WearLeveling,
    /// Scrubbing moves data.
    Scrub,
    /// Data moves because its code, or the dies that it lies on, are no longer those of new data.
    Reencode,
    /// Parity of stripes that are not full.
    Partial,
}

impl Cause {
    /// As what units count that are moved for it.
    #[inline]
    pub(super) const fn moved(self) -> ProgramCause {
        match self {
            Self::WearLeveling => ProgramCause::WearLeveling,
            Self::Scrub => ProgramCause::Scrub,
            Self::Reencode => ProgramCause::Reencode,
            Self::Host | Self::Gc | Self::Partial => ProgramCause::Gc,
        }
    }

    /// As what the parity of its stripes counts.
    #[inline]
    pub(super) const fn parity(self) -> ProgramCause {
        match self {
            Self::Host | Self::Partial => ProgramCause::HostParity,
            Self::Gc => ProgramCause::GcParity,
            Self::WearLeveling => ProgramCause::WearLevelingParity,
            Self::Scrub | Self::Reencode => ProgramCause::ScrubParity,
        }
    }

    /// As what pages count that are read to move data for it.
    #[inline]
    pub(super) const fn read(self) -> ReadCause {
        match self {
            Self::WearLeveling => ReadCause::WearLeveling,
            Self::Scrub => ReadCause::Scrub,
            _ => ReadCause::Gc,
        }
    }
}
