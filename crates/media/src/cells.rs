//! Ground truth of raw bit errors: wear, age and reads of every block of a set of dies, and the error rate that follows.

mod block;
mod calm;
mod forecast;
mod initial;
mod ln;
mod powers;

pub use block::RowLuck;
pub use calm::CalmSensing;
pub use initial::{AgeRange, InitialState};

use crate::reliability::{BlockVariation, PageTypes, RberModel, RberParts, SATURATED_RBER};
use crate::{CellMode, Geometry};
use block::{BlockCells, ErrorLaw};
use outlast_tables::{filled, prefetch};
use outlast_units::rng::{mix, sub_seed};
use outlast_units::{BlockIndex, Group, IndexVec, JsonSchema, ModeId, Nanos, Row};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Scope of read disturbance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReadScope {
    /// The whole block: the reads of the error model are those of the block since its erasure.
    #[default]
    Block,
    /// Only the page that is read: one counter for each page.
    Page,
}

/// Settings of the cells, validated by the caller.
#[derive(Clone, Copy, Debug)]
pub struct CellsConfig<'a> {
    /// The chip's mean error rate.
    pub model: &'a RberModel,
    /// Variation of blocks about that rate.
    pub variation: BlockVariation,
    /// Factors of page types; `None`: page types do not differ.
    pub page_types: Option<&'a PageTypes>,
    /// Scope of read disturbance.
    pub scope: ReadScope,
    /// Further modes of superblocks; `model` and `page_types` are those of the first.
    pub modes: &'a [CellMode],
}

/// A sensing whose error rate reached [`SATURATED_RBER`].
#[derive(Clone, Copy, Debug, PartialEq, outlast_persist::Persist)]
pub struct RberSaturation {
    /// The block, in the order of [`crate::PhysicalBlocks::index`].
    pub block: BlockIndex,
    /// P/E cycles of the block.
    pub cycles: u32,
    /// Days since the page was written.
    pub days: f64,
    /// Reads that the error model counted.
    pub reads: u32,
}

/// Result of a sensing of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RowSensing {
    /// ln RBER, at most ln 0.5.
    pub ln_rber: f64,
    /// The luck of the row's units.
    pub luck: RowLuck,
}

/// Ground truth of the raw bit errors of a set of dies. Knows blocks (numbered as by [`crate::PhysicalBlocks::index`]), rows of pages
/// and time; knows no logical page and no superblock.
///
/// A *group* is whatever the caller programs together, such as a superpage. It has one program time: that of what was written to it first
/// since [`FlashCells::forget`], so that no data is taken to be younger than it is. Times are kept in tenths of a second: ages are rounded to
/// 0.1 s, and time stands still 13.6 years after the oldest initial age (see [`FlashCells::horizon`]). The caller's `now` never goes back.
///
/// A sensing costs 13 to 20 ns (`outlast-bench cells`): powers are computed only when a block is erased, and looked up else. The
/// RBER of a sensing is the model's within a relative 3e-7.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub struct FlashCells {
    /// The law of errors in each mode.
    #[persist(skip)]
    laws: IndexVec<ModeId, ModeLaw>,
    #[persist(each)]
    blocks: IndexVec<BlockIndex, BlockCells>,
    /// Program time of each group, in ticks since the epoch; [`UNWRITTEN`] of one that holds nothing.
    #[persist(each)]
    programmed: IndexVec<Group, u32>,
    /// Ticks from the epoch to time zero.
    before_zero: u64,
    /// Page rows of a block.
    #[persist(skip)]
    rows: usize,
    /// Reads of each row of each block; empty unless reads disturb only their page.
    #[persist(each)]
    row_reads: Vec<u32>,
    /// Reads at which the alarm of a block goes off, by type of the row that is read; empty unless reads disturb only their page.
    #[persist(each)]
    row_alarms: Vec<u32>,
    /// Number of row types, which alternate from row to row.
    #[persist(skip)]
    types: usize,
    /// Blocks whose alarm has gone off.
    alarms: VecDeque<BlockIndex>,
    saturations: u64,
    first_saturation: Option<RberSaturation>,
    /// Cached coefficients of a model, with the mode and the cycles that they belong to: blocks are often as worn as the one before.
    unit_parts: (ModeId, u32, RberParts),
    first_block: u64,
    seed: u64,
    luck_seed: u64,
    #[persist(skip)]
    variation: BlockVariation,
}

