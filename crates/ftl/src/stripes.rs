//! Stripes in write order: the groups of program units of a superblock that protect each other.
//!
//! A code instance divides a superblock into runs of neighbours in write order. The frontier skips the slots of parity and of missing lanes (decision 0011).

use crate::layout::SlotLayout;
use outlast_codes::ErasureCode;
use outlast_media::ConfigError;
use outlast_settings::ftl::CodeConfig;
use outlast_units::{IndexVec, LaneIndex, LocalDie, PuWithin};
use std::ops::Range;

/// A set of lanes: one bit each.
#[derive(Clone, Debug, Default, PartialEq, Eq, outlast_persist::Persist)]
pub(crate) struct LaneSet(Vec<u64>);

impl LaneSet {
    pub(crate) fn new(lanes: usize) -> Self {
        Self(vec![0; lanes.div_ceil(64)])
    }
    pub(crate) fn insert(&mut self, lane: LaneIndex) {
        debug_assert!(lane.index() / 64 < self.0.len(), "lane {lane} of {} words", self.0.len());
        self.0[lane.index() / 64] |= 1 << (lane.0 % 64);
    }
    pub(crate) fn remove(&mut self, lane: LaneIndex) {
        self.0[lane.index() / 64] &= !(1 << (lane.0 % 64));
    }
    pub(crate) fn remove_all(&mut self, lanes: &Self) {
        assert!(self.0.len() == lanes.0.len(), "sets of lanes of different cores");
        self.0.iter_mut().zip(&lanes.0).for_each(|(word, gone)| *word &= !gone);
    }
    #[inline]
    pub(crate) fn contains(&self, lane: LaneIndex) -> bool {
        self.0[lane.index() / 64] >> (lane.0 % 64) & 1 == 1
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }
    pub(crate) fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }
}

/// Role of a program unit of a superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, outlast_persist::Persist)]
pub(crate) enum PuRole {
    /// Holds units of data.
    Data,
    /// Holds the parity of its stripe.
    Parity,
    /// Holds the parity of the program units before it in its own block(s).
    BlockParity,
    /// Holds the parity of a stripe as far as it had been filled, or was left out so that the stripe could end there.
    Partial,
    /// Kept for the list of another block's owners.
    List,
    /// Never programmed: its lane was gone when the superblock was opened, or stripes left it over.
    Gap,
}

/// Division of a superblock into the stripes of one code.
///
/// The superblock's program units, in write order, fall into stripes of at most `data + parity` neighbours, of sizes that differ by
/// one at most, so that any width will do. A stripe is never wider than a superpage, hence its members lie on different lanes.
/// `parity` of them hold parity: those on the lanes that have had the least so far. Parity is written
/// when the stripe's last data is; since the next program unit on a parity's lane belongs to a later stripe, blocks are
/// still programmed in order of page.
///
/// With a code within blocks, too, superpages go in groups, the last superpage of which holds, on every lane, the parity of what
/// the group has on that lane. Stripes do not cross from one group into the next, and the last superpage belongs to none.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct StripeLayout {
    /// Code over dies; absent if there is only one within blocks.
    code: Option<ErasureCode>,
    /// Code within blocks.
    block_code: Option<ErasureCode>,
    /// Superpages of a group: one without a code within blocks.
    group_rows: u32,
    parity: u32,
    lanes: u32,
    /// Superpages that stripes may lie in.
    rows: u32,
    /// The program units of each stripe.
    ranges: Vec<Range<PuWithin>>,
    /// The stripe after the last one of each group.
    group_ends: Vec<u32>,
    /// First parity of each stripe, counted from its first program unit.
    first_parity: Vec<u16>,
    /// Stripe of each program unit of a superblock.
    stripe_of: IndexVec<PuWithin, u32>,
    /// Role of each program unit while no lane is gone.
    roles: IndexVec<PuWithin, PuRole>,
}

