//! The mark of one region.

use outlast_units::Nanos;

/// The mark of a region: where it is, and who writes there.
#[derive(Clone, Copy, Debug, Default, outlast_persist::Persist)]
#[allow(clippy::struct_excessive_bools, reason = "a mark can be any of these at once")]
pub(super) struct BitmapRegion {
    /// The mark is on the members.
    pub(super) durable: bool,
    /// The mark is requested, for the next write of the bitmap.
    pub(super) is_pending: bool,
    /// The mark is part of the write under way.
    pub(super) is_writing: bool,
    /// Operations that write in the region.
    pub(super) writers: u32,
    /// A loss of power left the region in doubt.
    pub(super) in_doubt: bool,
    pub(super) last_write: Nanos,
}
