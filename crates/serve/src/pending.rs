//! Commands that a machine has, and for whom.

use outlast_device::Command;
use outlast_units::Nanos;

use crate::session::Origin;
use crate::zeroing::Zeroing;

/// What a command is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// A read: its bytes are the answer.
    Read,
    /// A read of a member of the array, which is none of the array's own.
    Member,
    /// A request of one command: that it is done is the answer.
    Other,
    /// A piece of a longer piece of work, by number.
    Piece(u32),
}

/// A command under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    pub(crate) from: Origin,
    pub(crate) work: Work,
    pub(crate) command: Command,
    /// When it was given to the machine.
    pub(crate) since: Nanos,
}

/// Numbered places, used again: the lowest numbers that were ever needed.
#[derive(Clone, Debug)]
pub(crate) struct Places<T> {
    places: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Places<T> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }
}

impl<T> Places<T> {
    /// How many are taken.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Takes a place.
    #[inline]
    pub(crate) fn put(&mut self, value: T) -> u32 {
        if let Some(place) = self.free.pop() {
            self.places[place as usize] = Some(value);
            return place;
        }
        self.places.push(Some(value));
        self.places.len() as u32 - 1
    }

    /// All that is there.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.places.iter_mut().flatten()
    }

    /// What is at a place, if anything is.
    pub(crate) fn get_mut(&mut self, place: u32) -> Option<&mut T> {
        self.places.get_mut(place as usize)?.as_mut()
    }

    /// Gives a place back.
    #[inline]
    pub(crate) fn take(&mut self, place: u32) -> Option<T> {
        let value = self.places.get_mut(place as usize)?.take()?;
        self.free.push(place);
        Some(value)
    }
}

/// Pieces of trims and zeroes that follow each other.
pub(crate) type Jobs = Places<Zeroing>;
