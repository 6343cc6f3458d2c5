//! The bytes of a mapping unit, by reference.

use outlast_persist::{Damage, Persist, Reader, Writer};
use std::sync::Arc;

/// The bytes of a mapping unit with its tag: the logical page that it was written for, which a real drive keeps in the spare area and
/// which is checked on every read. The tag of parity is the code's sum of the tags that it covers.
///
/// Bytes are held by reference: a unit that moves to another slot is not copied, and neither are the units of a drive that is cloned.
/// Zeroes take no memory.
#[derive(Clone, Debug)]
pub struct Unit(Held);

#[derive(Clone, Debug)]
enum Held {
    Zero { tag: u32 },
    Shared { tag: u32, bytes: Arc<[u8]> },
}

// What a slot takes; one without a unit is told by the same word as the kind.
const _: () = assert!(size_of::<Option<Unit>>() == 24, "a slot has grown");

impl Unit {
    /// The unit of `bytes`, written for `tag`.
    pub fn new(tag: u32, bytes: &[u8]) -> Self {
        if is_zero(bytes) { Self::zero(tag) } else { Self(Held::Shared { tag, bytes: bytes.into() }) }
    }

    /// A unit of zeroes, written for `tag`.
    #[inline]
    pub fn zero(tag: u32) -> Self {
        Self(Held::Zero { tag })
    }

    /// The bytes; `None`: all are zero.
    #[inline]
    pub fn bytes(&self) -> Option<&[u8]> {
        match &self.0 {
            Held::Zero { .. } => None,
            Held::Shared { bytes, .. } => Some(bytes),
        }
    }

    /// The tag.
    #[inline]
    pub fn tag(&self) -> u32 {
        match self.0 {
            Held::Zero { tag } | Held::Shared { tag, .. } => tag,
        }
    }

    /// The same bytes, written for `tag`.
    #[inline]
    #[must_use]
    pub fn with_tag(mut self, tag: u32) -> Self {
        match &mut self.0 {
            Held::Zero { tag: own } | Held::Shared { tag: own, .. } => *own = tag,
        }
        self
    }

    /// Copies the bytes from byte `from` on to `to`.
    ///
    /// # Panics
    /// If the unit has not so many.
    #[inline]
    pub fn copy_to(&self, from: usize, to: &mut [u8]) {
        match self.bytes() {
            Some(bytes) => to.copy_from_slice(&bytes[from..from + to.len()]),
            None => to.fill(0),
        }
    }

    /// The bytes as memory to be written again, if there are any; others may hold them still.
    #[inline]
    pub(super) fn into_shared(self) -> Option<Arc<[u8]>> {
        match self.0 {
            Held::Zero { .. } => None,
            Held::Shared { bytes, .. } => Some(bytes),
        }
    }
}

impl Persist for Unit {
    const SHAPE: u64 = outlast_persist::shape("Unit", &[]);

    /// The tag, and the bytes where they are not zero: those that others hold, too, are written once.
    fn write(&self, to: &mut Writer<'_>) {
        self.tag().write(to);
        let bytes = match &self.0 {
            Held::Zero { .. } => None,
            Held::Shared { bytes, .. } => Some(bytes),
        };
        bytes.is_some().write(to);
        if let Some(bytes) = bytes {
            to.shared(bytes);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damage> {
        let (tag, has_bytes) = Persist::read(from)?;
        Ok(Self(if has_bytes { Held::Shared { tag, bytes: from.shared()? } } else { Held::Zero { tag } }))
    }
}

impl PartialEq for Unit {
    /// Whether tags and bytes are the same, wherever they lie.
    fn eq(&self, other: &Self) -> bool {
        self.tag() == other.tag()
            && match (self.bytes(), other.bytes()) {
                (Some(own), Some(others)) => own == others,
                (Some(bytes), None) | (None, Some(bytes)) => is_zero(bytes),
                (None, None) => true,
            }
    }
}

impl Eq for Unit {}

/// The memory of a unit, which nobody else holds, to be written and then made into one. It holds anything.
#[derive(Debug)]
pub struct Blank(Arc<[u8]>);

impl Blank {
    /// Memory of `length` zeroes.
    pub fn new(length: usize) -> Self {
        Self(std::iter::repeat_n(0, length).collect())
    }

    /// `memory`, if nobody else holds it.
    #[inline]
    pub(super) fn of(memory: Arc<[u8]>) -> Option<Self> {
        (Arc::strong_count(&memory) == 1).then_some(Self(memory))
    }

    /// The bytes.
    ///
    /// # Panics
    /// Never: a blank has one holder.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        Arc::get_mut(&mut self.0).expect("a blank has one holder")
    }

    /// The unit with these bytes, written for `tag`.
    #[inline]
    pub fn into_unit(self, tag: u32) -> Unit {
        Unit(Held::Shared { tag, bytes: self.0 })
    }
}

/// Whether all bytes are zero; of bytes that are not, the first few mostly tell.
#[inline]
pub(super) fn is_zero(bytes: &[u8]) -> bool {
    bytes.chunks(64).all(|run| run.iter().fold(0, |any, &byte| any | byte) == 0)
}
