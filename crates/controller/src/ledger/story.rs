//! The story of a command or of one of its units: a chain of causes without a gap.

use outlast_device::{LatencyCause as Cause, LatencyParts};
use outlast_flash::{DieActivity, ReadAccount};
use outlast_units::Nanos;

/// Where the time went until `until`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Story {
    pub(super) until: Nanos,
    pub(super) parts: LatencyParts,
}

impl Story {
    pub(super) fn begun(at: Nanos) -> Self {
        Self { until: at, parts: LatencyParts::default() }
    }

    /// All since the last word, until `now`, went into `cause`.
    pub(super) fn spend(&mut self, now: Nanos, cause: Cause) {
        debug_assert!(now >= self.until, "{cause:?} until {now}, after something until {}", self.until);
        self.parts[cause] += (now - self.until).0;
        self.until = now;
    }

    /// Waited for an entry of the mapping table.
    pub(super) fn waits_for_map(&mut self, since: Nanos, until: Nanos) {
        self.spend(since.max(self.until), Cause::Firmware);
        self.spend(until.max(self.until), Cause::Map);
    }

    /// A read of which `way` tells has ended now; until it began, `before` was the cause.
    pub(super) fn read(&mut self, now: Nanos, way: &ReadAccount, before: Cause) {
        self.spend(now - way.total(), before);
        for (activity, cause) in ACTIVITIES {
            self.parts[cause] += way.waited[activity as usize].0;
        }
        self.parts[Cause::Sensing] += way.sensing.0;
        self.parts[Cause::Channel] += way.channel.0;
        self.parts[Cause::Rereads] += way.rereads.0;
        self.until = now;
    }
}

/// Cause for which each activity of a die counts while a read waits for it.
const ACTIVITIES: [(DieActivity, Cause); DieActivity::COUNT] = [
    // A die at rest waits for what its firmware is about to have it do.
    (DieActivity::Rest, Cause::Firmware),
    (DieActivity::Read, Cause::DieRead),
    (DieActivity::Program, Cause::DieProgram),
    (DieActivity::Erase, Cause::DieErase),
    (DieActivity::Internal, Cause::DieCollection),
    (DieActivity::Suspend, Cause::Suspend),
    (DieActivity::Channel, Cause::Channel),
];
