//! How far the numbers of a machine's parts reach, so that one read from a file can be used as an index.

use crate::Damage;

/// Kinds of numbers that are told apart.
pub const KINDS: usize = 24;

/// How many parts of each kind the machine has whose state is read; without limit for kinds that nobody has counted.
#[derive(Clone, Copy, Debug)]
pub struct Extents([u64; KINDS]);

impl Extents {
    /// No limit to any number.
    pub const UNLIMITED: Self = Self([u64::MAX; KINDS]);

    /// The same, where there are `count` of `kind`.
    #[must_use]
    pub const fn with(mut self, kind: usize, count: u64) -> Self {
        self.0[kind] = count;
        self
    }

    /// How many there are of `kind`, if that is known.
    pub fn count(&self, kind: usize) -> Option<u64> {
        Some(self.0[kind]).filter(|&count| count != u64::MAX)
    }

    /// Checks that `value` and `more` behind it do not lie beyond the count of `kind`: 1 for an index, 0 for what may be the end of a range.
    ///
    /// # Errors
    /// It lies beyond.
    #[inline]
    pub fn check(&self, kind: usize, what: &'static str, value: u64, more: u64) -> Result<(), Damage> {
        if value.saturating_add(more) <= self.0[kind] {
            Ok(())
        } else {
            Err(Damage::Beyond { what, value, count: self.0[kind] })
        }
    }

    /// Checks the length of the table that is indexed by `kind`: an entry for each, or none at all.
    ///
    /// # Errors
    /// It has another.
    pub fn check_table(&self, kind: usize, what: &'static str, found: u64) -> Result<(), Damage> {
        match self.count(kind) {
            Some(expected) if found != 0 && found != expected => Err(Damage::Count { what, found, expected }),
            _ => Ok(()),
        }
    }
}
