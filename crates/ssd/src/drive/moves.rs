//! Moving redirected units to their homes: an internal write of a unit that changes nothing of it.
//!
//! The read waits among the background operations of its die; the write then enters the home core's buffer by the way of a partial
//! write with no sectors, which takes whatever is current at that moment.

use crate::ssd::Ssd;
use outlast_controller::{Due, NextMove, Op, Then, UnitWork, WaitingWrite};
use outlast_device::{Command, Op as HostOp, Outcome, Tag};
use outlast_settings::drive::Migration;
use outlast_units::{CoreId, Lba, Lpn, Nanos};

impl Ssd {
    /// Moves begin anew: after a loss of power.
    pub(crate) fn move_again(&mut self) {
        let moves_itself =
            self.context.config.repair.as_ref().is_some_and(|own| own.migration == Migration::Device);
        let begins_anew = moves_itself && self.context.redirection().is_some();
        self.context.moves.power_failed(begins_anew.then_some(self.cores.len()));
        self.context.look_at_commands();
    }

    /// Begins one move more, if there is one and as many are not under way as may be.
    pub(crate) fn keep_moving(&mut self, now: Nanos) {
        let (cores, redirection) =
            (&self.cores, self.context.homes.as_ref().and_then(|homes| homes.redirection()));
        let find = |victim: CoreId, from: Lpn| {
            let (ftl, redirection) = (cores[victim].ftl(), redirection?);
            redirection
                .redirected(victim, redirection.unit_of(from))
                .filter(|&number| number >= from)
                .find(|&number| ftl.lookup(number).is_some() && !ftl.is_gone(number))
        };
        let next = self.context.moves.next(cores.len(), find);
        self.context.look_at_commands();
        match next {
            NextMove::Start { victim, number } => self.start_move(now, victim, number),
            NextMove::Wait => {}
            NextMove::AtRest => {
                for core in self.cores.indices() {
                    if self.cores[core].buffer().any_waits() {
                        self.cores[core].make_due(&mut self.context, Due::Admit);
                    }
                }
            }
        }
    }

    fn start_move(&mut self, now: Nanos, victim: CoreId, number: Lpn) {
        let unit = self.context.unit_at(victim, number);
        debug_assert!(
            self.directory().left_behind(unit).is_some(),
            "unit {unit} moves and is not at its former place"
        );
        let command = Command::new(
            HostOp::Write,
            Lba(unit * u64::from(self.context.size.sectors_per_unit)),
            self.context.size.sectors_per_unit,
        );
        let request =
            self.context.commands.requests.begin(now, command, Tag(u32::MAX), Outcome::Ok, Then::MoveOn);
        let work = UnitWork::new(request, number, 0, 0);
        let ftl = self.cores[victim].ftl();
        let slot = ftl.lookup(number);
        if !ftl.space().pus().is_programmed(slot) {
            self.write_moved(now, victim, work);
            return;
        }
        let (pu, unit) = ftl.layout().pu_of(slot);
        self.cores[victim].queue_move_read(now, &mut self.context, (pu, unit), work);
    }

    /// The data of a unit to be moved is in the controller, or is lost.
    pub(crate) fn move_read(&mut self, now: Nanos, op: &Op, lost: bool) {
        self.context.flash.end_internal(now);
        if lost {
            self.context.commands.requests.fail(op.work.request, Outcome::MediumError);
            self.context.finish_parts(now, op.work.request, 1);
        } else {
            self.write_moved(now, op.core, op.work);
        }
        self.context.let_waiting_go();
    }

    fn write_moved(&mut self, now: Nanos, victim: CoreId, work: UnitWork) {
        let unit = self.context.unit_at(victim, work.lpn);
        let Some((_, number)) = self.directory().left_behind(unit) else {
            self.context.finish_parts(now, work.request, 1);
            return;
        };
        let ftl = self.cores[victim].ftl();
        let class = ftl.superblock(ftl.layout().superblock_of(ftl.lookup(number))).class();
        let (core, lpn) = self.context.core_of(unit);
        debug_assert!(core != victim, "unit {unit} moves to the core that it leaves");
        let ftl = self.cores[core].ftl();
        let write = WaitingWrite { work: UnitWork { lpn, ..work }, stream: ftl.streams().host(0, class) };
        if ftl.is_read_only() {
            self.refuse_move(now, write);
        } else {
            // Before the host's, of which there may be any number: so a move that finds no room is refused at once, and no core waits
            // for room in another that waits for room in this one.
            self.queue_first(now, core, write);
        }
    }

    fn refuse_move(&mut self, now: Nanos, write: WaitingWrite) {
        self.context.commands.requests.fail(write.work.request, Outcome::ReadOnly);
        self.context.finish_parts(now, write.work.request, 1);
    }

    /// True if `write`, about to enter the buffer, is a move of a unit that has been written or trimmed since.
    #[cold]
    pub(crate) fn is_out_of_date(&self, core: CoreId, work: UnitWork) -> bool {
        work.sectors == 0 && self.directory().left_behind(self.context.unit_at(core, work.lpn)).is_none()
    }
}
