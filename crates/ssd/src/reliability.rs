//! What a drive keeps about errors: the ladder, exact tails, the histogram of wrong bits, what was corrected how.

use crate::chances::ln_or;
use crate::config::{ReliabilityConfig, SsdConfig};
use outlast_ftl::Layout;
use outlast_media::reliability::{
    Accumulator, Ecc, FailTable, ReadLadder, binomial::Binomial, open_unit, sample_errors,
    sample_worst_errors,
};
use outlast_media::{Cells, CellsConfig, ConfigError, Geometry};
use outlast_units::rng::{SplitMix, mix};

/// Exact probabilities, summed over the units that host reads asked for.
#[derive(Clone, Debug, Default)]
pub struct ExactTails {
    units: u64,
    ecc: Accumulator,
    rereads: Accumulator,
    /// Of units without parity.
    unstriped: Accumulator,
    /// Of units with parity: those looked at.
    striped: Accumulator,
    turns: Turns,
    /// Units with parity asked for, and those of them looked at.
    offered: u64,
    looked_at: u64,
}

/// Which of many things are looked at: each with probability 1 in `every`, by a draw of its own. So what is looked at does not keep
/// step with a workload that repeats itself.
#[derive(Clone, Debug)]
struct Turns {
    every: u32,
    /// Things up to the next that is looked at, itself included.
    left: u64,
    rng: SplitMix,
}

impl Turns {
    fn new(every: u32, seed: u64, name: &str) -> Self {
        let mut turns = Self { every, left: 0, rng: SplitMix::new(seed, name) };
        turns.left = turns.gap();
        turns
    }

    /// Geometrically distributed, with mean `every`.
    fn gap(&mut self) -> u64 {
        if self.every <= 1 {
            return 1;
        }
        let ln_passed_over = (-1.0 / f64::from(self.every)).ln_1p();
        1 + ((1.0 - self.rng.unit()).ln() / ln_passed_over) as u64
    }

    #[inline]
    fn is_next(&mut self) -> bool {
        self.left -= 1;
        let is_next = self.left == 0;
        if is_next {
            self.left = self.gap();
        }
        is_next
    }
}

impl Default for Turns {
    fn default() -> Self {
        Self::new(1, 0, "")
    }
}

impl ExactTails {
    fn new(turns: Turns) -> Self {
        Self { turns, ..Self::default() }
    }

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
    /// this is summed over one in `stripe_exact_every` reads and scaled by the share that was in fact looked at, so that it is exact
    /// where all units are alike.
    pub fn ln_after_stripe(&self) -> f64 {
        let scale = self.offered as f64 / self.looked_at.max(1) as f64;
        let striped = self.striped.ln_total() + scale.max(1.0).ln();
        let (less, more) = (striped.min(self.unstriped.ln_total()), striped.max(self.unstriped.ln_total()));
        if less == f64::NEG_INFINITY { more } else { more + (less - more).exp().ln_1p() }
    }

    #[inline]
    pub(crate) fn add(&mut self, tail: &UnitTail) {
        self.units += 1;
        put(&mut self.ecc, tail.ln_ecc, tail.ecc);
        if tail.ln_rereads > f64::NEG_INFINITY {
            self.rereads.add_ln(tail.ln_rereads);
        }
    }

    #[inline]
    pub(crate) fn add_unstriped(&mut self, tail: &UnitTail) {
        if tail.ln_rereads > f64::NEG_INFINITY {
            self.unstriped.add_ln(tail.ln_rereads);
        }
    }

    /// Whether the stripe of this unit is to be looked at.
    #[inline]
    pub(crate) fn is_turn(&mut self) -> bool {
        let is_turn = self.turns.is_next();
        self.offered += 1;
        self.looked_at += u64::from(is_turn);
        is_turn
    }

    pub(crate) fn add_striped(&mut self, ln_p: f64) {
        self.striped.add_ln(ln_p);
    }
}

