//! Pacing: what the host may write while collection runs.
//!
//! **Credit** is the bound of space: collection grants it with each unit that it deals with. Below the high mark of collection, where the host could open a
//! further superblock, it is the host's share of the slots that the victim gains; else the room that host streams have left, such that it ends when the
//! next superblock has been gained. **Tokens** are a rate on top of it. The policies are settings of these two and of the marks.

use super::tokens::Tokens;
use crate::config::SsdConfig;
use outlast_ftl::{Ftl, Pacing};
use outlast_units::Nanos;

/// Credit and tokens are counted in 2^-16 units.
pub(super) const ONE: u64 = 1 << 16;

/// How fast the host may write while collection runs.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
#[allow(clippy::struct_excessive_bools, reason = "settings, each asked for by itself")]
pub(crate) struct Pacer {
    paces: bool,
    /// Whether the next victim is read while the last one is erased.
    overlaps: bool,
    /// Whether what collection moves goes among the host's data.
    is_mixed: bool,
    /// Whether credit is all there is: neither marks nor tokens, nor room in superblocks that are still to come.
    is_smooth: bool,
    /// The same, whether or not a policy of the user's cuts it.
    is_plain: bool,
    /// Of what collection gains on its way to the high mark, the share of the host, in 2^-16; absent without such a mark.
    share: Option<u64>,
    /// Host units that may be written while collection runs, in 2^-16 units.
    credit: u64,
    tokens: Option<Box<Tokens>>,
    /// The part of what collection grants that the user's policy keeps from the host, in 2^-16.
    withheld: u64,
}

/// What collection has done, and what it has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Units dealt with, and, these included, those to be dealt with until a superblock is gained.
    pub(crate) units: u32,
    pub(crate) work: u32,
}

impl Pacer {
    /// The pacing of a core with translation layer `ftl`.
    pub(super) fn new(ftl: &Ftl, config: &SsdConfig) -> Self {
        let gc = &config.ftl.gc;
        // Credit is all there is; with a policy of the user's it is cut, off the short way.
        let plain =
            gc.pacing != Pacing::Token && !ftl.has_marks() && !gc.overlap && !ftl.streams().are_mixed();
        let share = (gc.host_share.unwrap_or(1.0) * ONE as f64) as u64;
        let (unit, cores) = (config.ftl.mapping_unit.0, u64::from(config.controller.flash_cores));
        let tokens = || {
            let token = gc.token.unwrap_or_default();
            Box::new(Tokens::new(&token, token.depth.0 / unit / cores))
        };
        Self {
            paces: gc.pacing != Pacing::None,
            overlaps: gc.overlap,
            is_mixed: ftl.streams().are_mixed(),
            is_smooth: plain && !ftl.is_paced_by_policy(),
            is_plain: plain,
            share: ftl.has_marks().then_some(share),
            credit: 0,
            tokens: (gc.pacing == Pacing::Token).then(tokens),
            withheld: 0,
        }
    }

    /// Whether a host write may enter now though collection runs. `has_room` says whether it leaves enough for what is being moved.
    #[inline]
    pub(super) fn lets_in(&self, now: Nanos, has_room: impl Fn() -> bool) -> bool {
        if self.is_smooth {
            return !self.paces || self.has_credit();
        }
        (self.is_plain || has_room())
            && (!self.paces
                || (self.has_credit() && self.tokens.as_ref().is_none_or(|tokens| tokens.has_one(now))))
    }

    /// Whether there is credit for a host write.
    #[inline]
    pub(super) fn has_credit(&self) -> bool {
        self.credit >= ONE
    }

    /// Whether no write enters without credit.
    #[inline]
    pub(super) fn paces(&self) -> bool {
        self.paces
    }

    /// Whether the next victim is read while the last one is erased, and the host's share comes of both.
    #[inline]
    pub(crate) fn overlaps(&self) -> bool {
        self.overlaps
    }

