//! Where parity goes, and which lanes hold nothing.

use super::parity::{Axis, Line};
use super::{Ftl, NO_CODE, State, Stream};
use crate::stripes::{LaneSet, Role, Stripes};
use outlast_media::BlockAddress;
use outlast_units::SuperblockId;

/// Lanes of a superblock that hold nothing, or nothing more.
#[derive(Clone, Debug)]
pub(super) struct Gaps {
    /// Gone when the superblock was opened: its stripes are laid around them.
    pub(super) opened: LaneSet,
    /// Given up since: nothing more is programmed there.
    pub(super) since: LaneSet,
}

/// Where the unit of one member of a stripe is to be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    /// Nothing was ever written there: zeroes, free to use.
    Empty,
    /// In the controller's memory: data not programmed yet, or the parity of a stripe that is not complete.
    Buffered(u32),
    /// On flash, in this program unit.
    OnFlash(u32),
    /// Nowhere: its program operation failed.
    Gone,
}

impl Ftl {
    pub(super) fn code_of(&self, superblock: SuperblockId) -> Option<&Stripes> {
        self.codes.get(usize::from(self.code[superblock.index()]))
    }

    pub(super) fn stream_code(&self, stream: Stream) -> Option<&Stripes> {
        self.codes.get(usize::from(self.stream_code[usize::from(stream.0)]))
    }

    pub(super) fn opened_gaps(&self, superblock: SuperblockId) -> Option<&LaneSet> {
        self.gaps[superblock.index()].as_ref().map(|gaps| &gaps.opened).filter(|opened| !opened.is_empty())
    }

    pub(super) fn lane_position(&self, pu_within: u32) -> u32 {
        pu_within % self.layout.lanes().len() as u32
    }

    pub(super) fn is_skipped(&self, superblock: SuperblockId, pu_within: u32) -> bool {
        let lane = self.lane_position(pu_within);
        self.gaps[superblock.index()].as_ref().is_some_and(|gaps| gaps.since.contains(lane))
    }

    /// What program unit `pu_within` of `superblock` is for.
    pub(super) fn role(&self, superblock: SuperblockId, pu_within: u32) -> Role {
        let gaps = self.opened_gaps(superblock);
        match self.code_of(superblock) {
            Some(code) => match code.role(pu_within, gaps) {
                Role::Data
                    if self
                        .partials
                        .is_spent(superblock.0 * self.layout.pus_per_superblock() + pu_within) =>
                {
                    Role::Partial
                }
                role => role,
            },
            None if gaps.is_some_and(|gaps| gaps.contains(self.lane_position(pu_within))) => Role::Gap,
            None if pu_within >= self.layout.data_pus() => Role::List,
            None => Role::Data,
        }
    }

    /// Whether the stripes of a superblock that `stream` opens have parity.
    pub fn is_protected(&self, stream: Stream) -> bool {
        self.stream_code[usize::from(stream.0)] != NO_CODE
    }

    /// Whether the data of `superblock` has parity, or will when its stripes are full.
    #[inline]
    pub fn has_parity(&self, superblock: SuperblockId) -> bool {
        self.code[superblock.index()] != NO_CODE
    }

    /// Data slots that a superblock has when `stream` opens it now.
    pub fn data_units(&self, stream: Stream) -> u32 {
        self.data_units[usize::from(stream.0)]
    }

    /// Data slots of the superblocks with the most parity.
    pub(super) fn least_data_units(&self) -> u32 {
        let holds_data = |stream: &u8| self.cause_of(Stream(*stream)) != super::Cause::Partial;
        let streams = (0..self.streams()).filter(holds_data);
        streams.map(|stream| self.data_units[usize::from(stream)]).min().unwrap_or(0)
    }

    /// To be called when lanes have gone.
    pub(super) fn count_data_units(&mut self) {
        let streams = (0..self.streams()).map(Stream);
        let gaps = Some(&self.dead_lanes).filter(|dead| !dead.is_empty());
        self.data_units = streams.map(|stream| self.data_units_of(self.stream_code(stream), gaps)).collect();
    }

    pub(super) fn data_units_of(&self, code: Option<&Stripes>, gaps: Option<&LaneSet>) -> u32 {
        let pus = self.layout.data_pus();
        let data = match (code, gaps) {
            (None, None) => pus,
            (None, Some(gaps)) => pus - gaps.len() * self.layout.data_superpages(),
            (Some(code), gaps) => (0..pus).filter(|&pu| code.role(pu, gaps) == Role::Data).count() as u32,
        };
        data * self.layout.units_per_pu()
    }

