//! Redirected units are moved to their homes by the drive itself: which one is next, and how many at a time.
//!
//! At most one move for each core is under way. A unit that the host has written or trimmed meanwhile is left alone, and a loss of power
//! finds each unit in one place or the other: so moves begin anew after it, and look through all cores again.

use outlast_device::Outcome;
use outlast_units::{CoreId, Lpn};
use std::collections::VecDeque;

/// What is to be done about moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextMove {
    /// Move this unit of the core, which counts as under way from now on, and ask again.
    Start {
        /// Core that holds the unit.
        victim: CoreId,
        /// Number of the unit there.
        number: Lpn,
    },
    /// Nothing is under way and nothing is left: writes that hoped for the room that moves make have nothing more to hope for.
    AtRest,
    /// Wait for a move under way.
    Wait,
}

/// The moves under way and to come.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub struct Moves {
    /// Cores whose units are to be looked through, each from a number on.
    todo: VecDeque<(CoreId, Lpn)>,
    in_flight: u32,
    /// True if it is to be asked what is next.
    due: bool,
    /// Moves made since `todo` was last filled, and whether some were refused for want of room.
    made: u64,
    refused: bool,
}

impl Moves {
    /// The units redirected from core `victim` are to be moved, those included that an earlier failure had left.
    pub fn begin(&mut self, victim: CoreId) {
        self.todo.retain(|&(core, _)| core != victim);
        self.todo.push_back((victim, Lpn(0)));
        self.due = true;
    }

    /// Power has failed: no move under way will end. With `cores`, the units of that many cores are looked through anew.
    pub fn power_failed(&mut self, cores: Option<usize>) {
        *self = Self::default();
        if let Some(cores) = cores {
            self.look_through_all(cores);
        }
    }

    fn look_through_all(&mut self, cores: usize) {
        debug_assert!(self.in_flight == 0, "all cores are looked through when nothing is under way");
        let todo = (0..cores as u16).map(|core| (CoreId(core), Lpn(0))).collect();
        *self = Self { todo, due: true, ..Self::default() };
    }

    /// True if it is to be asked what is next.
    #[inline]
    pub(crate) fn are_due(&self) -> bool {
        self.due
    }

    /// Moves under way.
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// True if no move is under way.
    pub fn is_idle(&self) -> bool {
        self.in_flight == 0
    }

    /// What is next, in a drive of `cores` cores. `find` gives the first number from the given one on of a unit of the core that is still in
    /// its former place.
    pub fn next(&mut self, cores: usize, find: impl Fn(CoreId, Lpn) -> Option<Lpn>) -> NextMove {
        self.due = false;
        if self.in_flight as usize >= cores {
            return NextMove::Wait;
        }
        while let Some((victim, from)) = self.todo.front_mut() {
            if let Some(number) = find(*victim, *from) {
                debug_assert!(number >= *from, "units are looked through in order");
                *from = number + 1;
                let victim = *victim;
                self.in_flight += 1;
                self.due = true;
                return NextMove::Start { victim, number };
            }
            self.todo.pop_front();
        }
        if self.in_flight != 0 {
            return NextMove::Wait;
        }
        if self.refused && self.made != 0 {
            // What was moved has made room, perhaps for those that found none.
            self.look_through_all(cores);
            return NextMove::Wait;
        }
        NextMove::AtRest
    }

    /// A unit has arrived at its home.
    pub(crate) fn count_made(&mut self) {
        assert!(self.in_flight != 0, "a unit arrives by a move");
        self.made += 1;
    }

    /// A move has come to its end.
    ///
    /// # Panics
    /// If no move is under way.
    pub fn ended(&mut self, outcome: Outcome) {
        assert!(self.in_flight != 0, "a move ends that did not begin");
        self.in_flight -= 1;
        self.refused |= outcome == Outcome::ReadOnly;
        self.due = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const CORES: usize = 3;

    proptest! {
        /// Homes have room for so many units at first, and for one more with every few that have left. Whatever the order in which moves
        /// end: no more are under way than there are cores, and at rest all units have moved that can.
        #[test]
        fn at_rest_no_unit_is_left_that_could_move(
            units in prop::collection::vec(prop::collection::btree_set(0u32..20, 0..10), CORES),
            room in 0u32..8,
            gain_every in 1u32..4,
            order in prop::collection::vec(any::<prop::sample::Index>(), 1..20),
            cut_after in prop::option::of(0usize..40),
        ) {
            let (mut units, mut moves) = (units, Moves::default());
            let (mut under_way, mut moved, mut turn) = (Vec::<(CoreId, Lpn)>::new(), 0u32, 0);
            for core in 0..CORES as u16 {
                moves.begin(CoreId(core));
            }
            loop {
                prop_assert_eq!(moves.in_flight() as usize, under_way.len());
                prop_assert!(under_way.len() <= CORES);
                let find = |core: CoreId, from: Lpn| units[core.index()].range(from.0..).next().copied().map(Lpn);
                if moves.are_due() {
                    match moves.next(CORES, find) {
                        NextMove::Start { victim, number } => under_way.push((victim, number)),
                        NextMove::AtRest => {
                            prop_assert!(under_way.is_empty() && !moves.are_due());
                            break;
                        }
                        NextMove::Wait => prop_assert!(moves.are_due() || !under_way.is_empty(), "nobody would come back"),
                    }
                    continue;
                }
                turn += 1;
                if cut_after == Some(turn) {
                    moves.power_failed(Some(CORES));
                    under_way.clear();
                    continue;
                }
                let (core, number) = under_way.remove(order[turn % order.len()].index(under_way.len()));
                if moved < room + moved / gain_every {
                    units[core.index()].remove(&number.0);
                    moved += 1;
                    moves.count_made();
                    moves.ended(Outcome::Ok);
                } else {
                    moves.ended(Outcome::ReadOnly);
                }
            }
            let is_full = moved >= room + moved / gain_every;
            prop_assert!(units.iter().all(BTreeSet::is_empty) || is_full, "{units:?} are left, and there is room");
        }
    }

    #[test]
    fn a_loss_of_power_ends_all_moves() {
        let mut moves = Moves::default();
        moves.begin(CoreId(1));
        assert_eq!(
            moves.next(2, |_, from| Some(from)),
            NextMove::Start { victim: CoreId(1), number: Lpn(0) }
        );
        moves.power_failed(None);
        assert!(moves.is_idle() && !moves.are_due());
        assert_eq!(moves.next(2, |_, _| panic!("nothing is to be looked through")), NextMove::AtRest);
    }
}
