//! Exports, and the operations that clients may use on them.

use std::collections::BTreeSet;
use std::ops::BitOr;

use outlast_device::{RandomWriteAreas, ZoneLimits};
use outlast_settings::placement::PlacementConfig;
use outlast_units::{Bytes, SECTOR_BYTES};
use thiserror::Error;

use super::{BlockOp, BlockRequest};

/// Operations that an export allows beside reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExportAbilities(u8);

impl ExportAbilities {
    /// Reads only.
    pub(crate) const NONE: Self = Self(0);
    /// Writes, flushes and forced unit access. A flush covers the writes of all sessions: one thread serves all clients of a device, which has one
    /// buffer.
    pub(crate) const WRITE: Self = Self(1 << 0);
    /// Trims.
    pub(crate) const TRIM: Self = Self(1 << 1);
    /// Zeroing, including requests that must be fast or fail.
    pub(crate) const ZEROES: Self = Self(1 << 2);
    /// Announcements of future reads.
    pub(crate) const PREFETCH: Self = Self(1 << 3);
    /// Queries for the state of sectors.
    pub(crate) const STATUS: Self = Self(1 << 4);
    /// Questions for the health log, and for sectors that are lost or to be written again.
    pub(crate) const HEALTH: Self = Self(1 << 5);
    /// Flexible data placement: questions for its figures, updates of handles.
    pub(crate) const PLACEMENT: Self = Self(1 << 6);
    /// Commands to zones. Writes go to write pointers only, so that protocols without zones offer no writes.
    pub(crate) const ZONES: Self = Self(1 << 7);

    /// True if all of `other` are allowed.
    pub(crate) const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl ExportAbilities {
    /// These without those of `other`.
    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl BitOr for ExportAbilities {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Limits on the offsets and lengths of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExportSizes {
    /// Offsets and lengths are multiples of this.
    pub(crate) block: Bytes,
    /// Multiples of this need no read-modify-write. A power of two.
    pub(crate) preferred: Bytes,
    /// Longest read or write.
    pub(crate) longest: Bytes,
}

impl Default for ExportSizes {
    /// Sectors, 4 KiB preferred, up to 32 MiB.
    fn default() -> Self {
        Self { block: Bytes(SECTOR_BYTES), preferred: Bytes::kib(4), longest: Bytes::mib(32) }
    }
}

/// A device that clients may open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExportFacts {
    /// Name by which clients open it.
    pub(crate) name: String,
    /// Description for people, one sentence; may be empty.
    pub(crate) description: String,
    pub(crate) size: Bytes,
    pub(crate) sizes: ExportSizes,
    pub(crate) abilities: ExportAbilities,
    /// Namespaces of the device, for protocols that know of such; empty for one that is the whole device.
    pub(crate) namespaces: Vec<ExportNamespace>,
    /// Flexible data placement, if the device has it.
    pub(crate) placement: Option<PlacementConfig>,
    /// Bytes of a reclaim unit, as the device is made; 0 without flexible data placement.
    pub(crate) reclaim_unit: Bytes,
    /// Zones, if the device has them.
    pub(crate) zones: Option<ExportZones>,
}

/// Zones of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExportZones {
    /// From the start of one zone to that of the next.
    pub(crate) size: Bytes,
    /// Bytes of a zone that can be written.
    pub(crate) capacity: Bytes,
    /// Unit of writes.
    pub(crate) block: Bytes,
    /// Most active and most open zones.
    pub(crate) limits: ZoneLimits,
    /// Random write areas, if zones can have them.
    pub(crate) random: Option<RandomWriteAreas>,
}

/// A namespace of an export: a range of its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExportNamespace {
    pub(crate) offset: u64,
    pub(crate) size: Bytes,
    /// Bytes of a block.
    pub(crate) block: Bytes,
    pub(crate) is_read_only: bool,
    /// Placement identifier of the device for each of the namespace's own.
    pub(crate) identifiers: Vec<u16>,
}

impl ExportFacts {
    /// True if the request lies within the export, respects its sizes, and is allowed by its abilities.
    pub(crate) fn takes(&self, request: &BlockRequest<'_>) -> bool {
        let BlockRequest { offset, length: Bytes(length), op, .. } = *request;
        // Only reads and writes carry data; the other requests may be as long as the export.
        let (longest, wanted) = match op {
            BlockOp::Flush => {
                return self.abilities.has(ExportAbilities::WRITE) && (offset, length) == (0, 0);
            }
            BlockOp::Health(_) => {
                return self.abilities.has(ExportAbilities::HEALTH) && (offset, length) == (0, 0);
            }
            BlockOp::Placement | BlockOp::UpdateHandle(_) => {
                return self.abilities.has(ExportAbilities::PLACEMENT) && (offset, length) == (0, 0);
            }
            BlockOp::ManageZone(_) => {
                return self.abilities.has(ExportAbilities::ZONES)
                    && (offset < self.size.0 && offset.is_multiple_of(self.sizes.block.0), length)
                        == (true, 0);
            }
            BlockOp::ListZones(_) => (u64::MAX, ExportAbilities::ZONES),
            BlockOp::Append { data, .. } if data.len() as u64 != length => return false,
            BlockOp::Append { .. } => (self.sizes.longest.0, ExportAbilities::WRITE | ExportAbilities::ZONES),
            BlockOp::Read { .. } => (self.sizes.longest.0, ExportAbilities::NONE),
            BlockOp::Write { data, .. } if data.len() as u64 != length => return false,
            BlockOp::Write { .. } => (self.sizes.longest.0, ExportAbilities::WRITE),
            BlockOp::Trim { .. } => (u64::MAX, ExportAbilities::WRITE | ExportAbilities::TRIM),
            BlockOp::WriteZeroes { .. } => (u64::MAX, ExportAbilities::WRITE | ExportAbilities::ZEROES),
            BlockOp::Prefetch => (u64::MAX, ExportAbilities::PREFETCH),
            BlockOp::Status => (u64::MAX, ExportAbilities::STATUS),
            BlockOp::LbaStatus => (u64::MAX, ExportAbilities::HEALTH),
        };
        let block = self.sizes.block.0;
        let is_aligned = offset.is_multiple_of(block) && length.is_multiple_of(block);
        let is_within = offset <= self.size.0 && length <= self.size.0 - offset;
        self.abilities.has(wanted) && is_aligned && is_within && (1..=longest).contains(&length)
    }
}

