//! Which flash core a mapping unit belongs to, where that does not follow from its address: some live elsewhere since a die failed, or the host names a reclaim group
//! with each write. Either, and not both: repair and placement exclude each other.

use crate::groups::ReclaimGroups;
use crate::repair::Redirection;
use outlast_units::{CoreId, Lpn};

/// Homes of units that are not where their addresses say.
#[derive(Clone, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub enum UnitHomes {
    /// Units of cores with failed dies live in other cores.
    Redirected(Redirection),
    /// Units live in the reclaim group to which the host wrote them.
    Grouped(ReclaimGroups),
}

impl UnitHomes {
    /// The flash core of unit `unit`, and its number there; `former` is its place by its address.
    #[inline]
    pub(crate) fn home(&self, unit: u64, former: impl FnOnce() -> (CoreId, Lpn)) -> (CoreId, Lpn) {
        match self {
            Self::Redirected(redirection) => {
                let (core, number) = former();
                redirection.home(core, number).unwrap_or((core, number))
            }
            Self::Grouped(groups) => groups.home(unit),
        }
    }

    /// Redirection of units of cores with failed dies, if that is what decides.
    pub fn redirection(&self) -> Option<&Redirection> {
        match self {
            Self::Redirected(redirection) => Some(redirection),
            Self::Grouped(_) => None,
        }
    }

    /// Reclaim groups, if they are what decides.
    #[inline]
    pub fn groups(&self) -> Option<&ReclaimGroups> {
        match self {
            Self::Redirected(_) => None,
            Self::Grouped(groups) => Some(groups),
        }
    }

    /// As [`UnitHomes::groups`], to be changed.
    #[inline]
    pub fn groups_mut(&mut self) -> Option<&mut ReclaimGroups> {
        match self {
            Self::Redirected(_) => None,
            Self::Grouped(groups) => Some(groups),
        }
    }
}