impl StripeLayout {
    /// The stripes of `code` over superblocks of `layout`; `None` where the code is none.
    ///
    /// # Errors
    /// A stripe that is wider than the dies, or whose members share a die; a code within blocks that is longer than a block.
    ///
    /// # Panics
    /// If stripes overlap: a bug.
    pub(crate) fn new(code: CodeConfig, layout: &SlotLayout) -> Result<Option<Self>, ConfigError> {
        let CodeConfig { data, parity, block } = code;
        if parity == 0 && block.is_none() {
            return Ok(None);
        }
        if parity != 0 {
            check_width(code, layout)?;
        }
        let (lanes, rows) = (layout.lanes().len() as u32, layout.data_superpages());
        let group_rows = match block {
            None => rows,
            Some(block) => {
                let limit = format!("a block has {rows} rows of pages to program: give at most {}", rows - 1);
                if u32::from(block) + 1 > rows {
                    return Err(ConfigError::new("device.protection.block", block, limit));
                }
                u32::from(block) + 1
            }
        };
        let made = |data: u16, parity: u8, field: &str| {
            ErasureCode::new(usize::from(data), usize::from(parity))
                .map_err(|error| ConfigError::new(field, data, error.to_string()))
        };
        let block_code = block.map(|block| made(block, 1, "device.protection.block")).transpose()?;
        let code = (parity != 0).then(|| made(data, parity, "device.protection.data")).transpose()?;
        let pus = layout.pus_per_superblock();
        let mut stripes = Self {
            code,
            block_code,
            group_rows,
            parity: u32::from(parity),
            lanes,
            rows,
            ranges: Vec::new(),
            group_ends: Vec::new(),
            first_parity: Vec::new(),
            stripe_of: IndexVec::filled(0, pus as usize),
            roles: IndexVec::filled(PuRole::Gap, pus as usize),
        };
        for first in (0..rows).step_by(group_rows as usize) {
            let end = rows.min(first + group_rows);
            let last = if block.is_some() { end - 1 } else { end };
            let left = stripes.divide(first * lanes..last * lanes, u32::from(data) + u32::from(parity));
            if left != 0 && block.is_some() {
                // Pages of a block are programmed in order, so that none may be left out before the parity of the others.
                let limit = format!(
                    "leaves {left} program units over in the {} before the parity of their blocks: change one of the codes",
                    (last - first) * lanes
                );
                return Err(ConfigError::new("device.protection.data", data, limit));
            }
            let group = stripes.ranges.len() as u32;
            if group == stripes.group_ends.last().copied().unwrap_or(0) {
                // One superpage left, with nothing to protect; or none that takes a stripe.
                continue;
            }
            stripes.group_ends.push(group);
            if block.is_some() {
                let row = (last * lanes) as usize..(end * lanes) as usize;
                stripes.roles.as_mut_slice()[row.clone()].fill(PuRole::BlockParity);
                stripes.stripe_of.as_mut_slice()[row].fill(group - 1);
            }
        }
        if stripes.ranges.is_empty() {
            let limit = format!(
                "with {parity} parity a stripe is wider than the {pus} program units of a superblock"
            );
            return Err(ConfigError::new("device.protection.data", data, limit));
        }
        let data_pus = layout.data_pus() as usize;
        let over = stripes.roles.as_slice()[..data_pus].iter().filter(|&&role| role == PuRole::Gap).count();
        if over != 0 && layout.list_rows() != 0 {
            // Pages of a block are programmed in order, so that none may be left out before the lists.
            let limit = format!(
                "leaves {over} of {data_pus} program units over before the lists of owners in the last page of a block: \
                 change the code, or device.repair.identifier"
            );
            return Err(match block {
                Some(block) => ConfigError::new("device.protection.block", block, limit),
                None => ConfigError::new("device.protection.data", data, limit),
            });
        }
        stripes.roles.as_mut_slice()[data_pus..].fill(PuRole::List);
        stripes.place_parity();
        assert!(
            stripes.code.is_none() || stripes.ranges.iter().all(|range| range.end - range.start <= lanes),
            "a stripe is wider than a superpage: two of its members share a lane"
        );
        assert!(
            stripes.ranges.windows(2).all(|pair| pair[0].end <= pair[1].start),
            "stripes overlap, or are not in write order"
        );
        Ok(Some(stripes))
    }

