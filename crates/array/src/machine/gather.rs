//! The first half of an operation: getting its lock, and learning what it must know.

use super::{Array, command};
use crate::config::StripeWrites;
use crate::layout::Rows;
use crate::op::{Content, Method, Op, OpKind, Sub, SubKind, first_roles, roles};
use outlast_device::{Device, Op as HostOp, Outcome, Tag};
use outlast_units::{Nanos, SECTOR_BYTES};

/// What a window needs next.
enum Plan {
    /// Read these roles.
    Read(u64),
    /// Everything is known that this method needs.
    Ready(Method),
    /// Too few chunks can be read.
    Short,
}

/// A write of a part of a stripe.
pub(super) struct PartWrite {
    /// Data roles that get new content or a new place.
    pub(super) data: u64,
    /// Data roles that are not wholly overwritten: with the new content they give parity.
    pub(super) rest: u64,
    /// Whether the stripe moves to the shift's target placement.
    pub(super) moves: bool,
    /// Whether some data is lost for good: parity does not match it.
    pub(super) lost: bool,
}

impl<D: Device> Array<D> {
    /// Begins an operation: it asks for its lock.
    pub(super) fn start(&mut self, now: Nanos, op: Op) -> u32 {
        let whole = op.whole || matches!(op.kind, OpKind::Transform | OpKind::Verify { .. });
        let rows = if whole { self.whole_chunk() } else { op.rows };
        let (group, shared) = (op.group, op.kind == OpKind::Read);
        let index = self.flight.ops.insert(op);
        let (lock, held) = self.flight.locks.acquire(group, rows, shared, index);
        self.flight.ops[index].lock = lock;
        if held {
            self.locked(now, index);
        }
        index
    }

    /// Roles of `group` that cannot be read in `rows`: because their member does not have them at all, or because of bad sectors.
    pub(super) fn unreadable(&self, group: u64, rows: Rows) -> (u64, u64) {
        if !self.members.is_degraded() {
            return (0, 0);
        }
        let (mut hard, mut soft) = (0, 0);
        for role in 0..self.layout.roles {
            let (column, base) = self.layout.locate(group, role, false);
            let place = &self.members[column];
            let first = base + u64::from(rows.first);
            let sectors = first..first + u64::from(rows.len());
            if group >= place.valid_to {
                match self.members.donor_lacks(column, &sectors) {
                    None => hard |= 1 << role,
                    Some(lacks) => soft |= u64::from(lacks) << role,
                }
            } else if !place.bad.is_empty() {
                soft |= u64::from(place.bad.overlaps(&sectors)) << role;
            }
        }
        (hard, soft)
    }

    /// Roles of `group` whose member is not there to be written.
    pub(super) fn absent(&self, group: u64, target: bool) -> u64 {
        if !self.members.is_degraded() {
            return 0;
        }
        let gone = |&role: &usize| self.members[self.layout.locate(group, role, target).0].device.is_none();
        (0..self.layout.roles).filter(gone).fold(0, |set, role| set | 1 << role)
    }

    /// Roles that lie elsewhere in the shift's target.
    fn moved_roles(&self, group: u64) -> u64 {
        let moved = |&role: &usize| {
            self.layout.locate(group, role, false).0 != self.layout.locate(group, role, true).0
        };
        (0..self.layout.roles).filter(moved).fold(0, |set, role| set | 1 << role)
    }

    /// The lock is held.
    pub(super) fn locked(&mut self, now: Nanos, index: u32) {
        let op = &self.flight.ops[index];
        let (group, kind) = (op.group, op.kind);
        match kind {
            OpKind::Read | OpKind::Verify { .. } => {}
            OpKind::Write | OpKind::Trim => {
                if self.refused(now, index) {
                    return;
                }
                if kind == OpKind::Write {
                    self.prepare_write(index);
                } else {
                    self.flight.ops[index].write_set = self.role_set();
                }
                self.flight.ops[index].marked = self.doubt.bitmap.is_used();
                if !self.doubt.bitmap.mark(group, index) {
                    if self.doubt.bitmap.begin_marking() {
                        self.carry_on_bitmap(now);
                    }
                    // A mark in protected memory is there at once.
                    if !self.doubt.bitmap.take_own_mark(index) {
                        return;
                    }
                }
            }
            OpKind::Transform => self.prepare_transform(index),
            OpKind::Repair { repair, .. } => {
                if !self.prepare_repair(index, repair) {
                    self.end(now, index);
                    return;
                }
            }
            OpKind::Replay => {
                // It must outlive another loss of power.
                if let Some(record) = self.flight.ops[index].record.clone() {
                    self.doubt.records.insert(index, *record);
                }
            }
        }
        self.gather(now, index);
    }

