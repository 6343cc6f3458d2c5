//! The check of all invariants.

use super::Ftl;
use crate::table::PageMapping;
use crate::turns::UntimedTurns;
use outlast_decisions::SuperblockState;
use outlast_persist::Extents;
use outlast_units::{Group, Idx, LaneIndex, LocalDie, Ppn, Pu, PuWithin, Stream, SuperblockId};
use std::collections::BTreeMap;

impl Ftl {
    /// Bounds of the numbers in its state, which follow from its settings, added to those of `outer`.
    pub fn extents(&self, outer: &Extents) -> Extents {
        let layout = &self.layout;
        let (superblocks, lanes) = (u64::from(layout.superblocks()), layout.lanes().len() as u64);
        let pus = u64::from(layout.pus_per_superblock());
        let counts: [(Option<usize>, u64); 8] = [
            (Ppn::KIND, layout.slots().into()),
            (SuperblockId::KIND, superblocks),
            (LocalDie::KIND, layout.dies().into()),
            (Pu::KIND, superblocks * pus),
            (PuWithin::KIND, pus),
            (LaneIndex::KIND, lanes),
            (Group::KIND, superblocks * u64::from(layout.superpages())),
            (Stream::KIND, self.streams.count().into()),
        ];
        let with_kind = counts.into_iter().filter_map(|(kind, count)| Some((kind?, count)));
        with_kind.fold(*outer, |extents, (kind, count)| extents.with(kind, count))
    }

    /// Checks every invariant, in time proportional to the device: first each part by itself, then parts against each other.
    ///
    /// # Errors
    /// The first broken invariant.
    pub fn self_check(&self) -> Result<(), String> {
        let is_erased = |superblock: SuperblockId| {
            matches!(self.superblocks.state(superblock), SuperblockState::Free | SuperblockState::Retired)
        };
        let units = self.layout.units_per_superblock();
        self.map.check()?;
        self.superblocks.check(|superblock| self.mapped_in(superblock), units)?;
        self.lanes.check(is_erased)?;
        self.codes.check(is_erased)?;
        self.partials.check(|superblock| !is_erased(superblock))?;
        self.losses.check(|lpn| self.lookup(lpn).is_some())?;
        self.frontiers.check(units, self.layout.units_per_pu(), |stream| self.data_slots_left(stream))?;
        if self.room.is_worn_out() != self.lacks_superblocks() {
            return Err(format!("worn out: {}, which superblocks and room deny", self.room.is_worn_out()));
        }
        for superblock in self.superblocks.ids() {
            self.check_programs(superblock)?;
            if self.superblocks.state(superblock) != SuperblockState::Retired {
                self.physical.check(&self.layout, superblock, self.lanes.erasable(superblock))?;
            }
        }
        if let Some(contents) = self.contents.as_ref().filter(|contents| !contents.keeps_stale()) {
            let live: u32 = self.superblocks.ids().map(|superblock| self.superblocks.valid(superblock)).sum();
            if contents.len() != live as usize {
                return Err(format!("{} units have bytes, {live} are valid", contents.len()));
            }
        }
        if let Some(origins) = &self.origins {
            let is = |wanted| move |superblock| self.superblocks.state(superblock) == wanted;
            origins.check(&self.layout, is(SuperblockState::Open), is(SuperblockState::Free), |slot| {
                self.is_programmed(slot)
            })?;
        }
        self.check_turns()?;
        self.check_held()?;
        self.check_maps()?;
        self.check_mount(true)?;
        self.check_parity()
    }

    /// Checks that each valid slot has bytes of its page, if bytes are kept.
    ///
    /// # Errors
    /// The first slot that has none or others.
    pub fn check_contents(&self) -> Result<(), String> {
        let Some(contents) = &self.contents else { return Ok(()) };
        for slot in (0..self.layout.slots()).map(Ppn).filter(|&slot| self.map.is_valid(slot)) {
            let page = self.map.owner(slot);
            let has = contents.raw(slot.0).map(outlast_media::UnitBytes::tag);
            if has != Some(page.0) && !(has.is_none() && self.is_map_page(page)) {
                return Err(format!("slot {slot} has bytes of page {has:?}, not of page {page}"));
            }
        }
        Ok(())
    }

