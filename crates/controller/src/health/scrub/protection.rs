//! Superblocks whose protection is no longer what new data gets, or that lie on a die that is expected to fail.

use super::view::View;
use crate::health::Reason;
use outlast_units::SuperblockId;

/// Why `superblock` is to be moved for the sake of its protection, if it is. Without `reprotect` only what the drive itself rebuilds is.
pub(super) fn reason(view: &impl View, superblock: SuperblockId, reprotect: bool) -> Option<Reason> {
    if view.is_to_leave(superblock) {
        return Some(Reason::Evacuation);
    }
    let has_lost = view.members_lost(superblock) != 0;
    if !reprotect {
        return (has_lost && view.rebuilds(superblock)).then_some(Reason::Exposed);
    }
    if has_lost {
        Some(Reason::Exposed)
    } else if view.is_outdated(superblock) {
        Some(Reason::Code)
    } else if view.is_narrow(superblock) {
        Some(Reason::Dies)
    } else {
        None
    }
}