/// Where a probability is not too small for it, the sum needs no logarithms.
#[inline]
fn put(sum: &mut Accumulator, ln_p: f64, p: f64) {
    if p > 1e-150 {
        sum.add(p);
    } else if ln_p > f64::NEG_INFINITY {
        sum.add_ln(ln_p);
    }
}

/// The probabilities that a unit, which may lie over several pages, fails.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnitTail {
    /// At the first read: ln of it, and itself.
    pub(crate) ln_ecc: f64,
    ecc: f64,
    /// ln of the probability to fail at all re-reads, too.
    pub(crate) ln_rereads: f64,
}

impl Default for UnitTail {
    fn default() -> Self {
        Self { ln_ecc: f64::NEG_INFINITY, ecc: 0.0, ln_rereads: f64::NEG_INFINITY }
    }
}

impl UnitTail {
    /// On flash that is broken for good.
    pub(crate) const BROKEN: Self = Self { ln_ecc: 0.0, ecc: 1.0, ln_rereads: 0.0 };

    /// One more page of the unit; returns its probability to fail at the first read.
    #[inline]
    pub(crate) fn add(&mut self, ladder: &ReadLadder, ln_rber: f64, step: u16) -> f64 {
        let ln_p = ladder.log_p_fail_after(ln_rber, Some(u32::from(step)));
        let p = ln_p.exp();
        let rereads = ladder.log_p_uncorrectable(ln_rber);
        if self.ln_ecc == f64::NEG_INFINITY {
            *self = Self { ln_ecc: ln_p, ecc: p, ln_rereads: rereads };
        } else {
            self.ln_ecc = ln_or(self.ln_ecc, ln_p);
            self.ecc = self.ln_ecc.exp();
            self.ln_rereads = ln_or(self.ln_rereads, rereads);
        }
        p
    }
}

outlast_units::counters! {
    /// Outcomes of reads, in mapping units. Reads of the host, of old data of partial writes and of relocation count alike.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Corrections {
        /// Had at the first read, with what the ECC corrected.
        pub ecc: u64,
        /// Had at a re-read.
        pub reread: u64,
        /// Rebuilt from the stripe.
        pub stripe: u64,
        /// Rebuilt from the other pages of the same block(s).
        pub block: u64,
        /// Given up.
        pub uncorrectable: u64,
        /// Units of which it was tried to rebuild them from their stripe, or their block.
        pub stripe_attempts: u64,
        /// Units that neither could give.
        pub stripe_failures: u64,
    }
}

/// Units whose probabilities are worked out together.
const PLAIN: usize = 512;

/// A drive's dealings with errors.
#[derive(Clone, Debug)]
pub(crate) struct Reliability {
    pub(crate) ladder: ReadLadder,
    pub(crate) ecc: Ecc,
    /// Codewords in what is decoded at once: a unit, or a page where a unit spans several.
    codewords: u32,
    pub(crate) history: bool,
    /// Which units patrol reads find bad.
    pub(crate) patrol: Option<FailTable>,
    pub(crate) exact: ExactTails,
    /// ln RBER of plain units whose probabilities are still to be added.
    plain: Vec<f64>,
    /// Codewords by wrong bits, as first read, of the checked units looked at.
    pub(crate) histogram: Vec<u64>,
    turns: Turns,
    sampled: u64,
}

