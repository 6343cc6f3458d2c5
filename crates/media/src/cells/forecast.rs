//! Forecasts of the moment at which a block has too many errors, and alarms for it.

use super::block::BlockCells;
use super::{FlashCells, NEVER, TICK};
use outlast_units::{BlockIndex, Group, Nanos, Row};

impl FlashCells {
    /// The read count at which the RBER of a block would reach `rber_limit`, at the age that `group` has at `now`; 0 if it has
    /// even unread, `None` if no count below 2^32 − 1 does. `row`: of that row; absent: of the worst page type. The factors of
    /// block and page type are taken into account; the count is the one that [`FlashCells::set_alarm`] takes.
    pub fn reads_until(
        &self,
        block: BlockIndex,
        row: Option<Row>,
        group: Group,
        rber_limit: f64,
        now: Nanos,
    ) -> Option<u32> {
        let record = &self.blocks[block];
        let age = self.age(group, now).0;
        let target = self.of_mean_page(record, rber_limit, row);
        least(NEVER - 1, |reads| self.law(record).rber(record, age, reads) >= target)
    }

    /// The time at which some row of a block, written with `group`, will reach `rber_limit` if the block is read no more: `now` if one
    /// has, `None` if not before [`FlashCells::horizon`].
    pub fn time_until(&self, block: BlockIndex, group: Group, rber_limit: f64, now: Nanos) -> Option<Nanos> {
        let record = &self.blocks[block];
        let programmed = self.programmed[group];
        let rows = self.types_apart();
        let ticks = rows.filter_map(|row| {
            let (reads, target) = (self.most_reads(block, row), self.of_mean_page(record, rber_limit, row));
            least(u32::MAX - programmed, |ticks| self.law(record).rber(record, ticks, reads) >= target)
        });
        let since_zero = (u64::from(programmed) + u64::from(ticks.min()?)).saturating_sub(self.before_zero);
        Some(Nanos(since_zero * TICK.0).max(now))
    }

    /// Sets an alarm, so that [`FlashCells::take_alarm`] names the block when it has been read `reads` times since its erasure (those before now
    /// included); at once if it has. Where reads disturb only their page, the reads of its most-read row count. `u32::MAX`: never.
    /// The alarm goes off once; it is then off until set again, as it is after an erasure.
    pub fn set_alarm(&mut self, block: BlockIndex, reads: u32) {
        self.set_alarms(block, |_, _, _| reads);
    }

    /// [`FlashCells::set_alarm`] with a count of its own for each type of row: `reads` is given these cells, a row of the type and the reads of
    /// the most-read row of that type. Where reads disturb the whole block it is asked once, with no row: for the worst type.
    pub fn set_alarms(&mut self, block: BlockIndex, reads: impl Fn(&Self, Option<Row>, u32) -> u32) {
        if !self.alarms.is_empty() {
            self.alarms.retain(|&other| other != block);
        }
        let (mut earliest, mut due) = (NEVER, false);
        for row in self.types_apart() {
            let most = self.most_reads(block, row);
            let alarm = reads(self, row, most);
            if let Some(row) = row {
                self.row_alarms[block.index() * self.types + row.index()] = alarm;
            }
            earliest = earliest.min(alarm);
            due |= most >= alarm;
        }
        let record = &mut self.blocks[block];
        record.alarm = earliest;
        record.calm_reads = record.calm_reads.min(earliest.saturating_sub(1));
        if due {
            self.raise(block);
        }
    }

    /// A row of each type that has to be examined by itself; `None` where all rows share the reads of their block, so that the worst
    /// type is ahead of the others.
    fn types_apart(&self) -> impl Iterator<Item = Option<Row>> + use<> {
        let apart = !self.row_reads.is_empty();
        let types = if apart { self.types as u32 } else { 1 };
        (0..types).map(move |row| apart.then_some(Row(row)))
    }

    /// The least reads at which the alarm of a block goes off; `u32::MAX`: never, or it has.
    pub fn alarm(&self, block: BlockIndex) -> u32 {
        self.blocks[block].alarm
    }

    /// True if some block's alarm has gone off.
    #[inline]
    pub fn has_alarm(&self) -> bool {
        !self.alarms.is_empty()
    }

    /// A block whose alarm has gone off, the earliest first; each is named once.
    #[inline]
    pub fn take_alarm(&mut self) -> Option<BlockIndex> {
        self.alarms.pop_front()
    }

    #[cold]
    pub(super) fn raise(&mut self, block: BlockIndex) {
        let alarm = &mut self.blocks[block].alarm;
        if *alarm != NEVER {
            *alarm = NEVER;
            if !self.row_alarms.is_empty() {
                let first = block.index() * self.types;
                self.row_alarms[first..first + self.types].fill(NEVER);
            }
            self.alarms.push_back(block);
        }
    }

    /// Reads that the error model counts for the most-read row of the type of `row`; absent: of any.
    pub(super) fn most_reads(&self, block: BlockIndex, row: Option<Row>) -> u32 {
        let rows = self.rows;
        let first = block.index() * rows;
        let Some(reads) = self.row_reads.get(first..first + rows).filter(|reads| !reads.is_empty()) else {
            return self.reads(block);
        };
        let (first, step) = row.map_or((0, 1), |row| (row.index(), self.types));
        reads.iter().skip(first).step_by(step).copied().max().unwrap_or(0)
    }

    /// The RBER of a mean page type at which that of `row`, or of the worst type, is `rber`.
    fn of_mean_page(&self, block: &BlockCells, rber: f64, row: Option<Row>) -> f64 {
        rber * (-self.law(block).ln_factor(row)).exp()
    }
}

/// The least number up to `top` for which `reached` holds, which then holds for all greater ones. By bisection: 32 steps of a
/// few nanoseconds, exact for the table that serves the readings too.
fn least(top: u32, reached: impl Fn(u32) -> bool) -> Option<u32> {
    if !reached(top) {
        return None;
    }
    let (mut low, mut high) = (0, top);
    while low < high {
        let middle = low + (high - low) / 2;
        if reached(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(high)
}
