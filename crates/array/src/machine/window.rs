//! The end of a gathered window, and of the whole gathering: computes content, compares redundancy, answers reads.

use super::Array;
use crate::ids::GroupOpId;
use crate::op::{GroupOpKind, WriteMethod};
use crate::roles::{roles, to_role};
use outlast_device::Device;
use outlast_units::{Nanos, SECTOR_BYTES, to_length};

impl<D: Device> Array<D> {
    /// Ends a gathered window: computes missing content, compares redundancy, and lists chunks to be rewritten.
    pub(super) fn finish_window(&mut self, index: GroupOpId) {
        let op = &self.flight.ops[index];
        let (method, window, known_roles, kind) = (op.method, op.window, op.known_roles(), op.kind);
        let decoded = method == WriteMethod::Decode;
        // Roles that are rewritten if they could not be read: their content is known once the window is decoded. Parity of a read or
        // a rebuild is not computed unless it is a copy, and a write rewrites parity anyway.
        let repairable = match kind {
            GroupOpKind::Verify { .. } => self.layout.role_set,
            GroupOpKind::Write if decoded => self.layout.data_set & !op.write_set,
            GroupOpKind::Read | GroupOpKind::Transform if decoded => {
                if self.layout.data == 1 {
                    self.layout.role_set
                } else {
                    self.layout.data_set
                }
            }
            _ => 0,
        };
        let repaired = op.failed & !op.limited & !op.lost & repairable;
        if decoded && self.layout.data > 1 {
            self.count_write_hole(index);
        }
        if matches!(kind, GroupOpKind::Transform | GroupOpKind::Verify { .. }) {
            let op = &self.flight.ops[index];
            let present = self.layout.role_set & !self.availability().absent_roles(op.group, op.moves);
            let fits = op.makes_window_fit(self.layout.data, present, repaired);
            self.flight.ops[index].fits &= fits;
        }
        if decoded && kind == GroupOpKind::Read {
            self.history.counters.degraded_reads += 1;
        }
        if self.setup.bytes {
            self.compute_window(index, known_roles);
        }
        let op = &mut self.flight.ops[index];
        for role in roles(repaired) {
            op.repairs.push((to_role(role), window));
        }
        if let GroupOpKind::Verify { repair, resync } = kind {
            self.compare_redundancy(index, repair, resync);
        }
    }

    /// Counts a write hole: data that a present member cannot read is computed from parity that a loss of power left wrong, so it comes
    /// out wrong. Data of absent members was counted when they left.
    #[cold]
    fn count_write_hole(&mut self, index: GroupOpId) {
        let op = &self.flight.ops[index];
        let torn = |rows| self.doubt.torn_rows(op.group, rows) > 0;
        if !torn(op.window) {
            return;
        }
        let (hard, soft) = self.availability().unreadable_roles(op.group, op.window);
        let computed = (soft & !hard | op.failed) & !op.have & self.layout.data_set;
        // Not again if an earlier torn window of the operation has listed a data role for rewriting.
        let is_counted =
            op.repairs.iter().any(|&(role, rows)| self.layout.data_set >> role & 1 == 1 && torn(rows));
        self.history.counters.write_holes += u64::from(computed != 0 && !is_counted);
    }

