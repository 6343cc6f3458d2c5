//! Members and their columns.

use super::{ArrayCheck, MOST, RestoredArray, must};
use crate::ids::{ColumnDevice, GroupIndex};
use crate::member_command::{MemberCommand, MemberCommandKind};
use crate::members::MemberColumn;
use outlast_device::{Device, Tag};
use outlast_units::Nanos;
use std::collections::{BTreeMap, BTreeSet};

impl<D: Device> RestoredArray<'_, D> {
    pub(super) fn check_members(&self) -> ArrayCheck {
        let (members, wanted) = (&self.members, usize::from(self.setup.config.members));
        members.check_sizes(wanted)?;
        for column in members.indices() {
            self.check_column(&members[column], ColumnDevice::Member(column))?;
            let Some(donor) = members.donor(column) else { continue };
            must(members[column].device.is_some() && donor.home.device.is_some(), || {
                format!("member {column} is filled from what is not there")
            })?;
            self.check_column(&donor.home, ColumnDevice::Donor(column))?;
            self.check_sectors(&donor.lost)?;
            let mut ranges = donor.queried.iter().chain(&donor.answered);
            must(ranges.all(|&range| range.0 < self.repair_ranges().count()), || {
                "a donor was asked beyond its end".to_owned()
            })?;
        }
        let needed = self.setup.member_bytes();
        let mut others = members.spares().iter();
        must(others.all(|device| device.identify().capacity >= needed), || {
            "a spare is smaller than the members".to_owned()
        })
    }

    /// The state kept about a device.
    fn check_column(&self, place: &MemberColumn<D>, at: ColumnDevice) -> ArrayCheck {
        let Some(device) = &place.device else {
            let is_empty = place.first_lacking() == Some(GroupIndex(0)) && place.in_flight == 0;
            let is_idle = self.members.deadline(at) == Nanos::MAX;
            return must(is_empty && is_idle, || format!("{at} is gone and still does something"));
        };
        let groups = GroupIndex(self.layout.groups);
        let is_in_range = place.first_lacking().is_none_or(|first| first <= groups);
        must(is_in_range, || format!("{at} lacks group {:?} of {groups}", place.first_lacking()))?;
        self.check_sectors(&place.bad)?;
        must(place.is_plausible(self.clock), || format!("read errors of {at} are yet to come"))?;
        let (capacity, needed) = (device.identify().capacity, self.setup.member_bytes());
        must(capacity >= needed, || format!("{at} has {capacity} of {needed}"))?;
        let subs = self.flight.member_commands.live_indexed();
        let subs = subs.filter_map(|(tag, sub)| Some((tag, sub.as_ref()?)));
        let sent: BTreeMap<Tag, &MemberCommand> = subs.filter(|(_, sub)| sub.device == at).collect();
        must(sent.len() == place.in_flight as usize, || {
            format!("{at} has {} commands, {} are counted", sent.len(), place.in_flight)
        })?;
        // Devices that cannot list their commands are taken on trust; without power nothing is under way.
        let Some(under_way) = device.under_way().filter(|_| self.powered) else { return Ok(()) };
        let tags: BTreeSet<Tag> = under_way.iter().map(|&(tag, _)| tag).collect();
        let is_same = tags.iter().eq(sent.keys()) && tags.len() == under_way.len();
        must(is_same, || {
            let (on_member, on_array) = (under_way.len(), sent.len());
            format!(
                "{at} has {on_member} commands under way, which are not the {on_array} that the array has sent"
            )
        })?;
        let reads = |sub: &MemberCommand| {
            matches!(
                sub.kind,
                MemberCommandKind::DirectRead(_)
                    | MemberCommandKind::LimitedRead(_)
                    | MemberCommandKind::Read(_)
                    | MemberCommandKind::External { .. }
            )
        };
        let is_as_long = |&(tag, sectors): &(Tag, Option<u32>)| {
            sent.get(&tag)
                .is_none_or(|sub| !reads(sub) || sectors.is_none_or(|sectors| sectors == sub.rows.len()))
        };
        must(under_way.iter().all(is_as_long), || format!("{at} reads more or less than it is to"))
    }
}

impl<D> crate::members::ArrayMembers<D> {
    /// Checks that every table has an entry for each of `wanted` columns.
    fn check_sizes(&self, wanted: usize) -> ArrayCheck {
        let (columns, donors) = (self.len(), self.donor_columns().len());
        // Places of donors follow those of the columns.
        let places = if donors == 0 { columns } else { 2 * columns };
        let fits =
            columns == wanted && (donors == 0 || donors == columns) && self.deadline_places() == places;
        must(fits && self.traffic().len() == columns, || {
            format!(
                "an array of {wanted} members has {columns}, {donors} donors and {} times",
                self.deadline_places()
            )
        })?;
        let mut traffic = self.traffic().iter();
        must(traffic.all(|moved| moved.unsigned_abs() < MOST) && self.is_plausible(), || {
            "members have moved more than they can, or leave that are not there".to_owned()
        })
    }
}
