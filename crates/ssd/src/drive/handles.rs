//! Reclaim unit handles: the host has one refer to an empty reclaim unit, and names one that its namespace does not have.

use outlast_controller::{CoreContext, Cores, Due};
use outlast_device::PlacementId;
use outlast_settings::placement::PlacementConfig;
use outlast_units::Nanos;

/// Placement identifiers of the host's namespace, and the events that the host has caused with them over the drive's life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, outlast_persist::Persist)]
pub(crate) struct HostHandles {
    /// Identifiers that the namespace has; 0 without flexible data placement.
    #[persist(fixed)]
    identifiers: u64,
    invalid_identifiers: u64,
    not_fully_written: u64,
}

impl HostHandles {
    pub(crate) fn new(config: Option<&PlacementConfig>) -> Self {
        Self { identifiers: config.map_or(0, |own| own.handle_list().len() as u64), ..Self::default() }
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

    /// Has the handle of `identifier` refer to an empty reclaim unit from now on (`NVMe`: Reclaim Unit Handle Update). What was left of the one that it
    /// referred to is erased with it. Does nothing if that is empty, or without handles.
    pub(crate) fn update(
        &mut self,
        now: Nanos,
        (cores, context): (&mut Cores, &mut CoreContext),
        identifier: PlacementId,
    ) {
        let mut was_begun = false;
        for core in cores {
            let stream = core.ftl().streams().host(identifier.0, 0);
            let open = core.ftl().stream(stream).open_superblock();
            let Some(superblock) = open.filter(|_| self.identifiers != 0) else { continue };
            if core.close_superblock(now, context, stream) {
                core.sealed(now, context, superblock);
            }
            core.make_due(context, Due::Collect);
            was_begun = true;
        }
        self.not_fully_written += u64::from(was_begun);
    }

    /// Writes with an identifier that the namespace does not have.
    pub(crate) fn invalid_identifiers(self) -> u64 {
        self.invalid_identifiers
    }

    /// Reclaim units that a handle left before they were full.
    pub(crate) fn not_fully_written(self) -> u64 {
        self.not_fully_written
    }
}
