//! Versions of vSCSI traces.

/// Version of the layout of a record, see [`super::vscsi`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VscsiVersion {
    One,
    Two,
}

impl VscsiVersion {
    /// Bytes of a record.
    pub(crate) const fn record_bytes(self) -> usize {
        match self {
            Self::One => 32,
            Self::Two => 40,
        }
    }

    /// Offset of the field `ver` in a record, in bytes.
    pub(super) const fn ver_at(self) -> usize {
        match self {
            Self::One => 14,
            Self::Two => 2,
        }
    }
}
