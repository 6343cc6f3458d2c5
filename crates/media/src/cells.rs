//! The truth about raw bit errors: what every block of a set of dies has been through, and the error rate that follows.

mod forecast;
mod initial;
mod ln;

pub use initial::{AgeRange, InitialState};

use crate::Geometry;
use crate::reliability::{
    BlockVariation, PageTypes, PowerTable, RberModel, RberParts, SATURATED_RBER, open_unit,
};
use ln::LnTable;
use outlast_units::Nanos;
use outlast_units::rng::{mix, sub_seed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// What a read disturbs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReadScope {
    /// The whole block: the reads of the error model are those of the block since its erasure.
    #[default]
    Block,
    /// Only the page that is read: one counter for each page.
    Page,
}

/// What the cells are made of. Each part has been validated by the caller.
#[derive(Clone, Copy, Debug)]
pub struct CellsConfig<'a> {
    /// The chip's mean error rate.
    pub model: &'a RberModel,
    /// How blocks differ from it.
    pub variation: BlockVariation,
    /// How page types differ from it; `None`: they do not.
    pub page_types: Option<&'a PageTypes>,
    /// What a read disturbs.
    pub scope: ReadScope,
}

/// Where the error rate first reached [`SATURATED_RBER`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saturation {
    /// The block, in the order of [`crate::Blocks::index`].
    pub block: u32,
    /// Its P/E cycles.
    pub cycles: u32,
    /// Days since the page was written.
    pub days: f64,
    /// Reads that the error model counted.
    pub reads: u32,
}

/// Ground truth of the raw bit errors of a set of dies. Knows blocks (numbered as by [`crate::Blocks::index`]), rows of pages
/// and time; knows no logical page and no superblock.
///
/// A *group* is whatever the caller programs together, such as a superpage. It has one program time: that of what was written to it first
/// since [`Cells::forget`], so that no data is taken to be younger than it is. Times are kept in tenths of a second: ages are rounded to
/// 0.1 s, and time stands still 13.6 years after the oldest initial age (see [`Cells::horizon`]). The caller's `now` never goes back.
///
/// A sensing costs 13 to 20 ns (`outlast-bench cells`): powers are computed only when a block is erased, and looked up else. The
/// RBER of a sensing is the model's within a relative 3e-7.
#[derive(Clone, Debug)]
pub struct Cells {
    model: RberModel,
    blocks: Vec<Block>,
    /// Program time of each group, in ticks since the epoch; [`UNWRITTEN`] of one that holds nothing.
    programmed: Vec<u32>,
    /// Ticks from the epoch to time zero.
    before_zero: u64,
    /// Days to the power of the model's n, and reads to that of q.
    days_power: PowerTable,
    reads_power: PowerTable,
    ln: LnTable,
    /// ln of the page-type factor of each row, and the greatest of them.
    row_ln_factor: Vec<f64>,
    worst_ln_factor: f64,
    /// Reads of each row of each block; empty unless reads disturb only their page.
    row_reads: Vec<u32>,
    /// Reads at which the alarm of a block goes off, by type of the row that is read; empty unless reads disturb only their page.
    row_alarms: Vec<u32>,
    /// Types of rows, which alternate from row to row.
    types: usize,
    /// Blocks whose alarm has gone off.
    alarms: VecDeque<u32>,
    saturations: u64,
    first_saturation: Option<Saturation>,
    /// The model at the cycles last asked for, at one day and one read.
    unit_parts: (u32, RberParts),
    first_block: u64,
    seed: u64,
    luck_seed: u64,
    variation: BlockVariation,
}

/// A block's part in the sum of Equation 1, its own factor included.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// Floor and wear.
    fixed: f64,
    /// Times days^n.
    retention: f64,
    /// Times reads^q.
    disturbance: f64,
    /// The word from which the luck of its units follows until it is erased.
    luck: u64,
    /// Sensings since the erasure.
    reads: u32,
    /// Reads at which the alarm goes off; `u32::MAX`: never.
    alarm: u32,
    cycles: u32,
}

const _: () = assert!(size_of::<Block>() <= 48, "blocks are many and their records stay small");

