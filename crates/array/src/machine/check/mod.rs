//! The check of state that was read: numbers that lead from one part of the array to another lead to something, and what is counted is there.
//!
//! Parts that can be judged alone check themselves as they are read ([`Locks`](crate::locks::Locks), [`Placement`](crate::placement::Placement), and
//! others); here is what they say of each other, and of the settings. [`Device::self_check`] has the rest.

mod doubt;
mod flight;
mod members;
mod work;

use super::Array;
use crate::layout::{Layout, Map, Rows, lay_out};
use crate::ranges::RangeSet;
use outlast_device::Device;
use outlast_units::SECTOR_BYTES;

/// Of anything that was counted over a life: less than this.
const MOST: u64 = 1 << 60;

/// Outcome of a check; the error says where state is not what it must be.
type Found = Result<(), String>;

/// Refuses, unless `holds`, with the words that `why` has.
fn must(holds: bool, why: impl FnOnce() -> String) -> Found {
    if holds { Ok(()) } else { Err(why()) }
}

impl<D: Device> Array<D> {
    /// Whether state that has been read is that of an array.
    pub(super) fn check_restored(&self) -> Result<(), String> {
        self.check_layout()?;
        self.check_members()?;
        self.check_flight()?;
        self.check_doubt()?;
        self.check_passes()?;
        self.check_repairs()?;
        self.check_ledger()?;
        self.self_check()
    }

    /// Everything but the tables of a placement follows from the settings.
    fn check_layout(&self) -> Found {
        let (config, own) = (&self.setup.config, &self.layout);
        let chunk = config.chunk.0 / SECTOR_BYTES;
        let known = lay_out(config, self.setup.shares.as_ref(), chunk, self.setup.member_sectors);
        let sizes = |layout: &Layout| (layout.chunk, layout.data, layout.roles, layout.groups);
        let sets = |layout: &Layout| (layout.data_set, layout.role_set);
        must(sizes(own) == sizes(&known) && sets(own) == sets(&known), || {
            format!("an array of {} groups of {} chunks is not as its settings say", own.groups, own.roles)
        })?;
        match (&own.map, &known.map) {
            (Map::Striped(own), Map::Striped(known)) => {
                let is_like =
                    own.now.is_like(&known.now) && (self.setup.shares.is_some() || own.now == known.now);
                must(is_like, || "a placement is not as the settings say".to_owned())?;
                let Some(shift) = &own.shift else { return Ok(()) };
                must(self.setup.shares.is_some() && shift.target.is_like(&own.now), || {
                    "parity moves to a placement of another array".to_owned()
                })?;
                shift.check(self.layout.groups)
            }
            (
                &Map::Copies { layout, columns, copies, far_rows },
                &Map::Copies {
                    layout: known,
                    columns: known_columns,
                    copies: known_copies,
                    far_rows: known_rows,
                },
            ) => must(
                (layout, columns, copies, far_rows) == (known, known_columns, known_copies, known_rows),
                || format!("{copies} copies on {columns} members are not as the settings say"),
            ),
            _ => Err("stripes stand for copies".to_owned()),
        }
    }

    fn check_ledger(&self) -> Found {
        let (lost, capacity) = (self.ledger.lost().end(), self.setup.capacity);
        must(lost <= capacity, || format!("sector {lost} is lost of an array of {capacity}"))?;
        let most = self.ledger.counters.largest();
        must(most < MOST, || format!("something was counted {most} times"))
    }

    /// Whether there is such a group, and such rows of it.
    fn check_place(&self, group: u64, rows: Rows) -> Found {
        must(group < self.layout.groups, || format!("group {group} of {}", self.layout.groups))?;
        Self::check_rows(rows, self.whole_chunk())
    }

    fn check_rows(rows: Rows, within: Rows) -> Found {
        let fits = within.first <= rows.first && rows.first < rows.end && rows.end <= within.end;
        must(fits, || format!("rows {} to {} of {} to {}", rows.first, rows.end, within.first, within.end))
    }

    /// Whether `set` has roles of a group only.
    fn check_roles(&self, set: u64) -> Found {
        must(set & !self.role_set() == 0, || format!("roles {set:#x} of {}", self.layout.roles))
    }

    /// Whether sectors that something is noted of are those of a member.
    fn check_sectors(&self, of: &RangeSet) -> Found {
        let (end, all) = (of.end(), self.setup.member_bytes().0 / SECTOR_BYTES);
        must(end <= all, || format!("sector {end} of a member that has {all}"))
    }
}
