//! When a block will have too many errors, and alarms for that moment.

use super::{Cells, DAYS_PER_TICK, NEVER, TICK};
use outlast_units::Nanos;

impl Cells {
    /// The read count at which the RBER of a block would reach `rber_limit`, at the age that `group` has at `now`; 0 if it has
    /// even unread, `None` if no count below 2^32 − 1 does. `row`: of that row; absent: of the worst page type. The factors of
    /// block and page type are taken into account; the count is the one that [`Cells::set_alarm`] takes.
    pub fn reads_until(
        &self,
        block: u32,
        row: Option<u32>,
        group: u32,
        rber_limit: f64,
        now: Nanos,
    ) -> Option<u32> {
        let record = &self.blocks[block as usize];
        let days = self.days(group, now);
        let target = self.of_mean_page(rber_limit, row);
        least(NEVER - 1, |reads| self.rber_of(record, days, reads) >= target)
    }

    /// The time at which the worst page type (and most-read row) of a block, written with `group`, will reach `rber_limit` if
    /// it is read no more: `now` if it has, `None` if not before [`Cells::horizon`].
    pub fn time_until(&self, block: u32, group: u32, rber_limit: f64, now: Nanos) -> Option<Nanos> {
        let record = &self.blocks[block as usize];
        let reads = self.most_reads(block);
        let target = self.of_mean_page(rber_limit, None);
        let programmed = self.programmed[group as usize];
        let ticks = least(u32::MAX - programmed, |ticks| {
            self.rber_of(record, f64::from(ticks) * DAYS_PER_TICK, reads) >= target
        })?;
        let since_zero = (u64::from(programmed) + u64::from(ticks)).saturating_sub(self.before_zero);
        Some(Nanos(since_zero * TICK.0).max(now))
    }

    /// Asks that [`Cells::take_alarm`] name the block when it has been read `reads` times since its erasure (those before now
    /// included); at once if it has. Where reads disturb only their page, the reads of its most-read row count. `u32::MAX`: never.
    /// The alarm goes off once; it is then off until set again, as it is after an erasure.
    pub fn set_alarm(&mut self, block: u32, reads: u32) {
        if !self.alarms.is_empty() {
            self.alarms.retain(|&other| other != block);
        }
        self.blocks[block as usize].alarm = reads;
        if self.most_reads(block) >= reads {
            self.raise(block);
        }
    }

    /// The reads at which the alarm of a block goes off; `u32::MAX`: never, or it has.
    pub fn alarm(&self, block: u32) -> u32 {
        self.blocks[block as usize].alarm
    }

    /// Whether some block's alarm has gone off.
    #[inline]
    pub fn has_alarm(&self) -> bool {
        !self.alarms.is_empty()
    }

    /// A block whose alarm has gone off, the earliest first; each is named once.
    #[inline]
    pub fn take_alarm(&mut self) -> Option<u32> {
        self.alarms.pop_front()
    }

    #[cold]
    pub(super) fn raise(&mut self, block: u32) {
        let alarm = &mut self.blocks[block as usize].alarm;
        if *alarm != NEVER {
            *alarm = NEVER;
            self.alarms.push_back(block);
        }
    }

    /// Reads that the error model counts for the most-read row of a block.
    fn most_reads(&self, block: u32) -> u32 {
        let rows = self.row_ln_factor.len();
        let first = block as usize * rows;
        let rows = self.row_reads.get(first..first + rows);
        rows.and_then(|rows| rows.iter().copied().max()).unwrap_or_else(|| self.reads(block))
    }

    /// The RBER of a mean page type at which that of `row`, or of the worst type, is `rber`.
    fn of_mean_page(&self, rber: f64, row: Option<u32>) -> f64 {
        let ln_factor = row.map_or(self.worst_ln_factor, |row| self.row_ln_factor[row as usize]);
        rber * (-ln_factor).exp()
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
