//! Stripes in write order: the groups of program units of a superblock that protect each other.
//!
//! A code instance divides a superblock into runs of neighbours in write order. The frontier skips the slots of parity and of missing lanes (decision 0011).

mod members;

use crate::layout::SlotLayout;
use outlast_codes::ErasureCode;
use outlast_media::ConfigError;
use outlast_settings::ftl::CodeConfig;
use outlast_units::{IndexVec, LaneIndex, LocalDie, ModeId, PuWithin, to_count};
use std::ops::Range;

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
#[derive(Clone, Debug, PartialEq, outlast_persist::Persist)]
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
    /// The stripes of `code` over superblocks of `layout` in `mode`; `None` where the code is none.
    ///
    /// # Errors
    /// A stripe that is wider than the dies, or whose members share a die; a code within blocks that is longer than a block.
    ///
    /// # Panics
    /// If stripes overlap: a bug.
    pub(crate) fn new(
        code: CodeConfig,
        layout: &SlotLayout,
        mode: ModeId,
    ) -> Result<Option<Self>, ConfigError> {
        let CodeConfig { data, parity, block } = code;
        if parity == 0 && block.is_none() {
            return Ok(None);
        }
        if parity != 0 {
            check_width(code, layout)?;
        }
        let (lanes, rows) = (layout.lane_count(), layout.data_superpages(mode));
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
        let (pus, used) = (layout.pus_per_superblock(), layout.used_pus(mode));
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
            let group = to_count(stripes.ranges.len());
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
                "with {parity} parity a stripe is wider than the {used} program units of a superblock"
            );
            return Err(ConfigError::new("device.protection.data", data, limit));
        }
        let data_pus = layout.data_pus(mode) as usize;
        let over = stripes.roles.as_slice()[..data_pus].iter().filter(|&&role| role == PuRole::Gap).count();
        if over != 0 && layout.list_rows(mode) != 0 {
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
        stripes.roles.as_mut_slice()[data_pus..used as usize].fill(PuRole::List);
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
    #[allow(clippy::cast_possible_truncation, reason = "bounds are at most `used`")]
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
            let number = to_count(self.ranges.len());
            self.stripe_of.as_mut_slice()[from as usize..to as usize].fill(number);
            self.roles.as_mut_slice()[from as usize..to as usize].fill(PuRole::Data);
            self.ranges.push(PuWithin(from)..PuWithin(to));
        }
        let last = (to_count(self.ranges.len())).saturating_sub(1);
        self.stripe_of.as_mut_slice()[(pus.start + used) as usize..pus.end as usize].fill(last);
        length - used
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "a stripe has no more members than its code has shards"
    )]
    fn place_parity(&mut self) {
        let lanes = self.lanes;
        let mut load: IndexVec<LaneIndex, u32> = IndexVec::filled(0, lanes as usize);
        for stripe in 0..to_count(self.ranges.len()) {
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
        to_count(self.ranges.len())
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
mod tests;