    /// Ends a host's write or trim that the members can no longer take: too many are missing, or one takes no more writes. Asked at the
    /// start and, since members may leave while the operation waits, before anything is written.
    pub(super) fn refused(&mut self, now: Nanos, index: u32) -> bool {
        let op = &self.flight.ops[index];
        if !matches!(op.kind, OpKind::Write | OpKind::Trim) {
            return false;
        }
        let (redundancy, host) = (self.layout.roles - self.layout.data, op.host);
        let refused = self.read_only || self.absent(op.group, op.moves).count_ones() as usize > redundancy;
        if refused {
            self.flight.hosts[host].outcome = Outcome::ReadOnly;
            self.end(now, index);
        }
        refused
    }

    fn prepare_write(&mut self, index: u32) {
        let chunk = self.whole_chunk();
        let (group, whole) = (self.flight.ops[index].group, self.flight.ops[index].whole);
        let moves = whole
            && self.layout.shift().is_some_and(|shift| shift.lazy && !shift.is_moved(group))
            && self.moved_roles(group) != 0;
        let parity = self.role_set() & !self.data_set();
        let mut set = self.flight.ops[index].roles | parity;
        if moves {
            set |= self.moved_roles(group);
            self.flight.ops[index].rows = chunk;
            self.flight.ops[index].window = chunk;
        }
        let op = &mut self.flight.ops[index];
        (op.moves, op.write_set) = (moves, set);
    }

    fn prepare_transform(&mut self, index: u32) {
        let group = self.flight.ops[index].group;
        let moves = self.layout.shift().is_some_and(|shift| !shift.is_moved(group));
        let mut set = if moves { self.moved_roles(group) } else { 0 };
        for role in 0..self.layout.roles {
            let column = &self.members[self.layout.locate(group, role, moves).0];
            if column.device.is_some() && group >= column.valid_to {
                set |= 1 << role;
            }
        }
        let window = self.even_rows(group, self.flight.ops[index].rows);
        let op = &mut self.flight.ops[index];
        (op.moves, op.write_set, op.window) = (moves, set, window);
    }

    /// The region is marked where that is needed: gathering begins.
    pub(super) fn gather(&mut self, now: Nanos, index: u32) {
        if self.refused(now, index) {
            return;
        }
        if self.setup.bytes && self.flight.ops[index].cells.is_empty() {
            let bytes = self.flight.ops[index].rows.len() as usize * SECTOR_BYTES as usize;
            self.flight.ops[index].cells = vec![vec![0; bytes]; self.layout.roles];
        }
        loop {
            match self.plan(index) {
                Plan::Read(set) => {
                    self.read_roles(now, index, set);
                    return;
                }
                Plan::Ready(method) => {
                    self.flight.ops[index].method = method;
                    self.window_done(index);
                    let op = &mut self.flight.ops[index];
                    if op.window.end == op.rows.end {
                        self.gathered(now, index);
                        return;
                    }
                    op.window = Rows::new(op.window.end, op.rows.end);
                    (op.have, op.failed, op.lost) = (0, 0, 0);
                    if op.kind == OpKind::Transform {
                        let (group, rest) = (op.group, op.window);
                        self.flight.ops[index].window = self.even_rows(group, rest);
                    }
                }
                Plan::Short => {
                    if !self.shorten(index) {
                        self.end(now, index);
                        return;
                    }
                }
            }
        }
    }

