//! Reclaim unit handles: which reclaim units they leave before these are full, at the host's wish, for their time limit or for a loss of power, and identifiers that the namespace does
//! not have.

use crate::inspect::PlacementEvents;
use crate::ssd::Ssd;
use outlast_controller::{CoreContext, Cores, Due};
use outlast_device::PlacementId;
use outlast_ftl::HandlesView;
use outlast_settings::placement::{PlacementConfig, UNKNOWN_IDENTIFIER};
use outlast_units::{CoreId, Nanos, Stream, SuperblockId};

/// When a handle opened the reclaim unit that it refers to in a flash core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, outlast_persist::Persist)]
struct UnitClock {
    /// Reclaim units that it had opened there.
    units: u64,
    since: Nanos,
}

/// Reclaim units that a handle left in a reclaim group before they were full, over the drive's life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, outlast_persist::Persist)]
struct LeftUnits {
    /// As the host wished.
    at_wish: u64,
    /// For their time limit.
    over_time: u64,
    /// For a loss of power.
    at_reset: u64,
}

/// Placement identifiers of the host's namespace, time limits, and events over the drive's life.
#[derive(Clone, Debug, Default, PartialEq, Eq, outlast_persist::Persist)]
#[persist(check)]
pub(crate) struct HostHandles {
    /// Identifiers that the namespace has; 0 without flexible data placement.
    #[persist(fixed)]
    identifiers: u64,
    /// Reclaim unit handles, and time limit of their reclaim units; none without a limit.
    #[persist(fixed)]
    limited: u64,
    #[persist(fixed)]
    limit: Nanos,
    #[persist(fixed)]
    cores: u64,
    #[persist(fixed)]
    groups: u64,
    invalid_identifiers: u64,
    /// By handle, and by reclaim group.
    left: Vec<LeftUnits>,
    /// By core, and by handle.
    clocks: Vec<UnitClock>,
}

impl HostHandles {
    pub(crate) fn new(config: Option<&PlacementConfig>, cores: usize) -> Self {
        let limit = config.and_then(PlacementConfig::time_limit);
        let handles = config.map_or(0, |own| own.handles().len());
        let limited = if limit.is_some() { handles } else { 0 };
        let groups = config.map_or(1, |own| usize::from(own.reclaim_groups()));
        Self {
            identifiers: config.map_or(0, |own| own.identifiers().len() as u64),
            limited: limited as u64,
            limit: limit.unwrap_or_default(),
            cores: cores as u64,
            groups: groups as u64,
            left: vec![LeftUnits::default(); handles * groups],
            clocks: vec![UnitClock::default(); cores * limited],
            ..Self::default()
        }
    }

    fn check_restored(&self) -> Result<(), String> {
        let handles = self.left.len() as u64;
        if !handles.is_multiple_of(self.groups) || self.limited != 0 && self.limited * self.groups != handles
        {
            return Err(format!("{handles} reclaim units are counted in {} groups", self.groups));
        }
        match self.cores.checked_mul(self.limited) {
            Some(clocks) if clocks == self.clocks.len() as u64 => Ok(()),
            _ => Err(format!("{} reclaim units have a time limit", self.clocks.len())),
        }
    }

    /// Takes note of a write with `identifier`. One that the namespace does not have goes through its first handle.
    #[inline]
    pub(crate) fn note_write(&mut self, identifier: PlacementId) {
        if self.identifiers != 0 {
            self.compare(identifier);
        }
    }

    #[cold]
    #[inline(never)]
    fn compare(&mut self, identifier: PlacementId) {
        self.invalid_identifiers += u64::from(u64::from(identifier.0) >= self.identifiers);
    }

    /// True if reclaim units have a time limit.
    #[inline]
    pub(crate) fn has_limit(&self) -> bool {
        self.limited != 0
    }

    /// Has the handle of `identifier` refer to an empty reclaim unit in the group of `identifier` from now on (`NVMe`: Reclaim Unit Handle Update). What was left of the one that it
    /// referred to is erased with it. Does nothing if that is empty, or without handles.
    pub(crate) fn update(
        &mut self,
        now: Nanos,
        (cores, context): (&mut Cores, &mut CoreContext),
        identifier: PlacementId,
    ) {
        if self.identifiers == 0 {
            return;
        }
        let group = context.groups().map_or(0, |groups| groups.named(identifier.0, UNKNOWN_IDENTIFIER));
        let own = context.groups().map(|groups| groups.cores(group));
        let own: Vec<CoreId> = own.map_or_else(|| cores.indices().collect(), Iterator::collect);
        let mut begun = None;
        for id in own {
            let stream = cores[id].ftl().streams().host(identifier.0, 0);
            if leave_unit(now, (&mut *cores, &mut *context), id, stream) {
                begun = Some(stream);
            }
        }
        if let Some(left) = begun.and_then(|stream| self.left_of(stream, group)) {
            left.at_wish += 1;
        }
    }

    fn left_of(&mut self, stream: Stream, group: u16) -> Option<&mut LeftUnits> {
        self.left.get_mut(usize::from(stream.0) * self.groups as usize + usize::from(group))
    }

    /// Adds the reclaim units that handle `handle` left in group `group` to `events`.
    pub(crate) fn add_left(&self, handle: usize, group: u16, events: &mut PlacementEvents) {
        if let Some(left) = self.left.get(handle * self.groups as usize + usize::from(group)) {
            events.reclaim_unit_not_fully_written += left.at_wish;
            events.reclaim_unit_time_limit_exceeded += left.over_time;
            events.reset_modified_handles += left.at_reset;
        }
    }

