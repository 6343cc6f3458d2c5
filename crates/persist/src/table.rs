//! Tables that may have grown since the machine was built.

use crate::{Damage, Persist, Reader};

/// A table whose least size follows from the settings.
pub trait Table {
    /// An entry.
    type Entry: Persist;

    /// The entries.
    fn entries(&mut self) -> &mut Vec<Self::Entry>;

    /// Notes how far the table's own numbers reach, now that it has grown.
    fn note_extent(&self, _: &mut Reader<'_>) {}

    /// Reads the entries of table `what`: those that are there in their places, and what has been added since.
    ///
    /// # Errors
    /// There are fewer than there are now, or they cannot be read.
    fn restore_grown(&mut self, what: &'static str, from: &mut Reader<'_>) -> Result<(), Damage> {
        let entries = self.entries();
        let (found, expected) = (from.count()?, entries.len() as u64);
        if found < expected {
            return Err(Damage::Count { what, found, expected });
        }
        for entry in entries.iter_mut() {
            *entry = Persist::read(from)?;
        }
        for _ in expected..found {
            entries.push(Persist::read(from)?);
        }
        self.note_extent(from);
        Ok(())
    }
}

impl<T: Persist> Table for Vec<T> {
    type Entry = T;

    fn entries(&mut self) -> &mut Self {
        self
    }
}
