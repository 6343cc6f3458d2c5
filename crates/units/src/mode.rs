//! Modes of superblocks, by number.

crate::index_type! {
    /// A mode of superblocks: how their cells are used from opening to erasure (SLC, TLC, ...), with its page rows, times, error rates and endurance. The
    /// first is that of the drive's settings and has the most rows.
    pub struct ModeId(u8), kind outlast_persist::KINDS - 2, below its count, none from u64::MAX;
}

impl ModeId {
    /// The mode of the drive's settings.
    pub const FIRST: Self = Self(0);
}
