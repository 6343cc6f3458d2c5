//! Stripes in write order: which program units of a superblock protect which.

use crate::config::ProtectionConfig;
use crate::layout::Layout;
use outlast_codes::Code;
use outlast_media::ConfigError;
use std::ops::Range;

/// A set of lanes: one bit each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LaneSet(Vec<u64>);

impl LaneSet {
    pub(crate) fn new(lanes: usize) -> Self {
        Self(vec![0; lanes.div_ceil(64)])
    }
    pub(crate) fn insert(&mut self, lane: u32) {
        self.0[lane as usize / 64] |= 1 << (lane % 64);
    }
    #[inline]
    pub(crate) fn contains(&self, lane: u32) -> bool {
        self.0[lane as usize / 64] >> (lane % 64) & 1 == 1
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }
    pub(crate) fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }
}

/// What a program unit of a superblock is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It holds units of data.
    Data,
    /// It holds the parity of its stripe.
    Parity,
    /// Nothing is ever programmed there: its lane was gone when the superblock was opened, or it is left over by stripes.
    Gap,
}

/// How one code instance divides a superblock.
///
/// The superblock's program units, in write order, fall into stripes of at most `data + parity` neighbours, of sizes that differ by
/// one at most, so that any width will do. A stripe is never wider than a superpage, hence its members lie on different lanes.
/// `parity` of them hold parity: those on the lanes that have had the least so far. Parity is written
/// when the stripe's last data is; since the next program unit on a parity's lane belongs to a later stripe, blocks are
/// still programmed in order of page.
#[derive(Clone, Debug)]
pub struct Stripes {
    code: Code,
    parity: u32,
    lanes: u32,
    /// First program unit of each stripe, and the end.
    starts: Vec<u32>,
    /// First program unit beyond the last stripe: what is left of the superblock is not used.
    end: u32,
    /// Where the parity of each stripe begins, counted from its first program unit.
    first_parity: Vec<u16>,
    /// Stripe of each program unit of a superblock.
    stripe_of: Vec<u32>,
    /// One bit for each program unit: it holds parity, where no lane is gone.
    is_parity: Vec<u64>,
}

impl Stripes {
    /// The stripes of `config` over superblocks of `layout`.
    ///
    /// # Errors
    /// A stripe that is wider than the dies, or whose members share a die.
    pub fn new(config: &ProtectionConfig, layout: &Layout) -> Result<Self, ConfigError> {
        let lanes = layout.lanes();
        let width = u32::from(config.data) + u32::from(config.parity);
        if width > u32::from(layout.dies()) {
            let limit = format!(
                "with {} parity a stripe is {width} dies wide; a flash core has {}",
                config.parity,
                layout.dies()
            );
            return Err(ConfigError::new("device.protection.data", config.data, limit));
        }
        // Every stretch of so many neighbours, round the end.
        let shared = (0..lanes.len()).find(|&first| {
            let stretch = (0..width as usize).map(|i| lanes[(first + i) % lanes.len()].local_die);
            let mut dies: Vec<u16> = stretch.collect();
            dies.sort_unstable();
            dies.windows(2).any(|pair| pair[0] == pair[1])
        });
        if shared.is_some() {
            let limit = format!(
                "needs {width} program units in a row on different dies: put P last in device.ftl.allocation, or set \
                 device.ftl.multi_plane"
            );
            return Err(ConfigError::new("device.protection.data", config.data, limit));
        }
        let (lanes, pus) = (lanes.len() as u32, layout.pus_per_superblock());
        let (count, end) = match pus.div_ceil(width) {
            count if pus / count > u32::from(config.parity) => (count, pus),
            // The stripes would be too short to hold data beside their parity: what is over is left out.
            _ => (pus / width, pus / width * width),
        };
        if count == 0 {
            let limit = format!(
                "with {} parity a stripe is wider than the {pus} program units of a superblock",
                config.parity
            );
            return Err(ConfigError::new("device.protection.data", config.data, limit));
        }
        let starts: Vec<u32> =
            (0..=u64::from(count)).map(|i| (i * u64::from(end) / u64::from(count)) as u32).collect();
        let code = Code::new(usize::from(config.data), usize::from(config.parity))
            .map_err(|error| ConfigError::new("device.protection.data", config.data, error.to_string()))?;
        let mut stripes = Self {
            code,
            parity: u32::from(config.parity),
            lanes,
            end,
            stripe_of: vec![count - 1; pus as usize],
            is_parity: vec![0; pus.div_ceil(64) as usize],
            first_parity: vec![0; count as usize],
            starts,
        };
        let mut load = vec![0u32; lanes as usize];
        for stripe in 0..count {
            let Range { start, end } = stripes.members(stripe);
            // Turning the search with the superpage keeps ties from always falling on the first lanes.
            let turned = (0..end - start).map(|i| (start / lanes + i) % (end - start));
            let least = turned.min_by_key(|offset| load[((start + offset) % lanes) as usize]).unwrap_or(0);
            stripes.first_parity[stripe as usize] = least as u16;
            let members = stripes.members(stripe);
            stripes.stripe_of[members.start as usize..members.end as usize].fill(stripe);
            let places: Vec<u32> = stripes.parity_of(stripe, None).collect();
            for parity in places {
                load[(parity % lanes) as usize] += 1;
                stripes.is_parity[parity as usize / 64] |= 1 << (parity % 64);
            }
        }
        Ok(stripes)
    }

