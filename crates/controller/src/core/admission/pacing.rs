//! Pacing: what the host may write while collection runs.
//!
//! **Credit** ([`HostCredit`]) is the bound of space, which holds without time, too. **Tokens** are a rate on top of it. The policies are settings of these two and of the
//! marks.

use super::tokens::Tokens;
use outlast_ftl::{Ftl, HostCredit, VictimWork};
use outlast_settings::drive::SsdConfig;
use outlast_settings::ftl::Pacing;
use outlast_units::{Nanos, SuperblockId};

/// How fast the host may write while collection runs.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(crate) struct Pacer {
    credit: HostCredit,
    tokens: Option<Box<Tokens>>,
}

impl Pacer {
    /// The pacing of a core with translation layer `ftl`.
    pub(super) fn new(ftl: &Ftl, config: &SsdConfig) -> Self {
        let gc = &config.ftl.gc;
        let (unit, cores) = (config.ftl.mapping_unit.0, u64::from(config.controller.flash_cores));
        let tokens = || {
            let token = gc.token.unwrap_or_default();
            Box::new(Tokens::new(&token, token.depth.0 / unit / cores))
        };
        Self { credit: HostCredit::new(ftl, gc), tokens: (gc.pacing == Pacing::Token).then(tokens) }
    }

    /// True if a host write may enter now though collection runs. `has_room` says whether it leaves enough for what is being moved.
    #[inline]
    pub(super) fn lets_in(&self, now: Nanos, has_room: impl FnOnce() -> bool) -> bool {
        self.credit.lets_in(has_room) && self.tokens.as_ref().is_none_or(|tokens| tokens.has_one(now))
    }

    /// Units that the host may write by the bound of space.
    #[inline]
    pub(crate) fn credit(&self) -> &HostCredit {
        &self.credit
    }

    pub(super) fn tokens(&self) -> Option<&Tokens> {
        self.tokens.as_deref()
    }

    pub(super) fn tokens_mut(&mut self) -> Option<&mut Tokens> {
        self.tokens.as_deref_mut()
    }

    /// A host write enters; `collects` is whether collection runs.
    #[inline]
    pub(super) fn enter(&mut self, collects: bool) {
        if collects {
            self.credit.spend();
        }
    }

    /// A host write has entered, which takes a token.
    pub(super) fn take_token(&mut self, now: Nanos, collects: bool) {
        if let Some(tokens) = &mut self.tokens {
            tokens.enter(now, collects);
        }
    }

    /// Collection takes `victim`, and `waiting` writes of the host wait.
    #[inline]
    pub(super) fn collection_takes(&mut self, now: Nanos, ftl: &mut Ftl, victim: SuperblockId, waiting: u32) {
        let begins = self.credit.begin_victim(now, ftl, victim, waiting);
        if begins && let Some(tokens) = &mut self.tokens {
            tokens.begin_burst(now);
        }
    }

    /// Collection has dealt with `units` units of its victim; see [`HostCredit::grant_for_units`].
    #[allow(clippy::inline_always, reason = "once for each read of collection where credit is all there is")]
    #[inline(always)]
    pub(super) fn collected(
        &mut self,
        now: Nanos,
        ftl: &Ftl,
        work: &mut VictimWork,
        units: u32,
        coming: impl FnOnce() -> u32,
    ) {
        let granted = self.credit.grant_for_units(ftl, work, units, coming);
        if !self.credit.is_smooth() {
            self.note_granted(now, granted);
        }
    }

    /// All of the victim has been moved; see [`HostCredit::grant_rest`].
    pub(super) fn victim_moved(&mut self, now: Nanos, ftl: &Ftl, work: &mut VictimWork) {
        let granted = self.credit.grant_rest(ftl, work);
        self.note_granted(now, granted);
    }

    #[inline(never)]
    fn note_granted(&mut self, now: Nanos, granted: u64) {
        if let Some(tokens) = &mut self.tokens {
            tokens.gain(now, granted);
        }
    }

    /// Of writes that take tokens: the write that waits longest finds that it `has_room`, or not. Tells when its token comes, if it waits for that alone.
    pub(super) fn note_wait(&mut self, now: Nanos, has_room: bool) -> Option<Nanos> {
        let alone = has_room && self.credit.has_one();
        let tokens = self.tokens.as_mut()?;
        tokens.set_awaited(alone);
        alone.then(|| tokens.next(now))
    }

    /// No write waits any more.
    #[inline]
    pub(super) fn ends_wait(&mut self) {
        if let Some(tokens) = &mut self.tokens {
            tokens.set_awaited(false);
        }
    }

    /// True if the write that waits longest waits for its token alone.
    #[inline]
    pub(super) fn awaits_token(&self) -> bool {
        self.tokens.as_ref().is_some_and(|tokens| tokens.is_awaited())
    }

    /// Until when collection holds back because it is ahead of what the host may write at its rate; not beyond `now`: it does not.
    #[inline]
    pub(super) fn holds_until(&self) -> Nanos {
        match &self.tokens {
            Some(tokens) if !tokens.is_by_burst() && self.credit.amount() >= tokens.depth() => {
                tokens.rests_at()
            }
            _ => Nanos::ZERO,
        }
    }

    /// A write has entered: whether collection, which held back, is to go on.
    #[inline(never)]
    pub(super) fn has_caught_up(&mut self, now: Nanos) -> bool {
        self.tokens.is_some() && self.holds_until() <= now && self.lets_collection_go()
    }

    /// Collection is not to hold back any more; whether it did.
    pub(super) fn lets_collection_go(&mut self) -> bool {
        self.tokens.as_mut().is_some_and(|tokens| tokens.let_go())
    }

    /// Power has failed.
    pub(super) fn forget(&mut self) {
        self.credit.forget();
    }
}