    fn plan(&self, index: u32) -> Plan {
        let op = &self.flight.ops[index];
        let known = op.known();
        let (hard, soft) = self.unreadable(op.group, op.window);
        let missing = (hard | soft | op.failed) & !known;
        match op.kind {
            OpKind::Trim => Plan::Ready(Method::Full),
            OpKind::Read => self.plan_for(op.roles, missing, known),
            OpKind::Transform => {
                // Sectors that are lost are zeroes from here on, so parity must be computed from data.
                let wanted = op.write_set | if op.lost == 0 { 0 } else { self.data_set() };
                self.plan_for(wanted, missing, known)
            }
            OpKind::Repair { copy, .. } => {
                let own = op.roles;
                if copy && op.lost == 0 && missing & own == 0 {
                    return if known & own == own { Plan::Ready(Method::Complete) } else { Plan::Read(own) };
                }
                let wanted = own | if op.lost == 0 { 0 } else { self.data_set() };
                self.plan_for(wanted, missing | (own & !known), known)
            }
            OpKind::Verify { .. } => {
                let wanted = self.role_set() & !missing;
                if (wanted | known).count_ones() < self.layout.data as u32 {
                    Plan::Short
                } else if wanted & !known != 0 {
                    Plan::Read(wanted & !known)
                } else if missing & self.data_set() != 0 {
                    Plan::Ready(Method::Decode)
                } else {
                    Plan::Ready(Method::Complete)
                }
            }
            OpKind::Replay => {
                let Some(record) = &op.record else { return Plan::Ready(Method::Full) };
                let Content::Partial { written, extra, .. } = &record.content else {
                    return Plan::Ready(Method::Full);
                };
                let needed = written & !extra;
                if needed & missing != 0 {
                    Plan::Short
                } else if needed & !known != 0 {
                    Plan::Read(needed & !known)
                } else {
                    Plan::Ready(Method::Full)
                }
            }
            OpKind::Write => self.plan_write(op, missing, known),
        }
    }

    /// How to know the roles in `wanted`: read them, or any chunks that give them.
    fn plan_for(&self, wanted: u64, missing: u64, known: u64) -> Plan {
        let mirrored = self.layout.data == 1;
        if mirrored && known != 0 {
            return Plan::Ready(Method::Decode);
        }
        if !mirrored && wanted & missing == 0 {
            let more = wanted & !known;
            return if more == 0 { Plan::Ready(Method::Complete) } else { Plan::Read(more) };
        }
        self.plan_decode(wanted, missing, known)
    }

    /// How to know everything: any `k` chunks, those known already first, then data, then parity; and what is wanted anyway.
    fn plan_decode(&self, wanted: u64, missing: u64, known: u64) -> Plan {
        let available = self.role_set() & !missing;
        let (mut chosen, mut count) = (0u64, 0);
        for set in [known, available & !known & self.data_set(), available & !known & !self.data_set()] {
            for role in roles(set) {
                if count < self.layout.data {
                    chosen |= 1 << role;
                    count += 1;
                }
            }
        }
        if count < self.layout.data {
            return Plan::Short;
        }
        let more = (chosen | wanted & available & self.data_set()) & !known;
        if more == 0 || self.layout.data == 1 && known != 0 {
            Plan::Ready(Method::Decode)
        } else {
            Plan::Read(more)
        }
    }

    fn plan_write(&self, op: &Op, missing: u64, known: u64) -> Plan {
        let data = self.data_set();
        let written = op.roles;
        let partial = !op.is_overlaid();
        let full = written == data && !partial;
        if full && (self.setup.config.writes != StripeWrites::ChunkByChunk || self.layout.data == 1) {
            return Plan::Ready(Method::Full);
        }
        let moved = if op.moves { op.write_set & data & !written } else { 0 };
        let part = PartWrite {
            data: written | moved,
            rest: if partial { data } else { data & !written },
            moves: op.moves,
            lost: op.lost != 0,
        };
        match self.way_to_write(op.group, &part, missing, known) {
            (Method::Decode, all) => match self.plan_decode(0, missing, known) {
                Plan::Read(_) if self.layout.data > 1 => Plan::Read(all & !known),
                plan => plan,
            },
            (method, needed) if needed & !known == 0 => Plan::Ready(method),
            (_, needed) => Plan::Read(needed & !known),
        }
    }

