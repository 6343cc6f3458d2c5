//! Causes of streams, and the causes under which their units count.

use crate::causes::{ProgramCause, ReadCause};

/// Cause of a stream or a relocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub enum StreamCause {
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
    /// The mapping table is flushed.
    Map,
    /// The SLC cache is folded: collection moves data out of it. Never that of a stream.
    Fold,
}

impl StreamCause {
    /// Name that policies of the user's get.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Gc => "gc",
            Self::WearLeveling => "wear-leveling",
            Self::Scrub => "scrub",
            Self::Reencode => "reencode",
            Self::Partial => "partial",
            Self::Map => "map",
            Self::Fold => "fold",
        }
    }

    /// True if collection moves the data, for space or out of the SLC cache.
    #[inline]
    pub(crate) const fn is_collection(self) -> bool {
        matches!(self, Self::Gc | Self::Fold)
    }

    /// Cause under which units count that are moved for it.
    #[inline]
    pub(crate) const fn moved(self) -> ProgramCause {
        match self {
            Self::WearLeveling => ProgramCause::WearLeveling,
            Self::Scrub => ProgramCause::Scrub,
            Self::Reencode => ProgramCause::Reencode,
            Self::Fold => ProgramCause::Fold,
            Self::Host | Self::Gc | Self::Partial | Self::Map => ProgramCause::Gc,
        }
    }

    /// Cause under which the parity of its stripes counts.
    #[inline]
    pub(crate) const fn parity(self) -> ProgramCause {
        match self {
            Self::Host | Self::Partial => ProgramCause::HostParity,
            Self::Gc | Self::Fold => ProgramCause::GcParity,
            Self::WearLeveling => ProgramCause::WearLevelingParity,
            Self::Scrub | Self::Reencode => ProgramCause::ScrubParity,
            Self::Map => ProgramCause::MapParity,
        }
    }

    /// Cause under which pages count that are read to move data for it.
    #[inline]
    pub(crate) const fn read(self) -> ReadCause {
        match self {
            Self::WearLeveling => ReadCause::WearLeveling,
            Self::Scrub => ReadCause::Scrub,
            Self::Fold => ReadCause::Fold,
            _ => ReadCause::Gc,
        }
    }
}