    /// The code that makes parity.
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// Most data program units of a stripe.
    pub fn data(&self) -> usize {
        self.code.data_shards()
    }

    /// Parity program units of a stripe.
    pub fn parity(&self) -> u32 {
        self.parity
    }

    /// The stripe of a program unit (both counted within the superblock).
    #[inline]
    pub fn stripe_of(&self, pu: u32) -> u32 {
        self.stripe_of[pu as usize]
    }

    /// All program units of a stripe.
    #[inline]
    pub fn members(&self, stripe: u32) -> Range<u32> {
        self.starts[stripe as usize]..self.starts[stripe as usize + 1]
    }

    /// The program units that hold a stripe's parity, given the lanes that were gone when the superblock was opened: the preferred
    /// place, or the next ones with a lane. None where so few lanes are left that there would be no data.
    pub(crate) fn parity_of(&self, stripe: u32, gaps: Option<&LaneSet>) -> impl Iterator<Item = u32> {
        let members = self.members(stripe);
        let width = members.end - members.start;
        let first = u32::from(self.first_parity[stripe as usize]);
        let live = move |pu: u32| gaps.is_none_or(|gaps| !gaps.contains(pu % self.lanes));
        let enough = members.clone().filter(|&pu| live(pu)).count() as u32 > self.parity;
        (0..width)
            .map(move |i| members.start + (first + i) % width)
            .filter(move |&pu| live(pu))
            .take(if enough { self.parity as usize } else { 0 })
    }

    /// What program unit `pu` is for, given the lanes that were gone when its superblock was opened.
    #[inline]
    pub(crate) fn role(&self, pu: u32, gaps: Option<&LaneSet>) -> Role {
        if pu >= self.end {
            return Role::Gap;
        }
        let parity = match gaps {
            None => self.is_parity[pu as usize / 64] >> (pu % 64) & 1 == 1,
            Some(gaps) if gaps.contains(pu % self.lanes) => return Role::Gap,
            Some(_) => self.parity_of(self.stripe_of(pu), gaps).any(|parity| parity == pu),
        };
        if parity { Role::Parity } else { Role::Data }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::FtlConfig;
    use outlast_media::Geometry;
    use outlast_units::{Bytes, DieId};
    use std::collections::BTreeSet;

    fn layout(dies: u16, pages: u32) -> Layout {
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
        Layout::new(&geometry, &FtlConfig::default(), &dies, 10).unwrap()
    }

    proptest::proptest! {
        #[test]
        fn stripes_cover_the_superblock_on_different_lanes_with_parity_enough(
            dies in 2u16..20, pages in 1u32..40, data in 1u16..19, parity in 1u8..4, gone: u32,
        ) {
            let layout = layout(dies, pages);
            let config = ProtectionConfig { data, parity, ..ProtectionConfig::default() };
            let Ok(stripes) = Stripes::new(&config, &layout) else {
                proptest::prop_assert!(u32::from(data) + u32::from(parity) > u32::from(dies));
                return Ok(());
            };
            let lanes = u32::from(dies);
            let mut gaps = LaneSet::new(lanes as usize);
            (0..lanes).filter(|lane| gone >> (lane % 32) & gone.rotate_left(7) >> (lane % 32) & 1 == 1).for_each(|lane| gaps.insert(lane));
            for gaps in [None, Some(&gaps)] {
                let mut next = 0;
                for stripe in 0..stripes.starts.len() as u32 - 1 {
                    let members = stripes.members(stripe);
                    proptest::prop_assert_eq!(members.start, next);
                    next = members.end;
                    let width = members.end - members.start;
                    proptest::prop_assert!(width <= u32::from(data) + u32::from(parity));
                    let on: BTreeSet<u32> = members.clone().map(|pu| pu % lanes).collect();
                    proptest::prop_assert_eq!(on.len() as u32, width);
                    let roles: Vec<Role> = members.clone().map(|pu| stripes.role(pu, gaps)).collect();
                    let count = |role| roles.iter().filter(|&&r| r == role).count() as u32;
                    let live = width - count(Role::Gap);
                    let expected = if live > u32::from(parity) { u32::from(parity) } else { 0 };
                    proptest::prop_assert_eq!(count(Role::Parity), expected);
                    proptest::prop_assert!(members.clone().all(|pu| stripes.stripe_of(pu) == stripe));
                }
                let left = layout.pus_per_superblock() - next;
                proptest::prop_assert!(left <= u32::from(parity), "{left} left out");
                let unused = next..layout.pus_per_superblock();
                proptest::prop_assert!(unused.into_iter().all(|pu| stripes.role(pu, gaps) == Role::Gap));
            }
        }
    }

    #[test]
    fn parity_goes_round_all_dies() {
        let layout = layout(8, 64);
        for data in [3, 4, 7] {
            let config = ProtectionConfig { data, ..ProtectionConfig::default() };
            let stripes = Stripes::new(&config, &layout).unwrap();
            let mut by_lane = [0u32; 8];
            for pu in 0..layout.pus_per_superblock() {
                by_lane[(pu % 8) as usize] += u32::from(stripes.role(pu, None) == Role::Parity);
            }
            let (least, most) = (by_lane.iter().min().unwrap(), by_lane.iter().max().unwrap());
            assert!(most - least <= 2, "{by_lane:?}");
        }
    }
}