    /// How a part of a stripe is written, and the roles that must be known for that. As md has it (`handle_stripe_dirtying` and
    /// `need_this_block`), a way counts only where each of its chunks can be read; that includes old parity whose member is gone, so that
    /// without parity the rest of the stripe is read although nothing follows from it. Where no way is left everything is read.
    pub(super) fn way_to_write(
        &self,
        group: u64,
        part: &PartWrite,
        missing: u64,
        known: u64,
    ) -> (Method, u64) {
        let parity = self.role_set() & !self.data_set();
        let there = parity & !self.absent(group, part.moves);
        let cheapest = self.setup.config.writes == StripeWrites::Cheapest;
        let delta = part.data | if cheapest { parity } else { there };
        let complete_works = part.rest & missing == 0;
        if there == 0 && !part.moves && !(cheapest && complete_works) {
            return (Method::Full, 0);
        }
        // Parity that a resynchronisation has yet to look at is not built upon.
        let delta_works = delta & missing == 0 && !part.lost && !self.doubt.distrusts(group);
        let cost = |set: u64| (set & !known).count_ones();
        if delta_works
            && !(complete_works && self.setup.config.writes.reconstructs(cost(part.rest), cost(delta)))
        {
            return (Method::Delta, delta);
        }
        if complete_works {
            return (Method::Complete, part.rest);
        }
        let all = self.role_set() & !missing;
        let parity_there = part.data | there;
        if (all.count_ones() as usize) < self.layout.data && parity_there & missing == 0 && !part.lost {
            // Nothing can be computed, and nothing need be: what parity is there follows the change.
            return (Method::Delta, parity_there);
        }
        (Method::Decode, all)
    }

    fn read_roles(&mut self, now: Nanos, index: u32, set: u64) {
        let (group, window, kind) =
            (self.flight.ops[index].group, self.flight.ops[index].window, self.flight.ops[index].kind);
        self.flight.ops[index].left = set.count_ones();
        for role in roles(set) {
            let (column, base) = self.layout.locate(group, role, false);
            let source = self.members.source(column, group);
            if kind.recovers() {
                self.count_repair(kind, source, window.len(), true);
            }
            let (column, role) = (source as u8, role as u8);
            let kind = SubKind::Read;
            let sub = Sub { live: true, kind, column, role, owner: index, group, rows: window };
            self.send(now, sub, command(HostOp::Read, base + u64::from(window.first), window), &[]);
        }
    }

    /// A read of an operation has ended.
    pub(super) fn gather_done(&mut self, now: Nanos, sub: Sub, tag: Tag, outcome: Outcome) {
        let (index, role) = (sub.owner, usize::from(sub.role));
        if outcome == Outcome::Ok {
            self.flight.ops[index].have |= 1 << role;
            if self.setup.bytes {
                let device = self.members.device_mut(usize::from(sub.column));
                if let Some(data) = device.and_then(|device| device.take_data(tag)) {
                    let op = &mut self.flight.ops[index];
                    let range = sub.rows.bytes(op.rows.first);
                    op.cells[role][range].copy_from_slice(&data);
                }
            }
        } else {
            self.flight.ops[index].failed |= 1 << role;
            self.note_read_error(now, usize::from(sub.column));
        }
        self.gather_part(now, index);
    }

    /// A read of an operation went to a member that is no longer there.
    pub(super) fn gather_gone(&mut self, now: Nanos, sub: Sub) {
        self.gather_part(now, sub.owner);
    }

    fn gather_part(&mut self, now: Nanos, index: u32) {
        self.flight.ops[index].left -= 1;
        if self.flight.ops[index].left == 0 {
            self.gather(now, index);
        }
    }

