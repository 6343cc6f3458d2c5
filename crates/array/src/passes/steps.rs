//! Facts that the choice of a pass depends on, and the next step of a pass.

use super::PassKind;
use crate::ids::GroupIndex;

/// The facts that the choice of a pass depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PassView {
    /// First group that a member lacks which is being filled.
    pub(crate) rebuild_from: Option<GroupIndex>,
    /// A rebuild saves data.
    pub(crate) can_rebuild: bool,
    /// Rows of members are being written back: passes over whole groups wait.
    pub(crate) recovering: bool,
    /// First group whose redundancy is in doubt.
    pub(crate) resync_from: Option<GroupIndex>,
    /// A pass is to move parity, and enough members are present.
    pub(crate) can_shift: bool,
}

/// The next step of the pass under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PassStep {
    /// No pass is under way.
    Idle,
    /// Give the pass up: it would save no data.
    GiveUp,
    /// Every group is done: end the pass.
    End(PassKind),
    /// Wait: as many groups as allowed are under way.
    Wait,
    /// Work on this group.
    Work(PassKind, GroupIndex),
}
