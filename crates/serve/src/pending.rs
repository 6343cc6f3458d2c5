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
    slots: Vec<Option<T>>,
    free: Vec<u32>,
    /// Places that are not given out.
    closed: usize,
}

impl<T> Default for Places<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new(), closed: 0 }
    }
}

impl<T> Places<T> {
    /// New ones, of which those of the numbers `closed`, which are in order, are never given out.
    pub(crate) fn without(closed: impl Iterator<Item = u32>) -> Self {
        let mut own = Self::default();
        for place in closed {
            own.free.extend(own.slots.len() as u32..place);
            own.slots.resize_with(place as usize + 1, || None);
            own.closed += 1;
        }
        own
    }

    /// How many are taken.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len() - self.closed
    }

    /// Takes a place.
    #[inline]
    pub(crate) fn put(&mut self, value: T) -> u32 {
        if let Some(place) = self.free.pop() {
            self.slots[place as usize] = Some(value);
            return place;
        }
        self.slots.push(Some(value));
        self.slots.len() as u32 - 1
    }

    /// All that is there.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots.iter_mut().flatten()
    }

    /// What is at a place, if anything is.
    pub(crate) fn get_mut(&mut self, place: u32) -> Option<&mut T> {
        self.slots.get_mut(place as usize)?.as_mut()
    }

    /// Gives a place back.
    #[inline]
    pub(crate) fn take(&mut self, place: u32) -> Option<T> {
        let value = self.slots.get_mut(place as usize)?.take()?;
        self.free.push(place);
        Some(value)
    }
}

/// Pieces of trims and zeroes that follow each other.
pub(crate) type Jobs = Places<Zeroing>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_that_are_closed_are_not_given_out() {
        let mut places = Places::without([1, 4, 5].into_iter());
        assert_eq!(places.len(), 0);
        let mut given: Vec<u32> = (0..5).map(|own| places.put(own)).collect();
        given.sort_unstable();
        assert_eq!((given, places.len()), (vec![0, 2, 3, 6, 7], 5));
        assert!(places.take(4).is_none(), "nobody took it");
        assert!(places.take(6).is_some());
        assert_eq!((places.len(), places.put(9)), (4, 6));
    }
}