    /// Too few chunks of the window can be read: tries half of it, or gives its missing data up. Returns whether to go on; a read
    /// of the host does not.
    fn shorten(&mut self, index: u32) -> bool {
        let op = &mut self.flight.ops[index];
        if let OpKind::Repair { copy, .. } = &mut op.kind
            && !*copy
        {
            // What the member said may be old, or true of its place only: reading it tells.
            *copy = true;
            return true;
        }
        let (group, window) = (op.group, op.window);
        if self.doubt_donors(group, window) {
            return true;
        }
        let op = &self.flight.ops[index];
        let (hard, soft) = self.unreadable(group, window);
        let hopeless = match (&op.kind, &op.record) {
            (OpKind::Replay, Some(record)) => match &record.content {
                Content::Partial { written, extra, .. } => written & !extra & hard != 0,
                _ => false,
            },
            _ => ((self.role_set() & !hard).count_ones() as usize) < self.layout.data,
        };
        if !hopeless && window.len() > 1 {
            let middle = window.first + window.len() / 2;
            let op = &mut self.flight.ops[index];
            op.window = Rows::new(window.first, middle);
            op.failed = 0;
            return true;
        }
        if op.kind == OpKind::Read {
            let host = op.host;
            self.flight.hosts[host].outcome = Outcome::MediumError;
            return false;
        }
        let missing = (hard | soft | op.failed) & !op.known();
        let host_data = !matches!(op.kind, OpKind::Repair { .. });
        let overwritten = if host_data && op.is_overlaid() { op.roles } else { 0 };
        let needed = match op.record.as_deref().map(|record| &record.content) {
            Some(Content::Partial { written, extra, .. }) if op.kind == OpKind::Replay => written & !extra,
            _ => self.data_set(),
        };
        let lost = missing & needed & !overwritten;
        self.give_up(index, lost);
        true
    }

    /// Data of the window that nothing can bring back becomes zeroes, and is remembered as lost.
    fn give_up(&mut self, index: u32, lost: u64) {
        let (group, window) = (self.flight.ops[index].group, self.flight.ops[index].window);
        // With mirrors the one data chunk is lost when no copy is left.
        let lost = if self.layout.data == 1 { 1 } else { lost };
        assert!(lost & !self.flight.ops[index].lost != 0, "a window that lacks nothing is not short");
        for role in roles(lost) {
            let first = self.layout.logical(group, role, window.first);
            self.ledger.lose(first..first + u64::from(window.len()));
        }
        self.count_lost(self.flight.ops[index].kind, u64::from(lost.count_ones() * window.len()));
        let rewrite = if self.flight.ops[index].kind == OpKind::Write {
            lost
        } else {
            lost | self.role_set() & !self.data_set()
        };
        let op = &mut self.flight.ops[index];
        op.lost |= lost;
        op.repairs.extend(roles(rewrite).map(|role| (role as u8, window)));
        if !op.cells.is_empty() {
            let range = window.bytes(op.rows.first);
            for role in roles(lost) {
                op.cells[role][range.clone()].fill(0);
            }
        }
    }

    /// The window is gathered: computes what it gives, and notes what a repair can write back.
    fn window_done(&mut self, index: u32) {
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

    fn compute_window(&mut self, index: u32, known: u64) {
        let (data, parities) = (self.layout.data, self.layout.roles - self.layout.data);
        let mut cells = std::mem::take(&mut self.flight.ops[index].cells);
        let op = &self.flight.ops[index];
        let range = op.window.bytes(op.rows.first);
        if op.method == Method::Decode && known & self.data_set() != self.data_set() {
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
    fn gathered(&mut self, now: Nanos, index: u32) {
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
        if self.setup.bytes {
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
        self.ledger.counters.count_write(self.flight.ops[index].method);
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
            cells[role][op.overlay.bytes(op.rows.first)].copy_from_slice(&host.data_in[from..from + bytes]);
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

    /// Whether some member lacks group `group` so much that data of it is lost.
    pub(super) fn is_beyond_repair(&self, group: u64) -> bool {
        let (hard, _) = self.unreadable(group, Rows::new(0, 1));
        (first_roles(self.layout.roles) & !hard).count_ones() < self.layout.data as u32
    }
}
