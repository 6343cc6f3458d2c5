//! Checks of superblocks against frontiers and blocks.

use crate::space::FlashSpace;
use outlast_decisions::SuperblockState;
use outlast_persist::Extents;
use outlast_units::Idx;
use outlast_units::{Group, LaneIndex, LocalDie, ModeId, Ppn, Pu, PuWithin, Stream, SuperblockId, to_count};

impl FlashSpace {
    /// Checks every invariant of superblocks, given the valid units that the mapping has in each.
    ///
    /// # Errors
    /// The first broken invariant.
    pub fn check(&self, mapped: impl Fn(SuperblockId) -> u32) -> Result<(), String> {
        let is_erased = |superblock: SuperblockId| {
            matches!(self.pus.superblocks.state(superblock), SuperblockState::Free | SuperblockState::Retired)
        };
        let units = self.pus.layout.units_per_superblock();
        self.pus.superblocks.check(mapped, units)?;
        self.pus.lanes.check(is_erased)?;
        self.pus.codes.check(is_erased)?;
        self.pus.partials.check(|superblock| !is_erased(superblock))?;
        self.frontiers.check(units, self.pus.layout.units_per_pu(), |stream| self.data_slots_left(stream))?;
        self.frontiers.check_promises(|stream| {
            let mut victims = self.pus.superblocks.in_state(SuperblockState::Collecting);
            victims.any(|victim| self.pus.class_of_superblock(victim) == self.pus.streams.class(stream))
        })?;
        if self.marks.is_worn_out() != self.lacks_superblocks() {
            return Err(format!("worn out: {}, which superblocks and room deny", self.marks.is_worn_out()));
        }
        for superblock in self.pus.superblocks.ids() {
            self.pus.check_programs(superblock)?;
            if self.pus.superblocks.state(superblock) != SuperblockState::Retired {
                self.pus.physical.check(&self.pus.layout, superblock, self.pus.lanes.erasable(superblock))?;
            }
        }
        if let Some(contents) = self.contents.bytes.as_ref().filter(|contents| !contents.keeps_stale()) {
            let live: u32 =
                self.pus.superblocks.ids().map(|superblock| self.pus.superblocks.valid(superblock)).sum();
            if contents.len() != live as usize {
                return Err(format!("{} units have bytes, {live} are valid", contents.len()));
            }
        }
        self.contents.check_parity(&self.pus)
    }

    /// Bounds of the numbers in its state, which follow from its settings, added to those of `outer`.
    pub fn extents(&self, outer: &Extents) -> Extents {
        let layout = &self.pus.layout;
        let (superblocks, lanes) = (u64::from(layout.superblocks()), layout.lanes().len() as u64);
        let pus = u64::from(layout.pus_per_superblock());
        let counts: [(Option<usize>, u64); 9] = [
            (Ppn::KIND, layout.slots().into()),
            (SuperblockId::KIND, superblocks),
            (LocalDie::KIND, layout.dies().into()),
            (Pu::KIND, superblocks * pus),
            (PuWithin::KIND, pus),
            (LaneIndex::KIND, lanes),
            (Group::KIND, superblocks * u64::from(layout.superpages())),
            (Stream::KIND, self.pus.streams.count().into()),
            (ModeId::KIND, layout.modes().into()),
        ];
        let with_kind = counts.into_iter().filter_map(|(kind, count)| Some((kind?, count)));
        with_kind.fold(*outer, |extents, (kind, count)| extents.with(kind, count))
    }

    /// Data slots left in the open superblock of `stream`, counted one by one.
    fn data_slots_left(&self, stream: Stream) -> u32 {
        let frontier = &self.frontiers[stream];
        let superblock = frontier.superblock();
        let under_way = self.pus.layout.within_superblock(self.pus.layout.pu_of(frontier.next()).0).1;
        let all = under_way + 1..PuWithin(self.pus.layout.data_pus(self.pus.superblocks.mode(superblock)));
        let later = PuWithin::each(all).filter(|&pu| self.pus.takes_data(superblock, pu));
        frontier.left_in_pu() + to_count(later.count()) * self.pus.layout.units_per_pu()
    }
}
