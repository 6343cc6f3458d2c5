//! An array's commands without time, carried out on several threads. Members do not depend on each other, so commands are kept for a while,
//! then routed, and then each member carries out its own in their order: the same that it would have done command by command.

use crate::member::ArrayMember;
use crate::team::ThreadTeam;
use outlast_array::{Array, ArrayCounters};
use outlast_device::{Command, Device, Op, Outcome};
use outlast_ssd::Ssd;

/// Commands kept, and the sectors that they may have: enough that starting threads costs nothing beside them, little enough that what
/// members are given stays in the processor's cache.
const KEPT: usize = 1 << 16;
const KEPT_SECTORS: u64 = 1 << 20;
/// Commands whose table entries are fetched together.
const HINT: usize = 64;

/// What one part of the commands kept gives to each member.
#[derive(Clone, Debug, Default)]
struct RoutedPart {
    counters: ArrayCounters,
    orders: Vec<Vec<Command>>,
}

/// A member with its column and how its last commands went.
struct BusyMember<'a> {
    column: usize,
    member: &'a mut ArrayMember,
    outcome: Outcome,
}

/// Commands that are kept.
#[derive(Clone, Debug)]
pub(crate) struct UntimedBacklog {
    team: ThreadTeam,
    /// Sectors of the array.
    capacity: u64,
    commands: Vec<Command>,
    sectors: u64,
    /// Sectors that the host writes with them.
    host_sectors: u64,
    /// A member may wear out within a backlog: every command is carried out at once, so that it is known with which that happened.
    at_once: bool,
    /// One for each thread.
    parts: Vec<RoutedPart>,
}

impl UntimedBacklog {
    /// Of an array of `capacity` sectors.
    pub(crate) fn new(team: ThreadTeam, capacity: u64) -> Self {
        Self {
            team,
            capacity,
            commands: Vec::new(),
            sectors: 0,
            host_sectors: 0,
            at_once: false,
            parts: std::iter::repeat_with(RoutedPart::default).take(team.threads()).collect(),
        }
    }

    /// The threads that it has.
    pub(crate) fn team(&self) -> ThreadTeam {
        self.team
    }

    /// Sectors that the host writes with what is kept.
    pub(crate) fn host_sectors(&self) -> u64 {
        self.host_sectors
    }

    /// Takes a command that `array` is to carry out. That a member has worn out meanwhile may be told with a later one.
    pub(crate) fn push(&mut self, array: &mut Array<ArrayMember>, command: Command) -> Outcome {
        if command.op == Op::Flush {
            return Outcome::Ok;
        }
        let end = command.lba.0.saturating_add(u64::from(command.sectors));
        if end > self.capacity {
            return Outcome::OutOfRange;
        }
        if self.commands.is_empty() {
            self.at_once = may_wear_out(array);
        }
        self.commands.push(command);
        self.sectors += u64::from(command.sectors);
        self.host_sectors += if command.op == Op::Write { u64::from(command.sectors) } else { 0 };
        let full = self.commands.len() == KEPT || self.sectors >= KEPT_SECTORS;
        if full || self.at_once { self.carry_out(array) } else { Outcome::Ok }
    }

    /// Carries out what is kept.
    pub(crate) fn carry_out(&mut self, array: &mut Array<ArrayMember>) -> Outcome {
        if self.commands.is_empty() {
            return Outcome::Ok;
        }
        let team = if self.at_once { ThreadTeam::alone() } else { self.team };
        let share = self.commands.len().div_ceil(team.threads());
        let mut routed: Vec<_> = self.parts.iter_mut().zip(self.commands.chunks(share)).collect();
        let (whole, columns) = (&*array, usize::from(array.config().members));
        let drives: Vec<bool> =
            (0..columns).map(|at| whole.member(at).is_some_and(ArrayMember::is_drive)).collect();
        team.for_each(&mut routed, |(part, commands)| part.route(whole, commands, &drives));
        let parts = routed.len();
        let counters = self.parts[..parts].iter().map(|part| part.counters).sum();
        array.count_untimed(counters);
        let parts = &self.parts[..parts];
        let busy = |(column, member)| BusyMember { column, member, outcome: Outcome::Ok };
        let mut busy: Vec<BusyMember<'_>> = array.members_mut().map(busy).collect();
        team.for_each(&mut busy, |own| own.carry_out(parts));
        let outcome = busy.iter().map(|own| own.outcome).find(|&outcome| outcome != Outcome::Ok);
        self.commands.clear();
        (self.sectors, self.host_sectors) = (0, 0);
        outcome.unwrap_or(Outcome::Ok)
    }
}

impl RoutedPart {
    fn route(&mut self, array: &Array<ArrayMember>, commands: &[Command], drives: &[bool]) {
        self.counters = ArrayCounters::default();
        self.orders.resize_with(drives.len(), Vec::new);
        self.orders.iter_mut().for_each(Vec::clear);
        for &command in commands {
            array.route_untimed(command, &mut self.counters, &mut |column, own| {
                // Of what a stand-in is told it keeps nothing.
                if drives[column] {
                    self.orders[column].push(own);
                }
            });
        }
    }
}

impl BusyMember<'_> {
    fn carry_out(&mut self, parts: &[RoutedPart]) {
        let Some(ssd) = self.member.drive_mut() else { return };
        for orders in parts.iter().flat_map(|part| part.orders[self.column].chunks(HINT)) {
            ssd.hint(orders);
            for &order in orders {
                let done = ssd.apply_untimed(order);
                if done != Outcome::Ok {
                    self.outcome = done;
                }
            }
        }
    }
}

/// Whether some drive may take no more writes before a backlog has been carried out.
fn may_wear_out(array: &mut Array<ArrayMember>) -> bool {
    // A command reaches a member at most twice for each of its sectors: reading and writing.
    let most = |ssd: &Ssd| KEPT_SECTORS * 2 / u64::from(ssd.sectors_per_unit());
    array
        .devices()
        .filter_map(ArrayMember::drive)
        .any(|ssd| ssd.ftls().any(|ftl| ftl.may_wear_out_within(most(ssd))))
}