/// The law of errors in one mode.
#[derive(Clone, Debug)]
struct ModeLaw {
    model: RberModel,
    errors: ErrorLaw,
}

impl ModeLaw {
    /// The law of `model` with factors of page types, for blocks of `rows` rows.
    fn new(model: &RberModel, page_types: Option<&PageTypes>, rows: usize) -> Self {
        let (n, q) = match model {
            RberModel::PowerLaw(law) => (law.n, law.q),
            // Without retention and disturbance, or with both looked up: their coefficients are 0.
            RberModel::Exponential(_) | RberModel::TwoPoint(_) | RberModel::Grid(_) => (0.0, 0.0),
        };
        let row_ln_factor: Vec<f64> = match page_types {
            Some(types) => types.ln_factors().iter().copied().cycle().take(rows).collect(),
            None => vec![0.0; rows],
        };
        Self { model: model.clone(), errors: ErrorLaw::new(n, q, model, row_ln_factor) }
    }
}

fn least_common_multiple(a: usize, b: usize) -> usize {
    let (mut divisor, mut rest) = (a, b);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    a / divisor * b
}

/// Time since a group was written, in tenths of a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, outlast_persist::Persist)]
pub struct DataAge(u32);

/// The unit of program times.
const TICK: Nanos = Nanos::millis(100);
const DAYS_PER_TICK: f64 = 1.0 / 864_000.0;
/// Program time of a group that holds nothing: later than any other, so that its age is 0.
const UNWRITTEN: u32 = u32::MAX;
/// Read count of an alarm that never goes off.
const NEVER: u32 = u32::MAX;

impl FlashCells {
    /// Resident bytes of the state of `blocks` blocks of `rows` rows with `groups` groups.
    pub fn bytes(blocks: u64, rows: u64, groups: u64, scope: ReadScope) -> u64 {
        let by_row = match scope {
            ReadScope::Block => 0,
            ReadScope::Page => blocks * rows * size_of::<u32>() as u64,
        };
        blocks * size_of::<BlockCells>() as u64 + groups * size_of::<u32>() as u64 + by_row
    }

    /// The cells of `dies` dies, fresh and unworn, with `groups` groups, all programmed at time zero. `first_block_number`
    /// counts the blocks of the drive's other dies before these: what is drawn for a block depends on its number in the drive.
    pub fn new(
        config: &CellsConfig,
        geometry: &Geometry,
        dies: u16,
        first_block_number: u64,
        groups: u32,
        seed: u64,
    ) -> Self {
        let count =
            usize::from(dies) * usize::from(geometry.planes_per_die) * geometry.blocks_per_plane as usize;
        let rows = geometry.pages_per_block as usize;
        let first = ModeLaw::new(config.model, config.page_types, rows);
        let further = config.modes.iter().map(|mode| {
            ModeLaw::new(mode.rber.as_ref().unwrap_or(config.model), mode.page_types.as_ref(), rows)
        });
        let laws: IndexVec<ModeId, ModeLaw> = std::iter::once(first).chain(further).collect();
        let row_reads = match config.scope {
            ReadScope::Block => Vec::new(),
            ReadScope::Page => vec![0; count * rows],
        };
        // Alarms are kept by type; modes whose types differ share the smallest cycle of rows that fits all.
        let in_modes = config.modes.iter().map(|mode| mode.page_types.as_ref());
        let all_types = std::iter::once(config.page_types).chain(in_modes);
        let types = all_types.map(|types| types.map_or(1, |types| types.ln_factors().len()));
        let types = types.fold(1, least_common_multiple).min(rows);
        let row_alarms = match config.scope {
            ReadScope::Block => Vec::new(),
            ReadScope::Page => vec![NEVER; count * types],
        };
        let mut cells = Self {
            blocks: IndexVec::from(filled(BlockCells::NEW, count)),
            programmed: IndexVec::from(filled(0, groups as usize)),
            before_zero: 0,
            rows,
            laws,
            row_reads,
            row_alarms,
            types,
            alarms: VecDeque::new(),
            saturations: 0,
            first_saturation: None,
            unit_parts: (ModeId::FIRST, 0, config.model.coefficients(0.0)),
            first_block: first_block_number,
            seed,
            luck_seed: sub_seed(seed, "media.luck"),
            variation: config.variation,
        };
        for block in cells.blocks.indices() {
            cells.wear(block, 0);
        }
        cells
    }