    /// Computes the content of the window that the operation needs; `known_roles`: roles whose content is there.
    #[inline(never)]
    fn compute_window(&mut self, index: GroupOpId, known_roles: u64) {
        let (data, parities) = (self.layout.data, self.layout.roles - self.layout.data);
        let op = &mut self.flight.ops[index];
        let is_write = op.kind == GroupOpKind::Write;
        if is_write && op.computes_at_once(self.layout.data_set, self.setup.uses_partial_log()) {
            return;
        }
        let is_delta = is_write && op.method == WriteMethod::Delta;
        op.fill_cells(if is_delta {
            op.roles | self.layout.role_set & !self.layout.data_set
        } else {
            self.layout.role_set
        });
        let mut cells = std::mem::take(&mut op.cells);
        let op = &self.flight.ops[index];
        let range = op.window.bytes(op.rows.first);
        if op.method == WriteMethod::Decode && known_roles & self.layout.data_set != self.layout.data_set {
            let zeroes = if data == 1 { 0 } else { op.lost };
            self.setup.code.recover_beside(&mut cells, range.clone(), known_roles, zeroes);
        }
        match op.kind {
            GroupOpKind::Write => {
                // Parity is kept as a sum: after this step it covers all data but the written roles, which `combine_write` adds once
                // it has put the new data in. A delta takes the old content of the written roles out of the old parity, since adding
                // twice cancels in a field of characteristic 2.
                let summed = match op.method {
                    WriteMethod::Delta => op.roles,
                    WriteMethod::Full => 0,
                    WriteMethod::Complete | WriteMethod::Decode => self.layout.data_set & !op.roles,
                };
                if op.method != WriteMethod::Delta {
                    for parity in &mut cells[data..] {
                        parity[range.clone()].fill(0);
                    }
                }
                for role in roles(summed) {
                    self.setup.code.add(&mut cells, range.clone(), role);
                }
            }
            GroupOpKind::Transform | GroupOpKind::Repair { .. } => {
                for j in 0..parities {
                    let role = data + j;
                    // Parity to be written or unreadable, unless it is known; all parity if data was replaced by zeroes.
                    if (op.write_set | op.failed) >> role & 1 == 1 && known_roles >> role & 1 == 0
                        || op.lost != 0
                    {
                        self.setup.code.encode(&mut cells, range.clone(), j);
                    }
                }
            }
            // Parity that could not be read is computed, to be rewritten.
            GroupOpKind::Verify { .. } => {
                for j in 0..parities {
                    if known_roles >> (data + j) & 1 == 0 {
                        self.setup.code.encode(&mut cells, range.clone(), j);
                    }
                }
            }
            // Copies that could not be read are rewritten from the one that could.
            GroupOpKind::Read if data == 1 => {
                for j in (0..parities).filter(|j| op.failed >> (data + j) & 1 == 1) {
                    self.setup.code.encode(&mut cells, range.clone(), j);
                }
            }
            GroupOpKind::Read | GroupOpKind::Trim | GroupOpKind::Replay => {}
        }
        self.flight.ops[index].cells = cells;
    }

    /// Compares redundancy with data, counts sectors that differ, and lists them for rewriting: `repair` in any case, otherwise only
    /// next to lost data. `resync`: counts for the resynchronisation rather than for a scrub.
    fn compare_redundancy(&mut self, index: GroupOpId, repair: bool, resync: bool) {
        let op = &self.flight.ops[index];
        let window = op.window;
        let parities = op.have & !self.layout.data_set;
        let mut differ = 0;
        let mut sectors = 0;
        for role in roles(parities) {
            let count = if self.setup.bytes {
                self.setup.code.mismatches(&op.cells, window.bytes(op.rows.first), role - self.layout.data)
            } else if resync {
                // Without bytes only the simulator knows where parity may differ.
                self.doubt.torn_rows(op.group, window)
            } else {
                0
            };
            if count > 0 {
                differ |= 1 << role;
                sectors += u64::from(count);
            }
        }
        // Next to lost data, redundancy is known not to match the zeroes: that is no finding.
        let has_lost_data = op.lost != 0;
        if !has_lost_data {
            if resync {
                self.history.counters.sectors_resynced += sectors;
                self.history.counters.groups_resynced += u64::from(sectors > 0);
            } else {
                self.history.counters.mismatches += sectors;
            }
        }
        if differ != 0 && (repair || has_lost_data) {
            let mut cells = std::mem::take(&mut self.flight.ops[index].cells);
            for role in roles(differ) {
                if self.setup.bytes {
                    let range = window.bytes(self.flight.ops[index].rows.first);
                    self.setup.code.encode(&mut cells, range, role - self.layout.data);
                }
                self.flight.ops[index].repairs.push((to_role(role), window));
            }
            self.flight.ops[index].cells = cells;
        }
    }

    /// Ends the gathering of a read-modify-write whose old data and parity are known.
    #[inline]
    pub(super) fn finish_update(&mut self, now: Nanos, index: GroupOpId) {
        let op = &mut self.flight.ops[index];
        op.method = WriteMethod::Delta;
        if self.setup.bytes {
            let known_roles = op.known_roles();
            self.compute_window(index, known_roles);
        }
        self.combine_write(index);
        self.write_record(now, index);
    }

