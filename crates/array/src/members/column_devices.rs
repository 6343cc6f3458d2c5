//! Members and donors by column, and their places in the tree of deadlines.

use super::{ArrayMembers, MemberColumn};
use crate::ids::{ColumnDevice, ColumnIndex, GroupIndex, column_number};
use outlast_units::Nanos;

impl<D> ArrayMembers<D> {
    /// A device, if it is there.
    pub(crate) fn device(&self, device: ColumnDevice) -> Option<&D> {
        match device {
            ColumnDevice::Member(column) => self.columns.get(column)?.device.as_ref(),
            ColumnDevice::Donor(column) => self.donor(column)?.home.device.as_ref(),
        }
    }

    /// Next deadline of a device.
    pub(crate) fn deadline(&self, device: ColumnDevice) -> Nanos {
        self.deadlines.get(self.deadline_place(device))
    }

    /// Places in the tree of deadlines.
    pub(crate) fn deadline_places(&self) -> usize {
        self.deadlines.len()
    }

    /// The place of a device in the tree of deadlines.
    #[inline]
    pub(super) fn deadline_place(&self, device: ColumnDevice) -> usize {
        match device {
            ColumnDevice::Member(column) => column.index(),
            ColumnDevice::Donor(column) => self.columns.len() + column.index(),
        }
    }

    /// The device at a place in the tree of deadlines: the inverse of [`ArrayMembers::deadline_place`].
    #[inline]
    pub(super) fn device_at(&self, place: usize) -> ColumnDevice {
        match place.checked_sub(self.columns.len()) {
            None => ColumnDevice::Member(ColumnIndex(column_number(place))),
            Some(donor) => ColumnDevice::Donor(ColumnIndex(column_number(donor))),
        }
    }

    /// All members, then the donors of all columns if any column has one; some may be absent.
    pub(crate) fn column_devices(&self) -> impl Iterator<Item = ColumnDevice> + use<D> {
        let donors = self.donors.indices().map(ColumnDevice::Donor);
        self.columns.indices().map(ColumnDevice::Member).chain(donors)
    }

    /// The state that is kept about a device.
    #[inline]
    pub(crate) fn home_mut(&mut self, device: ColumnDevice) -> Option<&mut MemberColumn<D>> {
        match device {
            ColumnDevice::Member(column) => Some(&mut self.columns[column]),
            ColumnDevice::Donor(column) => Some(&mut self.donor_mut(column)?.home),
        }
    }

    /// A device to be changed, if it is there.
    #[inline]
    pub(crate) fn device_mut(&mut self, device: ColumnDevice) -> Option<&mut D> {
        self.home_mut(device)?.device.as_mut()
    }

    /// The device that has column `column` of `group`: the member, or its donor for groups that are not yet filled.
    #[inline]
    pub(crate) fn source(&self, column: ColumnIndex, group: GroupIndex) -> ColumnDevice {
        if self.donors.is_empty() || self.columns[column].has(group) || self.donor(column).is_none() {
            return ColumnDevice::Member(column);
        }
        ColumnDevice::Donor(column)
    }
}
