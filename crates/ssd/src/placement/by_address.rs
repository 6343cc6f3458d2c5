//! By address: a class has the writes to its `ranges`. A namespace is a range.

use super::{Placement, Write};
use outlast_settings::ftl::ClassConfig;
use outlast_units::SECTOR_BYTES;

/// Sectors that belong to a class.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
struct Range {
    from: u64,
    /// The first sector beyond.
    to: u64,
    class: u8,
}

/// The ranges of all classes, in order of address; no two overlap.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(super) struct ByAddress(Vec<Range>);

impl Placement for ByAddress {
    fn new(classes: &[ClassConfig], _sectors: u64) -> Option<Self> {
        let mut ranges = Vec::new();
        for (class, own) in (0u8..).zip(classes) {
            ranges.extend(own.ranges.iter().map(|range| Range {
                from: range.from.0 / SECTOR_BYTES,
                to: range.to.0 / SECTOR_BYTES,
                class,
            }));
        }
        ranges.sort_unstable_by_key(|range| range.from);
        assert!(
            ranges.is_sorted_by(|before, after| before.to <= after.from),
            "ranges that overlap are refused"
        );
        (!ranges.is_empty()).then_some(Self(ranges))
    }

    fn class_of(&self, write: Write) -> Option<u8> {
        let after = self.0.partition_point(|range| range.from <= write.sector);
        let range = self.0[after.checked_sub(1)?];
        debug_assert!(range.from <= write.sector, "the last range that begins at or before the sector");
        (write.sector < range.to).then_some(range.class)
    }
}
