//! How fast the array works for itself.

use crate::config::BackgroundConfig;
use outlast_units::{ByteRate, Bytes, Nanos};

/// What the host is doing, as far as the pace of background work depends on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostActivity {
    pub(crate) is_active: bool,
    /// When it last was served.
    pub(crate) last_served: Option<Nanos>,
}

/// Work whose rate code of the user's may decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Members are filled, group by group.
    Rebuild,
    /// Members get rows back that they have lost with a die.
    Repair,
}

/// The rate that code of the user's gave, until it is asked again.
#[derive(Clone, Copy, Debug, Default, outlast_persist::Persist)]
pub(crate) struct HeldRate {
    /// Absent: as the settings say.
    pub(crate) rate: Option<ByteRate>,
    pub(crate) until: Nanos,
}

impl HeldRate {
    /// When to look again at work that may not begin before `wake`.
    pub(crate) fn look_at(held: Option<Self>, wake: Nanos) -> Nanos {
        held.map_or(wake, |held| wake.min(held.until))
    }
}

/// The rates of both kinds of work.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub(crate) struct HeldRates {
    rebuild: HeldRate,
    repair: HeldRate,
}

impl HeldRates {
    pub(crate) fn of(&mut self, work: Work) -> &mut HeldRate {
        match work {
            Work::Rebuild => &mut self.rebuild,
            Work::Repair => &mut self.repair,
        }
    }
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
