//! Layout of slots, pages, dies and superblocks of one flash core: arithmetic only, fixed for the drive's life.
//!
//! Slots are numbered in write order: superblock, superpage, lane (a die, or one plane of it), unit. A write frontier is therefore a counter, and the layout
//! turns a slot into die, plane and page (decision 0003).

use crate::divider::FastDivider;
use outlast_media::{ConfigError, Geometry, ProgramUnit};
use outlast_settings::ftl::{AllocationLevel, FtlConfig, PuShape};
use outlast_units::{DieId, Group, Idx, IndexVec, LaneIndex, LocalDie, Ppn, Pu, PuWithin, Row, SuperblockId};
use std::ops::Range;

/// Target of a program operation: a die, or one plane of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DieLane {
    /// The die, numbered over the drive.
    pub die: DieId,
    /// The die, numbered within the core.
    pub local_die: LocalDie,
    /// First plane of the lane.
    pub first_plane: u16,
    /// Planes that work together.
    pub planes: u16,
}

/// The arithmetic of slots.
///
/// A *program unit* (PU) is what is programmed together: one page row (or a few, when a mapping unit spans several or a word line is
/// programmed in one shot) on all planes of a lane. A *superpage* is one PU on every lane in allocation order; a *superblock* is one block of
/// every plane of the core, superpage after superpage. Slots ([`Ppn`]) count units in exactly that order, so that a
/// stream's write frontier is a counter:
///
/// `ppn = ((superblock · superpages + superpage) · lanes + lane) · units_per_pu + unit`
#[derive(Clone, Debug)]
pub struct SlotLayout {
    lanes: IndexVec<LaneIndex, DieLane>,
    lanes_of_die: IndexVec<LocalDie, Vec<LaneIndex>>,
    units_per_pu: u32,
    rows_per_pu: u32,
    programs_per_pu: u32,
    pages_per_unit: u32,
    units_per_page: u32,
    superpages: u32,
    /// Superpages of a superblock, the last ones, that are kept for lists.
    list_rows: u32,
    superblocks: u32,
    planes_per_die: u16,
    logical_units: u32,
    by_superblock: FastDivider,
    by_pu: FastDivider,
    by_lane: FastDivider,
    by_page: FastDivider,
    by_superpage: FastDivider,
    pus_per_superblock: FastDivider,
}

/// Place of a program unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PuPlace {
    /// Its superblock.
    pub superblock: SuperblockId,
    /// Its lane.
    pub lane: DieLane,
    /// Its first page row in the block.
    pub first_page: Row,
}

/// Bytes of a unit in a list: the number of its owner.
pub(crate) const LISTED_BYTES: u64 = 4;

impl SlotLayout {
    /// The layout of a core that owns `dies` and maps `logical_units` units.
    ///
    /// # Errors
    /// A setting that does not divide, or a drive beyond what 32-bit slots can count.
    ///
    /// # Panics
    /// If there are no dies.
    pub(crate) fn new(
        geometry: &Geometry,
        config: &FtlConfig,
        dies: &[DieId],
        logical_units: u64,
    ) -> Result<Self, ConfigError> {
        let lanes = at_stride(lanes_in_order(geometry, config, dies), config.stride)?;
        let PuShape { pages_per_unit, units_per_page, rows_per_pu, units_per_pu } =
            PuShape::of(geometry, config)?;
        let superpages = geometry.pages_per_block / rows_per_pu;
        let superblocks = geometry.blocks_per_plane - config.spare_blocks;
        let pus_per_superblock = u64::from(superpages) * lanes.len() as u64;
        let units_per_superblock = pus_per_superblock * u64::from(units_per_pu);
        let slots = units_per_superblock * u64::from(superblocks);
        // The top bit of a valid count is a flag, and the last number means "none".
        if slots >= u64::from(u32::MAX)
            || units_per_superblock >= 1 << 31
            || logical_units >= u64::from(u32::MAX)
        {
            let limit = format!(
                "gives {slots} slots of {} per flash core; at most {} can be mapped: fewer or smaller blocks, a larger device.ftl.mapping_unit, \
                 or more device.controller.flash_cores",
                config.mapping_unit,
                u32::MAX - 1
            );
            return Err(ConfigError::new(
                "device.geometry.blocks_per_plane",
                geometry.blocks_per_plane,
                limit,
            ));
        }
        let mut lanes_of_die: IndexVec<LocalDie, Vec<LaneIndex>> = IndexVec::filled(Vec::new(), dies.len());
        for (position, lane) in lanes.iter_indexed() {
            lanes_of_die[lane.local_die].push(position);
        }
        assert!(!lanes.is_empty(), "a flash core has at least one die");
        assert!(
            lanes_of_die.iter().all(|lanes| lanes.len() == lanes_of_die[LocalDie(0)].len()),
            "dies have different numbers of lanes"
        );
        Ok(Self {
            by_superblock: FastDivider::new(units_per_superblock as u32),
            by_pu: FastDivider::new(units_per_pu),
            by_lane: FastDivider::new(lanes.len() as u32),
            by_page: FastDivider::new(units_per_page),
            by_superpage: FastDivider::new(superpages),
            pus_per_superblock: FastDivider::new(pus_per_superblock as u32),
            lanes,
            lanes_of_die,
            units_per_pu,
            rows_per_pu,
            programs_per_pu: rows_per_pu / u32::from(config.one_shot),
            pages_per_unit,
            units_per_page,
            superpages,
            list_rows: 0,
            superblocks,
            planes_per_die: geometry.planes_per_die,
            logical_units: logical_units as u32,
        })
    }

