//! Plans of operations: which roles must be known before writing, and how to get them. Decisions only, no effects.

use super::availability::RoleAvailability;
use super::setup::ArraySetup;
use crate::doubt::PowerLossDoubt;
use crate::ids::GroupIndex;
use crate::layout::GroupLayout;
use crate::members::ArrayMembers;
use crate::op::{GroupOp, GroupOpKind, RecordContent, WriteMethod};
use crate::roles::roles;
use outlast_device::Device;
use outlast_settings::array::StripeWrites;
use outlast_units::to_count;

/// The next step of a window.
pub(super) enum GatherPlan {
    /// Read these roles.
    Read(u64),
    /// All roles that this method needs are known.
    Ready(WriteMethod),
    /// Too few chunks can be read to compute the others.
    Short,
}

/// A write of part of a stripe.
pub(super) struct PartialWrite {
    /// Data roles that get new content or a new place.
    pub(super) data: u64,
    /// Data roles that are not wholly overwritten: parity is computed from them and the new content.
    pub(super) unwritten: u64,
    /// The stripe moves to the shift's target placement.
    pub(super) moves: bool,
    /// Some data of the stripe is lost for good: parity does not match the zeroes in its place.
    pub(super) lost: bool,
}

/// The facts that plans depend on.
pub(super) struct GatherPlanner<'a, D> {
    pub(super) layout: &'a GroupLayout,
    pub(super) availability: RoleAvailability<'a, D>,
    pub(super) doubt: &'a PowerLossDoubt,
    pub(super) writes: StripeWrites,
}

/// The roles that a read-modify-write on an array that lacks nothing has yet to read: the common case, small enough to be inlined. `None`:
/// [`GatherPlanner::plan`] has the plan.
#[inline]
pub(super) fn plan_update<D>(
    layout: &GroupLayout,
    members: &ArrayMembers<D>,
    doubt: &PowerLossDoubt,
    setup: &ArraySetup,
    op: &GroupOp,
) -> Option<u64> {
    let (data, parity) = (layout.data_set, layout.role_set & !layout.data_set);
    let is_whole = op.window == op.rows && op.overlay == op.rows && op.failed | op.lost == 0;
    let is_plain = op.kind == GroupOpKind::Write && is_whole && !op.moves && op.roles != data;
    let is_trusted = !members.is_degraded() && doubt.resync().is_none();
    if !is_plain || !is_trusted || parity == 0 {
        return None;
    }
    let (complete, delta) = (data & !(op.roles | op.have), (op.roles | parity) & !op.have);
    let writes = setup.config.writes;
    let is_cheaper = if op.have == 0 && op.roles.is_power_of_two() {
        setup.updates_one_chunk
    } else if delta == 0 {
        complete != 0 || writes != StripeWrites::Cheapest
    } else {
        !writes.reconstructs(complete.count_ones(), delta.count_ones())
    };
    is_cheaper.then_some(delta)
}

