//! What the array does for itself, one pass over all groups at a time: which comes next, and how fast.
//!
//! Everything here is a decision over plain data; what it takes to carry one out is the machine's part.

mod check;
mod pace;
mod pass;
mod wanted;

pub(crate) use pace::{HeldRate, HeldRates, Leave, Pacer, Work};

use crate::placement::ShiftPlan;
use outlast_settings::array::BackgroundConfig;
use outlast_units::{Bytes, Nanos};
use pass::AHEAD;
pub(crate) use pass::Pass;
use serde::Serialize;

/// What a pass does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, outlast_persist::Persist)]
#[serde(rename_all = "kebab-case")]
pub enum PassKind {
    /// Fills new members (md: recovery); parity moves on the way where it has to.
    Rebuild,
    /// Makes parity fit data after a loss of power (md: resync).
    Resync,
    /// Moves parity (md: reshape).
    Shift,
    /// Looks at everything (md: check, repair).
    Scrub,
    /// Gives a member back what it has lost with a die. Not a pass over groups: it goes on beside a rebuild.
    Repair,
}

/// A scrub that is wanted or under way.
#[derive(Clone, Copy, Debug, outlast_persist::Persist)]
struct Scrub {
    base: u64,
    repair: bool,
    mismatches_before: u64,
}

/// What the choice of a pass depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    /// First group that some member which is being filled lacks.
    pub(crate) rebuild_from: Option<u64>,
    /// Whether rebuilding saves anything.
    pub(crate) can_rebuild: bool,
    /// Whether rows of members are being written back: passes that look at whole groups wait.
    pub(crate) recovering: bool,
    /// First group whose redundancy is in doubt.
    pub(crate) resync_from: Option<u64>,
    /// Whether a pass is to move parity, and no data is missing for good.
    pub(crate) can_shift: bool,
}

/// What the pass under way does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// None is under way.
    Idle,
    /// It must be given up: nothing is saved by it.
    GiveUp,
    /// Every group is done.
    End(PassKind),
    /// As many groups as may be are under way.
    Wait,
    /// This group is next.
    Look(PassKind, u64),
}

/// Everything that the array does for itself.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct Passes {
    under_way: Option<Pass>,
    /// Counts passes, so that operations of one that was given up are known.
    epoch: u32,
    /// When to look again.
    wake: Nanos,
    /// Look as soon as the event at hand is done.
    pump: bool,
    scrub: Option<Scrub>,
    #[persist(fixed)]
    scrub_interval: Option<Nanos>,
    /// When the next scrub is due.
    next_scrub: Nanos,
    /// A shift that waits for reads without locks to end; `true`: the lazy way.
    pending_shift: Option<(ShiftPlan, bool)>,
    /// Another replacement came before parity was where the last one wanted it.
    replan: bool,
    shifting: bool,
    /// Groups that may be under way at once.
    window: u32,
    /// What code of the user's said about the pace.
    pub(crate) rates: HeldRates,
}

impl Passes {
    pub(crate) fn new(settings: &BackgroundConfig) -> Self {
        Self {
            under_way: None,
            epoch: 0,
            wake: Nanos::MAX,
            pump: false,
            scrub: None,
            scrub_interval: settings.scrub_interval,
            next_scrub: settings.scrub_interval.unwrap_or(Nanos::MAX),
            pending_shift: None,
            replan: false,
            shifting: false,
            window: settings.groups_at_once(),
            rates: HeldRates::default(),
        }
    }

    /// Whether parity moves.
    pub(crate) fn is_shifting(&self) -> bool {
        self.shifting
    }

    /// The shift that waits for reads to end.
    pub(crate) fn pending_shift(&self) -> Option<&(ShiftPlan, bool)> {
        self.pending_shift.as_ref()
    }

    /// How many passes have begun.
    pub(crate) fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Whether parity moves or is about to, so that reads need a lock.
    #[inline]
    pub(crate) fn moves_parity(&self) -> bool {
        self.shifting || self.pending_shift.is_some()
    }

    /// The pass under way.
    #[inline]
    pub(crate) fn under_way(&self) -> Option<&Pass> {
        self.under_way.as_ref()
    }

    /// Operations of the pass under way.
    pub(crate) fn operations(&self) -> usize {
        self.under_way.as_ref().map_or(0, |pass| pass.in_flight as usize)
    }

    /// When something is due by itself.
    #[inline]
    pub(crate) fn deadline(&self) -> Nanos {
        self.wake.min(self.next_scrub)
    }

    /// Passes and repairs are to be looked at when the event at hand is done.
    #[inline]
    pub(crate) fn ask(&mut self) {
        self.pump = true;
    }

    /// Whether passes and repairs are to be looked at.
    #[inline]
    pub(crate) fn is_pump_due(&self) -> bool {
        self.pump
    }

