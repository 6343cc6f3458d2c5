//! Redirected units are moved to their homes by the drive itself: an internal write of a unit that changes nothing of it.
//!
//! The read waits among the background operations of its die; the write then enters the home core's buffer by the way of a partial
//! write with no sectors, which takes whatever is current at that moment. So a unit that the host has written or trimmed meanwhile is
//! left alone, and a loss of power finds each unit in one place or the other. At most one move for each core is under way.

use super::redirect::Redirection;
use crate::core::WaitingWrite;
use crate::host::Then;
use crate::op::{Op, OpKind, Task, UnitWork};
use crate::ssd::Ssd;
use outlast_device::{Command, Op as HostOp, Outcome, StreamId, Tag};
use outlast_units::{Lba, Lpn, Nanos};
use std::collections::VecDeque;

/// The moves under way and to come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Moves {
    /// Cores whose units are to be looked through, each from a number on.
    todo: VecDeque<(usize, u32)>,
    in_flight: u32,
    /// Whether the next moves are being chosen now.
    choosing: bool,
    /// Of those since `todo` was last filled: moves made, and whether some were refused for want of room.
    made: u64,
    refused: bool,
}

impl Moves {
    /// Moves under way.
    pub(crate) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.in_flight == 0
    }
}

impl Ssd {
    /// The units redirected from core `victim` are to be moved, those included that an earlier failure had left.
    pub(crate) fn move_units_of(&mut self, now: Nanos, victim: usize) {
        self.moves.todo.retain(|&(core, _)| core != victim);
        self.moves.todo.push_back((victim, 0));
        self.keep_moving(now);
    }

    /// Moves begin anew: after a loss of power.
    pub(crate) fn move_again(&mut self, now: Nanos) {
        self.moves = Moves::default();
        let moves_itself =
            self.config.repair.as_ref().is_some_and(|own| own.migration == crate::Migration::Device);
        if moves_itself && self.redirection.is_some() {
            self.moves.todo = (0..self.cores.len()).map(|core| (core, 0)).collect();
            self.keep_moving(now);
        }
    }

    /// Begins as many moves as may be under way.
    fn keep_moving(&mut self, now: Nanos) {
        if self.moves.choosing {
            return;
        }
        self.moves.choosing = true;
        while self.moves.in_flight < self.cores.len() as u32 {
            if let Some((victim, number)) = self.next_to_move() {
                self.start_move(now, victim, number);
            } else if self.moves.in_flight == 0 && self.moves.refused && self.moves.made != 0 {
                // What was moved has made room, perhaps for those that found none.
                let todo = (0..self.cores.len()).map(|core| (core, 0)).collect();
                self.moves = Moves { todo, choosing: true, ..Moves::default() };
            } else {
                break;
            }
        }
        self.moves.choosing = false;
        if self.moves.is_idle() {
            // Writes that hoped for room have nothing more to hope for.
            for core in 0..self.cores.len() {
                if self.cores[core].buffer.any_waits() {
                    self.pump(now, core);
                }
            }
        }
    }

    /// The next unit that is still in its former place, as that core and its number there.
    fn next_to_move(&mut self) -> Option<(usize, u32)> {
        while let Some((victim, from)) = self.moves.todo.front_mut() {
            let redirection: &Redirection = self.redirection.as_ref()?;
            let ftl = &self.cores[*victim].ftl;
            let first = redirection.unit_of(*from);
            let next = redirection
                .redirected(*victim, first)
                .filter(|number| number >= from)
                .find(|&number| ftl.lookup(Lpn(number)).is_some() && !ftl.is_gone(Lpn(number)));
            if let Some(number) = next {
                *from = number + 1;
                return Some((*victim, number));
            }
            self.moves.todo.pop_front();
        }
        None
    }