    /// P/E cycles drawn for every block as `initial` says, in the order of [`crate::PhysicalBlocks::index`].
    pub fn draw_cycles(&self, initial: &InitialState) -> Vec<u32> {
        (self.first_block..)
            .take(self.blocks.len())
            .map(|block| initial.cycles_of(self.seed, block))
            .collect()
    }

    /// Brings every block to the wear in `cycles`, in the order of [`crate::PhysicalBlocks::all_cycles`], its reads to those of
    /// `initial`, and gives each group an age that is drawn as `initial` says. Alarms are off, saturations forgotten.
    ///
    /// # Panics
    /// If `cycles` has not one entry for each block.
    pub fn begin(&mut self, cycles: &[u32], initial: &InitialState, now: Nanos) {
        assert!(cycles.len() == self.blocks.len(), "{} of {} blocks", cycles.len(), self.blocks.len());
        self.before_zero = initial.age.oldest().0 / TICK.0;
        let now = self.ticks(now);
        for (programmed, group) in self.programmed.iter_mut().zip(0u32..) {
            *programmed = now - initial.age_in_ticks(self.seed, self.first_block, group);
        }
        for (block, &cycles) in self.blocks.indices().zip(cycles) {
            self.wear(block, cycles);
            self.blocks[block].reads = initial.block_reads;
            self.blocks[block].alarm = NEVER;
        }
        let rows = self.rows as u32;
        self.row_reads.fill(initial.block_reads / rows);
        self.row_alarms.fill(NEVER);
        self.alarms.clear();
        self.saturations = 0;
        self.first_saturation = None;
    }

    /// Resets a block that was erased and now has `cycles` P/E cycles. Its alarm is switched off.
    pub fn erased(&mut self, block: BlockIndex, cycles: u32) {
        self.wear(block, cycles);
        self.blocks[block].reads = 0;
        self.blocks[block].alarm = NEVER;
        if !self.row_reads.is_empty() {
            let (index, rows) = (block.index(), self.rows);
            self.row_reads[index * rows..(index + 1) * rows].fill(0);
            self.row_alarms[index * self.types..(index + 1) * self.types].fill(NEVER);
        }
        if !self.alarms.is_empty() {
            self.alarms.retain(|&other| other != block);
        }
    }

    /// Sets the mode in which a block that is erased is used until its next erasure: its error rate follows the law of that mode.
    ///
    /// # Panics
    /// If there is no such mode.
    pub fn set_mode(&mut self, block: BlockIndex, mode: ModeId) {
        assert!(usize::from(mode.0) < self.laws.len(), "mode {} of {}", mode.0, self.laws.len());
        let record = &mut self.blocks[block];
        if record.mode != mode {
            record.mode = mode;
            let cycles = record.cycles;
            self.wear(block, cycles);
        }
    }

    /// The law of errors of a block.
    #[inline]
    fn law(&self, block: &BlockCells) -> &ErrorLaw {
        &self.laws[block.mode].errors
    }

    /// Sets the program time of a group that is written now, unless it holds older data: a group is as old as the first data in it.
    #[inline]
    pub fn programmed(&mut self, group: Group, now: Nanos) {
        let now = self.ticks(now);
        let first = &mut self.programmed[group];
        *first = (*first).min(now);
    }

    /// Empties a group: its age begins with the next write to it.
    pub fn forget(&mut self, group: Group) {
        self.programmed[group] = UNWRITTEN;
    }

