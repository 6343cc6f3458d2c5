//! The members of an array in service, read as they are.

use super::Machine;
use outlast_device::Extent;
use outlast_units::{Bytes, Lba};

impl Machine {
    /// As [`Machine::extents`], of the member in column `member` of an array: all of it is lost where there is no device. Empty where there is no
    /// such member.
    pub fn member_extents(&self, member: u8, lba: Lba, sectors: u64) -> Vec<Extent> {
        let array = self.service.array().filter(|_| member < self.members());
        array.map(|array| array.member_extents(member.into(), lba, sectors)).unwrap_or_default()
    }

    /// Whether redundancy of an array is in doubt since a loss of power, and a resynchronisation is to make it fit. Never of a drive by itself.
    pub fn is_in_doubt(&self) -> bool {
        self.service.array().is_some_and(outlast_array::Array::is_in_doubt)
    }

    /// Members of an array, whether or not a device is in their place; none of a drive by itself.
    pub fn members(&self) -> u8 {
        self.scenario().array.as_ref().map_or(0, |array| array.members as u8)
    }

    /// Bytes of every member that the array uses; none of a drive by itself.
    pub fn member_capacity(&self) -> Bytes {
        self.service.array().map_or(Bytes(0), outlast_array::Array::member_capacity)
    }
}
