//! Lifetime: the host writes until the error rate of data reaches the promised limit.

use crate::error::{not_negative, positive, within};
use crate::write_amplification::{effective_spare, greedy};
use crate::{DomainError, PageStripe, RberModel};

/// A drive that wears evenly until it no longer keeps its promise.
///
/// A cycle of effects: host writes, times the write amplification that spare space and parity allow, are wear. Wear raises the raw bit
/// error rate, which ECC and parity turn into an uncorrectable page error rate. Wear also retires blocks, which takes spare space and so
/// raises write amplification.
#[derive(Clone, Debug)]
pub struct WearingDrive<'a> {
    /// Raw bit error rate by P/E cycles, days and reads.
    pub model: &'a RberModel,
    /// Age of data when read, in days.
    pub days: f64,
    /// Reads of the block since its erasure.
    pub reads: f64,
    /// ECC and parity.
    pub stripe: &'a PageStripe,
    /// Spare factor, physical over user space − 1, parity not yet taken off.
    pub spare: f64,
    /// Pages of flash for each page of data, such as N / (N − m); 1 without parity.
    pub overhead: f64,
    /// Share of the blocks that each P/E cycle retires; 0 for none.
    pub retired_per_cycle: f64,
    /// A measured write amplification, parity included, in place of the closed form.
    pub write_amplification: Option<f64>,
}

/// Cause of the end of a life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LifeEnd {
    /// The error rate has reached the target.
    ErrorRate,
    /// Retired blocks have used up the spare space first.
    SpareSpace,
}

/// A drive after some wear.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WornDrive {
    /// P/E cycles of each block.
    pub cycles: f64,
    /// Host writes in units of the user space (drive writes).
    pub drive_writes: f64,
    /// Write amplification now; infinite if no spare space is left.
    pub write_amplification: f64,
    /// Raw bit error rate, at most 0.5.
    pub rber: f64,
    /// ln of the uncorrectable page error rate.
    pub ln_uper: f64,
}

/// A drive at its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lifetime {
    /// State at the end.
    pub worn: WornDrive,
    /// Cause of the end.
    pub end: LifeEnd,
}

/// Steps of the integral over wear: Simpson's rule over them agrees with 200-point Gauss quadrature to 1e-13, to the end of
/// the spare space too.
const STEPS: u32 = 512;
/// P/E cycles beyond which no end of life is searched for.
const MOST_CYCLES: f64 = 1e9;

impl WearingDrive<'_> {
    /// The life of the drive until its uncorrectable page error rate reaches `target`.
    ///
    /// # Errors
    /// A target that is not between 0 and 1, numbers that make no drive, no spare space from the start, or a target that
    /// is not reached within 1e9 cycles.
    pub fn lifetime(&self, target: f64) -> Result<Lifetime, DomainError> {
        self.check()?;
        let target = within("target", target, "between 0 and 1, ends excluded", |t| t > 0.0 && t < 1.0)?;
        let by_errors = self.cycles_to(target.ln())?;
        let by_space = self.cycles_to_no_space();
        let (cycles, end) = match by_errors {
            Some(cycles) if cycles <= by_space => (cycles, LifeEnd::ErrorRate),
            _ if by_space < MOST_CYCLES => (by_space, LifeEnd::SpareSpace),
            _ => {
                return Err(DomainError {
                    argument: "target",
                    value: target,
                    domain: "an error rate that is reached within 1e9 cycles",
                });
            }
        };
        Ok(Lifetime { worn: self.worn(cycles)?, end })
    }

    /// The drive after `cycles` P/E cycles. Drive writes are the integral of physical space over write amplification.
    ///
    /// # Errors
    /// Negative cycles or numbers that make no drive.
    pub fn worn(&self, cycles: f64) -> Result<WornDrive, DomainError> {
        self.check()?;
        not_negative("cycles", cycles)?;
        let step = cycles / f64::from(STEPS);
        let sum: f64 = (0..=STEPS)
            .map(|i| {
                // Simpson's weights: 1, 4, 2, 4, …, 4, 1.
                let weight = if i == 0 || i == STEPS { 1.0 } else { f64::from(2 + 2 * (i & 1)) };
                weight * self.drive_writes_per_cycle(f64::from(i) * step)
            })
            .sum();
        let rber = self.model.saturated(cycles, self.days, self.reads).rber;
        Ok(WornDrive {
            cycles,
            drive_writes: sum * step / 3.0,
            write_amplification: self.amplification(cycles),
            rber,
            ln_uper: self.stripe.ln_uper(rber)?,
        })
    }

    fn check(&self) -> Result<(), DomainError> {
        not_negative("days", self.days)?;
        not_negative("reads", self.reads)?;
        not_negative("retired_per_cycle", self.retired_per_cycle)?;
        effective_spare(self.spare, 0.0, self.overhead)?;
        if let Some(measured) = self.write_amplification {
            within("write_amplification", measured, "at least 1", |waf| waf >= 1.0)?;
        }
        Ok(())
    }

    /// Share of the blocks retired after `cycles`.
    fn retired(&self, cycles: f64) -> f64 {
        (self.retired_per_cycle * cycles).min(1.0)
    }

    /// Write amplification after `cycles`; infinite without spare space.
    fn amplification(&self, cycles: f64) -> f64 {
        if let Some(measured) = self.write_amplification {
            return measured;
        }
        let waf = effective_spare(self.spare, self.retired(cycles), self.overhead).and_then(greedy);
        waf.map_or(f64::INFINITY, |waf| self.overhead * waf)
    }

    /// Drive writes of the host in one P/E cycle of the blocks that are left.
    fn drive_writes_per_cycle(&self, cycles: f64) -> f64 {
        (1.0 + self.spare) * (1.0 - self.retired(cycles)) / self.amplification(cycles)
    }

    /// Cycles at which no spare space is left.
    fn cycles_to_no_space(&self) -> f64 {
        (1.0 - self.overhead / (1.0 + self.spare)) / self.retired_per_cycle
    }

    /// The least cycles at which ln UPER reaches `ln_target`, by doubling and bisection; `None` beyond [`MOST_CYCLES`].
    fn cycles_to(&self, ln_target: f64) -> Result<Option<f64>, DomainError> {
        let ln_uper = |cycles| self.stripe.ln_uper(self.model.saturated(cycles, self.days, self.reads).rber);
        if ln_uper(0.0)? >= ln_target {
            return Ok(Some(0.0));
        }
        let (mut low, mut high) = (0.0, 1.0);
        while ln_uper(high)? < ln_target {
            (low, high) = (high, 2.0 * high);
            if high > MOST_CYCLES {
                return Ok(None);
            }
        }
        while high - low > 1e-13 * high {
            let middle = f64::midpoint(low, high);
            // Neighbouring numbers have no middle.
            if middle <= low || middle >= high {
                break;
            }
            if ln_uper(middle)? < ln_target { low = middle } else { high = middle }
        }
        Ok(Some(high))
    }
}

/// Drive writes per day that use up `drive_writes` in `years` of 365 days.
///
/// # Errors
/// Negative writes, a time that is not above 0.
pub fn drive_writes_per_day(drive_writes: f64, years: f64) -> Result<f64, DomainError> {
    Ok(not_negative("drive_writes", drive_writes)? / (positive("years", years)? * 365.0))
}