    /// Senses row `row` of a block, which counts as a read. `group` is the one that the row was written with.
    #[inline]
    pub fn sense(&mut self, block: BlockIndex, row: Row, group: Group, now: Nanos) -> RowSensing {
        let age = self.age(group, now).0;
        let record = &mut self.blocks[block];
        let mut reads = record.reads;
        record.reads = reads.saturating_add(1);
        let mut is_due = record.reads >= record.alarm;
        if !self.row_reads.is_empty() {
            (reads, is_due) = self.count_row(block, row);
        }
        let record = &self.blocks[block];
        let sensing = RowSensing {
            ln_rber: self.law(record).ln_rber(record, row, age, reads),
            luck: record.luck_of_row(row),
        };
        if is_due {
            self.raise(block);
        }
        if sensing.ln_rber > LN_SATURATED {
            let days = f64::from(age) * DAYS_PER_TICK;
            self.saturate(RberSaturation { block, cycles: self.blocks[block].cycles, days, reads });
            return RowSensing { ln_rber: LN_SATURATED, ..sensing };
        }
        sensing
    }

    /// The result that a sensing of row `row` of a block would have, without disturbing anything.
    pub fn preview_sensing(&self, block: BlockIndex, row: Row, group: Group, now: Nanos) -> RowSensing {
        let luck = self.blocks[block].luck_of_row(row);
        RowSensing { ln_rber: self.ln_rber(block, row, group, now), luck }
    }

    /// Counts a read of a row, where reads disturb only their page. Returns the reads before it, and true if the alarm of the block goes off.
    #[inline(never)]
    fn count_row(&mut self, block: BlockIndex, row: Row) -> (u32, bool) {
        let alarm = self.row_alarms[block.index() * self.types + row.index() % self.types];
        let counter = &mut self.row_reads[block.index() * self.rows + row.index()];
        let before = *counter;
        *counter = before.saturating_add(1);
        (before, *counter >= alarm)
    }

    /// ln RBER that a sensing would see, without disturbing anything.
    #[inline]
    pub fn ln_rber(&self, block: BlockIndex, row: Row, group: Group, now: Nanos) -> f64 {
        let age = self.age(group, now).0;
        let record = &self.blocks[block];
        self.law(record).ln_rber(record, row, age, self.row_reads(block, row)).min(LN_SATURATED)
    }

    /// The RBER by mechanism, factors of block and page type included; the sum may exceed 0.5. For reports.
    pub fn rber_parts(&self, block: BlockIndex, row: Row, group: Group, now: Nanos) -> RberParts {
        let record = &self.blocks[block];
        let (days, reads) = (self.days(group, now), f64::from(self.row_reads(block, row)));
        let law = &self.laws[record.mode];
        let parts = law.model.parts(f64::from(record.cycles), days, reads);
        let block_factor = self.variation.factor(self.seed, self.first_block + u64::from(block.0));
        let factor = block_factor * law.errors.ln_factor(Some(row)).exp();
        RberParts {
            floor: parts.floor * factor,
            wear: parts.wear * factor,
            retention: parts.retention * factor,
            disturbance: parts.disturbance * factor,
        }
    }

    /// Mean number of wrong bits among `bits` that a sensing would see.
    pub fn expected_errors(&self, block: BlockIndex, row: Row, group: Group, now: Nanos, bits: u32) -> f64 {
        f64::from(bits) * self.ln_rber(block, row, group, now).exp()
    }

    /// The greatest mean number of wrong bits among `bits` that a sensing of any row of a block would see.
    pub fn worst_expected_errors(&self, block: BlockIndex, group: Group, now: Nanos, bits: u32) -> f64 {
        let record = &self.blocks[block];
        let age = self.age(group, now).0;
        let ln_rber = |row| {
            self.law(record).ln_rber(record, row, age, self.most_reads(block, Some(row))).min(LN_SATURATED)
        };
        let ln_worst = (0..self.types as u32).map(Row).map(ln_rber).fold(f64::NEG_INFINITY, f64::max);
        f64::from(bits) * ln_worst.exp()
    }

    /// The luck that a sensing of a row would give its unit `unit` (see [`RowLuck::of`]), without disturbing anything.
    #[inline]
    pub fn luck(&self, block: BlockIndex, row: Row, unit: u32) -> f64 {
        self.blocks[block].luck_of_row(row).of(unit)
    }

    /// P/E cycles of a block.
    pub fn cycles(&self, block: BlockIndex) -> u32 {
        self.blocks[block].cycles
    }

    /// Sensings of a block since its erasure, those before measuring included.
    pub fn reads(&self, block: BlockIndex) -> u32 {
        self.blocks[block].reads
    }

