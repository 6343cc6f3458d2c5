//! Versions of vSCSI traces.

/// Which layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    One,
    Two,
}

impl Version {
    /// Bytes of a record.
    pub(crate) const fn record_bytes(self) -> usize {
        match self {
            Self::One => 32,
            Self::Two => 40,
        }
    }

    pub(super) const fn ver_at(self) -> usize {
        match self {
            Self::One => 14,
            Self::Two => 2,
        }
    }
}