    /// Writes with an identifier that the namespace does not have.
    pub(crate) fn invalid_identifiers(&self) -> u64 {
        self.invalid_identifiers
    }

    fn clock(&mut self, core: CoreId, stream: Stream) -> Option<&mut UnitClock> {
        let handle = u64::from(stream.0);
        let at = usize::from(core.0) * self.limited as usize + usize::from(stream.0);
        self.clocks.get_mut(at).filter(|_| handle < self.limited)
    }
}

/// Has the handle that is `stream` refer to an empty reclaim unit in flash core `id`. True if the one that it referred to was begun and not full.
fn leave_unit(
    now: Nanos,
    (cores, context): (&mut Cores, &mut CoreContext),
    id: CoreId,
    stream: Stream,
) -> bool {
    let core = &mut cores[id];
    let open = core.ftl().stream(stream).open_superblock();
    let unopened = HandlesView::of(core.ftl()).unopened(stream).unwrap_or(0);
    if let Some(superblock) = open {
        if core.close_superblock(now, context, stream) {
            core.sealed(now, context, superblock);
        }
        core.make_due(context, Due::Collect);
    }
    core.ftl_mut().leave_unit(stream);
    open.is_some() || unopened != 0
}

impl Ssd {
    /// A unit of the host has entered the buffer of `core` through the handle that is `stream`: the time of a reclaim unit begins with its first.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_unit(&mut self, now: Nanos, core: CoreId, stream: Stream) {
        let counts = HandlesView::of(self.cores[core].ftl()).counts();
        let Some(&counts) = counts.get(usize::from(stream.0)) else { return };
        let limit = self.handles.limit;
        let Some(clock) = self.handles.clock(core, stream) else { return };
        if clock.units != counts.reclaim_units {
            *clock = UnitClock { units: counts.reclaim_units, since: now };
            self.context.call_housekeeping(Nanos(now.0.saturating_add(limit.0)));
        }
    }

    /// When the reclaim unit that the handle that is `stream` refers to in `core` is to be left; `None` if it has no time limit, or is empty or full.
    fn unit_ends(&self, core: CoreId, stream: Stream) -> Option<Nanos> {
        let at = usize::from(core.0) * self.handles.limited as usize + usize::from(stream.0);
        let (clock, ftl) = (self.handles.clocks.get(at)?, self.cores[core].ftl());
        let view = HandlesView::of(ftl);
        let is_same = view.counts().get(usize::from(stream.0))?.reclaim_units == clock.units;
        let is_begun = ftl.stream(stream).open_superblock().is_some() || view.unopened(stream)? != 0;
        let ends = Nanos(clock.since.0.saturating_add(self.handles.limit.0));
        (is_same && is_begun && view.unopened(stream).is_some()).then_some(ends)
    }

    /// Has handles leave the reclaim units whose time limit is over at `now`. Returns when the next one is.
    pub(crate) fn limit_units(&mut self, now: Nanos) -> Nanos {
        let mut next = Nanos::MAX;
        if !self.handles.has_limit() {
            return next;
        }
        for core in self.cores.indices() {
            for stream in (0..self.handles.limited as u8).map(Stream) {
                match self.unit_ends(core, stream) {
                    Some(ends) if ends <= now => {
                        leave_unit(now, (&mut self.cores, &mut self.context), core, stream);
                        let group = self.context.groups().map_or(0, |groups| groups.group_of(core));
                        if let Some(left) = self.handles.left_of(stream, group) {
                            left.over_time += 1;
                        }
                    }
                    Some(ends) => next = next.min(ends),
                    None => {}
                }
            }
        }
        next
    }

    /// How long until each handle leaves the reclaim unit that it refers to for its time limit, the first of `cores`; absent where none has one.
    pub(crate) fn unit_times(&self, now: Nanos, cores: &[CoreId]) -> Vec<Option<Nanos>> {
        let first = |stream| {
            let ends = cores.iter().filter_map(|&core| self.unit_ends(core, stream)).min();
            ends.map(|ends| ends.saturating_sub(now))
        };
        (0..self.handles.limited as u8).map(Stream).map(first).collect()
    }

    /// The superblocks that handles have open, by core and by handle; nothing without handles.
    pub(crate) fn open_units(&self) -> Vec<Vec<Option<SuperblockId>>> {
        let of = |core: CoreId| {
            let ftl = self.cores[core].ftl();
            let hosts = ftl.streams().hosts().filter(|_| self.handles.identifiers != 0);
            hosts.map(|stream| ftl.stream(stream).open_superblock()).collect()
        };
        self.cores.indices().map(of).collect()
    }

    /// Counts the handles that refer to other reclaim units than before a loss of power, when `before` were open, in each reclaim group.
    pub(crate) fn note_reset_units(&mut self, before: &[Vec<Option<SuperblockId>>]) {
        let after = self.open_units();
        let per_group = before.len() / self.handles.groups as usize;
        let groups = before.chunks(per_group.max(1)).zip(after.chunks(per_group.max(1)));
        for (group, (before, after)) in (0..).zip(groups) {
            for handle in 0..before.first().map_or(0, Vec::len) {
                let mut cores = before.iter().zip(after);
                let is_changed = cores
                    .any(|(before, after)| before[handle].is_some_and(|open| after[handle] != Some(open)));
                if let Some(left) = self.handles.left_of(Stream(handle as u8), group) {
                    left.at_reset += u64::from(is_changed);
                }
            }
        }
    }
}