    /// Divides `pus` into stripes of at most `width`; returns how many are left over.
    fn divide(&mut self, pus: Range<u32>, width: u32) -> u32 {
        let length = pus.end - pus.start;
        let (count, used) = match length.div_ceil(width) {
            _ if self.code.is_none() => (u32::from(length != 0), length),
            0 => (0, 0),
            count if length / count > self.parity => (count, length),
            // Stripes of this size would have no room for data beside their parity: the program units that are over are left out.
            _ => (length / width, length / width * width),
        };
        assert!(used <= length && (count == 0) == (used == 0), "{count} stripes over {used} of {length}");
        for stripe in 0..count {
            // Bounds are rounded down, so that sizes differ by one at most.
            let bound = |i: u32| pus.start + (u64::from(i) * u64::from(used) / u64::from(count)) as u32;
            let (from, to) = (bound(stripe), bound(stripe + 1));
            let number = self.ranges.len() as u32;
            self.stripe_of.as_mut_slice()[from as usize..to as usize].fill(number);
            self.roles.as_mut_slice()[from as usize..to as usize].fill(PuRole::Data);
            self.ranges.push(PuWithin(from)..PuWithin(to));
        }
        let last = (self.ranges.len() as u32).saturating_sub(1);
        self.stripe_of.as_mut_slice()[(pus.start + used) as usize..pus.end as usize].fill(last);
        length - used
    }

    fn place_parity(&mut self) {
        let lanes = self.lanes;
        let mut load: IndexVec<LaneIndex, u32> = IndexVec::filled(0, lanes as usize);
        for stripe in 0..self.ranges.len() as u32 {
            let Range { start, end } = self.members(stripe);
            // Turning the search with the superpage keeps ties from always falling on the first lanes.
            let turned = (0..end - start).map(|i| (start.0 / lanes + i) % (end - start));
            let least = turned.min_by_key(|offset| load[self.lane_of(start + *offset)]).unwrap_or(0);
            self.first_parity.push(least as u16);
            let places: Vec<PuWithin> = self.parity_of(stripe, None).collect();
            for parity in places {
                load[self.lane_of(parity)] += 1;
                self.roles[parity] = PuRole::Parity;
            }
        }
    }

    /// The code over dies; `None` if there is only one within blocks.
    pub(crate) fn code(&self) -> Option<&ErasureCode> {
        self.code.as_ref()
    }

    /// The code within blocks.
    pub(crate) fn block_code(&self) -> Option<&ErasureCode> {
        self.block_code.as_ref()
    }

    /// Most data program units of a stripe; zero without a code over dies.
    pub(crate) fn data(&self) -> usize {
        self.code.as_ref().map_or(0, ErasureCode::data_shards)
    }

    /// Parity program units of a stripe.
    pub(crate) fn parity(&self) -> u32 {
        self.parity
    }

    /// Number of stripes.
    pub(crate) fn count(&self) -> u32 {
        self.ranges.len() as u32
    }

    /// The stripe of a program unit (both counted within the superblock).
    #[inline]
    pub(crate) fn stripe_of(&self, pu: PuWithin) -> u32 {
        self.stripe_of[pu]
    }

    /// All program units of a stripe.
    #[inline]
    pub(crate) fn members(&self, stripe: u32) -> Range<PuWithin> {
        self.ranges[stripe as usize].clone()
    }

    /// The parity within blocks that is due when `stripe` is complete: one program unit for each lane, if the stripe is the last of
    /// its group.
    pub(crate) fn block_parity_after(&self, stripe: u32) -> Range<PuWithin> {
        if self.block_code.is_none() {
            return PuWithin(0)..PuWithin(0);
        }
        match self.group_ends.binary_search(&(stripe + 1)) {
            Ok(_) => {
                let row = self.group_of(self.members(stripe).start).end - 1;
                PuWithin(row * self.lanes)..PuWithin((row + 1) * self.lanes)
            }
            Err(_) => PuWithin(0)..PuWithin(0),
        }
    }

    /// The superpages of the group of program unit `pu`, its parity's the last.
    pub(crate) fn group_of(&self, pu: PuWithin) -> Range<u32> {
        let rows = self.rows;
        let first = pu.0 / self.lanes / self.group_rows * self.group_rows;
        debug_assert!(first < self.rows, "program unit {pu} lies beyond the stripes");
        first..rows.min(first + self.group_rows)
    }

