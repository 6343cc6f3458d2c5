//! State, written and read: what snapshots and checkpoints of machines are made of.
//!
//! A *value* ([`Persist`]) is written and read by itself. A *part* of a machine ([`Restore`]) follows from settings in some of what it keeps:
//! layouts, tables of failure probabilities, tables whose size the settings give. Such a part is built from its settings, and then takes
//! over the state of another one in its place; nothing that follows from the settings is in the file, and a file that does not fit them is
//! refused before it could matter. Both are derived from the types, so that a new field is written because it is there.
//!
//! What is read comes from other people's disks, so nothing in it is believed. Numbers that index tables are compared with the [`Extents`] of the
//! machine as they are read (`#[persist(within)]` says which part knows them), what follows from the settings but lies within a value is compared
//! with what they gave (`#[persist(fixed)]`), and a part whose fields must agree looks at them when it has all
//! (`#[persist(check)]`). State that passes is that of a machine that runs. Such a check takes for granted what those before it have seen, and may
//! stumble over numbers that no machine can have: [`restore_foreign`] makes damage of that, too.
//!
//! How types are laid out is itself summed up in a number, [`Restore::SHAPE`], so that state written by a program with other types is told
//! from state that can be read.

mod damage;
mod extents;
mod reader;
mod shape;
mod standard;
mod table;
mod writer;

pub use damage::Damage;
pub use extents::{Extents, KINDS};
pub use outlast_persist_derive::{Persist, Restore};
pub use reader::Reader;
pub use shape::shape;
pub use table::Table;
pub use writer::Writer;

use std::panic::{AssertUnwindSafe, catch_unwind};

/// A value that is written and read by itself.
pub trait Persist: Sized {
    /// What this type is made of: differs where names, order or types of fields do.
    const SHAPE: u64;

    /// Writes the value.
    fn write(&self, to: &mut Writer<'_>);

    /// Reads a value.
    ///
    /// # Errors
    /// What was read is no such value, or nothing more can be read.
    fn read(from: &mut Reader<'_>) -> Result<Self, Damage>;

    /// Whether `read` may take the place of this value, which was built from the settings: all that follows from them alone is equal in both.
    ///
    /// # Errors
    /// Something differs.
    fn fits(&self, _read: &Self) -> Result<(), Damage> {
        Ok(())
    }
}

/// A part of a machine, which takes over the state of another that was built from the same settings.
pub trait Restore {
    /// As [`Persist::SHAPE`].
    const SHAPE: u64;

    /// Writes the state.
    fn save(&self, to: &mut Writer<'_>);

    /// Takes over the state that was written.
    ///
    /// # Errors
    /// What was read is not the state of such a part. Some of it has then been taken over: the part is good for nothing any more.
    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Damage>;
}

impl<T: Persist> Restore for T {
    const SHAPE: u64 = T::SHAPE;

    #[inline]
    fn save(&self, to: &mut Writer<'_>) {
        self.write(to);
    }

    #[inline]
    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Damage> {
        let read = T::read(from)?;
        self.fits(&read)?;
        *self = read;
        Ok(())
    }
}

/// Has `state` take over what a file says that anybody may have written: where its checks stumble, the file is damaged.
///
/// # Errors
/// Damage of the file, or state that no such part can have. The part is then good for nothing any more.
pub fn restore_foreign(state: &mut impl Restore, from: &mut Reader<'_>) -> Result<(), Damage> {
    let stumbled = |_| Err(Damage::State("a check of it came upon what no machine can be".to_owned()));
    catch_unwind(AssertUnwindSafe(|| state.restore(from))).unwrap_or_else(stumbled)
}
