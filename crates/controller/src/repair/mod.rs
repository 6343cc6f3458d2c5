//! Repair of failed dies (Reparo): finding what was on them, and where units live afterwards.
//!
//! A failed die is left out of new superblocks (`Ftl::give_up_die`); its core goes on with the others, which is all of the scheme
//! `isolated`. The scheme `cooperative` also hands a part of that core's units over to the other cores (`redirect.rs`). Such a unit has
//! two *places*: the **former** one, in the core that it had when the drive was new, and its **home**. Data is in one of them at most: a
//! write goes home and drops what is at the former place, a trim drops both, and until then reads are served from there.
//!
//! No unit has data in two places, which the self-check verifies. `Ftl::set_logical` sets how much a translation layer has to hold, and `FlashSpace::could_hold`
//! says what one more failure would lead to (decision 0017).
//!
//! Firmware is not told that a die has failed: the detector (`health/detector/`) finds out, and the host gets a notice. `identify.rs` then answers
//! `Op::LbaStatus` at the cost of processor time, and `lists.rs` reads the lists that the translation layer stored on the neighbouring die
//! (`ftl/src/ftl/lists.rs`: the last superpage of a superblock with `p2l-block`, spare areas with `p2l-page`). `moves.rs` writes redirected units home, and
//! `health/predict.rs` empties dies that are expected to fail.

mod identify;
mod lists;
mod moves;
mod record;
mod redirect;

pub use identify::{Queries, Search, rebuilds};
pub use lists::{ListStep, Lists};
pub use moves::{Moves, NextMove};
pub use record::RepairRecord;
pub use redirect::Redirection;

use crate::health::{Detector, DieLayout, Predictor};
use outlast_decisions::DrivePolicies;
use outlast_settings::drive::RepairConfig;
use outlast_units::{BlockIndex, CoreId, DieId, Nanos};

/// What can still be repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prospects {
    /// Another die may fail, whichever it is.
    More,
    /// The failure of another die, of the worst core, could not be taken.
    Last,
    /// What has failed leaves too little room already.
    Beyond,
}

/// Counts of predicted failures of dies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PredictionCounts {
    /// Dies that were expected to fail.
    pub expected: u64,
    /// Dies among them that work still.
    pub false_alarms: u64,
    /// Dies that failed before they were expected to. What a dead die shows until it is detected can still be a sign, and comes too late.
    pub missed: u64,
}

/// The parts that find failed dies and what was on them.
#[derive(Clone, Debug, outlast_persist::Restore)]
pub struct DieWatch {
    /// Search for dies that have failed.
    pub detector: Detector,
    /// Absent where no die is expected to fail before it does.
    #[persist(each)]
    pub predictor: Option<Predictor>,
    /// Reading of the lists that name the units of failed dies.
    pub lists: Lists,
    /// Queries of the host that are under way.
    pub queries: Queries,
    /// The dies that have failed, in order of detection.
    pub records: Vec<RepairRecord>,
}

impl DieWatch {
    /// Parts of a drive whose dies are laid out like this, with the user's policies.
    ///
    /// # Panics
    /// If there are no dies.
    pub fn new(repair: &RepairConfig, policies: &DrivePolicies, layout: DieLayout) -> Self {
        let cores = layout.dies_of_cores.len();
        let dies = layout.dies_of_cores.iter().map(Vec::len).sum();
        assert!(cores != 0 && dies != 0, "a drive has cores and dies");
        Self {
            detector: Detector::new(layout),
            predictor: Predictor::new(repair, policies, dies),
            lists: Lists::new(cores, dies),
            queries: Queries::default(),
            records: Vec::new(),
        }
    }

    /// True if a die is expected to fail and has not yet: what it holds is moved away, and can be read.
    pub fn is_leaving(&self, die: DieId) -> bool {
        self.predictor.as_ref().is_some_and(|own| own.is_leaving(die)) && !self.detector.has_failed(die)
    }

    /// True if a block, just erased, is to be replaced; `failed`: its operations said so.
    pub(crate) fn must_retire(&self, core: CoreId, block: BlockIndex, failed: bool) -> bool {
        self.detector.must_retire(core, block, failed)
    }

    /// A die that is expected to fail by now, and of which this has not been said before.
    pub fn next_expected(&mut self, now: Nanos) -> Option<DieId> {
        let detector = &self.detector;
        let bad_blocks = |die| (!detector.has_failed(die)).then(|| detector.bad_blocks(die));
        self.predictor.as_mut()?.next(now, bad_blocks)
    }

    /// Predictions so far, and what became of them, of a drive in which `has_failed` says which dies are dead.
    pub fn predictions(&self, has_failed: impl Fn(DieId) -> bool) -> Option<PredictionCounts> {
        let predictor = self.predictor.as_ref()?;
        let foreseen = |record: &&RepairRecord| {
            let failed_at = record.failed_at.unwrap_or(record.detected_at);
            predictor.expected().any(|(die, at)| die.0 == record.die && at <= failed_at)
        };
        Some(PredictionCounts {
            expected: predictor.expected().count() as u64,
            false_alarms: predictor.expected().filter(|&(die, _)| !has_failed(die)).count() as u64,
            missed: self.records.iter().filter(|record| !foreseen(record)).count() as u64,
        })
    }

    /// The records of die `die`.
    pub fn records_of(&mut self, die: DieId) -> impl Iterator<Item = &mut RepairRecord> {
        self.records.iter_mut().filter(move |record| record.die == die.0)
    }
}