    fn start_move(&mut self, now: Nanos, victim: usize, number: u32) {
        let unit = self.unit_at(victim, number);
        let command = Command {
            lba: Lba(unit * u64::from(self.sectors_per_unit)),
            sectors: self.sectors_per_unit,
            op: HostOp::Write,
            stream: StreamId(0),
            fua: false,
        };
        let request = self.host.requests.begin(now, command, Tag(u32::MAX), Outcome::Ok, Then::MoveOn);
        self.moves.in_flight += 1;
        let work = UnitWork { request, lpn: number, first: 0, sectors: 0 };
        let ftl = &self.cores[victim].ftl;
        let slot = ftl.lookup(Lpn(number));
        if !ftl.is_programmed(slot) {
            self.write_moved(now, victim, work);
            return;
        }
        let (pu, unit) = ftl.layout().pu_of(slot);
        // Any task but collection has its operations among those of the background.
        let op = Op::new(OpKind::MoveRead, Task::Scrub, victim, pu);
        self.queue_internal(now, &Op { units: 1, mask: 1 << unit, work, ..op });
    }

    /// The data of a unit to be moved is in the controller, or is lost.
    pub(crate) fn move_read(&mut self, now: Nanos, op: &Op, lost: bool) {
        self.flash.internal_ended();
        if lost {
            self.host.requests.fail(op.work.request, Outcome::MediumError);
            self.finish_parts(now, op.work.request, 1);
        } else {
            self.write_moved(now, usize::from(op.core), op.work);
        }
        self.wake_waiting(now);
    }

    fn write_moved(&mut self, now: Nanos, victim: usize, work: UnitWork) {
        let unit = self.unit_at(victim, work.lpn);
        let Some((_, number)) = self.left_behind(unit) else {
            self.finish_parts(now, work.request, 1);
            return;
        };
        let ftl = &self.cores[victim].ftl;
        let class = ftl.class_of_superblock(ftl.layout().superblock_of(ftl.lookup(number)));
        let (core, lpn) = self.core_of(unit);
        let ftl = &self.cores[core].ftl;
        let write = WaitingWrite { work: UnitWork { lpn, ..work }, stream: ftl.host_stream(0, class) };
        if ftl.is_read_only() {
            self.refuse_move(now, write);
        } else {
            // Before the host's, of which there may be any number: so a move that finds no room is refused at once, and no core waits
            // for room in another that waits for room in this one.
            self.queue_first(now, core, write);
        }
    }

    fn refuse_move(&mut self, now: Nanos, write: WaitingWrite) {
        self.host.requests.fail(write.work.request, Outcome::ReadOnly);
        self.finish_parts(now, write.work.request, 1);
    }

    /// Whether `write`, about to enter the buffer, is a move of a unit that has been written or trimmed since.
    #[cold]
    pub(crate) fn is_out_of_date(&self, core: usize, work: UnitWork) -> bool {
        work.sectors == 0 && self.left_behind(self.unit_at(core, work.lpn)).is_none()
    }

    /// A unit has been moved.
    #[cold]
    pub(crate) fn count_move(&mut self, core: usize) {
        self.cores[core].ftl.count_as_migrated();
        self.moves.made += 1;
    }

    /// A move has come to its end.
    #[cold]
    pub(crate) fn move_ended(&mut self, now: Nanos, outcome: Outcome) {
        self.moves.in_flight -= 1;
        self.moves.refused |= outcome == Outcome::ReadOnly;
        self.keep_moving(now);
    }

    /// Whether host writes of `core` that find no room never will: nothing is under way that could make some. A core that still holds
    /// what belongs to others may come to this, and leave it when that has gone.
    #[cold]
    pub(crate) fn is_at_an_end(&self, core: usize, write: WaitingWrite) -> bool {
        let state = &self.cores[core];
        !state.ftl.can_append(write.stream)
            && (write.work.sectors == 0 || self.moves.is_idle())
            && state.tasks.is_idle()
            && self.programs_in_flight(core).next().is_none()
    }
}
