//! The decoder's time: how much later reads complete by it.

use crate::core::CoreContext;
use crate::op::{Op, OpKind, Rung};
use outlast_units::Nanos;

impl CoreContext {
    /// How long it takes to decode what the last sensing of `op` gave.
    #[inline]
    pub(crate) fn decode_time(&self, op: &Op) -> Nanos {
        self.config.controller.decode.of(op.rereads)
    }

    /// How long it takes to decode the last of what read `op`, of which not all was given, got in the end, without `lost`: what its last
    /// re-reads gave, or the members of its line.
    pub(super) fn decode_time_after_recovery(&self, op: &Op, lost: u64) -> Nanos {
        match op.rung {
            Rung::LastRereads if op.failing == 0 => self.decode_time(op),
            _ if lost == 0 => self.config.controller.decode.hard,
            _ => Nanos::ZERO,
        }
    }

    /// Until when the die of read `read`, some of which cannot be corrected, has to wait for that to be known; `None` where it is known.
    #[inline(never)]
    pub(in crate::core) fn failure_known(&mut self, now: Nanos, read: u32) -> Option<Nanos> {
        let op = &self.reads[read];
        let time = self.decode_time(op);
        if op.decoded || op.kind == OpKind::PatrolRead || time == Nanos::ZERO {
            return None;
        }
        self.reads[read].decoded = true;
        Some(now + time)
    }
}
