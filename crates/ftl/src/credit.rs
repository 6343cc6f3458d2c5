//! Credit of the host: units that it may write while collection runs. It is the bound of space, the same with time and without.
//!
//! Collection grants credit with each unit that it handles. Below its high mark, where the host could open a further superblock, and where it takes
//! room from the host's streams itself, the grant is the host's share of the slots that the victim gains; else a part of the room that host streams
//! have left, such that the room ends when the next superblock has been gained.

mod shares;
mod work;

pub use work::VictimWork;

use crate::ftl::Ftl;
use outlast_settings::ftl::{GcConfig, Pacing};
use outlast_units::{Nanos, SuperblockId};
use shares::{host_room, kept_back, share_of};
use work::VictimProgress;

/// Credit is counted in 2^-16 units.
pub const CREDIT_PER_UNIT: u64 = 1 << 16;
/// Credit while collection works ahead: more than the host writes meanwhile.
const AHEAD: u64 = 1 << 62;

/// Credit of the host, and the rules by which collection grants it.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
#[allow(clippy::struct_excessive_bools, reason = "settings, each asked for by itself")]
pub struct HostCredit {
    #[persist(fixed)]
    paces: bool,
    /// True if the next victim is read while the last one is erased.
    #[persist(fixed)]
    overlaps: bool,
    /// True if collection moves data to the host's streams.
    #[persist(fixed)]
    is_mixed: bool,
    /// True if only the room of the host's open superblocks is granted: no marks, and no superblocks that are still to come.
    #[persist(fixed)]
    is_smooth: bool,
    /// As `is_smooth`, but true even if a policy of the user's cuts the grant.
    #[persist(fixed)]
    is_plain: bool,
    /// The host's share of what collection gains on its way to the high mark, in 2^-16; absent without such a mark.
    #[persist(fixed)]
    share: Option<u64>,
    /// Host units that may be written while collection runs, in 2^-16 units.
    amount: u64,
    /// True if collection works ahead of need on its victim: the host writes as if it did not run.
    is_ahead: bool,
    /// Part of each grant that the user's policy keeps from the host, in 2^-16.
    withheld: u64,
}

impl HostCredit {
    /// No credit yet, on a core with translation layer `ftl`.
    #[allow(clippy::cast_possible_truncation, reason = "a share is between 0 and 1, and 2^16 stands for 1")]
    pub fn new(ftl: &Ftl, gc: &GcConfig) -> Self {
        let plain = !ftl.space().has_marks() && !gc.overlap && !ftl.streams().are_mixed();
        let share = (gc.host_share.unwrap_or(1.0) * CREDIT_PER_UNIT as f64) as u64;
        Self {
            paces: gc.pacing != Pacing::None,
            overlaps: gc.overlap,
            is_mixed: ftl.streams().are_mixed(),
            is_smooth: plain
                && !ftl.space().has_slc_cache()
                && gc.pacing != Pacing::Token
                && !ftl.is_paced_by_policy(),
            is_plain: plain && gc.pacing != Pacing::Token,
            share: ftl.space().has_marks().then_some(share),
            amount: 0,
            is_ahead: false,
            withheld: 0,
        }
    }

    /// True if a host write may enter though collection runs. `has_room`: enough room is left for the units that are being moved.
    #[inline]
    pub fn lets_in(&self, has_room: impl FnOnce() -> bool) -> bool {
        (!self.paces || self.has_one()) && (self.is_plain || has_room())
    }

    /// True if there is credit for a host write.
    #[inline]
    pub fn has_one(&self) -> bool {
        self.amount >= CREDIT_PER_UNIT
    }

    /// Credit, in 2^-16 units.
    #[inline]
    pub fn amount(&self) -> u64 {
        self.amount
    }

    /// True if no write enters without credit.
    #[inline]
    pub fn paces(&self) -> bool {
        self.paces
    }

    /// True if only the room of the host's open superblocks is granted.
    #[inline]
    pub fn is_smooth(&self) -> bool {
        self.is_smooth
    }

    /// As [`HostCredit::is_smooth`], but true even if a policy of the user's cuts the grant.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// True if collection moves data to the host's streams.
    #[inline]
    pub fn is_mixed(&self) -> bool {
        self.is_mixed
    }

    /// True if grants are shares of the slots that victims gain: below a high mark, and where collection takes room from the host's streams.
    #[inline]
    pub fn shares_gain(&self) -> bool {
        self.is_mixed || self.share.is_some()
    }

    /// Spends the credit of a host write, which enters while collection runs.
    #[inline]
    pub fn spend(&mut self) {
        self.amount = self.amount.saturating_sub(CREDIT_PER_UNIT);
    }

    /// Spends the credit of as many writes as it allows; returns their number.
    pub(crate) fn take_writes(&mut self) -> u32 {
        if !self.paces {
            return u32::MAX;
        }
        let writes = u32::try_from(self.amount / CREDIT_PER_UNIT).unwrap_or(u32::MAX);
        self.amount -= u64::from(writes) * CREDIT_PER_UNIT;
        writes
    }

    /// Returns the credit of `writes` writes that were [taken](HostCredit::take_writes) and have not entered.
    pub(crate) fn return_writes(&mut self, writes: u32) {
        if self.paces {
            self.amount += u64::from(writes) * CREDIT_PER_UNIT;
        }
    }

