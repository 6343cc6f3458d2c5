//! The bytes of a mapping unit, by reference.

use super::store::{ByteStore, StoredBytes};
use outlast_persist::{Damage, Persist, Reader, Writer};
use std::borrow::Cow;
use std::sync::Arc;

/// The bytes of a mapping unit with its tag: the logical page that it was written for, which a real drive keeps in the spare area and
/// which is checked on every read. The tag of parity is the code's sum of the tags that it covers.
///
/// Bytes are held by reference: a unit that moves to another slot is not copied, and neither are the units of a drive that is cloned.
/// Zeroes take no memory, and bytes in a [`ByteStore`] little.
#[derive(Clone, Debug)]
pub struct UnitBytes(UnitRepr);

#[derive(Clone, Debug)]
enum UnitRepr {
    Zero { tag: u32 },
    Shared { tag: u32, bytes: Arc<[u8]> },
    Stored { tag: u32, bytes: Arc<StoredBytes> },
}

// Memory of a slot; the discriminant also tells an empty slot, so that `Option` takes no room.
const _: () = assert!(size_of::<Option<UnitBytes>>() == 24, "a slot has grown");

impl UnitBytes {
    /// The unit of `bytes`, written for `tag`.
    pub fn new(tag: u32, bytes: &[u8]) -> Self {
        if is_zero(bytes) { Self::zero(tag) } else { Self(UnitRepr::Shared { tag, bytes: bytes.into() }) }
    }

    /// A unit of zeroes, written for `tag`.
    #[inline]
    pub fn zero(tag: u32) -> Self {
        Self(UnitRepr::Zero { tag })
    }

    /// The bytes; `None`: all are zero. Those in a store are copied.
    #[inline]
    pub fn bytes(&self) -> Option<Cow<'_, [u8]>> {
        match &self.0 {
            UnitRepr::Zero { .. } => None,
            UnitRepr::Shared { bytes, .. } => Some(Cow::Borrowed(bytes)),
            UnitRepr::Stored { bytes, .. } => {
                let mut copy = vec![0; bytes.length()];
                bytes.copy_to(0, &mut copy);
                Some(Cow::Owned(copy))
            }
        }
    }

    /// The bytes, if they are in memory; `None` also where all are zero.
    #[inline]
    pub fn in_memory(&self) -> Option<&[u8]> {
        match &self.0 {
            UnitRepr::Shared { bytes, .. } => Some(bytes),
            UnitRepr::Zero { .. } | UnitRepr::Stored { .. } => None,
        }
    }

    /// The bytes by reference; `None`: all are zero. Bytes in a store are copied.
    #[inline]
    pub fn memory(&self) -> Option<Arc<[u8]>> {
        match &self.0 {
            UnitRepr::Shared { bytes, .. } => Some(bytes.clone()),
            UnitRepr::Zero { .. } | UnitRepr::Stored { .. } => self.bytes().map(Arc::from),
        }
    }

    /// Number of bytes; `None` of a unit of zeroes, which has no length of its own.
    #[inline]
    pub fn length(&self) -> Option<usize> {
        match &self.0 {
            UnitRepr::Zero { .. } => None,
            UnitRepr::Shared { bytes, .. } => Some(bytes.len()),
            UnitRepr::Stored { bytes, .. } => Some(bytes.length()),
        }
    }

    /// The tag.
    #[inline]
    pub fn tag(&self) -> u32 {
        match self.0 {
            UnitRepr::Zero { tag } | UnitRepr::Shared { tag, .. } | UnitRepr::Stored { tag, .. } => tag,
        }
    }

    /// The same bytes, written for `tag`.
    #[inline]
    #[must_use]
    pub fn with_tag(mut self, tag: u32) -> Self {
        match &mut self.0 {
            UnitRepr::Zero { tag: old }
            | UnitRepr::Shared { tag: old, .. }
            | UnitRepr::Stored { tag: old, .. } => {
                *old = tag;
            }
        }
        self
    }

    /// Copies the bytes from byte `from` on to `to`.
    ///
    /// # Panics
    /// If the unit has not so many.
    #[inline]
    pub fn copy_to(&self, from: usize, to: &mut [u8]) {
        match &self.0 {
            UnitRepr::Zero { .. } => to.fill(0),
            UnitRepr::Shared { bytes, .. } => to.copy_from_slice(&bytes[from..from + to.len()]),
            UnitRepr::Stored { bytes, .. } => bytes.copy_to(from, to),
        }
    }

    /// Appends `count` bytes from byte `from` on to `to`.
    ///
    /// # Panics
    /// If the unit has not so many.
    #[inline]
    pub fn append_to(&self, from: usize, count: usize, to: &mut Vec<u8>) {
        match &self.0 {
            UnitRepr::Zero { .. } => to.resize(to.len() + count, 0),
            UnitRepr::Shared { bytes, .. } => to.extend_from_slice(&bytes[from..from + count]),
            UnitRepr::Stored { bytes, .. } => {
                let at = to.len();
                to.resize(at + count, 0);
                bytes.copy_to(from, &mut to[at..]);
            }
        }
    }

    /// The same unit with its bytes in `store`, if they are in memory and the store takes them.
    pub(super) fn put_into(&self, store: &Arc<dyn ByteStore>) -> Option<Self> {
        let stored = StoredBytes::new(store, self.in_memory()?)?;
        Some(Self(UnitRepr::Stored { tag: self.tag(), bytes: Arc::new(stored) }))
    }

    /// Address of the shared allocation, and true if it has the bytes, false if they are in a store; `None`: all are zero.
    pub(super) fn allocation(&self) -> Option<(usize, bool)> {
        match &self.0 {
            UnitRepr::Zero { .. } => None,
            UnitRepr::Shared { bytes, .. } => Some((bytes.as_ptr().addr(), true)),
            UnitRepr::Stored { bytes, .. } => Some((Arc::as_ptr(bytes).addr(), false)),
        }
    }

    /// The allocation of the bytes for reuse, if they are in memory; other units may still share it.
    #[inline]
    pub(super) fn into_shared(self) -> Option<Arc<[u8]>> {
        match self.0 {
            UnitRepr::Zero { .. } | UnitRepr::Stored { .. } => None,
            UnitRepr::Shared { bytes, .. } => Some(bytes),
        }
    }

    /// Reads a unit; bytes that are not zero go to `store`, if there is one and it takes them.
    pub(super) fn read_into(
        from: &mut Reader<'_>,
        store: Option<&Arc<dyn ByteStore>>,
    ) -> Result<Self, Damage> {
        let (tag, has_bytes) = <(u32, bool)>::read(from)?;
        if !has_bytes {
            return Ok(Self::zero(tag));
        }
        let make = |bytes: &[u8]| {
            let unit = Self(UnitRepr::Shared { tag, bytes: bytes.into() });
            store.and_then(|store| unit.put_into(store)).unwrap_or(unit)
        };
        Ok(from.shared(make)?.with_tag(tag))
    }
}