    /// Keeps as many superpages of every superblock as it takes to list the owners of a block's units, 4 bytes each, in another block
    /// (section 6.2 of Reparo; one superpage with the paper's blocks and pages).
    ///
    /// # Errors
    /// Blocks with too few pages for that.
    pub(crate) fn keep_lists(&mut self, geometry: &Geometry) -> Result<(), ConfigError> {
        let pu_bytes = u64::from(self.pages_per_pu()) * geometry.page_size.0;
        let fits = |&rows: &u32| {
            let listed = u64::from(self.superpages - rows) * u64::from(self.units_per_pu);
            listed * LISTED_BYTES <= u64::from(rows) * pu_bytes
        };
        self.list_rows = (1..self.superpages).find(fits).ok_or_else(|| {
            let limit = "lists of a neighbouring block leave no page to the data: give blocks more pages";
            ConfigError::new("device.geometry.pages_per_block", geometry.pages_per_block, limit)
        })?;
        Ok(())
    }

    /// Superpages of a superblock that are kept for lists.
    pub fn list_rows(&self) -> u32 {
        self.list_rows
    }
    /// Superpages of a superblock that are not kept for lists.
    #[inline]
    pub(crate) fn data_superpages(&self) -> u32 {
        self.superpages - self.list_rows
    }
    /// Program units of a superblock that are not kept for lists: the first ones.
    #[inline]
    pub(crate) fn data_pus(&self) -> u32 {
        self.data_superpages() * self.lanes.len() as u32
    }

    /// Mapping units that the host addresses in this core, as long as no die has failed.
    pub fn logical_units(&self) -> u32 {
        self.logical_units
    }
    /// Superblocks, spare blocks not counted.
    pub fn superblocks(&self) -> u32 {
        self.superblocks
    }
    /// Superpages of a superblock.
    pub fn superpages(&self) -> u32 {
        self.superpages
    }
    /// Slots of a program unit.
    #[inline]
    pub fn units_per_pu(&self) -> u32 {
        self.units_per_pu
    }
    /// Pages of a program unit.
    pub fn pages_per_pu(&self) -> u32 {
        u32::from(self.lanes[LaneIndex(0)].planes) * self.rows_per_pu
    }
    /// Planes of a lane, which program together.
    pub(crate) fn planes_per_lane(&self) -> u16 {
        self.lanes[LaneIndex(0)].planes
    }

    /// Page rows of a program unit.
    pub fn rows_per_pu(&self) -> u32 {
        self.rows_per_pu
    }

