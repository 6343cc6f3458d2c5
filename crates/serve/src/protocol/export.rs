//! Exports and what clients may do with them.

use std::collections::BTreeSet;
use std::ops::BitOr;

use outlast_units::{Bytes, SECTOR_BYTES};
use thiserror::Error;

use super::{BlockOp, BlockRequest};

/// Operations of an export beside reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Abilities(u8);

impl Abilities {
    /// Reading only.
    pub(crate) const NONE: Self = Self(0);
    /// Writes, flushes and forced unit access. A flush covers the writes of all sessions: one thread has all clients of a machine, and the machine
    /// one buffer.
    pub(crate) const WRITE: Self = Self(1 << 0);
    /// Trims.
    pub(crate) const TRIM: Self = Self(1 << 1);
    /// Zeroes, also such as are to be fast or to fail.
    pub(crate) const ZEROES: Self = Self(1 << 2);
    /// Announcements of reads.
    pub(crate) const PREFETCH: Self = Self(1 << 3);
    /// Questions for the state of sectors.
    pub(crate) const STATUS: Self = Self(1 << 4);

    /// Returns whether all of `other` are in it.
    pub(crate) const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Abilities {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Sizes that requests keep to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExportSizes {
    /// Offsets and lengths are multiples of it.
    pub(crate) block: Bytes,
    /// Multiples of it cost no read-modify-write; a power of two.
    pub(crate) preferred: Bytes,
    /// The longest read or write.
    pub(crate) longest: Bytes,
}

impl Default for ExportSizes {
    /// Sectors, 4 KiB preferred, up to 32 MiB.
    fn default() -> Self {
        Self { block: Bytes(SECTOR_BYTES), preferred: Bytes::kib(4), longest: Bytes::mib(32) }
    }
}

/// One device that clients may open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExportFacts {
    /// The name by which clients open it.
    pub(crate) name: String,
    /// A sentence for people; may be empty.
    pub(crate) description: String,
    pub(crate) size: Bytes,
    pub(crate) sizes: ExportSizes,
    pub(crate) abilities: Abilities,
}

impl ExportFacts {
    /// Returns whether the service takes this request: it lies within the export, keeps to its sizes, and is one that its abilities allow.
    pub(crate) fn takes(&self, request: &BlockRequest<'_>) -> bool {
        let BlockRequest { offset, length: Bytes(length), op, .. } = *request;
        let (longest, wanted) = match op {
            BlockOp::Flush => return self.abilities.has(Abilities::WRITE) && (offset, length) == (0, 0),
            BlockOp::Read => (self.sizes.longest.0, Abilities::NONE),
            BlockOp::Write { data, .. } if data.len() as u64 != length => return false,
            BlockOp::Write { .. } => (self.sizes.longest.0, Abilities::WRITE),
            BlockOp::Trim { .. } => (u64::MAX, Abilities::WRITE | Abilities::TRIM),
            BlockOp::WriteZeroes { .. } => (u64::MAX, Abilities::WRITE | Abilities::ZEROES),
            BlockOp::Prefetch => (u64::MAX, Abilities::PREFETCH),
            BlockOp::Status => (u64::MAX, Abilities::STATUS),
        };
        let block = self.sizes.block.0;
        let is_aligned = offset.is_multiple_of(block) && length.is_multiple_of(block);
        let is_within = offset <= self.size.0 && length <= self.size.0 - offset;
        self.abilities.has(wanted) && is_aligned && is_within && (1..=longest).contains(&length)
    }
}

/// The exports that a client is offered when it connects. The first one is the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Offer {
    exports: Vec<ExportFacts>,
}

impl Offer {
    /// # Errors
    /// Two exports have one name.
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

/// The reason why something cannot be offered.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OfferError {
    /// Two exports of one name.
    #[error("export {0:?} is there twice")]
    Twice(String),
    /// The protocol has no place for it: one line.
    #[error("{0}")]
    Protocol(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::RequestTag;

    const WRITE: BlockOp<'_> = BlockOp::Write { data: &[0; 1024], fua: false };

    fn export(abilities: Abilities) -> ExportFacts {
        let sizes = ExportSizes { longest: Bytes(2048), ..ExportSizes::default() };
        ExportFacts { name: String::new(), description: String::new(), size: Bytes(8192), sizes, abilities }
    }

    fn takes(abilities: Abilities, op: BlockOp<'_>, offset: u64, length: u64) -> bool {
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
                takes(Abilities::NONE, BlockOp::Read, offset, length),
                is_taken,
                "{offset} + {length}"
            );
        }
        assert!(takes(Abilities::STATUS, BlockOp::Status, 0, 8192), "questions have no longest");
        assert!(takes(Abilities::WRITE, WRITE, 0, 1024));
        assert!(!takes(Abilities::WRITE, WRITE, 0, 512), "all bytes are there");
    }

    #[test]
    fn an_export_takes_what_its_abilities_allow() {
        let (trim, zeroes) =
            (BlockOp::Trim { fua: true }, BlockOp::WriteZeroes { fua: false, may_punch: true, fast: true });
        for (op, length, wanted) in [
            (WRITE, 1024, Abilities::WRITE),
            (BlockOp::Flush, 0, Abilities::WRITE),
            (trim, 1024, Abilities::WRITE | Abilities::TRIM),
            (zeroes, 1024, Abilities::WRITE | Abilities::ZEROES),
            (BlockOp::Prefetch, 1024, Abilities::PREFETCH),
            (BlockOp::Status, 1024, Abilities::STATUS),
        ] {
            let others = (0..32).map(Abilities).filter(|all| !all.has(wanted));
            assert!(others.into_iter().all(|all| !takes(all, op, 0, length)), "{op:?}");
            assert!(takes(wanted, op, 0, length), "{op:?}");
        }
        assert!(!takes(Abilities::WRITE, BlockOp::Flush, 512, 0), "a flush has no range");
    }

    #[test]
    fn a_name_is_offered_once() {
        let named = |name: &str| ExportFacts { name: name.to_owned(), ..export(Abilities::NONE) };
        assert!(Offer::new(vec![named("a"), named("b")]).is_ok());
        let twice = Offer::new(vec![named("a"), named("b"), named("a")]).unwrap_err();
        assert_eq!(twice.to_string(), "export \"a\" is there twice");
    }
}
