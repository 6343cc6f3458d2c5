//! Exact probabilities of reads, however small.

use super::odds::{ln_add, ln_or};
use super::turns::Turns;
use outlast_media::reliability::{ProbabilitySum, ProbabilityTerm, ReadLadder};

/// Exact probabilities, summed over the units that host reads asked for.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
pub struct ExactTails {
    units: u64,
    ecc: ProbabilitySum,
    rereads: ProbabilitySum,
    /// Of units without parity.
    unstriped: ProbabilitySum,
    /// Of units with parity: those looked at.
    striped: ProbabilitySum,
    /// Units with parity asked for, and those of them looked at.
    offered: u64,
    looked_at: u64,
}

impl ExactTails {
    /// Units asked for.
    pub fn units(&self) -> u64 {
        self.units
    }

    /// ln of the expected number of units that the first read and the ECC do not give.
    pub fn ln_after_ecc(&self) -> f64 {
        self.ecc.ln_total()
    }

    /// ln of the expected number of units that no re-read gives either.
    pub fn ln_after_rereads(&self) -> f64 {
        self.rereads.ln_total()
    }

    /// ln of the expected number of units that the stripe does not give either: they are uncorrectable. Where data has parity
    /// this is summed over one in [`ReliabilityConfig::STRIPE_EXACT_EVERY`] reads and scaled by the share that was in fact looked at, so that it is exact
    /// where all units are alike.
    pub fn ln_after_stripe(&self) -> f64 {
        let scale = self.offered as f64 / self.looked_at.max(1) as f64;
        ln_add(self.striped.ln_total() + scale.max(1.0).ln(), self.unstriped.ln_total())
    }

    /// Adds the probabilities of a unit to fail its first read, and all re-reads.
    fn add(&mut self, tail: &UnitTail) {
        self.units += 1;
        put(&mut self.ecc, tail.ln_ecc, tail.ecc);
        if tail.ln_rereads > f64::NEG_INFINITY {
            self.rereads.add_ln(tail.ln_rereads);
        }
    }

    /// Adds the probabilities of units within a page, without parity, whose first reads saw `ln_rber`.
    fn add_plain(&mut self, ladder: &ReadLadder, ln_rber: &[f64]) {
        assert!(ln_rber.len() <= PLAIN, "{} units at once", ln_rber.len());
        let mut ln_p = [f64::NEG_INFINITY; PLAIN];
        for (ln_p, &ln_rber) in ln_p.iter_mut().zip(ln_rber) {
            *ln_p = ladder.table().ln_p_fail(ln_rber);
        }
        self.units += ln_rber.len() as u64;
        self.ecc.add_ln_all(&ln_p[..ln_rber.len()]);
        if ladder.max_retries().is_some() {
            for &ln_rber in ln_rber {
                let lost = ProbabilityTerm::from_ln(ladder.log_p_uncorrectable(ln_rber));
                self.rereads.add_term(lost);
                self.unstriped.add_term(lost);
            }
        }
    }
}

/// Where a probability is not too small for it, the sum needs no logarithms.
#[inline]
fn put(sum: &mut ProbabilitySum, ln_p: f64, p: f64) {
    if p > 1e-150 {
        sum.add(p);
    } else if ln_p > f64::NEG_INFINITY {
        sum.add_ln(ln_p);
    }
}

/// Plain units whose probabilities are worked out together.
const PLAIN: usize = 512;

/// The sums of a drive, and what is still to be added to them.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(super) struct Tails {
    exact: ExactTails,
    /// Which units with parity have their lines looked at.
    turns: Turns,
    /// ln RBER of plain units (within a page, without parity) whose probabilities are still to be added: the first `waiting`.
    plain: Box<[f64; PLAIN]>,
    waiting: usize,
}

impl Tails {
    pub(super) fn new(turns: Turns) -> Self {
        Self { exact: ExactTails::default(), turns, plain: Box::new([0.0; PLAIN]), waiting: 0 }
    }

    /// A plain unit has been read at `ln_rber`. Probabilities are worked out many at a time, which takes a fraction of the time.
    #[inline]
    pub(super) fn add_plain(&mut self, ladder: &ReadLadder, ln_rber: f64) {
        self.plain[self.waiting] = ln_rber;
        self.waiting += 1;
        if self.waiting == PLAIN {
            self.add_waiting(ladder);
        }
    }

    #[cold]
    fn add_waiting(&mut self, ladder: &ReadLadder) {
        self.exact.add_plain(ladder, &self.plain[..self.waiting]);
        self.waiting = 0;
    }

    /// A unit without parity has been read that is not plain.
    pub(super) fn add_unstriped(&mut self, tail: &UnitTail) {
        self.exact.add(tail);
        if tail.ln_rereads > f64::NEG_INFINITY {
            self.exact.unstriped.add_ln(tail.ln_rereads);
        }
    }

    /// A unit with parity has been read. When its turn has come, `ln_lines_fail` tells ln of the probability that neither its stripe nor its
    /// block could have given it.
    #[inline]
    pub(super) fn add_striped(&mut self, tail: &UnitTail, ln_lines_fail: impl FnOnce() -> f64) {
        self.exact.add(tail);
        self.exact.offered += 1;
        if self.turns.is_next() {
            self.exact.looked_at += 1;
            if tail.ln_rereads > f64::NEG_INFINITY {
                self.exact.striped.add_ln((tail.ln_rereads + ln_lines_fail()).min(0.0));
            }
        }
    }