impl<D: Device> GatherPlanner<'_, D> {
    /// The next step of the window of `op`.
    pub(super) fn plan(&self, op: &GroupOp) -> GatherPlan {
        let known_roles = op.known_roles();
        let (hard, soft) = self.availability.unreadable_roles(op.group, op.window);
        let missing = (hard | soft | op.failed) & !known_roles;
        match op.kind {
            GroupOpKind::Trim => GatherPlan::Ready(WriteMethod::Full),
            GroupOpKind::Read => self.plan_for(op, op.roles, missing),
            GroupOpKind::Transform => {
                // Sectors that are lost are zeroes from here on, so parity must be computed from data.
                let targets = op.write_set | if op.lost == 0 { 0 } else { self.layout.data_set };
                self.plan_for(op, targets, missing)
            }
            GroupOpKind::Repair { copy, .. } => {
                // A copy needs only the role itself, as long as its member can read it.
                let role = op.roles;
                if copy && op.lost == 0 && missing & role == 0 {
                    return if known_roles & role == role {
                        GatherPlan::Ready(WriteMethod::Complete)
                    } else {
                        GatherPlan::Read(role)
                    };
                }
                // Otherwise the role is computed: it counts as missing, though its member is there.
                let targets = role | if op.lost == 0 { 0 } else { self.layout.data_set };
                self.plan_for(op, targets, missing | (role & !known_roles))
            }
            GroupOpKind::Verify { .. } => {
                // Every role that can be read is compared.
                let targets = self.layout.role_set & !missing;
                let lacks_data = missing & self.layout.data_set != 0;
                if lacks_data && self.sources(op, missing).count_ones() < to_count(self.layout.data) {
                    GatherPlan::Short
                } else if targets & !known_roles != 0 {
                    GatherPlan::Read(targets & !known_roles)
                } else if lacks_data {
                    GatherPlan::Ready(WriteMethod::Decode)
                } else {
                    GatherPlan::Ready(WriteMethod::Complete)
                }
            }
            GroupOpKind::Replay => {
                let Some(record) = &op.record else { return GatherPlan::Ready(WriteMethod::Full) };
                let RecordContent::Partial { written, extra, .. } = &record.content else {
                    return GatherPlan::Ready(WriteMethod::Full);
                };
                // The sums in the record and the chunks that were written give the new parity. Roles in `extra` come from the record.
                let needed = written & !extra;
                if needed & missing != 0 {
                    GatherPlan::Short
                } else if needed & !known_roles != 0 {
                    GatherPlan::Read(needed & !known_roles)
                } else {
                    GatherPlan::Ready(WriteMethod::Full)
                }
            }
            GroupOpKind::Write => self.plan_write(op, missing, known_roles),
        }
    }

    /// Plans how to get the roles in `targets`: reads them, or any chunks from which they can be computed.
    pub(super) fn plan_for(&self, op: &GroupOp, targets: u64, missing: u64) -> GatherPlan {
        let (mirrored, known_roles) = (self.layout.data == 1, op.known_roles());
        // Any one copy is enough.
        if mirrored && known_roles != 0 {
            return GatherPlan::Ready(WriteMethod::Decode);
        }
        if !mirrored && targets & missing == 0 {
            let more = targets & !known_roles;
            return if more == 0 { GatherPlan::Ready(WriteMethod::Complete) } else { GatherPlan::Read(more) };
        }
        self.plan_decode(op, targets, missing)
    }

    /// Roles from which others can be computed. Zeroes in place of lost data are not among them, since the redundancy on the members still
    /// belongs to the lost data, unless all data is known, so that redundancy is computed anew. Mirrors have no such mismatch.
    pub(super) fn sources(&self, op: &GroupOp, missing: u64) -> u64 {
        let available = self.layout.role_set & !missing;
        if missing & self.layout.data_set == 0 || self.layout.data == 1 {
            available
        } else {
            available & !op.lost
        }
    }

    /// Plans how to compute all roles: from any `k` chunks, known ones first, then data, then parity; `targets` roles are read in any case.
    pub(super) fn plan_decode(&self, op: &GroupOp, targets: u64, missing: u64) -> GatherPlan {
        let (sources, known_roles) = (self.sources(op, missing), op.known_roles());
        // With zeroes in place of lost data, all data has to be known before parity can be computed.
        let targets = if op.lost == 0 { targets } else { self.layout.data_set };
        let (mut chosen, mut count) = (0u64, 0);
        for set in [
            sources & known_roles,
            sources & !known_roles & self.layout.data_set,
            sources & !known_roles & !self.layout.data_set,
        ] {
            for role in roles(set) {
                if count < self.layout.data {
                    chosen |= 1 << role;
                    count += 1;
                }
            }
        }
        if count < self.layout.data {
            return GatherPlan::Short;
        }
        let more = (chosen | targets & sources & self.layout.data_set) & !known_roles;
        if more == 0 || self.layout.data == 1 && known_roles != 0 {
            GatherPlan::Ready(WriteMethod::Decode)
        } else {
            GatherPlan::Read(more)
        }
    }

    /// Plans a write: no reads for a full stripe, else the method that `choose_write_method` picks.
    pub(super) fn plan_write(&self, op: &GroupOp, missing: u64, known_roles: u64) -> GatherPlan {
        let data = self.layout.data_set;
        let written = op.roles;
        // Rows beyond the host's data are in the window if the stripe moves as a whole.
        let partial = !op.is_overlaid();
        let full = written == data && !partial;
        if self.layout.is_striped_only()
            || full && (self.writes != StripeWrites::ChunkByChunk || self.layout.data == 1)
        {
            return GatherPlan::Ready(WriteMethod::Full);
        }
        let moved = if op.moves { op.write_set & data & !written } else { 0 };
        let part = PartialWrite {
            data: written | moved,
            unwritten: if partial { data } else { data & !written },
            moves: op.moves,
            lost: op.lost != 0,
        };
        match self.choose_write_method(op.group, &part, missing, known_roles) {
            // Neither method is possible: a stripe with parity reads everything that can be read; mirrors read one copy.
            (WriteMethod::Decode, all) => match self.plan_decode(op, 0, missing) {
                GatherPlan::Read(_) if self.layout.data > 1 => GatherPlan::Read(all & !known_roles),
                plan => plan,
            },
            (method, needed) if needed & !known_roles == 0 => GatherPlan::Ready(method),
            (_, needed) => GatherPlan::Read(needed & !known_roles),
        }
    }

    /// The method by which part of a stripe is written, and the roles that must be known for it. As in md (`handle_stripe_dirtying` and
    /// `need_this_block`), a method is possible only if each of its chunks can be read; that includes old parity whose member is gone, so
    /// that without parity the remaining data is read although nothing is computed from it. If no method is possible, everything is read.
    pub(super) fn choose_write_method(
        &self,
        group: GroupIndex,
        part: &PartialWrite,
        missing: u64,
        known_roles: u64,
    ) -> (WriteMethod, u64) {
        let parity = self.layout.role_set & !self.layout.data_set;
        let present_parity = parity & !self.availability.absent_roles(group, part.moves);
        let cheapest = self.writes == StripeWrites::Cheapest;
        let delta = part.data | if cheapest { parity } else { present_parity };
        let complete_works = part.unwritten & missing == 0;
        // Without a parity member, new data is all that can be written.
        if present_parity == 0 && !part.moves && !(cheapest && complete_works) {
            return (WriteMethod::Full, 0);
        }
        // Old parity is no base while a resynchronisation has yet to check it, nor where it belongs to lost data.
        let delta_works = delta & missing == 0 && !part.lost && !self.doubt.distrusts(group);
        let cost = |set: u64| (set & !known_roles).count_ones();
        if delta_works && !(complete_works && self.writes.reconstructs(cost(part.unwritten), cost(delta))) {
            return (WriteMethod::Delta, delta);
        }
        if complete_works {
            return (WriteMethod::Complete, part.unwritten);
        }
        let all = self.layout.role_set & !missing;
        let change = part.data | present_parity;
        if (all.count_ones() as usize) < self.layout.data && change & missing == 0 && !part.lost {
            // Too few chunks for decoding, but the parity that is present can still be updated by the change.
            return (WriteMethod::Delta, change);
        }
        (WriteMethod::Decode, all)
    }
}