/// Exports that a client is offered when it connects. The first is the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExportOffer {
    exports: Vec<ExportFacts>,
}

impl ExportOffer {
    /// Makes an offer of `exports`.
    ///
    /// # Errors
    /// Two exports have the same name.
    pub(crate) fn new(exports: Vec<ExportFacts>) -> Result<Self, OfferError> {
        let mut names = BTreeSet::new();
        match exports.iter().find(|export| !names.insert(&export.name)) {
            Some(export) => Err(OfferError::Twice(export.name.clone())),
            None => Ok(Self { exports }),
        }
    }

    pub(crate) fn exports(&self) -> &[ExportFacts] {
        &self.exports
    }
}

/// Reason for which exports cannot be offered.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OfferError {
    /// Two exports have this name.
    #[error("export {0:?} is there twice")]
    Twice(String),
    /// The protocol cannot express an export; one line.
    #[error("{0}")]
    Protocol(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{HealthPage, RequestTag};
    use outlast_device::PlacementId;

    const WRITE: BlockOp<'_> = BlockOp::Write { data: &[0; 1024], fua: false, placement: PlacementId(0) };

    fn export(abilities: ExportAbilities) -> ExportFacts {
        let sizes = ExportSizes { longest: Bytes(2048), ..ExportSizes::default() };
        ExportFacts {
            name: String::new(),
            description: String::new(),
            size: Bytes(8192),
            sizes,
            abilities,
            namespaces: Vec::new(),
            placement: None,
            reclaim_unit: Bytes(0),
            zones: None,
        }
    }

    fn takes(abilities: ExportAbilities, op: BlockOp<'_>, offset: u64, length: u64) -> bool {
        export(abilities).takes(&BlockRequest { tag: RequestTag(0), offset, length: Bytes(length), op })
    }

    #[test]
    fn an_export_takes_whole_blocks_within_it_up_to_the_longest() {
        for (offset, length, is_taken) in [
            (0, 2048, true),
            (7680, 512, true),
            (0, 0, false),
            (0, 2560, false),
            (7680, 1024, false),
            (256, 512, false),
            (512, 256, false),
            (8192, 512, false),
            (u64::MAX - 511, 512, false),
        ] {
            assert_eq!(
                takes(ExportAbilities::NONE, BlockOp::Read { limited_retry: false }, offset, length),
                is_taken,
                "{offset} + {length}"
            );
        }
        assert!(takes(ExportAbilities::STATUS, BlockOp::Status, 0, 8192), "questions have no longest");
        assert!(takes(ExportAbilities::WRITE, WRITE, 0, 1024));
        assert!(!takes(ExportAbilities::WRITE, WRITE, 0, 512), "all bytes are there");
    }

    #[test]
    fn an_export_takes_what_its_abilities_allow() {
        let (trim, zeroes) =
            (BlockOp::Trim { fua: true }, BlockOp::WriteZeroes { fua: false, may_punch: true, fast: true });
        for (op, length, wanted) in [
            (WRITE, 1024, ExportAbilities::WRITE),
            (BlockOp::Flush, 0, ExportAbilities::WRITE),
            (trim, 1024, ExportAbilities::WRITE | ExportAbilities::TRIM),
            (zeroes, 1024, ExportAbilities::WRITE | ExportAbilities::ZEROES),
            (BlockOp::Prefetch, 1024, ExportAbilities::PREFETCH),
            (BlockOp::Status, 1024, ExportAbilities::STATUS),
            (BlockOp::LbaStatus, 1024, ExportAbilities::HEALTH),
            (BlockOp::Health(HealthPage::Extended), 0, ExportAbilities::HEALTH),
            (BlockOp::Placement, 0, ExportAbilities::PLACEMENT),
            (BlockOp::UpdateHandle(PlacementId(1)), 0, ExportAbilities::PLACEMENT),
        ] {
            let others = (0..128).map(ExportAbilities).filter(|all| !all.has(wanted));
            assert!(others.into_iter().all(|all| !takes(all, op, 0, length)), "{op:?}");
            assert!(takes(wanted, op, 0, length), "{op:?}");
        }
        assert!(!takes(ExportAbilities::WRITE, BlockOp::Flush, 512, 0), "a flush has no range");
    }

    #[test]
    fn a_name_is_offered_once() {
        let named = |name: &str| ExportFacts { name: name.to_owned(), ..export(ExportAbilities::NONE) };
        assert!(ExportOffer::new(vec![named("a"), named("b")]).is_ok());
        let twice = ExportOffer::new(vec![named("a"), named("b"), named("a")]).unwrap_err();
        assert_eq!(twice.to_string(), "export \"a\" is there twice");
    }
}
