//! Whole units written without time, flash core by flash core. Cores share nothing then, so that each may have a thread of its own; which
//! threads there are is for the caller to say.

use crate::ssd::Ssd;
use outlast_device::{Op, Outcome};
use outlast_ftl::Ftl;
use outlast_units::{CoreId, IndexVec, Lpn, Stream};
use std::ops::Range;

/// Units looked up together before the first of them is written: enough loads in flight to hide each miss of the cache behind the others.
const LOOKED_UP: usize = 64;

/// What one flash core is to write.
#[derive(Debug)]
pub struct CoreShare<'a> {
    ftl: &'a mut Ftl,
    stream: Stream,
    units: Vec<Lpn>,
    written: usize,
}

impl CoreShare<'_> {
    /// Writes it, up to where the core is worn out.
    pub fn write(&mut self) {
        for units in self.units.chunks(LOOKED_UP) {
            self.ftl.touch_written::<false>(units.iter().copied());
            for &unit in units {
                if self.ftl.write_untimed(self.stream, unit).is_err() {
                    return;
                }
                self.written += 1;
            }
        }
    }
}

impl Ssd {
    /// Writes whole mapping units at once, as [`Ssd::write_unit_untimed`] does one after the other. Where flash cores do not depend on each
    /// other, `run` is given their shares and has each written, in any order or at the same time.
    ///
    /// # Errors
    /// The number of units that were written before the drive was worn out.
    ///
    /// # Panics
    /// If a unit lies beyond the capacity.
    pub fn write_units_untimed(
        &mut self,
        units: &[u64],
        run: impl FnOnce(&mut [CoreShare<'_>]),
    ) -> Result<(), usize> {
        if !self.can_be_divided(units.len()) {
            return self.write_in_order(units);
        }
        let mut shares: IndexVec<CoreId, Vec<Lpn>> = IndexVec::filled(Vec::new(), self.cores.len());
        for &unit in units {
            let (core, lpn) = self.context.core_of(unit);
            shares[core].push(lpn);
        }
        debug_assert!(
            shares.iter().map(Vec::len).sum::<usize>() == units.len(),
            "each unit is in one core's share"
        );
        let ftls = self.cores.iter_mut().map(outlast_controller::FlashCore::ftl_mut).zip(shares);
        let mut shares: Vec<_> = ftls
            .map(|(ftl, units)| CoreShare { stream: ftl.streams().host(0, 0), ftl, units, written: 0 })
            .collect();
        run(&mut shares);
        let written = shares.iter().map(|share| share.written).sum();
        self.context.commands.life.commands[Op::Write as usize] += written as u64;
        self.context.commands.life.sectors[Op::Write as usize] +=
            written as u64 * u64::from(self.context.size.sectors_per_unit);
        if written == units.len() { Ok(()) } else { Err(written) }
    }

    /// True if `count` units can be written with every core by itself: it must not matter which is written first.
    fn can_be_divided(&self, count: usize) -> bool {
        self.cores.len() > 1
            && self.classifier.is_none()
            && self.context.homes.is_none()
            && !self.cores.iter().any(|core| core.ftl().space().may_wear_out_within(count as u64))
    }

    fn write_in_order(&mut self, units: &[u64]) -> Result<(), usize> {
        let mut written = 0;
        for units in units.chunks(LOOKED_UP) {
            self.touch_untimed(units);
            self.write_each(units.iter().copied()).map_err(|more| written + more)?;
            written += units.len();
        }
        Ok(())
    }

    /// Writes the whole mapping units of a range at once, in order, as [`Ssd::write_unit_untimed`] does one after the other.
    ///
    /// # Errors
    /// [`Outcome::ReadOnly`] when the drive is worn out.
    ///
    /// # Panics
    /// If a unit lies beyond the capacity.
    pub fn write_range_untimed(&mut self, units: Range<u64>) -> Result<(), Outcome> {
        self.write_each(units).map_err(|_| Outcome::ReadOnly)
    }

    /// Writes units one after the other. What all of them have in common is asked once.
    ///
    /// # Errors
    /// The number of units that were written before the drive was worn out.
    #[inline]
    fn write_each(&mut self, units: impl Iterator<Item = u64>) -> Result<(), usize> {
        let mut written = 0;
        let is_plain = self.classifier.is_none() && self.context.homes.is_none();
        let [core] = self.cores.as_mut_slice() else { return self.write_by_unit(units) };
        if !is_plain || core.has_caches() {
            return self.write_by_unit(units);
        }
        let ftl = core.ftl_mut();
        let stream = ftl.streams().host(0, 0);
        let is_worn_out = units.map(|unit| Lpn(unit as u32)).any(|lpn| {
            let ended = ftl.write_untimed(stream, lpn).is_err();
            written += usize::from(!ended);
            ended
        });
        self.context.commands.life.commands[Op::Write as usize] += written as u64;
        self.context.commands.life.sectors[Op::Write as usize] +=
            written as u64 * u64::from(self.context.size.sectors_per_unit);
        if is_worn_out { Err(written) } else { Ok(()) }
    }

    #[inline(never)]
    fn write_by_unit(&mut self, units: impl Iterator<Item = u64>) -> Result<(), usize> {
        for (written, unit) in units.enumerate() {
            self.write_unit_untimed(unit, 0).map_err(|_| written)?;
        }
        Ok(())
    }
}
