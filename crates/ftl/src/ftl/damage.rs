//! Operations that failed, data that is lost, lanes that are given up.

use super::protection::Gaps;
use super::{Ftl, Slot, State, Stream};
use crate::causes::ProgramCause;
use crate::stripes::{LaneSet, Role};
use crate::table::Mapping;
use outlast_units::{Lpn, Ppn, SuperblockId};

impl Ftl {
    /// Reports that programming `pu` failed: nothing is on flash there, and its blocks take no more data until they have been
    /// replaced. Its valid units, still in the controller's memory, are to be written again ([`Ftl::rewrite`]).
    /// Returns whether that ends the filling of its superblock.
    pub fn program_failed(&mut self, pu: u32) -> bool {
        let (superblock, within) = self.within_superblock(pu);
        let lane = self.lane_position(within);
        self.damaged = true;
        self.hand_on_origins(pu);
        self.give_up_lane(superblock, lane);
        self.pus_failed += 1;
        let role = self.role(superblock, within);
        let complete = self.code_of(superblock).is_some_and(|code| {
            let frontier = self
                .frontiers
                .iter()
                .find(|frontier| frontier.superblock == superblock && frontier.irregular);
            frontier.is_none_or(|frontier| code.stripe_of(within) < frontier.due.0)
        });
        if self.covers {
            self.cover_failed(pu);
            if role == Role::Data && !complete {
                self.expose(superblock, within);
            }
        }
        if matches!(role, Role::Parity | Role::BlockParity | Role::List) || complete {
            self.failed_pus.insert(pu);
        } else {
            self.take_in_hand(pu);
        }
        self.settle_pus(superblock, 1)
    }

    /// The content of a program unit that failed before its stripe got its parity no longer counts in the stripe; until it has
    /// been written elsewhere it is in the controller's hand.
    pub(super) fn take_in_hand(&mut self, pu: u32) {
        let units = self.layout.units_per_pu();
        let Some(contents) = self.contents.as_mut().filter(|contents| contents.keeps_stale()) else { return };
        for slot in pu * units..(pu + 1) * units {
            if let Some(unit) = contents.raw(slot) {
                self.in_hand.insert(slot, unit.clone());
            }
        }
        contents.erase(pu * units, units);
    }

    /// To be called when the units of a failed program unit have been written again.
    pub fn drop_failed(&mut self) {
        self.in_hand.clear();
        self.drop_origins();
    }

    /// Puts the unit of `slot`, whose program operation failed, at the frontier of `stream`; `None` when it is stale or the
    /// stream cannot take it.
    pub fn rewrite(&mut self, stream: Stream, slot: Ppn) -> Option<Slot> {
        if !self.map.is_valid(slot) || !self.can_append(stream) {
            return None;
        }
        let lpn = self.map.owner(slot);
        let to = self.advance(stream);
        self.map.relocate(slot, 1, to.ppn);
        if let Some(contents) = &mut self.contents {
            match self.in_hand.remove(&slot.0) {
                Some(unit) => contents.write(to.ppn.0, unit),
                None => contents.relocate(slot.0, to.ppn.0, lpn.0),
            }
        }
        self.move_origin(slot, to.ppn);
        self.count_stale(slot);
        self.valid[self.frontiers[usize::from(stream.0)].superblock.index()] += 1;
        self.written[ProgramCause::Rewritten] += 1;
        Some(to)
    }

    /// The unit of `slot` cannot be had any more. If it is current, its logical page is lost: reads of it fail until it is written
    /// or trimmed. Returns the page.
    pub fn lose(&mut self, slot: Ppn) -> Option<Lpn> {
        if !self.map.is_valid(slot) {
            return None;
        }
        let lpn = self.map.owner(slot);
        self.map.unmap(lpn);
        if self.in_hand.remove(&slot.0).is_some() {
            // It had left the flash's image when its program operation failed.
            self.count_stale(slot);
        } else {
            self.invalidate(slot);
        }
        self.lost.insert(lpn.0);
        Some(lpn)
    }

    /// Whether the data of a logical page has been lost.
    #[inline]
    pub fn is_lost(&self, lpn: Lpn) -> bool {
        !self.lost.is_empty() && self.lost.contains(&lpn.0)
    }

    /// Logical pages whose data has been lost and that have been neither written nor trimmed since.
    pub fn lost_units(&self) -> u64 {
        self.lost.len() as u64
    }

    /// Whether the block of program unit `pu` takes no more data before it has been erased.
    pub fn is_given_up(&self, pu: u32) -> bool {
        let (superblock, within) = self.within_superblock(pu);
        self.is_skipped(superblock, within)
    }

    /// Whether nothing can be programmed or erased on the lane of program unit `pu`.
    pub fn is_dead_lane(&self, pu: u32) -> bool {
        self.dead_lanes.contains(self.lane_position(self.within_superblock(pu).1))
    }

