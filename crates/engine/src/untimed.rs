//! Commands of an array without time, carried out on several threads. Members are independent of each other, so commands are collected, then
//! routed, and then each member carries out its own in order: the same as command by command.

use crate::member::ArrayMember;
use crate::team::ThreadTeam;
use outlast_array::{Array, ArrayCounters};
use outlast_device::{Command, Device, Op, Outcome};
use outlast_ssd::Ssd;

/// Most commands of a backlog: enough to make the cost of starting threads negligible, few enough for routed commands to stay in the
/// processor's cache.
const MOST_COMMANDS: usize = 1 << 16;
/// Sectors of a backlog at which it is carried out, for the same reasons.
const MOST_SECTORS: u64 = 1 << 20;
/// Commands whose table entries are fetched together.
const HINT: usize = 64;

/// Commands for each member that one thread has routed from its part of the backlog.
#[derive(Clone, Debug, Default)]
struct RoutedPart {
    counters: ArrayCounters,
    /// Commands by column.
    orders: Vec<Vec<Command>>,
}

/// A member at work, with its column and the last error of its commands.
struct BusyMember<'a> {
    column: usize,
    member: &'a mut ArrayMember,
    outcome: Outcome,
}

/// Commands that have been accepted and not yet carried out.
#[derive(Clone, Debug)]
pub(crate) struct UntimedBacklog {
    team: ThreadTeam,
    /// Capacity of the array in sectors.
    capacity: u64,
    commands: Vec<Command>,
    sectors: u64,
    /// Sectors among them that the host writes.
    host_sectors: u64,
    /// True if a member may wear out within a backlog. Every command is then carried out at once, to know which one failed.
    at_once: bool,
    /// Buffers for routing, one for each thread.
    parts: Vec<RoutedPart>,
}

impl UntimedBacklog {
    /// An empty backlog for an array of `capacity` sectors.
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

    /// Its threads.
    pub(crate) fn team(&self) -> ThreadTeam {
        self.team
    }

    /// Sectors that the host writes with commands not yet carried out.
    pub(crate) fn host_sectors(&self) -> u64 {
        self.host_sectors
    }

    /// Accepts a command for `array`. The outcome may be the error of an earlier one that was carried out only now.
    pub(crate) fn push(&mut self, array: &mut Array<ArrayMember>, command: &Command) -> Outcome {
        if command.op == Op::Flush {
            return Outcome::Ok;
        }
        // Checked here because routing has no outcome of its own.
        let end = command.lba.0.saturating_add(u64::from(command.sectors));
        if end > self.capacity {
            return Outcome::OutOfRange;
        }
        // Looking at all drives is dear, so once for each backlog.
        if self.commands.is_empty() {
            self.at_once = may_wear_out(array);
        }
        self.commands.push(*command);
        self.sectors += u64::from(command.sectors);
        self.host_sectors += if command.op == Op::Write { u64::from(command.sectors) } else { 0 };
        let full = self.commands.len() == MOST_COMMANDS || self.sectors >= MOST_SECTORS;
        if full || self.at_once { self.carry_out(array) } else { Outcome::Ok }
    }

    /// Carries out all commands; returns an error of one, if any failed.
    pub(crate) fn carry_out(&mut self, array: &mut Array<ArrayMember>) -> Outcome {
        if self.commands.is_empty() {
            return Outcome::Ok;
        }
        let team = if self.at_once { ThreadTeam::alone() } else { self.team };
        // Each thread routes a consecutive part, so that orders keep the order of the commands.
        let share = self.commands.len().div_ceil(team.threads());
        let mut routed: Vec<_> = self.parts.iter_mut().zip(self.commands.chunks(share)).collect();
        let (whole, columns) = (&*array, usize::from(array.config().members));
        let drives: Vec<bool> =
            (0..columns).map(|at| whole.member(at).is_some_and(ArrayMember::is_drive)).collect();
        team.for_each(&mut routed, |(part, commands)| part.route(whole, commands, &drives));
        let parts = routed.len();
        // With fewer commands than threads some parts were not used, and hold orders of an earlier backlog.
        let counters = self.parts[..parts].iter().map(|part| part.counters).sum();
        array.count_untimed(counters);
        let parts = &self.parts[..parts];
        let busy = |(column, member)| BusyMember { column, member, outcome: Outcome::Ok };
        let mut busy: Vec<BusyMember<'_>> = array.members_mut().map(busy).collect();
        team.for_each(&mut busy, |member| member.carry_out(parts));
        let outcome = busy.iter().map(|member| member.outcome).find(|&outcome| outcome != Outcome::Ok);
        self.commands.clear();
        (self.sectors, self.host_sectors) = (0, 0);
        outcome.unwrap_or(Outcome::Ok)
    }
}

impl RoutedPart {
    /// Splits `commands` into those of each member; `drives` is true for columns that are no stand-ins.
    fn route(&mut self, array: &Array<ArrayMember>, commands: &[Command], drives: &[bool]) {
        self.counters = ArrayCounters::default();
        self.orders.resize_with(drives.len(), Vec::new);
        self.orders.iter_mut().for_each(Vec::clear);
        for &command in commands {
            array.route_untimed(command, &mut self.counters, &mut |column, order| {
                // Stand-ins keep no state that untimed commands could change.
                if drives[column] {
                    self.orders[column].push(order);
                }
            });
        }
    }
}

impl BusyMember<'_> {
    /// Carries out the member's commands. Parts are in the order of the backlog, so its commands are, too.
    fn carry_out(&mut self, parts: &[RoutedPart]) {
        let Some(ssd) = self.member.drive_mut() else { return };
        for orders in parts.iter().flat_map(|part| part.orders[self.column].chunks(HINT)) {
            ssd.hint(orders);
            for &order in orders {
                let done = ssd.apply_untimed(&order);
                if done != Outcome::Ok {
                    self.outcome = done;
                }
            }
        }
    }
}

/// True if some drive may become read-only within one backlog.
fn may_wear_out(array: &mut Array<ArrayMember>) -> bool {
    // A command reaches a member at most twice for each of its sectors: reading and writing.
    let most = |ssd: &Ssd| MOST_SECTORS * 2 / u64::from(ssd.sectors_per_unit());
    array
        .devices()
        .filter_map(ArrayMember::drive)
        .any(|ssd| ssd.ftls().any(|ftl| ftl.space().may_wear_out_within(most(ssd))))
}
