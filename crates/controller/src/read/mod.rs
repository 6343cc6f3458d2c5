//! Reading flash that errs: what a sensing gives, how likely it was to fail, and how to go on where the flash did not give all.
//!
//! A sensing ([`sense`]) disturbs the cells of one flash core ([`CoreCells`]) and says which units the ECC does not give. What it learns the
//! drive keeps in its [`Reliability`]: the exact probabilities of all host reads ([`tails`]) and a sample of the numbers of wrong bits
//! ([`histogram`]). Where the ECC does not give a unit, the [`Ladder`] says what is tried next.
//!
//! `media::Cells` holds the true wear, age and reads of every block; data is as old as the first program in its superpage (decision 0021). A sensing returns
//! the error rate that it sees, and counts as a read. One random number decides about each unit (decision 0012), and exact probabilities are summed beside the
//! sampled results (decision 0013). The error rates of a chip are one of the forms in `media/src/reliability/rber/`. A chip file is read when a scenario is
//! loaded and fitted by `media/src/reliability/measured/`; the fit is part of the scenario (decision 0063).
//!
//! A drive without `reliability`, faults or hazards pays a few comparisons for each operation. The record of a failed read is kept beside the operation, not in
//! it.

mod cells;
mod corrections;
mod histogram;
mod ladder;
mod lines;
mod odds;
mod places;
mod reach;
mod recovery;
mod retries;
mod sense;
mod tails;
#[cfg(test)]
mod tests;
mod turns;

pub use cells::CoreCells;
pub use corrections::Corrections;
pub(crate) use ladder::{Ladder, LadderEffect};
pub use lines::Lines;
pub(crate) use places::faulty_units;
pub use places::{broken_units, units};
pub use reach::can_be_read;
pub(crate) use retries::Retries;
pub(crate) use sense::{Attempt, Sensed};
pub use tails::ExactTails;

use crate::op::OpKind;
use histogram::Histogram;
use outlast_media::reliability::{Ecc, FailTable, ReadLadder};
use outlast_settings::drive::{CodewordsChecked, ReliabilityConfig, SsdConfig};
use tails::Tails;
use turns::Turns;

/// How a drive's flash errs, and what is counted of it.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub(crate) struct Reliability {
    #[persist(skip)]
    ladder: ReadLadder,
    /// That of reads for the host, where they decode less than a unit.
    #[persist(skip)]
    of_one: Option<ReadLadder>,
    /// True if reads that move data disturb the cells.
    #[persist(skip)]
    collection_disturbs: bool,
    #[persist(skip)]
    retries: Retries,
    #[persist(skip)]
    ecc: Ecc,
    /// True if reads of a block begin with the re-read that last worked on it.
    #[persist(skip)]
    has_history: bool,
    /// True if none do, and every unit lies within a page.
    #[persist(skip)]
    is_simple: bool,
    /// Which units patrol reads find bad.
    #[persist(skip)]
    patrol: Option<FailTable>,
    tails: Tails,
    histogram: Histogram,
}

impl Reliability {
    pub(crate) fn new(
        config: &SsdConfig,
        reliability: &ReliabilityConfig,
        retries: Retries,
        seed: u64,
    ) -> Self {
        let (unit, page) = (config.ftl.mapping_unit.0, config.geometry.page_size.0);
        // What is decoded at once: a unit, or a page where a unit spans several.
        let codewords = (unit.min(page) * 8).div_ceil(u64::from(reliability.ecc.data_bits)) as u32;
        let table = FailTable::new(&reliability.ecc, codewords);
        let patrol_errors = config
            .scrub
            .filter(|scrub| scrub.patrol.is_some())
            .and_then(|scrub| scrub.patrol_errors.or(reliability.ecc.strength.map(|strength| strength / 2)));
        let patrol = patrol_errors.map(|errors| {
            let strength = Some(errors.min(reliability.ecc.codeword_bits()));
            FailTable::new(&Ecc { strength, ..reliability.ecc.clone() }, codewords)
        });
        let stripes = Turns::new(ReliabilityConfig::STRIPE_EXACT_EVERY, seed, "ssd.exact_tails");
        let samples = Turns::new(ReliabilityConfig::HISTOGRAM_EVERY, seed, "ssd.histogram");
        Self {
            ladder: ReadLadder::new(&reliability.rereads, table),
            of_one: (reliability.codewords_checked == CodewordsChecked::One)
                .then(|| ReadLadder::new(&reliability.rereads, FailTable::new(&reliability.ecc, 1))),
            collection_disturbs: reliability.collection_disturbs,
            retries,
            ecc: reliability.ecc.clone(),
            has_history: reliability.reread_history,
            is_simple: unit <= page && !reliability.reread_history,
            patrol,
            tails: Tails::new(stripes),
            histogram: Histogram::new(samples, codewords, &reliability.ecc),
        }
    }

    /// What reads of kind `kind` fail by.
    #[inline]
    fn ladder_of(&self, kind: OpKind) -> &ReadLadder {
        match &self.of_one {
            Some(own) if kind == OpKind::HostRead => own,
            _ => &self.ladder,
        }
    }

    /// What corrects the bits.
    pub(crate) fn ecc(&self) -> &Ecc {
        &self.ecc
    }

    /// The exact probabilities of everything up to now.
    pub(crate) fn exact_tails(&self) -> ExactTails {
        self.tails.up_to_now(self.ladder_of(OpKind::HostRead))
    }

    /// Codewords by wrong bits, as first read, of the units sampled.
    pub(crate) fn histogram(&self) -> &[u64] {
        self.histogram.counts()
    }

    /// Starts counting anew.
    pub(crate) fn reset(&mut self) {
        self.tails.reset();
        self.histogram.reset();
    }
}
