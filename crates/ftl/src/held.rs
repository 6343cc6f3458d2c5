//! Program units that are full and held back, so that a unit in them that the host writes again is replaced in its slot.

use crate::bits::BitSet;
use outlast_units::{Pu, to_count};
use std::collections::VecDeque;

/// The program units held back, first in, first out.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub(crate) struct HeldPus {
    /// In the order in which they were filled.
    queue: VecDeque<Pu>,
    /// Program units of the core that are in the queue.
    marked: BitSet,
    /// Most program units that are held back.
    #[persist(skip)]
    most: u32,
}

impl HeldPus {
    /// A queue that holds back at most `units` units, `each` to a program unit, of a core with `pus` program units; `None` without coalescing.
    pub(crate) fn of(units: Option<u32>, each: u32, pus: usize) -> Option<Box<Self>> {
        units.map(|units| Box::new(Self::new(units / each, pus)))
    }

    /// A queue that holds back at most `most` of the core's `pus` program units.
    fn new(most: u32, pus: usize) -> Self {
        Self { queue: VecDeque::new(), marked: BitSet::new(pus), most }
    }

    /// Holds back program unit `pu`, which has been filled; returns the one that is to be programmed in its place.
    pub(crate) fn push(&mut self, pu: Pu) -> Option<Pu> {
        debug_assert!(!self.has(pu), "program unit {pu} is held back twice");
        self.queue.push_back(pu);
        self.marked.set(pu.0);
        if to_count(self.queue.len()) > self.most { self.pop() } else { None }
    }

    /// Takes the program unit that has been held back longest, to be programmed.
    pub(crate) fn pop(&mut self) -> Option<Pu> {
        let pu = self.queue.pop_front()?;
        self.marked.clear(pu.0);
        Some(pu)
    }

    /// True if program unit `pu` is held back.
    #[inline]
    pub(crate) fn has(&self, pu: Pu) -> bool {
        self.marked.get(pu.0)
    }

    /// Program units that are held back.
    pub(crate) fn len(&self) -> u32 {
        to_count(self.queue.len())
    }

    /// Resident bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.marked.bytes()
    }

    /// Value of [`HeldPus::bytes`] over `pus` program units.
    pub(crate) fn bytes_when_built(pus: u64) -> u64 {
        pus.div_ceil(64) * size_of::<u64>() as u64
    }

    /// Checks that the program units held back differ, and that each is `is_open`.
    pub(crate) fn check(&self, is_open: impl Fn(Pu) -> bool) -> Result<(), String> {
        let marked = self.marked.count(0, to_count(self.marked.bytes() * 8));
        if marked as usize != self.queue.len() {
            return Err(format!("{} program units are held back, {marked} are marked", self.queue.len()));
        }
        match self.queue.iter().find(|&&pu| !self.has(pu) || !is_open(pu)) {
            Some(pu) => Err(format!("program unit {pu} is held back and awaits no program")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_in_is_the_first_out() {
        let mut held = HeldPus::new(2, 10);
        assert_eq!([held.push(Pu(7)), held.push(Pu(3)), held.push(Pu(9))], [None, None, Some(Pu(7))]);
        assert_eq!([7, 3, 9].map(|pu| held.has(Pu(pu))), [false, true, true]);
        assert!(held.check(|_| true).is_ok() && held.check(|pu| pu != Pu(3)).is_err());
        assert_eq!([held.pop(), held.pop(), held.pop()], [Some(Pu(3)), Some(Pu(9)), None]);
    }

    #[test]
    fn with_no_room_a_program_unit_goes_at_once() {
        let mut held = HeldPus::new(0, 10);
        assert_eq!((held.push(Pu(4)), held.len()), (Some(Pu(4)), 0));
    }
}