    /// `superblock` is opened without the lanes that are gone; returns how many that are.
    pub(super) fn leave_gaps(&mut self, superblock: SuperblockId) -> u32 {
        let missing = self.missing.get(&superblock.0);
        if self.dead_lanes.is_empty() && missing.is_none() {
            return 0;
        }
        let lanes = self.layout.lanes().len();
        let mut opened = self.dead_lanes.clone();
        (0..lanes as u32)
            .filter(|&lane| missing.is_some_and(|missing| missing.contains(lane)))
            .for_each(|lane| opened.insert(lane));
        let gone = opened.len();
        self.gaps[superblock.index()] = Some(Box::new(Gaps { opened, since: LaneSet::new(lanes) }));
        gone
    }

    /// A superblock has been opened in which some program units hold no data.
    #[cold]
    pub(super) fn open_irregular(&mut self, stream: Stream) {
        let index = usize::from(stream.0);
        let superblock = self.frontiers[index].superblock;
        self.leave_gaps(superblock);
        let pus = 0..self.layout.pus_per_superblock();
        let gone = pus.filter(|&pu| self.role(superblock, pu) == Role::Gap).count() as u32;
        self.settle_pus(superblock, gone);
        let data = if self.missing.is_empty() {
            self.data_units(stream)
        } else {
            self.data_units_of(self.code_of(superblock), self.opened_gaps(superblock))
        };
        let units = self.layout.units_per_pu();
        let first = self.frontiers[index].next;
        let frontier = &mut self.frontiers[index];
        frontier.irregular = true;
        // `advance` looks for the first program unit with data as it does for every other; as yet none is under way.
        frontier.later = data;
        frontier.pu_end = first + units;
        self.seek(stream, 0);
    }

    /// The program unit under way is full: on to the next one that holds data; stripes left behind are due their parity.
    #[cold]
    pub(super) fn skip(&mut self, stream: Stream) {
        let frontier = &self.frontiers[usize::from(stream.0)];
        let first = self.layout.first_slot(frontier.superblock);
        let from = (frontier.next - first) / self.layout.units_per_pu();
        self.exposed[usize::from(stream.0)] += 1;
        self.go_on(stream, from);
    }

    /// On to the first program unit from `from` on that holds data. Where that is in another stripe, the ones before are not
    /// exposed any more.
    pub(super) fn go_on(&mut self, stream: Stream, from: u32) {
        let index = usize::from(stream.0);
        let before = self.frontiers[index].due.1;
        self.seek(stream, from);
        let reached = self.frontiers[index].due.1;
        if reached != before {
            self.exposed[index] = 0;
            if self.covers {
                self.uncover(self.frontiers[index].superblock, reached);
            }
        } else if !self.is_protected_superblock(self.frontiers[index].superblock) {
            self.exposed[index] = 0;
        }
    }

    fn is_protected_superblock(&self, superblock: SuperblockId) -> bool {
        self.code[superblock.index()] != NO_CODE
            && self.partials.place() != Some(crate::config::PartialPlace::Cache)
    }

    /// Puts the frontier at the first program unit from `from` on that holds data.
    pub(super) fn seek(&mut self, stream: Stream, from: u32) {
        let index = usize::from(stream.0);
        let superblock = self.frontiers[index].superblock;
        let (pus, units) = (self.layout.data_pus(), self.layout.units_per_pu());
        let pu = (from..pus).find(|&pu| self.takes_data(superblock, pu)).unwrap_or(pus);
        if let Some(code) = self.code_of(superblock) {
            let reached = if pu == pus { code.count() } else { code.stripe_of(pu) };
            self.frontiers[index].due.1 = reached;
        }
        let first = self.layout.first_slot(superblock);
        let frontier = &mut self.frontiers[index];
        frontier.next = first + pu * units;
        frontier.pu_end = frontier.next + units;
        if pu < pus {
            frontier.later -= units;
        }
        debug_assert!(frontier.next <= frontier.end);
    }

