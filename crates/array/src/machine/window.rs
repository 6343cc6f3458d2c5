//! What follows from a gathered window, and from the last one.

use super::Array;
use crate::op::{Method, OpKind};
use crate::roles::roles;
use outlast_device::Device;
use outlast_units::{Nanos, SECTOR_BYTES};

impl<D: Device> Array<D> {
    /// The window is gathered: computes what it gives, and notes what a repair can write back.
    pub(super) fn window_done(&mut self, index: u32) {
        let op = &self.flight.ops[index];
        let (method, window, known, kind) = (op.method, op.window, op.known(), op.kind);
        let decoded = method == Method::Decode;
        let repairable = match kind {
            OpKind::Verify { .. } => self.role_set(),
            OpKind::Write if decoded => self.data_set() & !op.write_set,
            OpKind::Read | OpKind::Transform if decoded => {
                if self.layout.data == 1 {
                    self.role_set()
                } else {
                    self.data_set()
                }
            }
            _ => 0,
        };
        let repaired = op.failed & !op.lost & repairable;
        if decoded && self.layout.data > 1 {
            self.note_hole(index);
        }
        if matches!(kind, OpKind::Transform | OpKind::Verify { .. }) {
            let op = &self.flight.ops[index];
            let there = self.role_set() & !self.absent(op.group, op.moves);
            let fits = op.makes_window_fit(self.layout.data, there, repaired);
            self.flight.ops[index].fits &= fits;
        }
        if decoded && kind == OpKind::Read {
            self.ledger.counters.degraded_reads += 1;
        }
        if self.setup.bytes {
            self.compute_window(index, known);
        }
        let op = &mut self.flight.ops[index];
        for role in roles(repaired) {
            op.repairs.push((role as u8, window));
        }
        if let OpKind::Verify { repair, resync } = kind {
            self.compare(index, repair, resync);
        }
    }

    /// Data of the window that a member cannot give, though it is there, is computed: from parity that a loss of power left wrong it comes
    /// out wrong. What members that are gone had has been counted when they went.
    #[cold]
    fn note_hole(&mut self, index: u32) {
        let op = &self.flight.ops[index];
        let torn = |rows| self.doubt.torn_rows(op.group, rows) > 0;
        if !torn(op.window) {
            return;
        }
        let (hard, soft) = self.unreadable(op.group, op.window);
        let computed = (soft & !hard | op.failed) & !op.have & self.data_set();
        let noted = op.repairs.iter().any(|&(role, rows)| self.data_set() >> role & 1 == 1 && torn(rows));
        self.ledger.counters.write_holes += u64::from(computed != 0 && !noted);
    }

    fn compute_window(&mut self, index: u32, known: u64) {
        let (data, parities) = (self.layout.data, self.layout.roles - self.layout.data);
        let mut cells = std::mem::take(&mut self.flight.ops[index].cells);
        let op = &self.flight.ops[index];
        let range = op.window.bytes(op.rows.first);
        if op.method == Method::Decode && known & self.data_set() != self.data_set() {
            debug_assert!(
                data == 1 || op.lost == 0,
                "nothing is computed from zeroes in place of what was lost"
            );
            self.setup.code.recover_data(&mut cells, range.clone(), known);
        }
        match op.kind {
            OpKind::Write => {
                // Each parity cell becomes the sum over what is not written.
                let summed = match op.method {
                    Method::Delta => op.roles,
                    Method::Full => 0,
                    Method::Complete | Method::Decode => self.data_set() & !op.roles,
                };
                if op.method != Method::Delta {
                    for parity in &mut cells[data..] {
                        parity[range.clone()].fill(0);
                    }
                }
                for role in roles(summed) {
                    self.setup.code.add(&mut cells, range.clone(), role);
                }
            }
            OpKind::Transform | OpKind::Repair { .. } => {
                for j in 0..parities {
                    let role = data + j;
                    if (op.write_set | op.failed) >> role & 1 == 1 && known >> role & 1 == 0 || op.lost != 0 {
                        self.setup.code.encode(&mut cells, range.clone(), j);
                    }
                }
            }
            OpKind::Verify { .. } => {
                for j in 0..parities {
                    if known >> (data + j) & 1 == 0 {
                        self.setup.code.encode(&mut cells, range.clone(), j);
                    }
                }
            }
            OpKind::Read if data == 1 => {
                for j in (0..parities).filter(|j| op.failed >> (data + j) & 1 == 1) {
                    self.setup.code.encode(&mut cells, range.clone(), j);
                }
            }
            OpKind::Read | OpKind::Trim | OpKind::Replay => {}
        }
        self.flight.ops[index].cells = cells;
    }