/// The unit of program times.
const TICK: Nanos = Nanos::millis(100);
const DAYS_PER_TICK: f64 = 1.0 / 864_000.0;
/// Later than any program: what has not been written is of no age.
const UNWRITTEN: u32 = u32::MAX;
/// No alarm.
const NEVER: u32 = u32::MAX;

impl Cells {
    /// Resident bytes of the cells of `blocks` blocks of `rows` rows with `groups` groups.
    pub fn bytes(blocks: u64, rows: u64, groups: u64, scope: ReadScope) -> u64 {
        let by_row = match scope {
            ReadScope::Block => 0,
            ReadScope::Page => blocks * rows * size_of::<u32>() as u64,
        };
        blocks * size_of::<Block>() as u64 + groups * size_of::<u32>() as u64 + by_row
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
        let (n, q) = match config.model {
            RberModel::PowerLaw(law) => (law.n, law.q),
            // Without retention and disturbance; their coefficients are 0.
            RberModel::Exponential(_) | RberModel::TwoPoint(_) => (0.0, 0.0),
        };
        let row_ln_factor: Vec<f64> = match config.page_types {
            Some(types) => types.ln_factors().iter().copied().cycle().take(rows).collect(),
            None => vec![0.0; rows],
        };
        let row_reads = match config.scope {
            ReadScope::Block => Vec::new(),
            ReadScope::Page => vec![0; count * rows],
        };
        let types = config.page_types.map_or(1, |types| types.ln_factors().len()).min(rows);
        let row_alarms = match config.scope {
            ReadScope::Block => Vec::new(),
            ReadScope::Page => vec![NEVER; count * types],
        };
        let new_block = Block {
            fixed: 0.0,
            retention: 0.0,
            disturbance: 0.0,
            luck: 0,
            reads: 0,
            alarm: NEVER,
            cycles: 0,
        };
        let mut cells = Self {
            model: config.model.clone(),
            blocks: vec![new_block; count],
            programmed: vec![0; groups as usize],
            before_zero: 0,
            days_power: PowerTable::new(n),
            reads_power: PowerTable::new(q),
            ln: LnTable::new(),
            worst_ln_factor: row_ln_factor.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            row_ln_factor,
            row_reads,
            row_alarms,
            types,
            alarms: VecDeque::new(),
            saturations: 0,
            first_saturation: None,
            unit_parts: (0, config.model.parts(0.0, 1.0, 1.0)),
            first_block: first_block_number,
            seed,
            luck_seed: sub_seed(seed, "media.luck"),
            variation: config.variation,
        };
        for block in 0..count {
            cells.wear(block, 0);
        }
        cells
    }

    /// P/E cycles drawn for every block as `initial` says, in the order of [`crate::Blocks::index`].
    pub fn draw_cycles(&self, initial: &InitialState) -> Vec<u32> {
        (self.first_block..)
            .take(self.blocks.len())
            .map(|block| initial.cycles_of(self.seed, block))
            .collect()
    }

    /// Brings every block to the wear in `cycles`, in the order of [`crate::Blocks::all_cycles`], its reads to those of
    /// `initial`, and gives each group an age that is drawn as `initial` says. Alarms are off, saturations forgotten.
    ///
    /// # Panics
    /// If `cycles` has not one entry for each block.
    pub fn begin(&mut self, cycles: &[u32], initial: &InitialState, now: Nanos) {
        assert!(cycles.len() == self.blocks.len(), "{} of {} blocks", cycles.len(), self.blocks.len());
        self.before_zero = initial.age.oldest().0 / TICK.0;
        let now = self.ticks(now);
        for (programmed, group) in self.programmed.iter_mut().zip(0..) {
            *programmed = now - initial.age_in_ticks(self.seed, self.first_block, group);
        }
        for (block, &cycles) in cycles.iter().enumerate() {
            self.wear(block, cycles);
            self.blocks[block].reads = initial.block_reads;
            self.blocks[block].alarm = NEVER;
        }
        let rows = self.row_ln_factor.len() as u32;
        self.row_reads.fill(initial.block_reads / rows);
        self.row_alarms.fill(NEVER);
        self.alarms.clear();
        self.saturations = 0;
        self.first_saturation = None;
    }