    /// The next program unit of parity that can be programmed now, as the data of its stripe is complete, or of lists, as that of the
    /// superblock is. To be asked for after every program unit that is full, until there is none.
    pub fn take_parity(&mut self, stream: Stream) -> Option<u32> {
        let index = usize::from(stream.0);
        loop {
            let (stripe, end, nth) = self.frontiers[index].due;
            if stripe >= end {
                return self.take_list(stream);
            }
            let superblock = self.frontiers[index].superblock;
            let gaps = self.opened_gaps(superblock);
            let code = self.code_of(superblock)?;
            let within = code
                .parity_of(stripe, gaps)
                .chain(code.block_parity_after(stripe).filter(|&pu| code.role(pu, gaps) != Role::Gap))
                .nth(nth as usize);
            let Some(within) = within else {
                self.frontiers[index].due = (stripe + 1, end, 0);
                continue;
            };
            let axis = if code.role(within, gaps) == Role::BlockParity { Axis::Block } else { Axis::Dies };
            self.frontiers[index].due.2 += 1;
            if axis == Axis::Dies && nth == 0 {
                self.compute_stripe(superblock, stripe);
            }
            if self.is_skipped(superblock, within) {
                continue;
            }
            let pu = superblock.0 * self.layout.pus_per_superblock() + within;
            if axis == Axis::Dies {
                self.disown(pu);
            } else {
                self.compute_parity(superblock, axis, pu);
            }
            let units = u64::from(self.layout.units_per_pu());
            let cause = self.cause_of(stream).parity();
            self.written[cause] += units;
            return Some(pu);
        }
    }

    /// Programs, without time, all parity that is due.
    pub(super) fn program_parity(&mut self, stream: Stream) {
        while let Some(pu) = self.take_parity(stream) {
            self.programmed(pu);
        }
    }

    /// How many members of the line of program unit `pu` along `axis` it takes to rebuild another; `None` where it has no parity
    /// that way.
    pub fn line_needs(&self, pu: u32, axis: Axis) -> Option<u32> {
        let line = self.line(pu, axis)?;
        Some(self.members(line).filter(|&(_, index)| index < line.data).count() as u32)
    }

    /// The other members of the line of program unit `pu` along `axis`, and where each is to be had; none where it has no parity
    /// that way.
    pub fn line_of(&self, pu: u32, axis: Axis) -> impl Iterator<Item = Member> {
        let line = self.line(pu, axis);
        line.into_iter().flat_map(move |line| {
            self.members(line)
                .filter(move |&(other, _)| other != pu)
                .map(move |(other, index)| self.member(line, other, index))
        })
    }

    fn member(&self, line: Line, pu: u32, index: usize) -> Member {
        let (superblock, within) = self.within_superblock(pu);
        // Along a block all but its parity was there to be covered, or is nothing but zeroes.
        let is_parity = index >= line.data;
        if self.failed_pus.contains(&pu) {
            Member::Gone
        } else if self.is_on_flash(superblock, pu) {
            Member::OnFlash(pu)
        } else if self.state[superblock.index()] == State::Open
            && !(is_parity && self.is_skipped(superblock, within))
        {
            // Data on a lane that has been given up was either never put there or is on its way, to fail.
            Member::Buffered(pu)
        } else if is_parity {
            Member::Gone
        } else {
            Member::Empty
        }
    }

    pub(super) fn within_superblock(&self, pu: u32) -> (SuperblockId, u32) {
        self.layout.within_superblock(pu)
    }

    pub(super) fn is_on_flash(&self, superblock: SuperblockId, pu: u32) -> bool {
        let regular = self.unprogrammed[superblock.index()] == 0 && self.gaps[superblock.index()].is_none();
        regular || self.pu_programmed.get(pu)
    }

    /// The lanes that are not gone for good, as positions in allocation order.
    pub fn live_lanes(&self) -> impl Iterator<Item = u32> {
        (0..self.layout.lanes().len() as u32).filter(|&lane| !self.dead_lanes.contains(lane))
    }

    /// The lanes on which `superblock` has blocks to be erased: those that are not gone, nor left out of it.
    pub fn erasable_lanes(&self, superblock: SuperblockId) -> impl Iterator<Item = u32> {
        self.live_lanes().filter(move |&lane| !self.is_missing(superblock, lane))
    }

