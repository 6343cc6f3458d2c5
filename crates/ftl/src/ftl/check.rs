//! The check of all invariants.

use super::restored::check_contents;
use crate::ftl::Ftl;
use crate::pages::check_pages;
use crate::space::check_space;
use crate::turns::UntimedTurns;
use outlast_decisions::SuperblockState;
use outlast_units::Ppn;

impl Ftl {
    /// Checks every invariant, in time proportional to the device: first each part by itself, then parts against each other.
    ///
    /// # Errors
    /// The first broken invariant.
    pub fn self_check(&self) -> Result<(), String> {
        self.pages.check(&self.space)?;
        self.space.check(|superblock| self.pages.mapped_in(&self.space, superblock))?;
        self.check_turns()?;
        self.check_held()?;
        self.pages.check_maps(&self.space)?;
        self.pages.check_mount(&self.space, true)
    }

    /// Checks what a core that was read takes for granted beside its invariants: what follows from the settings, the bytes of slots, and the copies to
    /// which a loss of power would bring pages back.
    ///
    /// # Errors
    /// The first part that is not as the others say.
    pub fn check_restored(&self) -> Result<(), String> {
        check_space(&self.space)?;
        check_contents(self)?;
        check_pages(&self.pages, &self.space)
    }

    /// Checks that superblocks emptied without time are being relocated, and hold no units in the slots handled.
    fn check_turns(&self) -> Result<(), String> {
        let UntimedTurns { victim, cold, .. } = &self.turns;
        let victims = victim.iter().map(|victim| (victim.superblock, victim.next));
        for (superblock, next) in victims.chain(cold.iter().map(|cold| (cold.superblock, cold.next))) {
            if self.space.superblocks().state(superblock) != SuperblockState::Collecting {
                return Err(format!("superblock {superblock} is emptied without time, and nobody moves it"));
            }
            let first = self.space.layout().first_slot(superblock);
            let is_within = first <= next && next.0 - first.0 <= self.space.layout().units_per_superblock();
            if !is_within || Ppn::each(first..next).any(|slot| self.pages.map().is_valid(slot)) {
                return Err(format!(
                    "superblock {superblock} is emptied without time up to slot {next}, and holds units below"
                ));
            }
        }
        Ok(())
    }
}
