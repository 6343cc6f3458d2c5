//! What a client can ask about ranges of an export: the section "Metadata querying".

use outlast_units::Bytes;

/// A metadata context: one kind of information about every byte of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Context {
    /// `base:allocation`, as the specification defines it; its flags are in [`allocation`].
    Allocation,
    /// `x-outlast:health`: whether data is well; its flags are in [`health`]. The namespace is one of the `x-*` that the
    /// specification leaves to local experiments. Queries are `x-outlast:health`, and `x-outlast:` to list.
    Health,
}

/// Flags of [`Context::Allocation`].
pub mod allocation {
    /// Nothing is stored there.
    pub const HOLE: u32 = 1 << 0;
    /// It reads as zeroes.
    pub const ZERO: u32 = 1 << 1;
}

/// Flags of [`Context::Health`]. Of a range without any of them nothing bad is known.
pub mod health {
    /// The data is lost: reading it fails until it is written again.
    pub const LOST: u32 = 1 << 0;
    /// The data can be read, but is in a place that does not protect it: it is to be written again.
    pub const MISPLACED: u32 = 1 << 1;
    /// The data is in a volatile buffer only: a loss of power now would lose it.
    pub const VOLATILE: u32 = 1 << 2;
}

impl Context {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Allocation, Self::Health];

    /// Its name: namespace, colon, leaf.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allocation => "base:allocation",
            Self::Health => "x-outlast:health",
        }
    }

    /// The name's namespace with the colon: as a query, the wildcard for all of the namespace.
    pub(crate) fn namespace(self) -> &'static str {
        let name = self.name();
        name.split_inclusive(':').next().unwrap_or(name)
    }

    /// Its number on the wire; 0 is what a list of contexts says, which has no numbers.
    pub(crate) const fn id(self) -> u32 {
        self as u32 + 1
    }

    /// The context with this number on the wire.
    pub(crate) fn with_id(id: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|context| context.id() == id)
    }
}

/// A set of contexts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contexts(u8);

impl Contexts {
    /// None.
    pub const NONE: Self = Self(0);

    /// This set and `context`.
    #[must_use]
    pub const fn with(self, context: Context) -> Self {
        Self(self.0 | 1 << context as u8)
    }

    /// Whether `context` is in it.
    pub const fn has(self, context: Context) -> bool {
        self.0 & 1 << context as u8 != 0
    }

    /// Whether there is none in it.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many.
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Those in it, in the order of [`Context::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Context> {
        Context::ALL.into_iter().filter(move |&context| self.has(context))
    }
}

impl FromIterator<Context> for Contexts {
    fn from_iter<I: IntoIterator<Item = Context>>(contexts: I) -> Self {
        contexts.into_iter().fold(Self::NONE, Self::with)
    }
}

/// A run of bytes of which a context says the same. The first of an answer begins at the request's offset, each further one
/// where the one before it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// How long; not 0.
    pub length: Bytes,
    /// Flags of the context.
    pub flags: u32,
}