    /// Program operations of a program unit: one for each of its page rows, or for each word line that is programmed in one shot.
    pub fn programs_per_pu(&self) -> u32 {
        self.programs_per_pu
    }
    /// Slots of a superblock.
    #[inline]
    pub fn units_per_superblock(&self) -> u32 {
        self.pus_per_superblock() * self.units_per_pu
    }
    /// Program units of a superblock.
    #[inline]
    pub fn pus_per_superblock(&self) -> u32 {
        self.superpages * self.lanes.len() as u32
    }
    /// All slots.
    pub fn slots(&self) -> u32 {
        self.superblocks * self.units_per_superblock()
    }
    /// Planes of a die.
    pub fn planes_per_die(&self) -> u16 {
        self.planes_per_die
    }
    /// Dies of the core.
    pub fn dies(&self) -> u16 {
        self.lanes_of_die.len() as u16
    }
    /// The dies of the core.
    pub fn local_dies(&self) -> impl ExactSizeIterator<Item = LocalDie> + use<> {
        self.lanes_of_die.indices()
    }
    /// The lanes in allocation order.
    pub fn lanes(&self) -> &IndexVec<LaneIndex, DieLane> {
        &self.lanes
    }
    /// The positions of a die's lanes in allocation order.
    pub fn lanes_of_die(&self, local_die: LocalDie) -> &[LaneIndex] {
        &self.lanes_of_die[local_die]
    }

