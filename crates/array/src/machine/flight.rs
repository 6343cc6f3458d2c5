//! Work under way: host commands, operations on groups, commands to members, and replies to the host.

use crate::accounts::{HostAccounts, HostPart};
use crate::ids::{GroupIndex, GroupOpId, HostCommandId, RepairId};
use crate::layout::RowRange;
use crate::locks::RowLocks;
use crate::member_command::{MemberCommand, MemberCommandKind};
use crate::op::{GroupOp, GroupOpKind, HostCommand};
use crate::spare_cells::SpareCells;
use outlast_device::{Command, Completion, LatencyCause, Outcome, SectorRun, Tag};
use outlast_units::slab::Slab;
use outlast_units::{Lba, ListMap, Nanos};
use std::collections::VecDeque;

const COMPLETED_ONCE: &str = "a member completes each command once";

/// A host command that waits until all records are replayed.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(super) struct HeldBack {
    pub(super) command: Command,
    pub(super) tag: Tag,
    pub(super) data: Vec<u8>,
}

/// All work under way.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(super) struct ArrayFlight {
    /// Commands to members; `None` for one whose member has just left, until its end is handled.
    pub(super) member_commands: Slab<Option<MemberCommand>, Tag>,
    pub(super) ops: Slab<GroupOp, GroupOpId>,
    pub(super) hosts: Slab<HostCommand, HostCommandId>,
    pub(super) locks: RowLocks,
    /// Operations that have just got their lock.
    pub(super) runnable: VecDeque<GroupOpId>,
    /// Host commands that arrived while records were replayed.
    pub(super) held_back: VecDeque<HeldBack>,
    /// Operations that replay records; the host waits for them.
    pub(super) replaying: u32,
    /// Reads of host data without a lock.
    pub(super) direct_reads: u32,
    /// Writes and trims of host data without a lock.
    pub(super) direct_changes: u32,
    /// Memory for the content of operations.
    #[persist(skip)]
    pub(super) spare_cells: SpareCells,
    /// Time at which the last host command ended.
    pub(super) last_host: Option<Nanos>,
}

impl ArrayFlight {
    pub(super) fn new() -> Self {
        Self {
            member_commands: Slab::default(),
            ops: Slab::default(),
            hosts: Slab::default(),
            locks: RowLocks::new(),
            runnable: VecDeque::new(),
            held_back: VecDeque::new(),
            replaying: 0,
            direct_reads: 0,
            direct_changes: 0,
            spare_cells: SpareCells::default(),
            last_host: None,
        }
    }

    /// True if no host command is under way.
    #[inline]
    pub(super) fn is_host_idle(&self) -> bool {
        self.hosts.used() == 0
    }

    /// A new operation, in the place of one that has ended if there is one.
    #[allow(clippy::inline_always, reason = "the operation is made in its place")]
    #[inline(always)]
    pub(super) fn new_op(&mut self, kind: GroupOpKind, group: GroupIndex, rows: RowRange) -> GroupOpId {
        if let Some(index) = self.ops.reuse() {
            self.ops[index].renew(kind, group, rows);
            index
        } else {
            self.ops.insert(GroupOp::new(kind, group, rows))
        }
    }

    /// Takes out the command that a member has completed.
    #[inline]
    pub(super) fn take_member_command(&mut self, tag: Tag) -> MemberCommand {
        let sub = self.member_commands[tag].take().expect(COMPLETED_ONCE);
        self.member_commands.remove(tag);
        sub
    }

    /// The command to a member that is under way by the name of `tag`.
    pub(super) fn member_command(&self, tag: Tag) -> MemberCommand {
        self.member_commands[tag].expect(COMPLETED_ONCE)
    }

    /// The commands to members, in order of their tags.
    pub(super) fn live_member_commands(&self) -> impl Iterator<Item = &MemberCommand> {
        self.member_commands.slots().iter().flatten()
    }

