//! Metadata contexts: the section "Metadata querying".

use outlast_units::Bytes;

/// A metadata context: one kind of information about every byte of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum MetaContext {
    /// `base:allocation`, as the specification defines it; its flags are in [`allocation`].
    Allocation,
    /// `x-outlast:health`, the state of data; its flags are in [`health`]. The specification leaves namespaces `x-*` to local experiments. Queries
    /// are `x-outlast:health`, and `x-outlast:` to list.
    Health,
}

/// Flags of [`MetaContext::Allocation`].
pub mod allocation {
    /// A range for which the export stores no data.
    pub const HOLE: u32 = 1 << 0;
    /// The range reads as zeroes.
    pub const ZERO: u32 = 1 << 1;
}

/// Flags of [`MetaContext::Health`]. A range without any of them is healthy as far as is known.
pub mod health {
    /// The data is lost: reading it fails until it is written again.
    pub const LOST: u32 = 1 << 0;
    /// The data can be read, but lies in a place where parity does not protect it, and should be written again.
    pub const MISPLACED: u32 = 1 << 1;
    /// The data is in a volatile buffer only: a loss of power would lose it.
    pub const VOLATILE: u32 = 1 << 2;
}

impl MetaContext {
    /// All contexts.
    pub const ALL: [Self; 2] = [Self::Allocation, Self::Health];

    /// Full name: namespace, colon, leaf.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allocation => "base:allocation",
            Self::Health => "x-outlast:health",
        }
    }

    /// Namespace of the name with its colon, which as a query matches the whole namespace.
    pub(crate) fn namespace(self) -> &'static str {
        let name = self.name();
        name.split_inclusive(':').next().unwrap_or(name)
    }

    /// Number on the wire. Lists of contexts have 0 instead.
    pub(crate) const fn id(self) -> u32 {
        // 0 is the number in lists.
        self as u32 + 1
    }

    /// Context with this number on the wire.
    pub(crate) fn with_id(id: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|context| context.id() == id)
    }
}

/// A set of contexts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MetaContexts(u8);

impl MetaContexts {
    /// The empty set.
    pub const NONE: Self = Self(0);

    /// The set with `context` added.
    #[must_use]
    pub const fn with(self, context: MetaContext) -> Self {
        Self(self.0 | 1 << context as u8)
    }

    /// True if `context` is in the set.
    pub const fn has(self, context: MetaContext) -> bool {
        self.0 & 1 << context as u8 != 0
    }

    /// True if the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Number of contexts.
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Contexts of the set, in the order of [`MetaContext::ALL`].
    pub fn iter(self) -> impl Iterator<Item = MetaContext> {
        MetaContext::ALL.into_iter().filter(move |&context| self.has(context))
    }
}

impl FromIterator<MetaContext> for MetaContexts {
    fn from_iter<I: IntoIterator<Item = MetaContext>>(contexts: I) -> Self {
        contexts.into_iter().fold(Self::NONE, Self::with)
    }
}

/// A range with equal flags in a context. The first of an answer begins at the request's offset, each further one at the end of the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusExtent {
    /// Length in bytes; not 0.
    pub length: Bytes,
    /// Flags of the range in its context.
    pub flags: u32,
}