    /// Checks that `programs`, which are under way, are of rows that have not been programmed, each once.
    ///
    /// # Errors
    /// The first that does not.
    pub fn check_order(&self, programs: impl Iterator<Item = Pu>) -> Result<(), String> {
        let mut rows: BTreeMap<_, Vec<u32>> = BTreeMap::new();
        for pu in programs {
            let (superblock, within) = self.layout.within_superblock(pu);
            let (row, lane) = self.layout.row_and_lane(within);
            rows.entry((superblock, lane)).or_default().push(row);
        }
        for ((superblock, lane), mut rows) in rows {
            rows.sort_unstable();
            let next = self.physical.programmed(&self.layout, superblock, lane);
            // Rows need not follow each other: programs of a die that has failed are dropped.
            if rows[0] < next || rows.windows(2).any(|pair| pair[0] == pair[1]) {
                return Err(format!(
                    "rows {rows:?} of lane {lane} of superblock {superblock} are programmed, where row {next} is next"
                ));
            }
        }
        Ok(())
    }

    /// Checks that superblocks emptied without time are being relocated, and hold no units in the slots handled.
    fn check_turns(&self) -> Result<(), String> {
        let UntimedTurns { victim, cold, .. } = &self.turns;
        let victims = victim.iter().map(|victim| (victim.superblock, victim.next));
        for (superblock, next) in victims.chain(cold.iter().map(|cold| (cold.superblock, cold.next))) {
            if self.superblocks.state(superblock) != SuperblockState::Collecting {
                return Err(format!("superblock {superblock} is emptied without time, and nobody moves it"));
            }
            let first = self.layout.first_slot(superblock);
            let is_within = first <= next && next.0 - first.0 <= self.layout.units_per_superblock();
            if !is_within || Ppn::each(first..next).any(|slot| self.map.is_valid(slot)) {
                return Err(format!(
                    "superblock {superblock} is emptied without time up to slot {next}, and holds units below"
                ));
            }
        }
        Ok(())
    }

    /// Valid slots of `superblock` by the mapping.
    fn mapped_in(&self, superblock: SuperblockId) -> u32 {
        let units = self.layout.units_per_superblock();
        let first = self.layout.first_slot(superblock).0;
        let end = first + units;
        let strides = (first..end).step_by(64);
        strides.map(|at| self.map.valid_in(Ppn(at), (end - at).min(64)).count_ones()).sum()
    }

    /// Data slots left in the open superblock of `stream`, counted one by one.
    fn data_slots_left(&self, stream: Stream) -> u32 {
        let frontier = &self.frontiers[stream];
        let superblock = frontier.superblock();
        let under_way = self.layout.within_superblock(self.layout.pu_of(frontier.next()).0).1;
        let all = under_way + 1..PuWithin(self.layout.data_pus());
        let later = PuWithin::each(all).filter(|&pu| self.takes_data(superblock, pu));
        frontier.left_in_pu() + later.count() as u32 * self.layout.units_per_pu()
    }

    /// Checks the programmed bits of `superblock` against the progress of programming on its lanes.
    fn check_programs(&self, superblock: SuperblockId) -> Result<(), String> {
        let state = self.superblocks.state(superblock);
        for lane in self.lanes.erasable(superblock) {
            let rows = self.physical.programmed(&self.layout, superblock, lane);
            if state == SuperblockState::Free && rows != 0 {
                return Err(format!("superblock {superblock} is free, lane {lane} programmed to row {rows}"));
            }
            if matches!(state, SuperblockState::Free | SuperblockState::Retired) {
                continue;
            }
            let mut of_lane = self.pus_on(superblock, lane).skip(rows as usize);
            if let Some(pu) = of_lane.find(|&pu| self.superblocks.is_programmed(pu)) {
                return Err(format!("program unit {pu} is on flash, its lane is programmed to row {rows}"));
            }
        }
        Ok(())
    }
}
