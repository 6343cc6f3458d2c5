//! The superblocks whose relocation has begun, for whoever looks at the drive over time.

use crate::core::{CoreContext, FlashCore};
use crate::health::Reason;
use outlast_units::{CoreId, Nanos, SuperblockId};

/// A superblock whose relocation begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Victim {
    /// When.
    pub at: Nanos,
    /// Of which flash core.
    pub core: CoreId,
    /// Which.
    pub superblock: SuperblockId,
    /// Why.
    pub reason: Reason,
    /// The class of what it holds.
    pub class: u8,
    /// Units that are still valid, of all that it has room for.
    pub valid_share: f64,
    /// How much the host has written to its flash core since it was filled, in units that the core maps.
    pub age_writes: f64,
}

/// Victims kept, as many as decisions.
const MOST_VICTIMS: usize = 100_000;

impl FlashCore {
    /// A relocation begins.
    pub(crate) fn note_victim(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        superblock: SuperblockId,
        reason: Reason,
    ) {
        let Some(victims) = context.victims.as_mut().filter(|victims| victims.len() < MOST_VICTIMS) else {
            return;
        };
        let ftl = &self.ftl;
        let view = ftl.superblock(superblock);
        let units = ftl.layout().logical_units();
        victims.push(Victim {
            at: now,
            core: self.id,
            superblock,
            reason,
            class: view.class(),
            valid_share: f64::from(view.valid()) / f64::from(ftl.layout().units_per_superblock()),
            age_writes: view.written_since() as f64 / f64::from(units),
        });
    }
}
