//! What the array does for itself, one pass over all groups at a time: which comes next, and how fast.
//!
//! Everything here is a decision over plain data; what it takes to carry one out is the machine's part.

use crate::config::BackgroundConfig;
use crate::placement::ShiftPlan;
use outlast_units::{ByteRate, Bytes, Nanos};
use serde::Serialize;

/// What a pass does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
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

/// Groups that a pass may be ahead of the first that is not done: bits of one word.
const AHEAD: u64 = 64;

/// A pass under way.
#[derive(Clone, Debug)]
pub(crate) struct Pass {
    pub(crate) kind: PassKind,
    /// Groups below this are done; bits of `done` tell which of the next 64 are.
    pub(crate) base: u64,
    done: u64,
    next: u64,
    in_flight: u32,
    pub(crate) first: u64,
    pub(crate) started: Nanos,
    last_start: Option<Nanos>,
}

/// A scrub that is wanted or under way.
#[derive(Clone, Copy, Debug)]
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

/// What the host is doing, as far as the pace of background work depends on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostActivity {
    pub(crate) is_active: bool,
    /// When it last was served.
    pub(crate) last_served: Option<Nanos>,
}

/// When the next piece of work may begin, if not now: the last one, of `bytes`, began at `last`. `fixed` is a rate that holds whether
/// the host is active or not.
pub(crate) fn pace(
    settings: &BackgroundConfig,
    host: HostActivity,
    now: Nanos,
    (last, bytes): (Nanos, Bytes),
    fixed: Option<ByteRate>,
) -> Option<Nanos> {
    let due = |rate: Option<ByteRate>| last + rate.map_or(Nanos::ZERO, |rate| rate.time_for(bytes));
    if fixed.is_some() {
        return Some(due(fixed)).filter(|&wake| wake > now);
    }
    let idle_from = host.last_served.map_or(Nanos::ZERO, |at| at + settings.idle_after);
    let (slow, fast) = (settings.min_rate.or(settings.max_rate), settings.max_rate);
    let wake = if host.is_active {
        due(slow)
    } else if now >= idle_from {
        due(fast)
    } else {
        due(slow).min(due(fast).max(idle_from))
    };
    (wake > now).then_some(wake)
}

