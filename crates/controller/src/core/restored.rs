//! Checks of flash operations that were read: each is of a program unit where its tag says, of a kind that flash carries out as that kind, and with a
//! record that is its own where it has one.

use crate::core::{CoreContext, Cores, FlashCore};
use crate::op::{Op, OpKind, Purpose};
use crate::places::place_of_pu;
use outlast_flash::{FlashOp, FlashOpKind, operations};
use outlast_units::{DieId, Nanos, Pu};
use std::collections::BTreeSet;

/// Checks the operations in the flash room of `context`, their records, recoveries, and the victims of `cores` against each other.
///
/// # Errors
/// The first operation, record, recovery or victim that does not fit.
pub fn check_restored_operations(context: &CoreContext, cores: &Cores) -> Result<(), String> {
    let mut records = BTreeSet::new();
    for (die, op) in operations(&context.flash) {
        check_place(context, cores, die, op)?;
        check_record(context, cores, die, op)?;
        if op.tag.has_record && !records.insert(op.tag.cookie) {
            return Err(format!("record {} is of two reads", op.tag.cookie));
        }
    }
    context.ladder.check_restored(|core, pu, mask| {
        cores.get(core).is_some_and(|core| has_unit(core, pu) && mask & !units_of(core) == 0)
    })?;
    for (id, core) in cores.iter_indexed() {
        let of_core = operations(&context.flash).filter(|(die, _)| context.places[*die].core == id);
        let tags: Vec<Purpose> = of_core.map(|(_, op)| op.tag).collect();
        core.check_map_cache()?;
        core.tasks.check_restored(&core.ftl, &tags, |task| context.ladder.relocation_reads(id, task))?;
    }
    Ok(())
}

/// When the processors of all `cores` have done what they were given.
pub fn cores_free_at(cores: &Cores) -> Nanos {
    cores.iter().map(|core| core.cpu.free_at()).fold(Nanos::ZERO, Nanos::max)
}

/// True if `core` has program unit `pu`.
fn has_unit(core: &FlashCore, pu: Pu) -> bool {
    pu.0 < core.ftl.layout().superblocks() * core.ftl.layout().pus_per_superblock()
}

/// The units of a program unit of `core`, one bit each.
fn units_of(core: &FlashCore) -> u64 {
    u64::MAX >> (64 - core.ftl.layout().units_per_pu())
}

/// Checks that `op` lies where its program unit does, and that flash carries it out as what it is for.
fn check_place(
    context: &CoreContext,
    cores: &Cores,
    die: DieId,
    op: &FlashOp<Purpose>,
) -> Result<(), String> {
    let (tag, core) = (op.tag, &cores[context.places[die].core]);
    let kind = match tag.kind {
        OpKind::HostProgram | OpKind::RelocationProgram => FlashOpKind::Program,
        OpKind::Erase => FlashOpKind::Erase,
        _ => FlashOpKind::Read,
    };
    let fits = has_unit(core, tag.pu) && {
        let (own_die, own) = place_of_pu(&core.ftl, tag.pu);
        let own = if kind == FlashOpKind::Erase { FlashOp::erase(own.block, tag).place() } else { own };
        (die, op.place(), op.kind()) == (own_die, own, kind)
    };
    if fits {
        Ok(())
    } else {
        Err(format!("die {die} has an operation of another place or kind than {tag:?}"))
    }
}

/// Checks the record of `op`, or that it needs none.
fn check_record(
    context: &CoreContext,
    cores: &Cores,
    die: DieId,
    op: &FlashOp<Purpose>,
) -> Result<(), String> {
    let (tag, core) = (op.tag, context.places[die].core);
    if !tag.has_record {
        let is_plain = !tag.kind.is_read() || matches!(tag.kind, OpKind::HostRead | OpKind::RelocationRead);
        return if is_plain { Ok(()) } else { Err(format!("a read has no record: {tag:?}")) };
    }
    let fits = |record: &&Op| {
        let is_of_tag =
            (record.kind, record.task, record.pu, record.core) == (tag.kind, tag.task, tag.pu, core);
        let are_units = record.mask & !units_of(&cores[core]) == 0
            && record.failing & !record.mask == 0
            && op.mask() & !record.mask == 0;
        is_of_tag && are_units && (record.kind == OpKind::ListRead) == record.lists_of.is_some()
    };
    match context.reads.slots().get(tag.cookie as usize).filter(fits) {
        Some(_) => Ok(()),
        None => Err(format!("record {} is not of the read {tag:?}", tag.cookie)),
    }
}