    /// As [`Passes::is_pump_due`], once.
    pub(crate) fn take_pump(&mut self) -> bool {
        std::mem::take(&mut self.pump)
    }

    /// Passes and repairs are to be looked at, at `at` at the latest.
    pub(crate) fn look_at(&mut self, at: Nanos) {
        self.wake = self.wake.min(at);
    }

    /// Time has come to `now`.
    pub(crate) fn wake_up(&mut self, now: Nanos) {
        if self.wake <= now {
            self.wake = Nanos::MAX;
            self.pump = true;
        }
    }

    /// The pass that matters most now, and the group it begins with.
    pub(crate) fn choose(&self, view: &View) -> Option<(PassKind, u64)> {
        debug_assert!(self.under_way.is_none(), "one pass at a time");
        if let Some(from) = view.rebuild_from.filter(|_| view.can_rebuild) {
            return Some((PassKind::Rebuild, from));
        }
        if view.recovering {
            return None;
        }
        if let Some(from) = view.resync_from {
            return Some((PassKind::Resync, from));
        }
        if view.can_shift {
            return Some((PassKind::Shift, 0));
        }
        self.scrub.map(|scrub| (PassKind::Scrub, scrub.base))
    }

    /// A pass begins.
    pub(crate) fn begin(&mut self, kind: PassKind, from: u64) {
        self.epoch += 1;
        self.under_way =
            Some(Pass { kind, base: from, done: 0, next: from, in_flight: 0, pacer: Pacer::new() });
    }

    /// What the pass under way does next, of `groups` groups; `can_rebuild`: whether rebuilding saves anything.
    pub(crate) fn next(&self, groups: u64, can_rebuild: bool) -> Turn {
        let Some(pass) = &self.under_way else { return Turn::Idle };
        if pass.kind == PassKind::Rebuild && !can_rebuild {
            Turn::GiveUp
        } else if pass.base == groups {
            Turn::End(pass.kind)
        } else if pass.in_flight >= self.window || pass.next >= pass.base + AHEAD || pass.next == groups {
            Turn::Wait
        } else {
            Turn::Look(pass.kind, pass.next)
        }
    }

    /// The next group of the pass, `bytes` of each member, is worked on from `now`. Returns the name under which its operation reports back.
    pub(crate) fn work_begins(&mut self, now: Nanos, bytes: Bytes) -> u32 {
        if let Some(pass) = &mut self.under_way {
            pass.next += 1;
            pass.in_flight += 1;
            pass.pacer.begins(now, bytes);
        }
        self.epoch
    }

    /// The pace of the pass under way, and how many of its operations there are.
    pub(crate) fn pacer(&mut self) -> Option<(&mut Pacer, usize)> {
        self.under_way.as_mut().map(|pass| (&mut pass.pacer, pass.in_flight as usize))
    }

    /// The next group, `bytes` of each member, needs nothing. Returns what [`Passes::work_ends`] returns.
    pub(crate) fn skip(&mut self, group: u64, bytes: Bytes) -> Option<(PassKind, u64)> {
        if let Some(pass) = &mut self.under_way {
            debug_assert!(pass.next == group, "groups are skipped in order");
            pass.next += 1;
            pass.pacer.skips(bytes);
        }
        self.mark_done(group)
    }

    /// An operation of the pass `epoch` has ended. Returns the kind of pass and up to which group it is done, where that is further than
    /// before.
    pub(crate) fn work_ends(&mut self, group: u64, epoch: u32) -> Option<(PassKind, u64)> {
        let pass = self.under_way.as_mut().filter(|_| epoch == self.epoch)?;
        debug_assert!(pass.in_flight > 0, "an operation of a pass ends once");
        pass.in_flight -= 1;
        self.pump = true;
        self.mark_done(group)
    }

    fn mark_done(&mut self, group: u64) -> Option<(PassKind, u64)> {
        let pass = self.under_way.as_mut()?;
        debug_assert!((pass.base..pass.base + AHEAD).contains(&group), "a pass works within its window");
        pass.done |= 1 << (group - pass.base);
        let run = pass.done.trailing_ones();
        pass.done = pass.done.checked_shr(run).unwrap_or(0);
        pass.base += u64::from(run);
        if run == 0 {
            return None;
        }
        let (kind, base) = (pass.kind, pass.base);
        if let (PassKind::Scrub, Some(scrub)) = (kind, &mut self.scrub) {
            scrub.base = base;
        }
        Some((kind, base))
    }

    /// The pass under way is over, or begins again later.
    pub(crate) fn drop_pass(&mut self) {
        self.under_way = None;
    }

    /// Power is gone.
    pub(crate) fn after_power_cut(&mut self) {
        self.under_way = None;
        self.epoch += 1;
        self.pump = true;
    }
}

#[cfg(test)]
mod tests;