impl Reliability {
    pub(crate) fn new(config: &SsdConfig, reliability: &ReliabilityConfig, seed: u64) -> Self {
        let unit = config.ftl.mapping_unit.0;
        let decoded = unit.min(config.geometry.page_size.0) * 8;
        let codewords = decoded.div_ceil(u64::from(reliability.ecc.data_bits)) as u32;
        let table = FailTable::new(&reliability.ecc, codewords);
        let patrol_errors = config
            .scrub
            .filter(|scrub| scrub.patrol.is_some())
            .and_then(|scrub| scrub.patrol_errors.or(reliability.ecc.strength.map(|strength| strength / 2)));
        let patrol = patrol_errors.map(|errors| {
            let strength = Some(errors.min(reliability.ecc.codeword_bits()));
            FailTable::new(&Ecc { strength, ..reliability.ecc.clone() }, codewords)
        });
        Self {
            ladder: ReadLadder::new(&reliability.rereads, table),
            ecc: reliability.ecc.clone(),
            codewords,
            history: reliability.reread_history,
            patrol,
            exact: ExactTails::new(Turns::new(reliability.stripe_exact_every, seed, "ssd.exact_tails")),
            plain: Vec::with_capacity(PLAIN),
            histogram: Vec::new(),
            turns: Turns::new(reliability.histogram_every, seed, "ssd.histogram"),
            sampled: 0,
        }
    }

    /// Adds the probabilities of a plain unit, without parity, read at `ln_rber`. They are worked out many at a time, which
    /// takes a fraction of the time.
    #[inline]
    pub(crate) fn add_plain(&mut self, ln_rber: f64) {
        self.plain.push(ln_rber);
        if self.plain.len() == PLAIN {
            self.settle();
        }
    }

    /// Works out what has been put off.
    fn settle(&mut self) {
        let mut ln_p = [f64::NEG_INFINITY; PLAIN];
        for (ln_p, &ln_rber) in ln_p.iter_mut().zip(&self.plain) {
            *ln_p = self.ladder.log_p_fail_after(ln_rber, Some(0));
        }
        let ln_p = &ln_p[..self.plain.len()];
        self.exact.units += ln_p.len() as u64;
        self.exact.ecc.add_ln_all(ln_p);
        if self.ladder.max_retries().is_some() {
            for &ln_rber in &self.plain {
                let rereads = self.ladder.log_p_uncorrectable(ln_rber);
                self.exact.rereads.add_ln(rereads);
                self.exact.unstriped.add_ln(rereads);
            }
        }
        self.plain.clear();
    }

    /// Everything up to now.
    pub(crate) fn exact_tails(&self) -> ExactTails {
        let mut now = self.clone();
        now.settle();
        now.exact
    }

    pub(crate) fn reset(&mut self) {
        self.plain.clear();
        self.exact = ExactTails::new(self.exact.turns.clone());
        self.histogram.clear();
    }

    /// A unit of luck `u` has been checked at `ln_rber`: now and then a codeword of it goes to the histogram.
    #[inline]
    pub(crate) fn checked(&mut self, u: f64, ln_rber: f64) {
        if self.turns.is_next() {
            self.sample(u, ln_rber);
        }
    }

    /// The unit's luck decides about its worst codeword. One of the unit's codewords, taken at random, is the worst with
    /// probability 1 / codewords, and else has as many wrong bits as a codeword that is no worse.
    #[cold]
    fn sample(&mut self, u: f64, ln_rber: f64) {
        let (bits, rber) = (self.ecc.codeword_bits(), ln_rber.exp());
        self.sampled += 1;
        let word = mix(u.to_bits() ^ self.sampled.rotate_left(32));
        let worst = sample_worst_errors(u, self.codewords, bits, rber);
        let errors = if word.is_multiple_of(u64::from(self.codewords)) {
            worst
        } else {
            let beyond = Binomial { trials: bits, p: rber }.tails(worst).ln_more.exp();
            let other = beyond + (1.0 - beyond) * open_unit(mix(word));
            sample_errors(other.min(1.0 - f64::EPSILON), bits, rber).min(worst)
        };
        let index = errors as usize;
        if index >= self.histogram.len() {
            self.histogram.resize(index + 1, 0);
        }
        self.histogram[index] += 1;
    }
}