    /// A block was erased and has now been through `cycles` P/E cycles. Its alarm is off.
    pub fn erased(&mut self, block: u32, cycles: u32) {
        let index = block as usize;
        self.wear(index, cycles);
        self.blocks[index].reads = 0;
        self.blocks[index].alarm = NEVER;
        if !self.row_reads.is_empty() {
            let rows = self.row_ln_factor.len();
            self.row_reads[index * rows..(index + 1) * rows].fill(0);
            self.row_alarms[index * self.types..(index + 1) * self.types].fill(NEVER);
        }
        if !self.alarms.is_empty() {
            self.alarms.retain(|&other| other != block);
        }
    }

    /// Some of a group was written now. A group is as old as the first data in it.
    #[inline]
    pub fn programmed(&mut self, group: u32, now: Nanos) {
        let now = self.ticks(now);
        let first = &mut self.programmed[group as usize];
        *first = (*first).min(now);
    }

    /// A group holds nothing any more, or nothing yet: its age begins with what is written to it next.
    pub fn forget(&mut self, group: u32) {
        self.programmed[group as usize] = UNWRITTEN;
    }

    /// ln RBER that a sensing of row `row` of a block sees, at most ln 0.5; afterwards it counts as a read. `group` is the one
    /// that the row was written with.
    #[inline]
    pub fn sense(&mut self, block: u32, row: u32, group: u32, now: Nanos) -> f64 {
        let days = self.days(group, now);
        let index = block as usize;
        let record = &mut self.blocks[index];
        let (counter, alarm_at) = if self.row_reads.is_empty() {
            (&mut record.reads, record.alarm)
        } else {
            record.reads = record.reads.saturating_add(1);
            let alarm_at = self.row_alarms[index * self.types + row as usize % self.types];
            (&mut self.row_reads[index * self.row_ln_factor.len() + row as usize], alarm_at)
        };
        let reads = *counter;
        *counter = reads.saturating_add(1);
        let alarm = *counter >= alarm_at;
        let record = *record;
        let ln_rber = self.ln_of(&record, row, days, reads);
        if alarm {
            self.raise(block);
        }
        if ln_rber > LN_SATURATED {
            self.saturate(Saturation { block, cycles: record.cycles, days, reads });
        }
        ln_rber.min(LN_SATURATED)
    }

    /// ln RBER that a sensing would see: a look that disturbs nothing.
    #[inline]
    pub fn ln_rber(&self, block: u32, row: u32, group: u32, now: Nanos) -> f64 {
        let days = self.days(group, now);
        self.ln_of(&self.blocks[block as usize], row, days, self.row_reads(block, row)).min(LN_SATURATED)
    }

    /// The RBER by mechanism, factors of block and page type included; the sum may exceed 0.5. For reports.
    pub fn rber_parts(&self, block: u32, row: u32, group: u32, now: Nanos) -> RberParts {
        let record = &self.blocks[block as usize];
        let (days, reads) = (self.days(group, now), f64::from(self.row_reads(block, row)));
        let parts = self.model.parts(f64::from(record.cycles), days, reads);
        let own = self.variation.factor(self.seed, self.first_block + u64::from(block));
        let factor = own * self.row_ln_factor[row as usize].exp();
        RberParts {
            floor: parts.floor * factor,
            wear: parts.wear * factor,
            retention: parts.retention * factor,
            disturbance: parts.disturbance * factor,
        }
    }

    /// Mean number of wrong bits among `bits` that a sensing would see.
    pub fn expected_errors(&self, block: u32, row: u32, group: u32, now: Nanos, bits: u32) -> f64 {
        f64::from(bits) * self.ln_rber(block, row, group, now).exp()
    }

    /// The greatest mean number of wrong bits among `bits` that a sensing of any row of a block would see.
    pub fn worst_expected_errors(&self, block: u32, group: u32, now: Nanos, bits: u32) -> f64 {
        let record = &self.blocks[block as usize];
        let days = self.days(group, now);
        let ln_rber =
            |row| self.ln_of(record, row, days, self.most_reads(block, Some(row))).min(LN_SATURATED);
        let ln_worst = (0..self.types as u32).map(ln_rber).fold(f64::NEG_INFINITY, f64::max);
        f64::from(bits) * ln_worst.exp()
    }