    /// The lane of a program unit.
    #[inline]
    fn lane_of(&self, pu: PuWithin) -> LaneIndex {
        LaneIndex(pu.0 % self.lanes)
    }

    /// The program units that hold a stripe's parity, given the lanes that were gone when the superblock was opened: the preferred
    /// place, or the next ones with a lane. Fewer where so few lanes are left that there would be no data.
    pub(crate) fn parity_of(&self, stripe: u32, gaps: Option<&LaneSet>) -> impl Iterator<Item = PuWithin> {
        let members = self.members(stripe);
        let width = members.end - members.start;
        let first = u32::from(self.first_parity[stripe as usize]);
        let live = move |pu: PuWithin| gaps.is_none_or(|gaps| !gaps.contains(self.lane_of(pu)));
        let most = (PuWithin::each(members.clone()).filter(|&pu| live(pu)).count() as u32).saturating_sub(1);
        (0..width)
            .map(move |i| members.start + ((first + i) % width))
            .filter(move |&pu| live(pu))
            .take(self.parity.min(most) as usize)
    }

    /// Role of program unit `pu`, given the lanes that were gone when its superblock was opened.
    #[inline]
    pub(crate) fn role(&self, pu: PuWithin, gaps: Option<&LaneSet>) -> PuRole {
        let role = self.roles[pu];
        match gaps {
            None => role,
            Some(gaps) if gaps.contains(self.lane_of(pu)) => PuRole::Gap,
            Some(_) if matches!(role, PuRole::BlockParity | PuRole::Gap | PuRole::List) => role,
            Some(gaps) if self.parity_of(self.stripe_of(pu), Some(gaps)).any(|parity| parity == pu) => {
                PuRole::Parity
            }
            Some(_) => PuRole::Data,
        }
    }
}