    /// Drops all credit: power has failed.
    pub fn forget(&mut self) {
        self.amount = 0;
        self.is_ahead = false;
    }

    /// Begins collection of `victim` at `now`, while `waiting` writes of the host wait. True if a burst of collection begins with it.
    pub fn begin_victim(&mut self, now: Nanos, ftl: &mut Ftl, victim: SuperblockId, waiting: u32) -> bool {
        let begins = ftl.begin_collection();
        if begins {
            self.begin_burst();
        }
        if ftl.space().has_slc_cache() {
            self.begin_ahead(ftl.space().collects_ahead());
        }
        if ftl.is_paced_by_policy() {
            let room = host_room(ftl);
            self.withhold(1.0 - ftl.choose_host_share(now, victim, room, waiting));
        }
        begins
    }

    /// Begins a victim that collection takes ahead of need, or one that it needs: then no credit is left from before.
    fn begin_ahead(&mut self, ahead: bool) {
        if ahead {
            self.amount = AHEAD;
        } else if self.is_ahead {
            self.amount = 0;
        }
        self.is_ahead = ahead;
    }

    /// Begins a burst of collection at the low mark: credit left over from before is not of this burst.
    fn begin_burst(&mut self) {
        if self.share.is_some() {
            self.amount = 0;
        }
    }

    /// Keeps `part` of each grant from now on from the host.
    #[allow(clippy::cast_possible_truncation, reason = "a part is between 0 and 1, and 2^16 stands for 1")]
    fn withhold(&mut self, part: f64) {
        self.withheld = (part * CREDIT_PER_UNIT as f64) as u64;
    }

    /// Grants the host its share after collection has handled `units` units of its victim. Where victims overlap, `coming` superblocks will be free
    /// that no grant has counted. Returns the grant, in 2^-16 units; 0 where grants are smooth, as no tokens follow from them.
    #[allow(clippy::inline_always, reason = "once for each read of collection")]
    #[inline(always)]
    pub fn grant_for_units(
        &mut self,
        ftl: &Ftl,
        work: &mut VictimWork,
        units: u32,
        coming: impl FnOnce() -> u32,
    ) -> u64 {
        let progress = work.advance(units);
        if self.is_smooth {
            // The room of all streams together: a stream that is full waits by itself.
            let room = host_room(ftl);
            self.amount = (self.amount + share_of(room, kept_back(ftl), progress))
                .min(u64::from(room) * CREDIT_PER_UNIT);
            return 0;
        }
        self.grant_with_extras(ftl, work, progress, coming)
    }

    /// As [`HostCredit::grant_for_units`], where there are marks or tokens, or victims overlap.
    #[inline(never)]
    fn grant_with_extras(
        &mut self,
        ftl: &Ftl,
        work: &mut VictimWork,
        progress: VictimProgress,
        coming: impl FnOnce() -> u32,
    ) -> u64 {
        if self.is_ahead {
            return 0;
        }
        if self.shares_gain() {
            let gain = work.take_gain(progress.units);
            if self.is_mixed || ftl.space().free_superblocks() > ftl.space().reserve() {
                return self.grant_gain(ftl.layout().units_per_superblock(), gain);
            }
        }
        // Room is kept back for the time of an erasure, which stops collection unless victims overlap.
        let (room, kept_back) = if self.overlaps {
            (ftl.space().room_for_host(coming()), 0)
        } else {
            (host_room(ftl), kept_back(ftl))
        };
        self.grant_room(room, kept_back, progress)
    }

    /// Grants the host its share of the gain that did not come with units, once all of the victim has been moved. Returns the grant.
    pub fn grant_rest(&mut self, ftl: &Ftl, work: &mut VictimWork) -> u64 {
        if !self.shares_gain() || self.is_ahead {
            return 0;
        }
        self.grant_gain(ftl.layout().units_per_superblock(), work.take_remaining_gain())
    }

    /// Grants the part of `room` that [`share_of`] gives, cut to the host's share if there is a high mark.
    fn grant_room(&mut self, room: u32, kept_back: u32, progress: VictimProgress) -> u64 {
        let share = share_of(room, kept_back, progress);
        self.add(
            self.share.map_or(share, |part| share * part / CREDIT_PER_UNIT),
            u64::from(room) * CREDIT_PER_UNIT,
        )
    }

    /// Grants the host's share of `gain`, in 2^-16 units; no more than `most` units are saved.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the share of the host is at most 1: no more than `gain`"
    )]
    fn grant_gain(&mut self, most: u32, gain: u64) -> u64 {
        let host_share = self.share.unwrap_or(CREDIT_PER_UNIT);
        self.add(
            (u128::from(gain) * u128::from(host_share) / u128::from(CREDIT_PER_UNIT)) as u64,
            u64::from(most) * CREDIT_PER_UNIT,
        )
    }

    #[allow(clippy::cast_possible_truncation, reason = "at most 1 is withheld: no more than `share`")]
    fn add(&mut self, share: u64, most: u64) -> u64 {
        let withheld =
            (u128::from(share) * u128::from(self.withheld)).div_ceil(u128::from(CREDIT_PER_UNIT)) as u64;
        // Rounded up above: rounding never grants more than the policy allows.
        let share = share - withheld;
        self.amount = (self.amount + share).min(most);
        share
    }
}

#[cfg(test)]
mod tests;
