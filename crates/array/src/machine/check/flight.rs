//! Checks of commands and operations under way: each command to a member belongs to something that waits for it, and each operation to rows that are there.

use super::{ArrayCheck, RestoredArray, must};
use crate::ids::{GroupIndex, GroupOpId, HostCommandId};
use crate::layout::RowRange;
use crate::locks::RowLocks;
use crate::member_command::{MemberCommand, MemberCommandKind};
use crate::op::{GroupOp, GroupOpKind, GroupRecord, HostCommand, RecordContent};
use crate::roles::roles;
use outlast_device::{Device, Op as HostOp, Outcome};
use outlast_units::SECTOR_BYTES;
use std::collections::BTreeMap;

/// Commands of hosts and operations under way, by their numbers.
#[derive(Default)]
struct HostParts {
    of_hosts: BTreeMap<HostCommandId, u32>,
    of_ops: BTreeMap<GroupOpId, Vec<MemberCommand>>,
}

impl<D: Device> RestoredArray<'_, D> {
    pub(super) fn check_flight(&self) -> ArrayCheck {
        let flight = &self.flight;
        let is_idle = flight.is_idle() && flight.held_back.is_empty() && flight.runnable.is_empty();
        must(self.powered || is_idle, || "something is under way without power".to_owned())?;
        must(self.buffer.is_empty(), || "members have completed something that nobody has seen".to_owned())?;
        must(flight.member_commands.live().all(Option::is_some), || {
            "a command to a member is over and kept".to_owned()
        })?;
        // Parts that point to no host command or operation stay in the maps, and are found at the end.
        let mut parts = HostParts::default();
        for sub in flight.live_member_commands() {
            self.check_member_command(sub)?;
            if let Some(host) = sub.kind.direct_host() {
                *parts.of_hosts.entry(host).or_default() += 1;
            } else if let Some(op) = sub.kind.op() {
                parts.of_ops.entry(op).or_default().push(*sub);
            }
        }
        for (index, op) in flight.ops.live_indexed() {
            self.check_op(index, op, &parts.of_ops.remove(&index).unwrap_or_default())
                .map_err(|error| format!("operation {index}: {error}"))?;
            if let Some(host) = op.host {
                *parts.of_hosts.entry(host).or_default() += 1;
            }
        }
        for (index, host) in flight.hosts.live_indexed() {
            let parts_found = parts.of_hosts.remove(&index).unwrap_or(0);
            must(host.left == parts_found && parts_found > 0, || {
                format!(
                    "command {index} of the host waits for {} parts, of which there are {parts_found}",
                    host.left
                )
            })?;
            self.check_host(host)?;
            let is_known = host.outcome != Outcome::MediumError || self.replies.knows_failure(index);
            must(is_known, || format!("command {index} of the host fails, and nobody knows where"))?;
        }
        must(parts.of_hosts.is_empty() && parts.of_ops.is_empty(), || {
            "a command to a member is for something that is over".to_owned()
        })?;
        let count = |is: fn(MemberCommandKind) -> bool| {
            flight.live_member_commands().filter(|sub| is(sub.kind)).count()
        };
        let reads = count(|kind| {
            matches!(kind, MemberCommandKind::DirectRead(_) | MemberCommandKind::LimitedRead(_))
        });
        let changes = count(|kind| {
            matches!(kind, MemberCommandKind::DirectWrite(_) | MemberCommandKind::DirectTrim(_))
        });
        let replays = flight.ops.live().filter(|op| op.kind == GroupOpKind::Replay).count();
        let counted =
            [flight.direct_reads, flight.direct_changes, flight.replaying].map(|count| count as usize);
        must(counted == [reads, changes, replays], || {
            format!("{counted:?} reads, changes and records are counted, of {:?}", [reads, changes, replays])
        })
    }

    fn check_member_command(&self, sub: &MemberCommand) -> ArrayCheck {
        let is_there = self.members.device(sub.device).is_some();
        must(is_there && usize::from(sub.role) < self.layout.roles, || {
            format!("a command is for role {} on {}", sub.role, sub.device)
        })?;
        match sub.kind {
            MemberCommandKind::DirectRead(host)
            | MemberCommandKind::LimitedRead(host)
            | MemberCommandKind::DirectWrite(host)
            | MemberCommandKind::DirectTrim(host) => {
                self.check_group_rows(sub.group, sub.rows)?;
                let Some(host) = self.flight.hosts.get(host) else { return Ok(()) };
                let data = if self.layout.data == 1 { 1 } else { 1 << sub.role };
                must(data & !self.layout.data_set == 0, || format!("role {} has no data", sub.role))?;
                self.check_of_host(host, sub.group, data, sub.rows)
            }
            MemberCommandKind::Read(_) | MemberCommandKind::Write(_) => {
                self.check_group_rows(sub.group, sub.rows)
            }
            MemberCommandKind::Status { range, .. } => {
                let ranges = self.repair_ranges().count();
                must(range.0 < ranges, || format!("range {range} of {ranges} was asked for"))
            }
            MemberCommandKind::Log(_)
            | MemberCommandKind::Flush(_)
            | MemberCommandKind::Bitmap
            | MemberCommandKind::Clean
            | MemberCommandKind::RepairFlush(_)
            | MemberCommandKind::External { .. } => {
                must(sub.rows.first < sub.rows.end, || "a command to a member is for no rows".to_owned())
            }
        }
    }

    /// Checks that `rows` of the roles in `set` of `group` lie within the sectors of the host command.
    fn check_of_host(&self, host: &HostCommand, group: GroupIndex, set: u64, rows: RowRange) -> ArrayCheck {
        let (first, end) =
            (host.command.lba.0, host.command.lba.0.saturating_add(host.command.sectors.into()));
        let is_within = |role: usize| {
            let at = self.layout.logical(group, role, rows.first);
            first <= at && at + u64::from(rows.len()) <= end
        };
        must(roles(set).all(is_within), || {
            format!("group {group} is not of the command for sectors {first} to {end}")
        })
    }

    fn check_host(&self, host: &HostCommand) -> ArrayCheck {
        let command = &host.command;
        let end = command.lba.0.saturating_add(command.sectors.into());
        must(command.op == HostOp::Flush || end <= self.setup.capacity, || {
            format!("a command of the host ends at {end} of {}", self.setup.capacity)
        })?;
        let has_data = self.setup.bytes && matches!(command.op, HostOp::Read | HostOp::Write);
        let bytes = if has_data { u64::from(command.sectors) * SECTOR_BYTES } else { 0 };
        let is_taken = host.data.is_empty() && command.op == HostOp::Write;
        must(is_taken || host.data.len() as u64 == bytes, || {
            format!("{} bytes are kept for a command of {} sectors", host.data.len(), command.sectors)
        })
    }

    fn check_op(&self, index: GroupOpId, op: &GroupOp, subs: &[MemberCommand]) -> ArrayCheck {
        self.check_group_rows(op.group, op.rows)?;
        Self::check_rows(op.window, op.rows)?;
        Self::check_rows(op.overlay, op.rows)?;
        self.check_roles(op.roles | op.have | op.failed | op.limited | op.lost | op.write_set)?;
        self.check_cells(&op.cells, op.rows, true)?;
        // What has been read is there, and all that is to be written once gathering is over.
        let is_gathered = op.committing || op.record.is_some() && op.kind != GroupOpKind::Replay;
        let to_write = if is_gathered && op.kind != GroupOpKind::Trim { op.write_set } else { 0 };
        let needed = op.have | op.lost | to_write;
        let has_all = op.cells.is_empty() || roles(needed).all(|role| !op.cells[role].is_empty());
        must(has_all, || format!("no content is there of some of the roles {needed:#x}"))?;
        for &(role, rows) in &op.repairs {
            must(usize::from(role) < self.layout.roles, || format!("role {role} is to be repaired"))?;
            Self::check_rows(rows, op.rows)?;
        }
        if let Some(record) = &op.record {
            must((record.group, record.rows) == (op.group, op.rows), || {
                "its record is of another".to_owned()
            })?;
            self.check_record(record)?;
        }
        self.check_op_host(op, is_gathered)?;
        let held = self.check_lock(index, op)?;
        // Nothing is read or written before the lock is held.
        let has_begun = op.left > 0 || op.committing || op.marked || !op.cells.is_empty();
        must(held || !has_begun, || "it has begun without its lock".to_owned())?;
        must(op.left as usize == subs.len(), || {
            format!("it waits for {} commands, of which there are {}", op.left, subs.len())
        })?;
        let mut read = 0u64;
        for sub in subs {
            must(sub.group == op.group, || "a command is for another group".to_owned())?;
            let fits = match sub.kind {
                MemberCommandKind::Read(_) => {
                    // A role is read once for each window.
                    let is_new = (read | op.have) >> sub.role & 1 == 0;
                    read |= 1 << sub.role;
                    is_new && !op.committing && sub.rows == op.window
                }
                MemberCommandKind::Write(_) => op.committing && Self::check_rows(sub.rows, op.rows).is_ok(),
                // Writes of the record: after gathering, before the commit.
                _ => !op.committing && op.record.is_some() && read == 0,
            };
            must(fits, || format!("a command {:?} of role {} does not belong to it", sub.kind, sub.role))?;
        }
        Ok(())
    }

    fn check_op_host(&self, op: &GroupOp, is_gathered: bool) -> ArrayCheck {
        let needs_host = match op.kind {
            GroupOpKind::Write | GroupOpKind::Trim => true,
            // A read has answered the host before it commits repairs.
            GroupOpKind::Read => !op.committing,
            _ => false,
        };
        let is_own = matches!(op.kind, GroupOpKind::Write | GroupOpKind::Trim | GroupOpKind::Read);
        must(!needs_host || op.host.is_some(), || {
            "the command of the host that it is for is none".to_owned()
        })?;
        must(is_own || op.host.is_none(), || "it is for no command of the host".to_owned())?;
        if !is_own {
            return Ok(());
        }
        must(op.roles & !self.layout.data_set == 0, || "it is for roles without data".to_owned())?;
        let Some(id) = op.host else { return Ok(()) };
        let Some(host) = self.flight.hosts.get(id) else {
            return Err(format!("command {id} of the host is none"));
        };
        let needs_data = self.setup.bytes && op.kind == GroupOpKind::Write && !is_gathered;
        must(!needs_data || !host.data.is_empty(), || "the data that it writes is not there".to_owned())?;
        must(op.kind != GroupOpKind::Read || op.overlay == op.rows, || {
            "it reads more than it is asked for".to_owned()
        })?;
        self.check_of_host(host, op.group, op.roles, op.overlay)
    }

    /// Checks that the lock of an operation covers its rows. Returns true if it is held.
    fn check_lock(&self, index: GroupOpId, op: &GroupOp) -> Result<bool, String> {
        let locks: &RowLocks = &self.flight.locks;
        let is_of_op = |&(owner, group, rows, _): &(GroupOpId, GroupIndex, RowRange, bool)| {
            owner == index && group == op.group && (rows == op.rows || rows == self.layout.whole_chunk())
        };
        let lock = op.lock.and_then(|lock| locks.state_of(lock)).filter(is_of_op);
        lock.map(|(_, _, _, held)| held).ok_or_else(|| format!("lock {:?} is not its own", op.lock))
    }

    /// True if content by role is that of `rows`; `some`: roles may be without.
    pub(super) fn check_cells(&self, cells: &[Vec<u8>], rows: RowRange, some: bool) -> ArrayCheck {
        let bytes = rows.byte_length();
        let fits = |cell: &Vec<u8>| cell.len() == bytes || some && cell.is_empty();
        let is_whole = cells.len() == self.layout.roles && self.setup.bytes;
        must(cells.is_empty() || is_whole && cells.iter().all(fits), || {
            format!("content of {} roles is not that of {} rows", cells.len(), rows.len())
        })
    }

    pub(super) fn check_record(&self, record: &GroupRecord) -> ArrayCheck {
        self.check_group_rows(record.group, record.rows)?;
        let keeps = self.setup.bytes;
        match &record.content {
            RecordContent::Trim => Ok(()),
            RecordContent::Cells { set, cells, .. } => {
                self.check_roles(*set)?;
                self.check_cells(cells, record.rows, true)
            }
            RecordContent::Partial { written, sums, extra, cells } => {
                self.check_roles(*written)?;
                must(written & !self.layout.data_set == 0 && extra & !written == 0, || {
                    format!("a record is of roles {written:#x}, with {extra:#x}")
                })?;
                self.check_cells(cells, record.rows, true)?;
                let bytes = record.rows.byte_length();
                let parities = self.layout.roles - self.layout.data;
                let has_sums = sums.len() == parities && sums.iter().all(|sum| sum.len() == bytes);
                let has_cells = |role: usize| cells.get(role).is_some_and(|cell| !cell.is_empty());
                let is_whole = has_sums && roles(*extra).all(has_cells);
                must(if keeps { is_whole } else { sums.is_empty() }, || {
                    format!("a record of {} sums is not one of {parities} parities", sums.len())
                })
            }
        }
    }
}