    /// Compares redundancy with data, and notes what is to be rewritten.
    fn compare(&mut self, index: u32, repair: bool, resync: bool) {
        let op = &self.flight.ops[index];
        let window = op.window;
        let parities = op.have & !self.data_set();
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
        let known_losses = op.lost != 0;
        if !known_losses {
            if resync {
                self.ledger.counters.sectors_resynced += sectors;
                self.ledger.counters.groups_resynced += u64::from(sectors > 0);
            } else {
                self.ledger.counters.mismatches += sectors;
            }
        }
        if differ != 0 && (repair || known_losses) {
            let mut cells = std::mem::take(&mut self.flight.ops[index].cells);
            for role in roles(differ) {
                if self.setup.bytes {
                    let range = window.bytes(self.flight.ops[index].rows.first);
                    self.setup.code.encode(&mut cells, range, role - self.layout.data);
                }
                self.flight.ops[index].repairs.push((role as u8, window));
            }
            self.flight.ops[index].cells = cells;
        }
    }

    /// Every window is gathered.
    pub(super) fn gathered(&mut self, now: Nanos, index: u32) {
        let kind = self.flight.ops[index].kind;
        match kind {
            OpKind::Read => self.answer(now, index),
            OpKind::Write => self.combine(index),
            OpKind::Replay => self.replayed(index),
            OpKind::Trim | OpKind::Transform | OpKind::Verify { .. } | OpKind::Repair { .. } => {}
        }
        self.record(now, index);
    }

    /// Gives the host what it asked for; the operation goes on where something is to be repaired.
    fn answer(&mut self, now: Nanos, index: u32) {
        let op = &mut self.flight.ops[index];
        let (host, group, rows, set) = (op.host, op.group, op.rows, op.roles);
        op.host = outlast_units::slab::NIL;
        if self.is_lost(group, set, rows) {
            // What the operation waited for has given it up: what was read are the zeroes in its place.
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

    /// Puts the host's data into the cells of a write, and its share into the parity.
    fn combine(&mut self, index: u32) {
        if !self.is_striped_only() {
            self.ledger.counters.count_write(self.flight.ops[index].method);
        }
        if !self.setup.bytes {
            return;
        }
        let data = self.layout.data;
        let mut cells = std::mem::take(&mut self.flight.ops[index].cells);
        let op = &self.flight.ops[index];
        let host = &self.flight.hosts[op.host];
        for role in roles(op.roles) {
            let first = self.layout.logical(op.group, role, op.overlay.first) - host.command.lba.0;
            let bytes = op.overlay.len() as usize * SECTOR_BYTES as usize;
            let from = (first * SECTOR_BYTES) as usize;
            cells[role][op.overlay.bytes(op.rows.first)].copy_from_slice(&host.data[from..from + bytes]);
        }
        let sums = self.uses_partial_log().then(|| cells[data..].to_vec());
        let bytes = 0..op.rows.len() as usize * SECTOR_BYTES as usize;
        for role in roles(op.roles) {
            self.setup.code.add(&mut cells, bytes.clone(), role);
        }
        self.flight.ops[index].cells = cells;
        if let Some(sums) = sums {
            self.keep_sums(index, sums);
        }
    }
}
