//! Checks of victims that were read: each is a superblock that is being relocated, of one task, and what is awaited of it is under way.

use super::super::victim::{Former, TaskVictim};
use super::Tasks;
use crate::op::{InternalTask, OpKind, Purpose};
use outlast_decisions::SuperblockState;
use outlast_ftl::Ftl;
use outlast_units::LocalDie;
use std::collections::BTreeSet;

impl Tasks {
    /// Checks victims against translation layer `ftl` and the core's operations with these `tags`; `recovered`: reads of victims of a task that are being
    /// recovered.
    ///
    /// # Errors
    /// The first victim that does not fit.
    pub(in crate::core) fn check_restored(
        &self,
        ftl: &Ftl,
        tags: &[Purpose],
        recovered: impl Fn(InternalTask) -> u32,
    ) -> Result<(), String> {
        let mut seen = BTreeSet::new();
        for task in InternalTask::ALL {
            let own = &self.under_way[task as usize];
            let of = |kind: OpKind| tags.iter().filter(move |tag| (tag.kind, tag.task) == (kind, task));
            let in_flight = of(OpKind::RelocationRead).count() as u32 + recovered(task);
            let reads = own.victim.as_ref().map_or(0, |victim| victim.reads_in_flight);
            if reads != in_flight {
                return Err(format!("{task:?} waits for {reads} reads of its victim, of {in_flight}"));
            }
            let programs =
                |epoch: u32| of(OpKind::RelocationProgram).filter(|tag| tag.cookie == epoch).count() as u32;
            // An erasure that a loss of power did not undo may still count programs that it did.
            let (counted, under_way) = (own.programs, programs(own.epoch));
            if counted < under_way {
                return Err(format!("{task:?} waits for {counted} programs, of {under_way}"));
            }
            if let Some(Former { epoch, programs: counted, .. }) = own.former
                && counted < programs(epoch)
            {
                return Err(format!(
                    "{task:?} waits for {counted} programs of its last victim, of {}",
                    programs(epoch)
                ));
            }
            let victim = own.victim.as_ref().map(|victim| (victim.superblock, victim.erasing, false));
            let former = own.former.map(|former| (former.superblock, former.erasing, true));
            for (superblock, erasing, is_former) in victim.into_iter().chain(former) {
                let erases = of(OpKind::Erase)
                    .filter(|tag| ftl.layout().place(tag.pu).superblock == superblock)
                    .count();
                let view = ftl.superblock(superblock);
                let is_empty = view.valid() == 0 && (erasing.is_none() || view.may_be_erased());
                if !seen.insert(superblock)
                    || view.state() != SuperblockState::Collecting
                    || (erasing.unwrap_or(0) as usize) < erases
                    || ((is_former || erasing.is_some()) && !is_empty)
                {
                    return Err(format!("superblock {superblock} is no victim of {task:?} as it stands"));
                }
            }
            let of_victims = of(OpKind::Erase).chain(of(OpKind::RelocationRead));
            let mut superblocks = of_victims.map(|tag| ftl.layout().place(tag.pu).superblock);
            if let Some(superblock) = superblocks.find(|superblock| !seen.contains(superblock)) {
                return Err(format!(
                    "superblock {superblock} is read or erased for {task:?}, and is no victim"
                ));
            }
            own.victim.as_ref().map_or(Ok(()), |victim| check_list(ftl, victim))?;
        }
        Ok(())
    }
}

/// Checks that what is still to be read of `victim` lies on the dies that read it.
fn check_list(ftl: &Ftl, victim: &TaskVictim) -> Result<(), String> {
    let layout = ftl.layout();
    let fits = |die: LocalDie| {
        victim.list.left(die).iter().all(|piece| {
            let is_there =
                piece.pu().0 < layout.pus_per_superblock() && piece.first() < layout.units_per_pu();
            is_there && layout.place(layout.pu_at(victim.superblock, piece.pu())).lane.local_die == die
        })
    };
    match (0..layout.dies()).map(LocalDie).find(|&die| !fits(die)) {
        None => Ok(()),
        Some(die) => Err(format!("die {die} reads what it has not of superblock {}", victim.superblock)),
    }
}