    /// Reads that the error model counts for a row: those of its block, or its own if reads disturb only their page.
    #[inline]
    pub fn row_reads(&self, block: BlockIndex, row: Row) -> u32 {
        match self.row_reads.get(block.index() * self.rows + row.index()) {
            Some(&reads) => reads,
            None => self.blocks[block].reads,
        }
    }

    /// Days since a group was written, in steps of 0.1 s.
    #[inline]
    pub fn days(&self, group: Group, now: Nanos) -> f64 {
        f64::from(self.age(group, now).0) * DAYS_PER_TICK
    }

    /// Age of the data of a group.
    #[inline]
    pub fn age(&self, group: Group, now: Nanos) -> DataAge {
        DataAge(self.ticks(now).saturating_sub(self.programmed[group]))
    }

    /// Prefetches into the processor's cache the two lines that a sensing of a block and a group reads.
    #[inline]
    pub fn prefetch(&self, block: BlockIndex, group: Group) {
        prefetch(&self.blocks[block]);
        prefetch(&self.programmed[group]);
    }

    /// The latest time that is distinguished from later ones: 2^32 tenths of a second (13.6 years) after the oldest initial age.
    pub fn horizon(&self) -> Nanos {
        Nanos((u64::from(u32::MAX) - self.before_zero) * TICK.0)
    }

    /// Sensings whose RBER was held at 0.5, where the model is beyond its validity.
    pub fn saturations(&self) -> u64 {
        self.saturations
    }

    /// The first sensing whose RBER was held at 0.5.
    pub fn first_saturation(&self) -> Option<RberSaturation> {
        self.first_saturation
    }

    /// Time since the epoch, rounded down; stands still at the horizon.
    #[inline]
    fn ticks(&self, now: Nanos) -> u32 {
        (now.0 / TICK.0 + self.before_zero).min(u64::from(u32::MAX)) as u32
    }

    /// Sets the coefficients of a block after `cycles` P/E cycles.
    fn wear(&mut self, block: BlockIndex, cycles: u32) {
        let mode = self.blocks[block].mode;
        if (self.unit_parts.0, self.unit_parts.1) != (mode, cycles) {
            self.unit_parts = (mode, cycles, self.laws[mode].model.coefficients(f64::from(cycles)));
        }
        let parts = self.unit_parts.2;
        let number = self.first_block + u64::from(block.0);
        let factor = self.variation.factor(self.seed, number);
        let record = &mut self.blocks[block];
        // Finite, because 0 days or reads would otherwise give 0·∞, which is not a number.
        let held = |rate: f64| (rate * factor).min(f64::MAX);
        (record.fixed, record.retention, record.disturbance) =
            (held(parts.floor + parts.wear), held(parts.retention), held(parts.disturbance));
        record.cycles = cycles;
        record.calm_reads = 0;
        record.luck = mix(mix(self.luck_seed ^ number) ^ u64::from(cycles));
    }

    /// Notes that what is programmed into a block was copied without correction from cells that err at `rate`: from now until its erasure the
    /// block errs by so much more, or by what other copies have brought, if that is more.
    ///
    /// # Panics
    /// If `rate` is no rate.
    pub fn inherit(&mut self, block: BlockIndex, rate: f64) {
        assert!((0.0..=1.0).contains(&rate), "an error rate of {rate}");
        let before = self.blocks[block];
        self.wear(block, before.cycles);
        let law = &self.laws[before.mode].errors;
        let own = self.blocks[block].fixed;
        // Of a law that is a table, the constant part is a factor of it.
        let fresh = law.rber(&self.blocks[block], 0, 0);
        let more = if law.is_table() { own * rate / fresh.max(f64::MIN_POSITIVE) } else { rate };
        let record = &mut self.blocks[block];
        *record = before;
        record.fixed = before.fixed.max(own + more);
        record.calm_reads = 0;
    }

    #[cold]
    fn saturate(&mut self, place: RberSaturation) {
        self.saturations += 1;
        self.first_saturation.get_or_insert(place);
    }
}

/// ln of [`SATURATED_RBER`].
const LN_SATURATED: f64 = -std::f64::consts::LN_2;
const _: () = assert!(SATURATED_RBER == 0.5);