/// Refuses stripes that are wider than the dies, or whose members share a die.
fn check_width(CodeConfig { data, parity, .. }: CodeConfig, layout: &SlotLayout) -> Result<(), ConfigError> {
    let lanes = layout.lanes().as_slice();
    let width = u32::from(data) + u32::from(parity);
    if width > u32::from(layout.dies()) {
        let limit =
            format!("with {parity} parity a stripe is {width} dies wide; a flash core has {}", layout.dies());
        return Err(ConfigError::new("device.protection.data", data, limit));
    }
    // Every run of `width` neighbours, also over the end of a superpage.
    let shared = (0..lanes.len()).find(|&first| {
        let stretch = (0..width as usize).map(|i| lanes[(first + i) % lanes.len()].local_die);
        let mut dies: Vec<LocalDie> = stretch.collect();
        dies.sort_unstable();
        dies.windows(2).any(|pair| pair[0] == pair[1])
    });
    if shared.is_some() {
        let limit = format!(
            "needs {width} program units in a row on different dies: put P last in device.ftl.allocation, set \
             device.ftl.multi_plane, or take another device.ftl.stride"
        );
        return Err(ConfigError::new("device.protection.data", data, limit));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use outlast_media::Geometry;
    use outlast_settings::ftl::FtlConfig;
    use outlast_units::{Bytes, DieId};
    use std::collections::BTreeSet;

    fn layout(dies: u16, pages: u32) -> SlotLayout {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: dies,
            dies_per_chip: 1,
            planes_per_die: 2,
            blocks_per_plane: 8,
            pages_per_block: pages,
            page_size: Bytes::kib(4),
            spare_per_page: Bytes(0),
        };
        let dies: Vec<DieId> = (0..dies).map(DieId).collect();
        SlotLayout::new(&geometry, &FtlConfig::default(), &dies, 10).unwrap()
    }

    proptest::proptest! {
        #[test]
        fn stripes_cover_the_superblock_on_different_lanes_with_parity_enough(
            dies in 2u16..20, pages in 1u32..40, data in 1u16..19, parity in 0u8..4, block in proptest::option::of(1u16..12), gone: u32,
        ) {
            let layout = layout(dies, pages);
            let config = CodeConfig { data, parity, block };
            let stripes = match StripeLayout::new(config, &layout) {
                Ok(Some(stripes)) => stripes,
                Ok(None) => {
                    proptest::prop_assert!(parity == 0 && block.is_none());
                    return Ok(());
                }
                Err(_) => {
                    let (data, parity, dies) = (u32::from(data), u32::from(parity), u32::from(dies));
                    let over = |rows: u32| {
                        let length = rows * dies;
                        length != 0 && length / length.div_ceil(data + parity) <= parity
                    };
                    let left = block.is_some_and(|block| {
                        let block = u32::from(block);
                        over(block) || over((pages % (block + 1)).saturating_sub(1))
                    });
                    let long = block.is_some_and(|block| u32::from(block) >= pages);
                    proptest::prop_assert!(long || (parity != 0 && (data + parity > dies || left)));
                    return Ok(());
                }
            };
            let lanes = u32::from(dies);
            let mut gaps = LaneSet::new(lanes as usize);
            (0..lanes).filter(|lane| gone >> (lane % 32) & gone.rotate_left(7) >> (lane % 32) & 1 == 1).for_each(|lane| gaps.insert(LaneIndex(lane)));
            for gaps in [None, Some(&gaps)] {
                let mut covered = vec![false; layout.pus_per_superblock() as usize];
                for stripe in 0..stripes.count() {
                    let members = stripes.members(stripe);
                    let width = members.end - members.start;
                    for pu in PuWithin::each(members.clone()) {
                        proptest::prop_assert!(!std::mem::replace(&mut covered[pu.index()], true));
                        proptest::prop_assert_eq!(stripes.stripe_of(pu), stripe);
                    }
                    let roles: Vec<PuRole> = PuWithin::each(members.clone()).map(|pu| stripes.role(pu, gaps)).collect();
                    let count = |role| roles.iter().filter(|&&r| r == role).count() as u32;
                    if parity != 0 {
                        proptest::prop_assert!(width <= u32::from(data) + u32::from(parity));
                        let on: BTreeSet<u32> = PuWithin::each(members.clone()).map(|pu| pu.0 % lanes).collect();
                        proptest::prop_assert_eq!(on.len() as u32, width);
                    }
                    let live = width - count(PuRole::Gap);
                    let expected = u32::from(parity).min(live.saturating_sub(1));
                    proptest::prop_assert_eq!(count(PuRole::Parity), expected);
                    for pu in PuWithin::each(stripes.block_parity_after(stripe)) {
                        // It comes after all that it protects.
                        proptest::prop_assert!(pu >= members.end && stripes.stripe_of(pu) == stripe);
                        let role = stripes.role(pu, gaps);
                        proptest::prop_assert!(role == PuRole::BlockParity || role == PuRole::Gap);
                        covered[pu.index()] = true;
                    }
                }
                let left: Vec<PuWithin> = layout.pus_within().filter(|pu| !covered[pu.index()]).collect();
                proptest::prop_assert!(left.iter().all(|&pu| stripes.role(pu, gaps) == PuRole::Gap));
                let groups = block.map_or(1, |block| pages.div_ceil(u32::from(block) + 1));
                // A last superpage by itself protects nothing and is not used.
                let alone = if block.is_some_and(|block| pages % (u32::from(block) + 1) == 1) { lanes } else { 0 };
                proptest::prop_assert!(left.len() as u32 <= u32::from(parity) * groups + alone, "{} left out", left.len());
            }
        }
    }

    #[test]
    fn parity_goes_round_all_dies() {
        let layout = layout(8, 64);
        for data in [3, 4, 7] {
            let config = CodeConfig { data, parity: 1, block: None };
            let stripes = StripeLayout::new(config, &layout).unwrap().unwrap();
            let mut by_lane = [0u32; 8];
            for pu in layout.pus_within() {
                by_lane[(pu.0 % 8) as usize] += u32::from(stripes.role(pu, None) == PuRole::Parity);
            }
            let (least, most) = (by_lane.iter().min().unwrap(), by_lane.iter().max().unwrap());
            assert!(most - least <= 2, "{by_lane:?}");
        }
    }
}