    /// True if operations wait for their turn, or host commands for the end of the replay.
    #[inline]
    pub(super) fn is_any_waiting(&self) -> bool {
        !self.runnable.is_empty() | !self.held_back.is_empty()
    }

    /// True if a host command that was held back may begin.
    #[inline]
    pub(super) fn is_any_released(&self) -> bool {
        !self.held_back.is_empty() && self.replaying == 0
    }

    /// The next host command that was held back and may begin.
    pub(super) fn take_released(&mut self) -> Option<HeldBack> {
        if self.replaying == 0 { self.held_back.pop_front() } else { None }
    }

    /// Number of operations of repair `id`.
    pub(super) fn recovering(&self, id: RepairId) -> usize {
        let is_of_repair =
            |op: &&GroupOp| matches!(op.kind, GroupOpKind::Repair { repair, .. } if repair == id);
        self.ops.live().filter(is_of_repair).count()
    }

    /// Number of operations of passes over groups, including those that were given up.
    pub(super) fn passing(&self) -> usize {
        self.ops.live().filter(|op| op.epoch.is_some()).count()
    }

    /// Forgets everything under way, after a loss of power.
    pub(super) fn clear(&mut self) {
        self.member_commands.clear();
        self.ops.clear();
        self.hosts.clear();
        self.locks.clear();
        self.runnable.clear();
        self.held_back.clear();
        (self.direct_reads, self.direct_changes, self.replaying) = (0, 0, 0);
    }

    /// Tags of commands, of the host and of reads from outside, without a completion.
    pub(super) fn open_tags(&self) -> Vec<Tag> {
        let held_back = self.held_back.iter().map(|held| held.tag);
        let external_reads = self.live_member_commands().filter_map(|sub| match sub.kind {
            MemberCommandKind::External { tag, .. } => Some(tag),
            _ => None,
        });
        self.hosts.live().map(|host| host.tag).chain(held_back).chain(external_reads).collect()
    }

    /// Bytes allocated.
    pub(super) fn heap_bytes(&self) -> usize {
        self.member_commands.heap_bytes()
            + self.ops.heap_bytes()
            + self.hosts.heap_bytes()
            + self.locks.heap_bytes()
    }

    /// Checks that counts and links of work under way are consistent; `on_members`: commands counted for the members.
    ///
    /// # Errors
    /// The first broken invariant, in words.
    pub(super) fn self_check(&self, on_members: u32) -> Result<(), String> {
        // Three counts of the same: live entries, commands counted for members, slots in use.
        let live = self.live_member_commands().count();
        if live != on_members as usize || live != self.member_commands.used() {
            let kept = self.member_commands.used();
            return Err(format!("{live} member commands live, {on_members} counted, {kept} kept"));
        }
        if self.locks.len() != self.ops.used() {
            return Err(format!("{} locks for {} operations", self.locks.len(), self.ops.used()));
        }
        let left: u32 = self.hosts.live().map(|host| host.left).sum();
        let direct = self.live_member_commands().filter(|sub| sub.kind.is_for_host()).count();
        let operations = self.ops.live().filter(|op| op.host.is_some()).count();
        if left as usize != direct + operations {
            return Err(format!(
                "host commands wait for {left} parts; {direct} member commands and {operations} operations are under way for them"
            ));
        }
        if let Some(host) = self.ops.live().filter_map(|op| op.host).find(|&host| !self.hosts.is_live(host)) {
            return Err(format!("an operation is for host command {host}, which is over"));
        }
        if let Some(op) = self.runnable.iter().find(|&&op| !self.ops.is_live(op)) {
            return Err(format!("operation {op} can go on and is over"));
        }
        let (reads, changes, runnable) = (self.direct_reads, self.direct_changes, self.runnable.len());
        if self.is_idle() && (reads != 0 || changes != 0 || runnable != 0) {
            return Err(format!(
                "idle with {reads} reads, {changes} changes and {runnable} operations to go on"
            ));
        }
        Ok(())
    }