impl Persist for UnitBytes {
    const SHAPE: u64 = outlast_persist::shape("Unit", &[]);

    /// Writes the tag, and the bytes unless they are zero; shared bytes are written once.
    fn write(&self, to: &mut Writer<'_>) {
        self.tag().write(to);
        let place = self.allocation();
        place.is_some().write(to);
        if let Some((place, _)) = place {
            to.shared(place, || self.bytes().unwrap_or_default());
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damage> {
        Self::read_into(from, None)
    }
}

impl PartialEq for UnitBytes {
    /// True if tags and bytes are equal, in memory or in a store.
    fn eq(&self, other: &Self) -> bool {
        self.tag() == other.tag()
            && match (self.bytes(), other.bytes()) {
                (Some(one), Some(two)) => one == two,
                (Some(bytes), None) | (None, Some(bytes)) => is_zero(&bytes),
                (None, None) => true,
            }
    }
}

impl Eq for UnitBytes {}

/// Memory of a future unit, which nothing else refers to, with undefined bytes.
#[derive(Debug)]
pub struct BlankUnit(Arc<[u8]>);

impl BlankUnit {
    /// Memory of `length` zeroes.
    pub fn new(length: usize) -> Self {
        Self(std::iter::repeat_n(0, length).collect())
    }

    /// `memory`, if nothing else refers to it.
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
    pub fn into_unit(self, tag: u32) -> UnitBytes {
        UnitBytes(UnitRepr::Shared { tag, bytes: self.0 })
    }
}

/// True if all bytes are zero. In steps of 64 bytes, since data that are not zero mostly show it in the first few.
#[inline]
pub(super) fn is_zero(bytes: &[u8]) -> bool {
    bytes.chunks(64).all(|run| run.iter().fold(0, |any, &byte| any | byte) == 0)
}
