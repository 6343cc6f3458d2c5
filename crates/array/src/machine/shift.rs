//! Shifts of parity: planned when members change, begun between passes, ended with the last group that moves.

use super::Array;
use crate::error::ArrayEventKind;
use crate::ids::ColumnIndex;
use crate::layout::{GroupMap, ParityShift};
use crate::placement::{ShiftPlan, by_rank};
use outlast_device::Device;
use outlast_settings::array::ShiftWay;
use outlast_units::Nanos;

impl<D: Device> Array<D> {
    /// Plans the move of parity to the oldest members, after members have changed.
    pub(super) fn plan_shift(&mut self, now: Nanos) {
        if self.setup.shares.is_none() {
            return;
        }
        if let Some(shift) = self.layout.shift_mut() {
            // The rebuild completes the unfinished shift; then the next one is planned.
            shift.lazy = false;
            self.passes.request_replan();
            return;
        }
        let (Some(shares), GroupMap::Striped(striped)) = (&self.setup.shares, &self.layout.map) else {
            return;
        };
        // A missing member ranks as the youngest: its replacement will be new.
        let age = |column: u8| self.members.age(ColumnIndex(column)).unwrap_or(f64::NEG_INFINITY);
        let mut order: Vec<u8> = self.members.indices().map(|column| column.0).collect();
        order.sort_by(|&a, &b| age(b).total_cmp(&age(a)));
        let shift_way = self.setup.config.replacement.shift;
        let plan = match (shift_way, &self.setup.first_placement) {
            (ShiftWay::Naive, Some(first)) => {
                ShiftPlan::between(&striped.now, by_rank(first, &shares.counts, &order))
            }
            _ => ShiftPlan::minimal(&striped.now, &shares.ranked(&order).counts),
        };
        // Parity may already lie where the plan puts it.
        if plan.chunk_moves > 0 {
            let (parity_moves, period) = (plan.parity_moves, striped.now.period());
            self.passes.request_shift(plan, shift_way == ShiftWay::Lazy);
            self.history.record_event(now, ArrayEventKind::ShiftStarted { parity_moves, period });
        }
    }

    /// Lets a planned shift begin once no read without a lock is under way.
    pub(super) fn begin_shift(&mut self) {
        if self.flight.direct_reads > 0 {
            return;
        }
        let stripes = self.layout.groups;
        if let GroupMap::Striped(striped) = &mut self.layout.map
            && let Some((plan, lazy)) = self.passes.begin_shift()
        {
            striped.shift = Some(ParityShift::new(&striped.now, plan, stripes, lazy));
            self.shift_progress();
        }
    }

    /// Ends the shift if the last group has moved.
    pub(super) fn shift_progress(&mut self) {
        let GroupMap::Striped(striped) = &mut self.layout.map else { return };
        if striped.shift.as_ref().is_none_or(|shift| shift.left > 0) {
            return;
        }
        if let Some(shift) = striped.shift.take() {
            striped.now = shift.target;
        }
        self.history.record_event(self.clock, ArrayEventKind::ShiftDone);
        if self.passes.shift_ends() {
            self.plan_shift(self.clock);
        }
    }

    /// Stripes whose parity is still to move.
    pub fn stripes_to_move(&self) -> u64 {
        self.layout.shift().map_or(0, |shift| shift.left)
    }

    /// The percentage of all parity chunks on each member, as they now lie over the period (a shift under way counts as done). Empty without parity: copies of a
    /// mirror are none.
    pub fn parity_percent(&self) -> Vec<f64> {
        if !self.setup.config.has_parity() {
            return Vec::new();
        }
        let GroupMap::Striped(striped) = &self.layout.map else { return Vec::new() };
        let placement = striped.shift.as_ref().map_or(&striped.now, |shift| &shift.target);
        let counts = placement.parity_counts();
        let all: u32 = counts.iter().sum();
        counts.iter().map(|&count| f64::from(count) * 100.0 / f64::from(all.max(1))).collect()
    }
}