    /// Die `local_die` (or only `plane` of it) has failed for good: from now on no superblock uses its lanes.
    pub fn give_up_die(&mut self, local_die: u16, plane: Option<u16>) {
        let lanes: Vec<u32> = self.layout.lanes_of_die(local_die).to_vec();
        for lane in lanes {
            let planes = self.layout.lanes()[lane as usize];
            let hit = plane.is_none_or(|plane| {
                (planes.first_plane..planes.first_plane + planes.planes).contains(&plane)
            });
            if !hit || self.dead_lanes.contains(lane) {
                continue;
            }
            self.dead_lanes.insert(lane);
            let open: Vec<SuperblockId> = (0..self.layout.superblocks())
                .map(SuperblockId)
                .filter(|superblock| self.state[superblock.index()] == State::Open)
                .collect();
            for superblock in open {
                self.give_up_lane(superblock, lane);
            }
        }
        self.forget_missing_of_dead();
        self.sort_out_superblocks();
        self.count_data_units();
        self.review_room();
    }

    /// Bad blocks of a failed die are not missed beside the die.
    fn forget_missing_of_dead(&mut self) {
        let (dead, units) = (&self.dead_lanes, self.units_per_lane());
        let mut freed = 0;
        for missing in self.missing.values_mut() {
            for lane in (0..self.layout.lanes().len() as u32).filter(|&lane| dead.contains(lane)) {
                if missing.contains(lane) {
                    missing.remove(lane);
                    freed += units;
                }
            }
        }
        self.missing_units -= freed;
        self.missing.retain(|_, missing| !missing.is_empty());
    }

    /// Superblocks that had been given up for bad blocks which turn out to be those of a failed die can be used without that die;
    /// those whose last lane went with it can not.
    fn sort_out_superblocks(&mut self) {
        for superblock in (0..self.layout.superblocks()).map(SuperblockId) {
            match (self.state[superblock.index()], self.is_usable(superblock)) {
                (State::Retired, true) => {
                    self.state[superblock.index()] = State::Free;
                    self.free.push(superblock);
                    self.retired -= 1;
                }
                (State::Free, false) => {
                    self.state[superblock.index()] = State::Retired;
                    self.free.retain(|&other| other != superblock);
                    self.retired += 1;
                }
                _ => {}
            }
        }
    }

    /// `dies` are not there yet.
    pub(super) fn leave_out_dies(&mut self, dies: &[u16]) {
        for &lane in dies.iter().flat_map(|&die| self.layout.lanes_of_die(die)) {
            self.dead_lanes.insert(lane);
        }
    }

    /// Die `local_die`, absent until now, is there: superblocks opened from now on lie on it, too. Those that are open or full do not
    /// until they have been moved ([`Ftl::is_narrow`]).
    pub fn add_die(&mut self, local_die: u16) {
        for &lane in self.layout.lanes_of_die(local_die) {
            self.dead_lanes.remove(lane);
        }
        self.sort_out_superblocks();
        self.count_data_units();
        self.review_room();
    }

    /// Nothing more is programmed on `lane` of the open superblock `superblock`. Program units already begun or full are still
    /// to be reported as programmed or failed.
    fn give_up_lane(&mut self, superblock: SuperblockId, lane: u32) {
        if self.state[superblock.index()] != State::Open {
            return;
        }
        let lanes = self.layout.lanes().len();
        let gaps = self.gaps[superblock.index()].get_or_insert_with(|| {
            Box::new(Gaps { opened: LaneSet::new(lanes), since: LaneSet::new(lanes) })
        });
        if gaps.opened.contains(lane) || gaps.since.contains(lane) {
            return;
        }
        gaps.since.insert(lane);
        let first = self.layout.first_slot(superblock);
        let (pus, units) = (self.layout.pus_per_superblock(), self.layout.units_per_pu());
        let frontier = self.frontiers.iter().position(|frontier| {
            frontier.superblock == superblock
                && frontier.end == first + self.layout.data_pus() * units
                && frontier.next != frontier.end
        });
        let Some(index) = frontier else {
            // All of its data is on the way to flash; parity that is still due would have been taken already.
            return;
        };
        // Program units that nothing was put into yet: after the one begun.
        let frontier = &self.frontiers[index];
        let at = (frontier.next - first) / units;
        let begun = frontier.pu_end - frontier.next != units;
        let due = frontier.due.0;
        let from = at + u32::from(begun);
        let (mut gone, mut data) = (0, 0);
        for pu in (0..pus).filter(|&pu| self.lane_position(pu) == lane) {
            match self.role(superblock, pu) {
                Role::Data if pu >= from && !self.is_used_up(first / units + pu) => {
                    gone += 1;
                    data += 1;
                }
                Role::Parity | Role::BlockParity
                    if self.code_of(superblock).is_some_and(|code| code.stripe_of(pu) >= due) =>
                {
                    gone += 1;
                }
                // Lists come when all data has.
                Role::List if !self.is_used_up(first / units + pu) => gone += 1,
                _ => {}
            }
        }
        let was_irregular = self.frontiers[index].irregular;
        if !was_irregular {
            // All that follows the program unit under way, as `room` reads it.
            self.frontiers[index].irregular = true;
            self.frontiers[index].later = self.frontiers[index].end - self.frontiers[index].pu_end;
        }
        let here = !begun && self.lane_position(at) == lane && self.role(superblock, at) == Role::Data;
        // The one under way is not counted in `later`.
        self.frontiers[index].later -= (data - u32::from(here)) * units;
        if here {
            self.go_on(Stream(index as u8), at);
        }
        self.settle_pus(superblock, gone);
    }
}
