//! Records on flash, and the mapping that follows from them alone.
//!
//! A drive keeps its mapping in memory, and a loss of power takes it away. Left are records that were programmed: with every mapping unit its logical
//! page and a number in the order of writing (the *spare area*), with every superblock the event and stream of its opening and the event of its
//! closing (its *header*), and in separate blocks a *journal* of trims and losses, a list of retired blocks, and a *checkpoint* of the mapping.
//!
//! [`FlashRecords`] keeps just that, as it was programmed: a record never changes and goes with the erasure of its superblock. [`rebuild()`] is
//! shown nothing else ([`OnFlash`]), in particular none of the tables that the translation layer works with, and is therefore a second
//! opinion on what these say after a loss of power.

mod blocks;
mod checkpoint;
mod journal;
mod rebuild;
mod records;
#[cfg(test)]
mod tests;

pub(crate) use blocks::FactoryMarks;
pub use blocks::RetiredBlock;
pub(crate) use rebuild::rebuild;
pub(crate) use records::{FlashRecords, OnFlash};

/// Bytes that a mapping unit takes in a spare area or in a list of owners: its logical page (4) and its number in the order of writing (8).
pub(crate) const OWNER_BYTES: u64 = 12;
/// Bytes of an entry of the journal: what happened, the first page and how many, and the number of the first.
pub(crate) const ENTRY_BYTES: u64 = 16;
/// Bytes that a logical page takes in a checkpoint: its slot.
pub(crate) const MAPPED_BYTES: u64 = 4;
