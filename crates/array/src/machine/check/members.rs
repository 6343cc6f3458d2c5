//! Members and their columns.

use super::{ArrayCheck, MOST, must};
use crate::machine::Array;
use crate::members::MemberColumn;
use crate::op::{MemberCommand, MemberCommandKind};
use outlast_device::{Device, Tag};
use outlast_units::Nanos;
use std::collections::{BTreeMap, BTreeSet};

impl<D: Device> Array<D> {
    pub(super) fn check_members(&self) -> ArrayCheck {
        let (members, wanted) = (&self.members, usize::from(self.setup.config.members));
        members.check_sizes(wanted)?;
        for column in 0..members.len() {
            self.check_column(&members[column], column)?;
            let Some(donor) = members.donor(column) else { continue };
            must(members[column].device.is_some() && donor.home.device.is_some(), || {
                format!("member {column} is filled from what is not there")
            })?;
            self.check_column(&donor.home, members.donor_number(column))?;
            self.check_sectors(&donor.lost)?;
            let mut ranges = donor.queried.iter().chain(&donor.answered);
            must(ranges.all(|&range| range < self.ranges()), || {
                "a donor was asked beyond its end".to_owned()
            })?;
        }
        let needed = self.setup.member_bytes();
        let mut others = members.spares().iter();
        must(others.all(|device| device.identify().capacity >= needed), || {
            "a spare is smaller than the members".to_owned()
        })
    }

    /// The place `number`, of a column or a donor.
    fn check_column(&self, place: &MemberColumn<D>, number: usize) -> ArrayCheck {
        let Some(device) = &place.device else {
            let is_empty = place.valid_to == 0 && place.in_flight == 0;
            let is_idle = self.members.deadline(number) == Nanos::MAX;
            return must(is_empty && is_idle, || format!("member {number} is gone and still does something"));
        };
        let is_in_range = place.valid_to == u64::MAX || place.valid_to <= self.layout.groups;
        must(is_in_range, || {
            format!("member {number} has {} of {} groups", place.valid_to, self.layout.groups)
        })?;
        self.check_sectors(&place.bad)?;
        must(place.is_plausible(self.clock), || format!("read errors of member {number} are yet to come"))?;
        let (capacity, needed) = (device.identify().capacity, self.setup.member_bytes());
        must(capacity >= needed, || format!("member {number} has {capacity} of {needed}"))?;
        let subs =
            self.flight.member_commands.live_indexed().filter(|(_, sub)| usize::from(sub.column) == number);
        let sent: BTreeMap<Tag, &MemberCommand> = subs.map(|(index, sub)| (Tag(index), sub)).collect();
        must(sent.len() == place.in_flight as usize, || {
            format!("member {number} has {} commands, {} are counted", sent.len(), place.in_flight)
        })?;
        // Devices that cannot list their commands are taken on trust; without power nothing is under way.
        let Some(under_way) = device.under_way().filter(|_| self.powered) else { return Ok(()) };
        let tags: BTreeSet<Tag> = under_way.iter().map(|&(tag, _)| tag).collect();
        let is_same = tags.iter().eq(sent.keys()) && tags.len() == under_way.len();
        must(is_same, || {
            let (on_member, on_array) = (under_way.len(), sent.len());
            format!(
                "member {number} has {on_member} commands under way, which are not the {on_array} that the array has sent"
            )
        })?;
        let reads = |sub: &MemberCommand| {
            matches!(
                sub.kind,
                MemberCommandKind::DirectRead | MemberCommandKind::Read | MemberCommandKind::External
            )
        };
        let is_as_long = |&(tag, sectors): &(Tag, Option<u32>)| {
            sent.get(&tag)
                .is_none_or(|sub| !reads(sub) || sectors.is_none_or(|sectors| sectors == sub.rows.len()))
        };
        must(under_way.iter().all(is_as_long), || format!("member {number} reads more or less than it is to"))
    }
}

impl<D> crate::members::ArrayMembers<D> {
    /// Checks that every table has an entry for each of `wanted` columns.
    fn check_sizes(&self, wanted: usize) -> ArrayCheck {
        let (columns, donors) = (self.len(), self.donor_columns().len());
        // Numbers of donors follow those of the columns.
        let numbers = if donors == 0 { columns } else { 2 * columns };
        let fits = columns == wanted && (donors == 0 || donors == columns) && self.numbers().len() == numbers;
        must(fits && self.traffic().len() == columns, || {
            format!(
                "an array of {wanted} members has {columns}, {donors} donors and {} times",
                self.numbers().len()
            )
        })?;
        let mut traffic = self.traffic().iter();
        must(traffic.all(|moved| moved.unsigned_abs() < MOST) && self.is_plausible(), || {
            "members have moved more than they can, or leave that are not there".to_owned()
        })
    }
}
