//! What an operation must know before it can write, and how it gets to know it: decisions, no effects.

use super::Array;
use crate::layout::Rows;
use crate::op::{Content, Method, Op, OpKind};
use crate::roles::roles;
use outlast_device::Device;
use outlast_settings::array::StripeWrites;

/// What a window needs next.
pub(super) enum Plan {
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
    pub(super) fn plan(&self, index: u32) -> Plan {
        let op = &self.flight.ops[index];
        let known = op.known();
        let (hard, soft) = self.unreadable(op.group, op.window);
        let missing = (hard | soft | op.failed) & !known;
        match op.kind {
            OpKind::Trim => Plan::Ready(Method::Full),
            OpKind::Read => self.plan_for(op, op.roles, missing),
            OpKind::Transform => {
                // Sectors that are lost are zeroes from here on, so parity must be computed from data.
                let wanted = op.write_set | if op.lost == 0 { 0 } else { self.data_set() };
                self.plan_for(op, wanted, missing)
            }
            OpKind::Repair { copy, .. } => {
                let own = op.roles;
                if copy && op.lost == 0 && missing & own == 0 {
                    return if known & own == own { Plan::Ready(Method::Complete) } else { Plan::Read(own) };
                }
                let wanted = own | if op.lost == 0 { 0 } else { self.data_set() };
                self.plan_for(op, wanted, missing | (own & !known))
            }
            OpKind::Verify { .. } => {
                let wanted = self.role_set() & !missing;
                let lacks_data = missing & self.data_set() != 0;
                if lacks_data && self.sources(op, missing).count_ones() < self.layout.data as u32 {
                    Plan::Short
                } else if wanted & !known != 0 {
                    Plan::Read(wanted & !known)
                } else if lacks_data {
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
    fn plan_for(&self, op: &Op, wanted: u64, missing: u64) -> Plan {
        let (mirrored, known) = (self.layout.data == 1, op.known());
        if mirrored && known != 0 {
            return Plan::Ready(Method::Decode);
        }
        if !mirrored && wanted & missing == 0 {
            let more = wanted & !known;
            return if more == 0 { Plan::Ready(Method::Complete) } else { Plan::Read(more) };
        }
        self.plan_decode(op, wanted, missing)
    }

    /// Roles from which others can be computed. Zeroes in place of what was given up are none, since the redundancy that is there belongs
    /// to what was lost; only where all data is known does new redundancy follow from them. Copies of what was given up are as good as it.
    fn sources(&self, op: &Op, missing: u64) -> u64 {
        let available = self.role_set() & !missing;
        if missing & self.data_set() == 0 || self.layout.data == 1 { available } else { available & !op.lost }
    }

    /// How to know everything: any `k` chunks, those known already first, then data, then parity; and what is wanted anyway.
    fn plan_decode(&self, op: &Op, wanted: u64, missing: u64) -> Plan {
        let (sources, known) = (self.sources(op, missing), op.known());
        let wanted = if op.lost == 0 { wanted } else { self.data_set() };
        let (mut chosen, mut count) = (0u64, 0);
        for set in [sources & known, sources & !known & self.data_set(), sources & !known & !self.data_set()]
        {
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
        let more = (chosen | wanted & sources & self.data_set()) & !known;
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
        if self.is_striped_only()
            || full && (self.setup.config.writes != StripeWrites::ChunkByChunk || self.layout.data == 1)
        {
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
            (Method::Decode, all) => match self.plan_decode(op, 0, missing) {
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

    /// Whether some member lacks group `group` so much that data of it is lost.
    pub(super) fn is_beyond_repair(&self, group: u64) -> bool {
        let (hard, _) = self.unreadable(group, Rows::new(0, 1));
        (self.role_set() & !hard).count_ones() < self.layout.data as u32
    }
}
