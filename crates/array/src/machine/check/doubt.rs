//! Checks of marks, records and counts of writes under way.

use super::{ArrayCheck, RestoredArray, must};
use crate::ids::GroupOpId;
use crate::machine::record::record_bytes;
use crate::member_command::MemberCommandKind;
use crate::op::GroupOp;
use outlast_device::{Device, Op as HostOp};
use std::collections::BTreeSet;

impl<D: Device> RestoredArray<'_, D> {
    pub(super) fn check_doubt(&self) -> ArrayCheck {
        let (doubt, layout, flight) = (&self.doubt, &self.layout, &self.flight);
        doubt.check_settings(&self.setup.config, layout.groups, layout.chunk)?;
        let is_change = |op: HostOp| matches!(op, HostOp::Write | HostOp::Trim);
        let changes = flight.hosts.live().filter(|host| is_change(host.command.op)).count();
        let of = |wanted: MemberCommandKind| {
            flight.live_member_commands().filter(|sub| sub.kind == wanted).count()
        };
        doubt.check_counts(changes, of(MemberCommandKind::Clean), of(MemberCommandKind::Bitmap))?;
        let logged: u64 = flight.ops.live().map(|op| op.log_bytes).fold(0, u64::saturating_add);
        must(logged == doubt.log.in_use(), || {
            format!("records take {logged} bytes, {} are taken", doubt.log.in_use())
        })?;
        must(doubt.log.is_plausible(), || format!("records take {logged} of {}", doubt.log.size()))?;
        let mut regions = vec![0u32; doubt.bitmap.len()];
        for op in flight.ops.live().filter(|op| op.marked) {
            let region = doubt.bitmap.region_of(op.group).and_then(|region| regions.get_mut(region));
            *region.ok_or_else(|| format!("group {} is marked in no bitmap", op.group))? += 1;
        }
        doubt.bitmap.check(&regions)?;
        for index in doubt.bitmap.waiting() {
            let op = flight.ops.get(index);
            must(op.is_some_and(|op| op.marked && op.left == 0 && !op.committing), || {
                format!("operation {index} does not wait for a mark")
            })?;
        }
        let waits: BTreeSet<GroupOpId> = doubt.bitmap.waiting().collect();
        for (index, op) in flight.ops.live_indexed().filter(|(_, op)| op.marked) {
            let is_there = waits.contains(&index) || doubt.bitmap.is_durable(op.group);
            must(is_there, || format!("operation {index} has no mark, and waits for none"))?;
        }
        must(waits.len() == doubt.bitmap.waiting().count(), || {
            "an operation waits twice for a mark".to_owned()
        })?;
        let takes = |op: &GroupOp| op.log_bytes == 0 || op.log_bytes == record_bytes(op);
        must(flight.ops.live().all(takes), || {
            "an operation has room for another record than its own".to_owned()
        })?;
        for (index, bytes) in doubt.log.requests() {
            let op = flight.ops.get(index).filter(|op| bytes == record_bytes(op));
            must(op.is_some_and(|op| op.record.is_some() && op.left == 0 && op.log_bytes == 0), || {
                format!("operation {index} does not wait for room for a record of {bytes} bytes")
            })?;
        }
        doubt.records.values().try_for_each(|record| self.check_record(record))
    }
}