    /// The superblock of a slot.
    #[inline]
    pub fn superblock_of(&self, slot: Ppn) -> SuperblockId {
        debug_assert!(slot.0 < self.slots(), "slot {slot} lies beyond the {} of the core", self.slots());
        SuperblockId(self.by_superblock.quotient(slot.0))
    }
    /// The first slot of a superblock.
    #[inline]
    pub(crate) fn first_slot(&self, superblock: SuperblockId) -> Ppn {
        debug_assert!(superblock.0 <= self.superblocks, "superblock {superblock} of {}", self.superblocks);
        Ppn(superblock.0 * self.units_per_superblock())
    }
    /// The first slot of a program unit; of the one after the last, the end of all slots.
    #[inline]
    pub fn first_slot_of(&self, pu: Pu) -> Ppn {
        debug_assert!(
            pu.0 <= self.superblocks * self.pus_per_superblock(),
            "program unit {pu} lies beyond the core"
        );
        Ppn(pu.0 * self.units_per_pu)
    }
    /// The slots of a program unit.
    #[inline]
    pub fn slots_of(&self, pu: Pu) -> Range<Ppn> {
        let first = self.first_slot_of(pu);
        first..first + self.units_per_pu
    }
    /// The program units of a superblock.
    #[inline]
    pub(crate) fn pus_of(&self, superblock: SuperblockId) -> Range<Pu> {
        self.pu_at(superblock, PuWithin(0))..self.pu_at(superblock, PuWithin(self.pus_per_superblock()))
    }
    /// The program units of any superblock, counted within it.
    pub(crate) fn pus_within(&self) -> impl DoubleEndedIterator<Item = PuWithin> + Clone {
        PuWithin::each(PuWithin(0)..PuWithin(self.pus_per_superblock()))
    }
    /// Program unit `within` of `superblock`; after its last one comes the first one of the next superblock.
    #[inline]
    pub fn pu_at(&self, superblock: SuperblockId, within: PuWithin) -> Pu {
        debug_assert!(within.0 <= self.pus_per_superblock(), "program unit {within} of a superblock");
        Pu(superblock.0 * self.pus_per_superblock() + within.0)
    }
    /// The program unit of a superblock in which slot `slot` lies, be it the slot after the last one.
    #[inline]
    pub(crate) fn within_of(&self, superblock: SuperblockId, slot: Ppn) -> PuWithin {
        PuWithin(self.by_pu.quotient(slot - self.first_slot(superblock)))
    }
    /// The program unit of a slot, numbered over the core, and the slot's place in it.
    #[inline]
    pub fn pu_of(&self, slot: Ppn) -> (Pu, u32) {
        // The slot after the last one ends the last program unit.
        debug_assert!(slot.0 <= self.slots(), "slot {slot} lies beyond the {} of the core", self.slots());
        let (pu, unit) = self.by_pu.divide(slot.0);
        (Pu(pu), unit)
    }
    /// The page (or, where a unit spans pages, the unit) that holds a slot, numbered over the core in write order.
    #[inline]
    pub fn page_of(&self, slot: Ppn) -> u32 {
        self.by_page.quotient(slot.0)
    }
    /// Pages that one unit spans; 1 where several units share a page.
    pub fn pages_per_unit(&self) -> u32 {
        self.pages_per_unit
    }
    /// Units on one page; 1 where a unit spans several.
    pub fn units_per_page(&self) -> u32 {
        self.units_per_page
    }
    /// The lane of program unit `pu`.
    #[inline]
    pub fn lane_of_pu(&self, pu: Pu) -> DieLane {
        // A superblock holds a whole number of superpages, so the lane follows from the number over the core.
        self.lanes[LaneIndex(self.by_lane.divide(pu.0).1)]
    }
    /// The superpage of program unit `pu`, numbered over the core.
    #[inline]
    pub fn group_of_pu(&self, pu: Pu) -> Group {
        Group(self.by_lane.quotient(pu.0))
    }
    /// The pages of a program unit over which its unit `unit` lies: plane by plane, then row by row.
    #[inline]
    pub fn pages_of_unit(&self, unit: u32) -> Range<u32> {
        debug_assert!(unit < self.units_per_pu, "unit {unit} of a program unit of {}", self.units_per_pu);
        let first = self.by_page.quotient(unit) * self.pages_per_unit;
        first..first + self.pages_per_unit
    }
    /// Plane of the die and row of the block of page `page` (counted as by [`SlotLayout::pages_of_unit`]) of the program unit at
    /// `place`.
    #[inline]
    pub fn page_place(&self, place: PuPlace, page: u32) -> (u16, Row) {
        debug_assert!(page < self.pages_per_pu(), "page {page} of a program unit of {}", self.pages_per_pu());
        let planes = u32::from(place.lane.planes);
        let (row, plane) = if page < planes { (0, page) } else { (page / planes, page % planes) };
        (place.lane.first_plane + plane as u16, place.first_page + row)
    }
    /// The first page row of program unit `pu` in its blocks.
    #[inline]
    pub fn first_page(&self, pu: Pu) -> Row {
        let within = self.pus_per_superblock.divide(pu.0).1;
        Row(self.by_lane.quotient(within) * self.rows_per_pu)
    }
    /// The superblock of program unit `pu`, and the number of `pu` within it.
    #[inline]
    pub(crate) fn within_superblock(&self, pu: Pu) -> (SuperblockId, PuWithin) {
        let (superblock, within) = self.pus_per_superblock.divide(pu.0);
        debug_assert!(superblock < self.superblocks, "program unit {pu} lies beyond the core");
        (SuperblockId(superblock), PuWithin(within))
    }
    /// Superpage and lane of a program unit, all counted within the superblock.
    #[inline]
    pub(crate) fn row_and_lane(&self, pu_within: PuWithin) -> (u32, LaneIndex) {
        debug_assert!(pu_within.0 < self.pus_per_superblock(), "program unit {pu_within} of a superblock");
        let (row, lane) = self.by_lane.divide(pu_within.0);
        (row, LaneIndex(lane))
    }
    /// Pages that the slots in bit mask `units` lie on; the first slot is the first one of a page.
    #[inline]
    pub(crate) fn pages_under(&self, units: u64) -> u32 {
        if self.units_per_page == 1 {
            return units.count_ones() * self.pages_per_unit;
        }
        debug_assert!(units & !crate::bits::ones(self.mask_stride()) == 0, "a page reaches beyond the mask");
        let page = crate::bits::ones(self.units_per_page);
        let (mut left, mut pages) = (units, 0);
        while left != 0 {
            let first = self.by_page.quotient(left.trailing_zeros()) * self.units_per_page;
            left &= !(page << first);
            pages += 1;
        }
        pages
    }
    /// The units on page `page` of a program unit, counted as by [`SlotLayout::pages_of_unit`], one bit each; no unit spans pages.
    #[inline]
    pub fn units_of_page(&self, page: u32) -> u64 {
        debug_assert!(
            self.pages_per_unit == 1 && page < self.pages_per_pu(),
            "page {page} of a program unit"
        );
        crate::bits::ones(self.units_per_page) << (page * self.units_per_page)
    }
    /// Slots of so many whole pages that a bit mask has room for them: the stride at which a superblock is looked through.
    pub(crate) fn mask_stride(&self) -> u32 {
        64 / self.units_per_page * self.units_per_page
    }
    /// Place of program unit `pu`.
    #[inline]
    pub fn place(&self, pu: Pu) -> PuPlace {
        self.place_and_group(pu).0
    }
    /// Place of program unit `pu`, and its superpage, numbered over the core.
    #[inline]
    pub fn place_and_group(&self, pu: Pu) -> (PuPlace, Group) {
        let (group, position) = self.by_lane.divide(pu.0);
        let (superblock, superpage) = self.by_superpage.divide(group);
        let place = PuPlace {
            superblock: SuperblockId(superblock),
            lane: self.lanes[LaneIndex(position)],
            first_page: Row(superpage * self.rows_per_pu),
        };
        (place, Group(group))
    }

