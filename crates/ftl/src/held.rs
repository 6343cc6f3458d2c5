//! Program units that are full and held back, so that a unit in them that the host writes again takes the place that it has.

use crate::bits::BitSet;
use outlast_units::Pu;
use std::collections::VecDeque;

/// The program units held back, first in, first out.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub(crate) struct HeldPus {
    /// In the order in which they were filled.
    queue: VecDeque<Pu>,
    /// Which program units of the core are in the queue.
    marked: BitSet,
    /// How many are held back at most.
    #[persist(skip)]
    most: u32,
}

impl HeldPus {
    /// At most `units` units are held back, `each` in one of the core's `pus` program units; nothing, where that is left open.
    pub(crate) fn of(units: Option<u32>, each: u32, pus: usize) -> Option<Box<Self>> {
        units.map(|units| Box::new(Self::new(units / each, pus)))
    }

    /// At most `most` of the core's `pus` program units are held back.
    fn new(most: u32, pus: usize) -> Self {
        Self { queue: VecDeque::new(), marked: BitSet::new(pus), most }
    }

    /// Program unit `pu` has been filled; returns the one that is to be programmed in its place.
    pub(crate) fn push(&mut self, pu: Pu) -> Option<Pu> {
        debug_assert!(!self.has(pu), "program unit {pu} is held back twice");
        self.queue.push_back(pu);
        self.marked.set(pu.0);
        if self.queue.len() as u32 > self.most { self.pop() } else { None }
    }

    /// The one that has been held back longest is to be programmed.
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

    /// How many are held back.
    pub(crate) fn len(&self) -> u32 {
        self.queue.len() as u32
    }

    /// Resident bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.marked.bytes()
    }

    /// What [`HeldPus::bytes`] is over `pus` program units.
    pub(crate) fn bytes_when_built(pus: u64) -> u64 {
        pus.div_ceil(64) * size_of::<u64>() as u64
    }

    /// Checks that the program units held back are different ones, and each of them is one of which `is_open` holds.
    pub(crate) fn check(&self, is_open: impl Fn(Pu) -> bool) -> Result<(), String> {
        let marked = self.marked.count(0, (self.marked.bytes() * 8) as u32);
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