    /// The sums of everything up to now.
    pub(super) fn up_to_now(&self, ladder: &ReadLadder) -> ExactTails {
        let mut exact = self.exact.clone();
        exact.add_plain(ladder, &self.plain[..self.waiting]);
        exact
    }

    /// Starts the sums anew.
    pub(super) fn reset(&mut self) {
        self.exact = ExactTails::default();
        self.waiting = 0;
    }
}

/// The probabilities that a unit, which may lie over several pages, fails.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnitTail {
    /// At the first read: ln of it, and itself.
    ln_ecc: f64,
    ecc: f64,
    /// ln of the probability to fail at all re-reads, too.
    ln_rereads: f64,
}

impl Default for UnitTail {
    fn default() -> Self {
        Self { ln_ecc: f64::NEG_INFINITY, ecc: 0.0, ln_rereads: f64::NEG_INFINITY }
    }
}

impl UnitTail {
    /// On flash that is broken for good.
    pub(super) const BROKEN: Self = Self { ln_ecc: 0.0, ecc: 1.0, ln_rereads: 0.0 };

    /// One more page of the unit, whose first read is re-read `step` (0: the plain one).
    #[inline]
    pub(super) fn add(&mut self, ladder: &ReadLadder, ln_rber: f64, step: u16) {
        let ln_p = ladder.log_p_fail_after(ln_rber, Some(u32::from(step)));
        let rereads = ladder.log_p_uncorrectable(ln_rber);
        if self.ln_ecc == f64::NEG_INFINITY {
            *self = Self { ln_ecc: ln_p, ecc: ln_p.exp(), ln_rereads: rereads };
        } else {
            self.ln_ecc = ln_or(self.ln_ecc, ln_p);
            self.ecc = self.ln_ecc.exp();
            self.ln_rereads = ln_or(self.ln_rereads, rereads);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outlast_media::reliability::{Ecc, FailTable, RereadConfig};

    const CERTAIN: UnitTail = UnitTail::BROKEN;

    /// One unit in 16 fails for certain and the others never, over and over: the estimate from one in 16 must be that from all. It is the
    /// sum of independent draws, 16 with probability 1/16 and else 0, for each unit that fails, so its variance is 15 for each; five
    /// standard deviations are allowed.
    #[test]
    fn a_workload_that_repeats_itself_is_sampled_fairly() {
        const FAILING: u32 = 10_000;
        for offset in 0..16 {
            let mut tails = Tails::new(Turns::new(16, 3 + u64::from(offset), "test"));
            for unit in 0..FAILING * 16 {
                let tail = if unit % 16 == offset { CERTAIN } else { UnitTail::default() };
                tails.add_striped(&tail, || 0.0);
            }
            let (found, sigma) = (tails.exact.ln_after_stripe().exp(), (15.0 * f64::from(FAILING)).sqrt());
            assert!((found - f64::from(FAILING)).abs() < 5.0 * sigma, "offset {offset}: {found}");
        }
    }

    /// Whichever units the draw picks, their number follows the share that was looked at.
    #[test]
    fn units_that_are_alike_are_told_exactly() {
        let mut tails = Tails::new(Turns::new(16, 9, "test"));
        for _ in 0..4096 {
            tails.add_striped(&CERTAIN, || 0.25f64.ln());
        }
        assert_ne!(
            tails.exact.looked_at,
            4096 / 16,
            "the draw is one of which scaling by 16 would not be exact"
        );
        assert!((tails.exact.ln_after_stripe().exp() / 1024.0 - 1.0).abs() < 1e-12);
    }

    /// Plain units wait to be worked out together: what is told meanwhile includes them, and those added one by one give the same.
    #[test]
    fn plain_units_count_at_once_and_as_the_others_do() {
        let ecc = Ecc { strength: Some(40), ..Ecc::default() };
        let rereads = RereadConfig { max_retries: Some(2), ..RereadConfig::default() };
        let ladder = ReadLadder::new(&rereads, FailTable::new(&ecc, 8));
        let mut plain = Tails::new(Turns::new(1, 1, "test"));
        let mut one_by_one = plain.clone();
        for unit in 0..PLAIN as u32 + 100 {
            let ln_rber = -3.0 - f64::from(unit) * 0.01;
            plain.add_plain(&ladder, ln_rber);
            let mut tail = UnitTail::default();
            tail.add(&ladder, ln_rber, 0);
            one_by_one.add_unstriped(&tail);
        }
        let (plain, one_by_one) = (plain.up_to_now(&ladder), one_by_one.up_to_now(&ladder));
        assert_eq!((plain.units(), one_by_one.units()), (PLAIN as u64 + 100, PLAIN as u64 + 100));
        let of =
            |tails: &ExactTails| [tails.ln_after_ecc(), tails.ln_after_rereads(), tails.ln_after_stripe()];
        for (plain, one_by_one) in of(&plain).into_iter().zip(of(&one_by_one)) {
            assert!((plain - one_by_one).abs() < 1e-12, "{plain} {one_by_one}");
        }
    }
}