    /// The shape of a program unit.
    pub fn program_unit(&self) -> ProgramUnit {
        ProgramUnit {
            planes: u32::from(self.lanes[LaneIndex(0)].planes),
            rows: self.rows_per_pu,
            pages_per_unit: self.pages_per_unit,
            units_per_page: self.units_per_page,
        }
    }
}

fn lanes_in_order(geometry: &Geometry, config: &FtlConfig, dies: &[DieId]) -> Vec<DieLane> {
    let planes = if config.multi_plane { geometry.planes_per_die } else { 1 };
    let mut lanes: Vec<DieLane> = dies
        .iter()
        .enumerate()
        .flat_map(|(local, &die)| {
            (0..geometry.planes_per_die).step_by(usize::from(planes)).map(move |first_plane| DieLane {
                die,
                local_die: LocalDie::from_index(local),
                first_plane,
                planes,
            })
        })
        .collect();
    lanes.sort_by_key(|lane| {
        let address = geometry.locate(lane.die);
        let mut key = config.allocation.0.map(|level| match level {
            AllocationLevel::Channel => address.channel.0,
            AllocationLevel::Chip => address.chip,
            AllocationLevel::Die => address.die,
            AllocationLevel::Plane => lane.first_plane,
        });
        // The first letter varies fastest, so it counts least.
        key.reverse();
        key
    });
    lanes
}