    /// Ends gathering after the last window, and goes on with the record.
    pub(super) fn finish_gather(&mut self, now: Nanos, index: GroupOpId) {
        match self.flight.ops[index].kind {
            GroupOpKind::Write => self.combine_write(index),
            GroupOpKind::Read => self.answer_read(now, index),
            GroupOpKind::Replay => self.apply_record(index),
            GroupOpKind::Trim
            | GroupOpKind::Transform
            | GroupOpKind::Verify { .. }
            | GroupOpKind::Repair { .. } => {}
        }
        self.write_record(now, index);
    }

    /// Gives the host its data and releases it; the operation itself continues if chunks are to be rewritten.
    #[inline(never)]
    fn answer_read(&mut self, now: Nanos, index: GroupOpId) {
        let op = &mut self.flight.ops[index];
        let (host, group, rows, set) = (op.host_command(), op.group, op.rows, op.roles);
        op.host = None;
        if self.history.is_lost(&self.layout, group, set, rows) {
            // The operation that held the lock before has given the data up: the zeroes in its place were read.
            self.fail_lost(host, group, set, rows);
        } else if self.setup.bytes {
            for role in roles(set) {
                let cell = std::mem::take(&mut self.flight.ops[index].cells[role]);
                self.give_to_host(host, group, role, rows, &cell);
                self.flight.ops[index].cells[role] = cell;
            }
        }
        self.finish_part(now, host);
    }

    /// Counts a write of which all is known, and computes what it writes.
    #[inline]
    fn combine_write(&mut self, index: GroupOpId) {
        if !self.layout.is_striped_only() {
            self.history.counters.count_write(self.flight.ops[index].method);
        }
        if self.setup.bytes {
            self.combine_cells(index);
        }
    }

    /// Puts the host's data into the cells of a write, and adds it to the parity sums.
    #[inline(never)]
    fn combine_cells(&mut self, index: GroupOpId) {
        let (data, roles_of_group) = (self.layout.data, self.layout.roles);
        let keeps_sums = self.setup.uses_partial_log();
        let at_once = self.flight.ops[index].computes_at_once(self.layout.data_set, keeps_sums);
        let mut cells = std::mem::take(&mut self.flight.ops[index].cells);
        let op = &self.flight.ops[index];
        let host = &mut self.flight.hosts[op.host_command()];
        for role in roles(op.roles) {
            let first = self.layout.logical(op.group, role, op.overlay.first) - host.command.lba.0;
            let bytes = op.overlay.byte_length();
            let from = to_length(first * SECTOR_BYTES);
            let cell = &mut cells[role];
            if bytes == host.data.len() && op.overlay == op.rows {
                // All that the command brings: the cell takes its memory.
                self.flight.spare_cells.give(std::mem::replace(cell, std::mem::take(&mut host.data)));
                continue;
            }
            let new = &host.data[from..from + bytes];
            if at_once {
                self.flight.spare_cells.give_memory(cell);
                cell.clear();
                cell.extend_from_slice(new);
            } else {
                cell[op.overlay.bytes(op.rows.first)].copy_from_slice(new);
            }
        }
        if at_once {
            let bytes = op.rows.byte_length();
            for parity in data..roles_of_group {
                let cell = &mut cells[parity];
                self.flight.spare_cells.give_memory(cell);
                cell.resize(bytes, 0);
                self.setup.code.encode(&mut cells, 0..bytes, parity - data);
            }
            self.flight.ops[index].cells = cells;
            return;
        }
        // The partial log keeps the sums without the new data: with it, replay can combine whatever of the new data was written.
        let sums = keeps_sums.then(|| cells[data..].to_vec());
        let bytes = 0..op.rows.byte_length();
        for role in roles(op.roles) {
            self.setup.code.add(&mut cells, bytes.clone(), role);
        }
        self.flight.ops[index].cells = cells;
        if let Some(sums) = sums {
            self.flight.ops[index].keep_sums(sums);
        }
    }
}
