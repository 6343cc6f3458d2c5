//! A die or a plane that the core uses no more: what follows on the core itself, and room that it may still get.

use crate::core::{CoreContext, Due, FlashCore, WaitingWrite};
use outlast_media::{DieDamage, DieFaults};
use outlast_settings::drive::{RepairScheme, SsdConfig};
use outlast_units::{DieId, LocalDie, Nanos};

impl FlashCore {
    /// From now on operations may fail. `wordline`: pages of a word line.
    pub fn expect_faults(&mut self, config: &SsdConfig, wordline: u32, seed: u64) {
        let (dies, first) = (self.dies.len() as u16, self.dies[LocalDie(0)]);
        self.faults.get_or_insert_with(|| {
            DieFaults::new(&config.geometry, dies, first, wordline, &config.hazards, seed)
        });
    }

    /// Something of die `local` breaks.
    pub fn inject(&mut self, local: LocalDie, damage: DieDamage) {
        if let Some(faults) = &mut self.faults {
            faults.inject(local, damage);
        }
    }

    /// The core uses its die `local`, or only `plane` of it, no more: what follows on the core itself.
    ///
    /// # Panics
    /// If the core has no such die.
    pub fn give_up_die(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        local: LocalDie,
        plane: Option<u16>,
    ) {
        assert!(local.index() < self.dies.len(), "core {} has no die {local}", self.id);
        self.ftl.end_rebuild();
        self.ftl.give_up_die(local, plane);
        debug_assert!(
            plane.is_some() || self.ftl.space().pus().is_dead_die(local),
            "a die given up takes no data"
        );
        if context.flash.passes().are_on() {
            self.close_passes_on(now, context, self.dies[local], None);
        }
        // Stripes may have ended where the die would have come next.
        self.program_all_parity(now, context);
        self.restore_redundancy(now, context, local, plane);
        self.reprotect_all(now, context);
        self.make_due(context, Due::Admit);
        self.make_due_then(context, Due::Collect);
    }

    /// Stripes of any stream may have ended: their parity is programmed.
    pub(crate) fn program_all_parity(&mut self, now: Nanos, context: &mut CoreContext) {
        for stream in self.ftl.streams().all() {
            self.program_parity(now, context, stream);
        }
    }

    /// True if the core has given up a die whose share of units has not been handed over yet: it may lack room that it is about to get.
    #[cold]
    pub fn awaits_room(&self, context: &CoreContext) -> bool {
        let shares =
            context.config.repair.as_ref().is_some_and(|repair| repair.scheme == RepairScheme::Cooperative);
        let is_new = |(local, &die): (LocalDie, &DieId)| {
            self.ftl.space().pus().is_dead_die(local)
                && !context.adjusted.contains(&die)
                && !context.absent.contains(&die)
        };
        shares && self.dies.iter_indexed().any(is_new)
    }

    /// A unit has been moved.
    #[cold]
    pub fn count_move(&mut self, context: &mut CoreContext) {
        self.ftl.count_as_migrated();
        context.moves.count_made();
    }

    /// True if host writes that find no room never will: nothing is under way that could make some. A core that still holds
    /// what belongs to others may come to this, and leave it when that has gone.
    #[cold]
    pub(crate) fn has_no_hope_of_room(&self, context: &CoreContext, write: WaitingWrite) -> bool {
        !self.ftl.can_append(write.stream)
            && (write.work.sectors == 0 || context.moves.is_idle())
            && self.tasks.is_idle()
            && !self.ftl.map_awaits_room()
            && context.programs_in_flight(self.id).next().is_none()
    }
}
