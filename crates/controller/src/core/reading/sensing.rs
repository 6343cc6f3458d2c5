//! Sensing: which units of a read the ECC gives.

use crate::core::{CoreContext, FlashCore};
use crate::op::{Op, Purpose, Rung};
use crate::read::{Attempt, Reliability, Sensed, faulty_units};
use outlast_flash::FlashOpId;
use outlast_units::{CoreId, Nanos};

impl FlashCore {
    /// A die senses the units of `op`: the cells are disturbed, and it is decided which units the ECC gives. A read whose tag says it all
    /// becomes a record only where it fails.
    ///
    /// Not inlined: reads of drives whose flash never errs should not pay for its registers.
    #[inline(never)]
    pub(crate) fn sense(&mut self, now: Nanos, context: &mut CoreContext, op: FlashOpId) {
        let operation = context.flash.op(op);
        let (tag, wanted, units) = (operation.tag, operation.mask(), operation.units());
        let at = now + context.aged;
        let mut read = Attempt { kind: tag.kind, pu: tag.pu, wanted, step: 0, is_first: true };
        if tag.has_record {
            let record = &context.reads[tag.cookie];
            debug_assert!(record.wanted() == wanted, "read {} senses other units than it wants", tag.cookie);
            read.step = record.step;
            read.is_first = record.rereads == 0 && record.rung == Rung::Rereads;
        }
        let sensed = match (&mut self.cells, &mut context.reliability) {
            (Some(own), Some(reliability)) if self.faults.is_none() && reliability.is_plain(read.kind) => {
                let failing = reliability.sense_small(&self.ftl, own, &read, at);
                Sensed { failing, step: read.step }
            }
            (_, reliability) => sense_apart(&mut *self, reliability.as_deref_mut(), &read, at),
        };
        let has_alarm = self.cells.as_ref().is_some_and(|own| own.cells.has_alarm());
        let mut failed = 0;
        if sensed.failing != 0 || tag.has_record {
            debug_assert!(sensed.failing & !wanted == 0, "a unit fails that was not wanted");
            failed = sensed.failing.count_ones();
            context.keep(op, self.id, sensed);
        }
        context.corrections.sensed(read.kind, read.is_first, u64::from(units - failed));
        if has_alarm {
            self.look_at_alarms(now, context);
        }
    }
}

impl CoreContext {
    /// Keeps what a sensing of the read `op` came to in its record, which it may have none of yet.
    #[inline(never)]
    fn keep(&mut self, op: FlashOpId, core: CoreId, Sensed { failing, step }: Sensed) {
        let operation = self.flash.op(op);
        let tag = operation.tag;
        if tag.has_record {
            let record = &mut self.reads[tag.cookie];
            (record.failing, record.step, record.decoded) = (failing, step, false);
        } else {
            let record = Op { failing, step, ..Op::of_tag(tag, core, operation.units(), operation.mask()) };
            let cookie = self.reads.insert(record);
            *self.flash.tag_mut(op) = Purpose { cookie, has_record: true, ..tag };
        }
    }
}

/// A read that [`Reliability::sense_small`] does not do for, of a drive with faults, or whose flash errs, or both.
#[inline(never)]
fn sense_apart(
    core: &mut FlashCore,
    reliability: Option<&mut Reliability>,
    read: &Attempt,
    at: Nanos,
) -> Sensed {
    let FlashCore { ftl, cells, faults, .. } = core;
    let mut sensed = match (cells, reliability) {
        (Some(own), Some(reliability)) => reliability.sense_any(ftl, own, faults.as_ref(), read, at),
        _ => Sensed { failing: 0, step: read.step },
    };
    if let Some(faults) = faults {
        sensed.failing |= faulty_units(ftl, faults, read.pu, read.wanted);
    }
    sensed
}