    /// The uniform number, in (0, 1), that belongs to the present state of a unit (of whatever size the caller decodes) of a
    /// row: a pure function of seed, block, its P/E cycles, row and unit. Small is bad luck. It changes with each erasure and
    /// not with age or reads: a page that failed fails again, and worse, until it is rewritten elsewhere.
    #[inline]
    pub fn luck(&self, block: u32, row: u32, unit: u32) -> f64 {
        let state = self.blocks[block as usize].luck;
        open_unit(mix(state ^ (u64::from(row) << 32 | u64::from(unit))))
    }

    /// P/E cycles of a block.
    pub fn cycles(&self, block: u32) -> u32 {
        self.blocks[block as usize].cycles
    }

    /// Sensings of a block since its erasure, those before measuring included.
    pub fn reads(&self, block: u32) -> u32 {
        self.blocks[block as usize].reads
    }

    /// Reads that the error model counts for a row: those of its block, or its own if reads disturb only their page.
    #[inline]
    pub fn row_reads(&self, block: u32, row: u32) -> u32 {
        match self.row_reads.get(block as usize * self.row_ln_factor.len() + row as usize) {
            Some(&reads) => reads,
            None => self.blocks[block as usize].reads,
        }
    }

    /// Days since a group was written.
    #[inline]
    pub fn days(&self, group: u32, now: Nanos) -> f64 {
        f64::from(self.ticks(now).saturating_sub(self.programmed[group as usize])) * DAYS_PER_TICK
    }

    /// The latest time that is told from later ones: 2^32 tenths of a second (13.6 years) after the oldest initial age.
    pub fn horizon(&self) -> Nanos {
        Nanos((u64::from(u32::MAX) - self.before_zero) * TICK.0)
    }

    /// Sensings whose RBER was held at 0.5, where the model is beyond its validity.
    pub fn saturations(&self) -> u64 {
        self.saturations
    }

    /// The first of them.
    pub fn first_saturation(&self) -> Option<Saturation> {
        self.first_saturation
    }

    #[inline]
    fn ln_of(&self, block: &Block, row: u32, days: f64, reads: u32) -> f64 {
        self.ln.at(self.rber_of(block, days, reads)) + self.row_ln_factor[row as usize]
    }

    /// The RBER of a block's mean page.
    #[inline]
    fn rber_of(&self, block: &Block, days: f64, reads: u32) -> f64 {
        block.fixed
            + block.retention * self.days_power.at(days)
            + block.disturbance * self.reads_power.at(f64::from(reads))
    }

    /// Time since the epoch, rounded down; stands still at the horizon.
    #[inline]
    fn ticks(&self, now: Nanos) -> u32 {
        (now.0 / TICK.0 + self.before_zero).min(u64::from(u32::MAX)) as u32
    }

    /// Sets the coefficients of a block after `cycles` P/E cycles.
    fn wear(&mut self, block: usize, cycles: u32) {
        if self.unit_parts.0 != cycles {
            self.unit_parts = (cycles, self.model.parts(f64::from(cycles), 1.0, 1.0));
        }
        let parts = self.unit_parts.1;
        let number = self.first_block + block as u64;
        let factor = self.variation.factor(self.seed, number);
        let record = &mut self.blocks[block];
        // Held below infinity, lest 0 days or reads give 0·∞.
        let held = |rate: f64| (rate * factor).min(f64::MAX);
        (record.fixed, record.retention, record.disturbance) =
            (held(parts.floor + parts.wear), held(parts.retention), held(parts.disturbance));
        record.cycles = cycles;
        record.luck = mix(mix(self.luck_seed ^ number) ^ u64::from(cycles));
    }

    #[cold]
    fn saturate(&mut self, place: Saturation) {
        self.saturations += 1;
        self.first_saturation.get_or_insert(place);
    }
}

/// ln of [`SATURATED_RBER`].
const LN_SATURATED: f64 = -std::f64::consts::LN_2;
const _: () = assert!(SATURATED_RBER == 0.5);