/// What one flash core keeps about its cells.
#[derive(Clone, Debug)]
pub(crate) struct CoreCells {
    pub(crate) cells: Cells,
    /// The step that last worked on each block; empty where no history is kept.
    pub(crate) steps: Vec<u16>,
    /// Re-reads of each superblock since its erasure, in pages.
    pub(crate) rereads: Vec<u32>,
    /// The group that was written first in each superblock.
    pub(crate) oldest: Vec<u32>,
}

impl CoreCells {
    /// Resident bytes of all that is kept about the blocks of a core.
    pub(crate) fn bytes(geometry: &Geometry, reliability: &ReliabilityConfig, layout: &Layout) -> u64 {
        let blocks = u64::from(layout.dies())
            * u64::from(geometry.planes_per_die)
            * u64::from(geometry.blocks_per_plane);
        let superblocks = u64::from(layout.superblocks());
        let groups = superblocks * u64::from(layout.superpages());
        let steps = if reliability.reread_history { blocks * 2 } else { 0 };
        Cells::bytes(blocks, u64::from(geometry.pages_per_block), groups, reliability.read_scope)
            + steps
            + superblocks * 8
    }

    pub(crate) fn new(
        config: &SsdConfig,
        reliability: &ReliabilityConfig,
        layout: &Layout,
        first_die: u16,
        seed: u64,
    ) -> Result<Self, ConfigError> {
        let geometry = &config.geometry;
        let cells_config = CellsConfig {
            model: reliability.rber_model()?,
            variation: reliability.variation,
            page_types: reliability.page_types.as_ref(),
            scope: reliability.read_scope,
        };
        let blocks_per_die = u64::from(geometry.planes_per_die) * u64::from(geometry.blocks_per_plane);
        let groups = layout.superblocks() * layout.superpages();
        let first_block = u64::from(first_die) * blocks_per_die;
        let mut cells = Cells::new(&cells_config, geometry, layout.dies(), first_block, groups, seed);
        (0..groups).for_each(|group| cells.forget(group));
        let blocks = u64::from(layout.dies()) * blocks_per_die;
        Ok(Self {
            cells,
            steps: if reliability.reread_history { vec![0; blocks as usize] } else { Vec::new() },
            rereads: vec![0; layout.superblocks() as usize],
            oldest: (0..layout.superblocks()).map(|superblock| superblock * layout.superpages()).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One unit in 16 fails for certain and the others never, over and over: the estimate from one in 16 must be that from all. It is the
    /// sum of independent draws, 16 with probability 1/16 and else 0, for each unit that fails, so its variance is 15 for each; five
    /// standard deviations are allowed.
    #[test]
    fn a_workload_that_repeats_itself_is_sampled_fairly() {
        const FAILING: u32 = 10_000;
        for offset in 0..16 {
            let mut tails = ExactTails::new(Turns::new(16, 3 + u64::from(offset), "test"));
            for unit in 0..FAILING * 16 {
                if tails.is_turn() && unit % 16 == offset {
                    tails.add_striped(0.0);
                }
            }
            let (found, sigma) = (tails.ln_after_stripe().exp(), (15.0 * f64::from(FAILING)).sqrt());
            assert!((found - f64::from(FAILING)).abs() < 5.0 * sigma, "offset {offset}: {found}");
        }
    }

    /// Whichever units the draw picks, their number follows the share that was looked at.
    #[test]
    fn units_that_are_alike_are_told_exactly() {
        let mut tails = ExactTails::new(Turns::new(16, 9, "test"));
        for _ in 0..4096 {
            if tails.is_turn() {
                tails.add_striped(0.25f64.ln());
            }
        }
        assert_ne!(tails.looked_at, 4096 / 16, "the draw is one of which scaling by 16 would not be exact");
        assert!((tails.ln_after_stripe().exp() / 1024.0 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn one_in_one_is_every_one() {
        let mut turns = Turns::new(1, 5, "test");
        assert!((0..100).all(|_| turns.is_next()));
    }
}
