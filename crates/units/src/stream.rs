//! Write streams, by number.

crate::index_type! {
    /// A write frontier with its own open superblock. Policies of the user's see it as this number.
    pub struct Stream(u8), kind outlast_persist::KINDS - 1, below its count, none from u64::MAX;
}