    /// Whether collection shares out what its victims gain: below a high mark, and where it takes room from the host's streams itself.
    #[inline]
    pub(crate) fn shares_gain(&self) -> bool {
        self.is_mixed || self.has_marks()
    }

    /// Whether what collection moves goes among the host's data.
    #[inline]
    pub(crate) fn is_mixed(&self) -> bool {
        self.is_mixed
    }

    #[inline]
    pub(crate) fn has_marks(&self) -> bool {
        self.share.is_some()
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
            self.credit = self.credit.saturating_sub(ONE);
        }
    }

    /// A host write has entered, which takes a token.
    pub(super) fn take_token(&mut self, now: Nanos, collects: bool) {
        if let Some(tokens) = &mut self.tokens {
            tokens.enter(now, collects);
        }
    }

    /// Collection has made `progress`: the host may write its share, such that its open superblocks, which have room for `room` units, are full when
    /// the next one has been gained. `kept_back` of them are kept back for the time of the erasure and of estimates that were off;
    /// then host writes go on at the pace of the estimate.
    #[inline]
    pub(super) fn grant(&mut self, now: Nanos, room: u32, kept_back: u32, progress: Progress) {
        let Progress { units, work } = progress;
        debug_assert!(units <= work, "collection has done {units} of {work} units");
        let spendable = u64::from(room.saturating_sub(kept_back));
        let share = spendable * ONE * u64::from(units) / u64::from(work);
        let most = u64::from(room) * ONE;
        if self.is_smooth {
            self.credit = (self.credit + share).min(most);
        } else {
            self.add(now, self.share.map_or(share, |own| share * own / ONE), most);
        }
    }

    /// Of what collection grants from now on, `part` is kept from the host.
    pub(super) fn withhold(&mut self, part: f64) {
        self.withheld = (part * ONE as f64) as u64;
    }

    /// Whether credit is all there is: neither marks nor tokens.
    #[inline]
    pub(crate) fn is_smooth(&self) -> bool {
        self.is_smooth
    }

    /// As [`Pacer::grant`], where the host could open a further superblock: what collection gains is shared. `most` is what may be saved.
    #[cold]
    pub(super) fn grant_gain(&mut self, now: Nanos, most: u32, gain: u64) {
        let own = self.share.unwrap_or(ONE);
        self.add(now, (u128::from(gain) * u128::from(own) / u128::from(ONE)) as u64, u64::from(most) * ONE);
    }

    #[inline(never)]
    fn add(&mut self, now: Nanos, share: u64, most: u64) {
        let withheld = (u128::from(share) * u128::from(self.withheld)).div_ceil(u128::from(ONE)) as u64;
        let share = share - withheld;
        self.credit = (self.credit + share).min(most);
        if let Some(tokens) = &mut self.tokens {
            tokens.gain(now, share);
        }
    }

    /// Collection begins at the low mark: what was saved before is not of this burst.
    pub(super) fn burst_begins(&mut self) {
        if self.has_marks() {
            self.credit = 0;
        }
    }

    /// Where writes take tokens: the write that waits longest finds that it `has_room`, or not. Tells when its token comes, if it waits for that alone.
    pub(super) fn note_wait(&mut self, now: Nanos, has_room: bool) -> Option<Nanos> {
        let alone = has_room && self.has_credit();
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

    /// Whether the write that waits longest waits for its token alone.
    #[inline]
    pub(super) fn awaits_token(&self) -> bool {
        self.tokens.as_ref().is_some_and(|tokens| tokens.is_awaited())
    }

    /// Until when collection holds back because it is ahead of what the host may write at its rate; not beyond `now`: it does not.
    #[inline]
    pub(super) fn holds_until(&self) -> Nanos {
        match &self.tokens {
            Some(tokens) if self.credit >= tokens.depth() => tokens.rests_at(),
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
        self.credit = 0;
    }
}

#[cfg(test)]
mod tests;
