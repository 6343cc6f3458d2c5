//! Checks of recoveries that were read.

use super::Ladder;
use crate::op::{InternalTask, Op, OpKind};
use outlast_units::{CoreId, Pu};

impl Ladder {
    /// Reads whose units are being rebuilt.
    pub(crate) fn reads(&self) -> impl Iterator<Item = &Op> {
        self.recoveries.live().flatten().map(|recovery| &recovery.op)
    }

    /// Checks that every recovery is of units that there are, by `has_units`, with an owner for each that it rebuilds.
    ///
    /// # Errors
    /// The first recovery that is not.
    pub(crate) fn check_restored(&self, has_units: impl Fn(CoreId, Pu, u64) -> bool) -> Result<(), String> {
        for recovery in self.recoveries.live().flatten() {
            let op = &recovery.op;
            let has_owners = recovery.owners.len() == op.failing.count_ones() as usize;
            let is_of_read = op.failing & !op.mask == 0 && op.kind != OpKind::StripeRead;
            if !is_of_read
                || !has_owners
                || !recovery.is_whole()
                || !recovery.pus().all(|(pu, mask)| has_units(op.core, pu, mask))
            {
                return Err(format!("a recovery is of units of {:?} that there are not", op.pu));
            }
        }
        Ok(())
    }

    /// Reads of victims of `task` of core `core` that are being recovered.
    pub(crate) fn relocation_reads(&self, core: CoreId, task: InternalTask) -> u32 {
        let all = self.recoveries.live().flatten().map(|recovery| &recovery.op);
        let own = all.filter(|op| (op.kind, op.core, op.task) == (OpKind::RelocationRead, core, task));
        own.count() as u32
    }
}