    /// True if nothing is under way.
    pub(super) fn is_idle(&self) -> bool {
        self.is_host_idle() && self.ops.used() == 0 && self.member_commands.used() == 0
    }

    /// The part of a host command that `sub` belongs to; `None` for background work.
    pub(super) fn host_part_of(&self, sub: &MemberCommand) -> Option<HostPart> {
        let op = sub.kind.op();
        let host = sub.kind.direct_host().or_else(|| self.ops[op?].host)?;
        Some(HostPart { tag: self.hosts[host].tag, op })
    }

    /// The cause that the whole time of `sub` counts for, in place of the parts that its member reports.
    pub(super) fn cause_of_all(&self, sub: &MemberCommand) -> Option<LatencyCause> {
        let reads_others = |op: GroupOpId| {
            let op = &self.ops[op];
            op.kind == GroupOpKind::Read && op.roles >> sub.role & 1 == 0
        };
        match sub.kind {
            MemberCommandKind::Log(_) => Some(LatencyCause::Record),
            MemberCommandKind::Read(op) if reads_others(op) => Some(LatencyCause::Degraded),
            _ => None,
        }
    }

    /// True if a member command belongs to background work.
    pub(super) fn is_background_work(&self, sub: &MemberCommand) -> bool {
        sub.kind.op().is_some_and(|op| self.ops[op].kind.is_background_work())
    }
}

/// Completions, data and failures that the host has not fetched yet.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(super) struct HostReplies {
    /// Completions, in order of time.
    pub(super) ready: VecDeque<Completion>,
    /// Data of completed reads.
    pub(super) data: ListMap<Tag, Vec<u8>>,
    /// Sectors that failed, of host commands under way, by their index.
    failing: ListMap<HostCommandId, Vec<SectorRun>>,
    /// Sectors that failed, of commands that have ended, until another one with the same tag fails.
    pub(super) failed: ListMap<Tag, Vec<SectorRun>>,
}

impl HostReplies {
    /// Time of the first completion; [`Nanos::MAX`] without any.
    #[inline]
    pub(super) fn next(&self) -> Nanos {
        self.ready.front().map_or(Nanos::MAX, |completion| completion.at)
    }

    /// Notes sectors from `lba` on that failed, of host command `host`.
    #[cold]
    #[inline(never)]
    pub(super) fn note_failure(&mut self, host: HostCommandId, lba: u64, sectors: u32) {
        let run = SectorRun { lba: Lba(lba), sectors: u64::from(sectors) };
        self.failing.or_default(host).push(run);
    }

    /// True if failed sectors of host command `host` are noted.
    pub(super) fn knows_failure(&self, host: HostCommandId) -> bool {
        self.failing.get(host).is_some_and(|runs| !runs.is_empty())
    }

    /// Ends host command `host` with tag `tag`, which has failed with `outcome`.
    #[cold]
    #[inline(never)]
    pub(super) fn end_failed(&mut self, host: HostCommandId, tag: Tag, outcome: Outcome) {
        let runs = self.failing.remove(host).unwrap_or_default();
        if outcome == Outcome::MediumError {
            debug_assert!(!runs.is_empty(), "a medium error is somewhere");
            self.failed.insert(tag, SectorRun::joined(runs));
        }
    }

    /// Appends every completion up to `now`, and marks their accounts as handed out.
    #[inline]
    pub(super) fn take(
        &mut self,
        now: Nanos,
        completions: &mut Vec<Completion>,
        accounts: &mut Option<Box<HostAccounts>>,
    ) {
        // The caller's list may hold earlier completions.
        let handed_out = completions.len();
        while let Some(&first) = self.ready.front() {
            if first.at > now {
                break;
            }
            completions.push(first);
            self.ready.pop_front();
        }
        if let Some(accounts) = accounts {
            accounts.hand_out(&completions[handed_out..]);
        }
    }
}