/// Everything that the array does for itself.
#[derive(Clone, Debug)]
pub(crate) struct Passes {
    under_way: Option<Pass>,
    /// Counts passes, so that operations of one that was given up are known.
    epoch: u32,
    /// When to look again.
    wake: Nanos,
    /// Look as soon as the event at hand is done.
    pump: bool,
    scrub: Option<Scrub>,
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
            window: settings.window.into(),
        }
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
    pub(crate) fn begin(&mut self, now: Nanos, kind: PassKind, from: u64) {
        self.epoch += 1;
        self.under_way = Some(Pass {
            kind,
            base: from,
            done: 0,
            next: from,
            in_flight: 0,
            first: from,
            started: now,
            last_start: None,
        });
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

    /// The next group of the pass is worked on from `now`. Returns the name under which its operation reports back.
    pub(crate) fn work_begins(&mut self, now: Nanos) -> u32 {
        if let Some(pass) = &mut self.under_way {
            pass.next += 1;
            pass.in_flight += 1;
            pass.last_start = Some(now);
        }
        self.epoch
    }

    /// When the last group was begun.
    pub(crate) fn last_start(&self) -> Option<Nanos> {
        self.under_way.as_ref()?.last_start
    }

    /// The next group needs nothing. Returns what [`Passes::work_ends`] returns.
    pub(crate) fn skip(&mut self, group: u64) -> Option<(PassKind, u64)> {
        if let Some(pass) = &mut self.under_way {
            debug_assert!(pass.next == group, "groups are skipped in order");
            pass.next += 1;
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

    /// A scrub is wanted; a scrub under way begins again.
    pub(crate) fn want_scrub(&mut self, repair: bool, mismatches: u64) {
        self.scrub = Some(Scrub { base: 0, repair, mismatches_before: mismatches });
        if self.under_way.as_ref().is_some_and(|pass| pass.kind == PassKind::Scrub) {
            self.under_way = None;
        }
        self.pump = true;
    }

    /// Whether a scrub is due by time.
    pub(crate) fn is_scrub_due(&self, now: Nanos) -> bool {
        self.next_scrub <= now
    }

    /// A scrub is due by time; one that is wanted or under way already will do.
    pub(crate) fn scrub_by_time(&mut self, mismatches: u64) {
        self.next_scrub = Nanos::MAX;
        self.scrub.get_or_insert(Scrub { base: 0, repair: true, mismatches_before: mismatches });
        self.pump = true;
    }

    /// Whether the scrub under way makes redundancy fit.
    pub(crate) fn scrub_repairs(&self) -> bool {
        self.scrub.is_some_and(|scrub| scrub.repair)
    }

    /// A scrub has ended. Returns how many mismatches there had been before it.
    pub(crate) fn scrub_ends(&mut self, now: Nanos) -> Option<u64> {
        self.next_scrub = self.scrub_interval.map_or(Nanos::MAX, |span| now + span);
        self.scrub.take().map(|scrub| scrub.mismatches_before)
    }

    /// Parity is to move as soon as no read without a lock is under way.
    pub(crate) fn want_shift(&mut self, plan: ShiftPlan, lazy: bool) {
        self.pending_shift = Some((plan, lazy));
        self.pump = true;
    }

    /// Whether parity waits to be moved.
    #[inline]
    pub(crate) fn is_shift_pending(&self) -> bool {
        self.pending_shift.is_some()
    }

    /// The shift that waits, if there is one, begins.
    pub(crate) fn begin_shift(&mut self) -> Option<(ShiftPlan, bool)> {
        let shift = self.pending_shift.take();
        self.shifting |= shift.is_some();
        shift
    }

    /// A shift that waits is not to be lazy.
    pub(crate) fn hurry_shift(&mut self) {
        if let Some((_, lazy)) = &mut self.pending_shift {
            *lazy = false;
        }
        self.pump = true;
    }

    /// Members have changed before parity was where it was wanted.
    pub(crate) fn want_another_shift(&mut self) {
        self.replan = true;
    }

    /// Parity is where it was wanted. Returns whether another shift is to be planned.
    pub(crate) fn shift_ends(&mut self) -> bool {
        self.shifting = false;
        self.pump = true;
        std::mem::take(&mut self.replan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outlast_units::rng::SplitMix;

    fn view() -> View {
        View { rebuild_from: None, can_rebuild: true, recovering: false, resync_from: None, can_shift: false }
    }

    fn passes() -> Passes {
        Passes::new(&BackgroundConfig::default())
    }

    /// Lost redundancy comes before redundancy in doubt, that before parity in the wrong place, that before a look at everything; and rows
    /// that are written back hold all but a rebuild.
    #[test]
    fn the_pass_that_matters_most_comes_first() {
        let mut passes = passes();
        assert_eq!(passes.choose(&view()), None);
        passes.want_scrub(false, 0);
        assert_eq!(passes.choose(&view()), Some((PassKind::Scrub, 0)));
        let shift = View { can_shift: true, ..view() };
        assert_eq!(passes.choose(&shift), Some((PassKind::Shift, 0)));
        let resync = View { resync_from: Some(3), ..shift };
        assert_eq!(passes.choose(&resync), Some((PassKind::Resync, 3)));
        let rebuild = View { rebuild_from: Some(7), ..resync };
        assert_eq!(passes.choose(&rebuild), Some((PassKind::Rebuild, 7)));
        assert_eq!(passes.choose(&View { can_rebuild: false, ..rebuild }), Some((PassKind::Resync, 3)));
        assert_eq!(passes.choose(&View { recovering: true, ..rebuild }), Some((PassKind::Rebuild, 7)));
        assert_eq!(passes.choose(&View { recovering: true, ..resync }), None);
    }

    /// In whatever order groups end, the pass tells each group done once, stays within its window, and ends after the last.
    #[test]
    fn a_pass_does_every_group_once_whatever_the_order() {
        let mut rng = SplitMix::new(5, "passes");
        for groups in [1, 2, 63, 64, 65, 500] {
            let mut passes = passes();
            passes.begin(Nanos(1), PassKind::Resync, 0);
            let (mut open, mut seen, mut base) = (Vec::new(), vec![0; groups as usize], 0);
            loop {
                match passes.next(groups, true) {
                    Turn::Look(kind, group) => {
                        assert_eq!(kind, PassKind::Resync);
                        assert!(group < base + AHEAD, "group {group} lies beyond the window at {base}");
                        seen[group as usize] += 1;
                        if rng.below(3) == 0 {
                            base = passes.skip(group).map_or(base, |(_, done)| done);
                        } else {
                            open.push((group, passes.work_begins(Nanos(2))));
                        }
                    }
                    Turn::Wait => {
                        assert!(!open.is_empty(), "a pass that waits for nothing never ends");
                        let (group, epoch) = open.swap_remove(rng.below(open.len() as u64) as usize);
                        base = passes.work_ends(group, epoch).map_or(base, |(_, done)| done);
                    }
                    Turn::End(_) => break,
                    other => panic!("{other:?}"),
                }
                assert_eq!(passes.operations(), open.len());
            }
            assert_eq!((base, seen.iter().all(|&times| times == 1)), (groups, true));
        }
    }

    /// What a pass that was given up still had under way does not count for the next one.
    #[test]
    fn operations_of_a_pass_that_was_given_up_are_not_counted() {
        let mut passes = passes();
        passes.begin(Nanos(1), PassKind::Rebuild, 0);
        let old = passes.work_begins(Nanos(1));
        assert_eq!(passes.next(10, false), Turn::GiveUp);
        passes.drop_pass();
        passes.begin(Nanos(2), PassKind::Scrub, 0);
        let new = passes.work_begins(Nanos(2));
        assert_eq!((passes.work_ends(0, old), passes.operations()), (None, 1));
        assert_eq!((passes.work_ends(0, new), passes.operations()), (Some((PassKind::Scrub, 1)), 0));
    }

    /// The pace while the host is active, has just been, and has long been idle; and a rate of its own.
    #[test]
    fn the_pace_follows_the_host() {
        let settings = BackgroundConfig {
            min_rate: ByteRate::new(1000),
            max_rate: ByteRate::new(1_000_000),
            idle_after: Nanos::millis(500),
            ..BackgroundConfig::default()
        };
        let piece = (Nanos::secs(10), Bytes(1000));
        let next = |is_active, last_served, now, fixed| {
            pace(&settings, HostActivity { is_active, last_served }, now, piece, fixed)
        };
        let begun = Nanos::secs(10);
        assert_eq!(
            next(true, Some(begun), begun, None),
            Some(Nanos::secs(11)),
            "the slow rate beside the host"
        );
        assert_eq!(next(false, None, begun, None), Some(Nanos::millis(10_001)), "the fast rate without it");
        assert_eq!(
            next(false, Some(begun), begun, None),
            Some(Nanos::millis(10_500)),
            "once it counts as idle"
        );
        assert_eq!(next(false, None, Nanos::millis(10_001), None), None, "now");
        assert_eq!(next(false, None, begun, ByteRate::new(500)), Some(Nanos::secs(12)), "a rate of its own");
    }
}