    /// Erases the blocks of `superblock`, retires those that have failed or worn out and puts spare ones in their place; false when
    /// one is missing.
    pub(super) fn erase_blocks(&mut self, superblock: SuperblockId, is_bad: impl Fn(u32) -> bool) -> bool {
        let mut gone = Vec::new();
        let (mut wear, mut blocks) = (0, 0);
        for (lane, place) in self.layout.lanes().iter().enumerate() {
            if self.dead_lanes.contains(lane as u32) || self.is_missing(superblock, lane as u32) {
                continue;
            }
            self.order.erase(superblock.index() * self.layout.lanes().len() + lane);
            for plane in place.first_plane..place.first_plane + place.planes {
                let block = self.table.block(superblock, place.local_die, plane);
                self.blocks.erase(block);
                if is_bad(self.blocks.index(block) as u32)
                    || self.endurance.is_some_and(|limit| self.blocks.cycles(block) >= limit)
                {
                    self.blocks.retire(block);
                    if !self.table.replace(superblock, place.local_die, plane) {
                        gone.push(lane as u32);
                        continue;
                    }
                }
                let member = self.table.block(superblock, place.local_die, plane);
                wear += u64::from(self.blocks.cycles(member));
                blocks += 1;
            }
        }
        self.cycles[superblock.index()] = mean(wear, blocks);
        for lane in gone {
            self.leave_out(superblock, lane);
        }
        self.is_usable(superblock)
    }

    /// Sets what wear levelling knows of a superblock from the cycles of its blocks.
    pub(super) fn weigh(&mut self, superblock: SuperblockId) {
        let (mut wear, mut blocks) = (0, 0);
        for block in self.good_blocks(superblock) {
            wear += u64::from(self.blocks.cycles(block));
            blocks += 1;
        }
        self.cycles[superblock.index()] = mean(wear, blocks);
    }

    /// The blocks of a superblock that it can use.
    pub(super) fn good_blocks(&self, superblock: SuperblockId) -> impl Iterator<Item = BlockAddress> {
        self.erasable_lanes(superblock)
            .flat_map(move |lane| self.blocks_of(superblock, lane))
            .filter(|&block| !self.blocks.is_bad(block))
    }

    /// Whether `lane` of `superblock` has a bad block that nothing replaces.
    pub(super) fn is_missing(&self, superblock: SuperblockId, lane: u32) -> bool {
        self.missing.get(&superblock.0).is_some_and(|missing| missing.contains(lane))
    }

    /// From its next opening on, `superblock` has nothing on `lane`: its stripes take the lane's data as zero.
    fn leave_out(&mut self, superblock: SuperblockId, lane: u32) {
        let (lanes, units) = (self.layout.lanes().len(), self.units_per_lane());
        let missing = self.missing.entry(superblock.0).or_insert_with(|| LaneSet::new(lanes));
        // A lane of several planes may have lost a block of each at once.
        if !missing.contains(lane) {
            missing.insert(lane);
            self.missing_units += units;
        }
    }

    /// Whether `superblock` misses no more bad blocks than it may, and has a lane left beside those.
    pub(super) fn is_usable(&self, superblock: SuperblockId) -> bool {
        self.missing.get(&superblock.0).is_none_or(|missing| {
            missing.len() <= u32::from(self.config.tolerated_bad_blocks)
                && self.erasable_lanes(superblock).next().is_some()
        })
    }

    /// What was known about the content of `superblock` ends with its erasure.
    pub(super) fn forget(&mut self, superblock: SuperblockId) {
        self.gaps[superblock.index()] = None;
        self.code[superblock.index()] = NO_CODE;
        if !self.failed_pus.is_empty() {
            let pus = self.layout.pus_per_superblock();
            let first = superblock.0 * pus;
            self.failed_pus.retain(|pu| !(first..first + pus).contains(pu));
        }
        let pus = self.layout.pus_per_superblock();
        self.partials.forget(superblock.0 * pus..(superblock.0 + 1) * pus);
        if self.covers {
            self.uncover(superblock, u32::MAX);
        }
        let (first, count) = (self.layout.first_slot(superblock), self.layout.units_per_superblock());
        if let Some(contents) = &mut self.contents {
            contents.erase(first, count);
        }
    }

    /// The physical blocks of lane `lane` of `superblock`.
    pub fn blocks_of(&self, superblock: SuperblockId, lane: u32) -> impl Iterator<Item = BlockAddress> {
        let place = self.layout.lanes()[lane as usize];
        (place.first_plane..place.first_plane + place.planes)
            .map(move |plane| self.table.block(superblock, place.local_die, plane))
    }
}

/// The mean, rounded; 0 of nothing.
fn mean(sum: u64, count: u64) -> u32 {
    (sum + count / 2).checked_div(count).unwrap_or(0) as u32
}
