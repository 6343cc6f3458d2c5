//! Kinds of flash operations, and the byte in which an operation keeps its kind and mode.

use outlast_persist::{Damage, Persist, Reader, Writer, shape};
use outlast_units::ModeId;

/// Kind of a flash operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub enum FlashOpKind {
    /// Senses units and sends them over the channel.
    Read,
    /// Takes in a program unit over the channel and programs it.
    Program,
    /// Erases the blocks of one lane.
    Erase,
}

/// Kind and mode of an operation in one byte: an operation with the tag of a drive is 32 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KindAndMode(u8);

/// Modes that fit beside the kind.
pub(crate) const MOST_MODES: usize = 64;

impl KindAndMode {
    #[inline]
    pub(crate) fn new(kind: FlashOpKind, mode: ModeId) -> Self {
        debug_assert!(usize::from(mode.0) < MOST_MODES, "mode {} of {MOST_MODES}", mode.0);
        Self(kind as u8 | mode.0 << 2)
    }

    #[inline]
    pub(crate) fn kind(self) -> FlashOpKind {
        match self.0 & 3 {
            0 => FlashOpKind::Read,
            1 => FlashOpKind::Program,
            _ => FlashOpKind::Erase,
        }
    }

    #[inline]
    pub(crate) fn mode(self) -> ModeId {
        ModeId(self.0 >> 2)
    }
}

/// Written as its parts, each of which is checked as it is read.
impl Persist for KindAndMode {
    const SHAPE: u64 = shape("KindAndMode", &[("kind", FlashOpKind::SHAPE), ("mode", ModeId::SHAPE)]);

    fn write(&self, to: &mut Writer<'_>) {
        self.kind().write(to);
        self.mode().write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damage> {
        let (kind, mode) = (FlashOpKind::read(from)?, ModeId::read(from)?);
        if usize::from(mode.0) >= MOST_MODES {
            return Err(Damage::Beyond { what: "mode", value: mode.0.into(), count: MOST_MODES as u64 });
        }
        Ok(Self::new(kind, mode))
    }
}