/// Puts `lanes` into the order in which a superpage is written at stride `stride`.
///
/// If the stride divides the number n of lanes, write i goes to lane i · stride mod (n − 1), and the last write to the last lane: the formula of
/// Flexible (section 3.3), which leaves out the last lane and strides that do not divide n.
fn at_stride(lanes: Vec<DieLane>, stride: u32) -> Result<IndexVec<LaneIndex, DieLane>, ConfigError> {
    let (step, most) = (stride as usize, lanes.len());
    if step == 0 || step > most {
        let limit = format!("must be between 1 and {most}, the places of a superpage of each flash core");
        return Err(ConfigError::new("device.ftl.stride", stride, limit));
    }
    if step == 1 {
        return Ok(lanes.into());
    }
    let order = (0..step).flat_map(|first| (first..most).step_by(step));
    Ok(order.map(|place| lanes[place]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use outlast_units::Bytes;

    fn layout(planes: u16, page: u64, unit: u64, one_shot: u8) -> SlotLayout {
        let geometry = Geometry {
            channels: 2,
            chips_per_channel: 2,
            dies_per_chip: 1,
            planes_per_die: planes,
            blocks_per_plane: 8,
            pages_per_block: 48,
            page_size: Bytes(page),
            spare_per_page: Bytes(0),
        };
        let config = FtlConfig { mapping_unit: Bytes(unit), one_shot, ..FtlConfig::default() };
        SlotLayout::new(&geometry, &config, &[0, 1, 2, 3].map(DieId), 10).expect("a layout that divides")
    }

    #[test]
    fn pages_and_units_of_every_relation() {
        // (planes, page, unit, page rows in one shot) and what a program unit then is: units, page rows, pages, program operations.
        let cases = [
            ((2, 4096, 4096, 1), (2, 1, 2, 1)),
            ((2, 16384, 4096, 1), (8, 1, 2, 1)),
            ((4, 4096, 8192, 1), (2, 1, 4, 1)),
            ((2, 4096, 16384, 1), (1, 2, 2 * 2, 2)),
            ((1, 4096, 16384, 1), (1, 4, 4, 4)),
            ((4, 4096, 24576, 1), (2, 3, 4 * 3, 3)),
            ((4, 16384, 4096, 3), (48, 3, 4 * 3, 1)),
            ((4, 16384, 16384, 4), (16, 4, 4 * 4, 1)),
            ((2, 4096, 16384, 3), (3, 6, 2 * 6, 2)),
        ];
        for ((planes, page, unit, one_shot), (units, rows, pages, programs)) in cases {
            let layout = layout(planes, page, unit, one_shot);
            assert_eq!(layout.programs_per_pu(), programs);
            assert_eq!(
                (layout.units_per_pu(), layout.rows_per_pu(), layout.pages_per_pu()),
                (units, rows, pages)
            );
            assert_eq!(layout.program_unit().sensed((1 << units) - 1), (u64::from(pages), (1 << rows) - 1));
            assert_eq!(layout.program_unit().sensed(1).0, unit.div_ceil(page));
        }
    }

    /// Rows are a 64-bit mask: 64 of them are the most, and one more doubling is refused before anything is built.
    #[test]
    fn units_of_more_than_64_page_rows_are_refused() {
        let geometry = |pages_per_block| Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 8,
            pages_per_block,
            page_size: Bytes::kib(4),
            spare_per_page: Bytes(0),
        };
        let config = |kib| FtlConfig {
            mapping_unit: Bytes::kib(kib),
            over_provisioning: Some(0.5),
            ..FtlConfig::default()
        };
        let layout = SlotLayout::new(&geometry(256), &config(256), &[DieId(0)], 10).expect("64 rows");
        assert_eq!(layout.program_unit().sensed(1), (64, u64::MAX));
        for kib in [512, 1024] {
            let refused = config(kib).validate(&geometry(256)).expect_err("too many rows");
            assert!(refused.to_string().contains("at most 64 are tracked"), "{refused}");
        }
    }

    #[test]
    fn places_cover_every_page_row_of_every_lane_once() {
        let layout = layout(2, 4096, 4096, 1);
        let mut seen = std::collections::BTreeSet::new();
        for slot in 0..layout.slots() {
            let (pu, _) = layout.pu_of(Ppn(slot));
            let place = layout.place(pu);
            assert_eq!(place.superblock, layout.superblock_of(Ppn(slot)));
            assert_eq!(place.lane, layout.lane_of_pu(pu));
            seen.insert((place.superblock, place.lane.die, place.first_page));
        }
        assert_eq!(seen.len(), 8 * 4 * 48);
    }

    #[test]
    fn the_first_letter_of_the_allocation_order_varies_fastest() {
        let layout = layout(2, 4096, 4096, 1);
        let dies: Vec<u16> = layout.lanes().iter().map(|lane| lane.die.0).collect();
        // Dies are numbered chip by chip within a channel: channel first means 0, 2, then 1, 3.
        assert_eq!(dies, [0, 2, 1, 3]);
    }

    /// The dies of `count` channels with a die each, in the order in which a superpage is written.
    fn order(count: u16, stride: u32) -> Result<Vec<u32>, ConfigError> {
        let geometry = Geometry {
            channels: count,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 2,
            blocks_per_plane: 8,
            pages_per_block: 4,
            page_size: Bytes::kib(4),
            spare_per_page: Bytes(0),
        };
        let dies: Vec<DieId> = (0..count).map(DieId).collect();
        let layout = SlotLayout::new(&geometry, &FtlConfig { stride, ..FtlConfig::default() }, &dies, 10)?;
        Ok(layout.lanes().iter().map(|lane| u32::from(lane.die.0)).collect())
    }

    #[test]
    fn at_a_stride_of_four_eight_pages_are_written_as_section_3_5_of_flexible_says() {
        assert_eq!(order(8, 4), Ok(vec![0, 4, 1, 5, 2, 6, 3, 7]));
        assert_eq!(order(8, 1), Ok((0..8).collect()));
        assert_eq!(order(7, 3), Ok(vec![0, 3, 6, 1, 4, 2, 5]));
    }

    #[test]
    fn at_every_stride_every_lane_is_written_once_a_stride_after_the_one_before() {
        for count in 1..=70u16 {
            let n = u32::from(count);
            for stride in 1..=n {
                let order = order(count, stride).expect("within the superpage");
                let mut sorted = order.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, (0..n).collect::<Vec<_>>(), "{stride} of {count}");
                let is_next = |pair: &[u32]| pair[1] == pair[0] + stride || pair[1] == pair[0] % stride + 1;
                assert!(order.windows(2).all(is_next), "{stride} of {count}: {order:?}");
                // The paper's formula, and the last lane, which it leaves out.
                if n.is_multiple_of(stride) && n > 1 {
                    let formula = (0..n - 1).map(|i| i * stride % (n - 1)).chain([n - 1]);
                    assert!(order.iter().copied().eq(formula), "{stride} of {count}: {order:?}");
                }
            }
            for stride in [0, n + 1] {
                let refused = order(count, stride).expect_err("no such stride");
                assert_eq!(
                    (refused.field.as_str(), refused.value),
                    ("device.ftl.stride", stride.to_string())
                );
            }
        }
    }
}
