//! Members of an array in service, read directly.

use super::ServedDevice;
use outlast_device::Extent;
use outlast_units::{Bytes, Lba};

impl ServedDevice {
    /// Extents of member `member`, as [`ServedDevice::extents`]: all lost if its device is missing, empty if there is no such member.
    pub fn member_extents(&self, member: u8, lba: Lba, sectors: u64) -> Vec<Extent> {
        let array = self.service.array().filter(|_| member < self.members());
        array.map(|array| array.member_extents(member.into(), lba, sectors)).unwrap_or_default()
    }

    /// True if an array's redundancy is in doubt since a loss of power, until a resynchronisation has corrected it. Always false for a single drive.
    pub fn is_in_doubt(&self) -> bool {
        self.service.array().is_some_and(outlast_array::Array::is_in_doubt)
    }

    /// Number of columns of an array, with or without a device; 0 for a single drive.
    pub fn members(&self) -> u8 {
        self.scenario().array.as_ref().map_or(0, |array| array.members as u8)
    }

    /// Bytes that the array uses of every member; 0 for a single drive.
    pub fn member_capacity(&self) -> Bytes {
        self.service.array().map_or(Bytes(0), outlast_array::Array::member_capacity)
    }
}
