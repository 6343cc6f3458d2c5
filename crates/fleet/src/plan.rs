//! A fleet as data: drives in nodes, racks and sites, groups of pieces on them, what fails and how it is repaired.

use crate::{AgeHazard, GroupCode};
use serde::Deserialize;
use std::fmt;

/// Most drives, groups and pieces of a fleet.
const MOST: usize = 1 << 27;

/// A fleet. Times are hours, rates are per hour.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FleetSettings {
    /// Node of each drive.
    #[serde(default)]
    pub node: Vec<u32>,
    /// Rack of each node.
    #[serde(default)]
    pub rack: Vec<u32>,
    /// Site of each rack.
    #[serde(default)]
    pub site: Vec<u32>,
    /// Drives of each group, one after the other: as many for each as the code has pieces.
    #[serde(default)]
    pub groups: Vec<u32>,
    /// The code of all groups.
    pub code: GroupCode,
    /// Failures of a drive by age.
    pub hazard: AgeHazard,
    /// Ages of the drives at the start; one for all, or one each.
    #[serde(default)]
    pub age: Vec<f64>,
    /// Factor of the hazard by batch of drives: 1 for none.
    pub frailty: Vec<f64>,
    /// Batch of each drive at the start, or one for all; its replacements are of the batches after it.
    #[serde(default)]
    pub batch: Vec<u32>,
    /// Share of failures that are failures of one die.
    pub die_share: f64,
    /// Hours in which a drive repairs a die failure by itself; a drive with a failed die is replaced if absent.
    pub die_repair: Option<f64>,
    /// Drives that fail because one of their neighbours did.
    pub contagion: Vec<NeighbourFailure>,
    /// Failures of many drives at once.
    pub bursts: Vec<FailureBurst>,
    /// How failed drives are repaired.
    pub repair: RepairPolicy,
    /// Probability that the repair of a piece on which all depends meets unreadable data.
    pub read_failure: f64,
    /// Age at which a drive is replaced before it fails; absent for never.
    pub retire_at: Option<f64>,
    /// Rebuilds of other groups' drives, where the fleet is one group of many.
    #[serde(skip)]
    pub elsewhere: Option<Elsewhere>,
    /// Share that rebuilds have in common, where the fleet is one group of many; else it is measured.
    #[serde(skip)]
    pub overlap: Option<RebuildOverlap>,
}

/// Drives of other groups, whose rebuilds meet those of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Elsewhere {
    /// Drives, each with the factor of its hazard: their sum.
    pub drives: f64,
    /// Mean age at the start in hours.
    pub age: f64,
    /// Failures per hour of all of them that no age brings.
    pub rate: f64,
    /// Share that one rebuild of them takes from one of the group: 1 where one crew does all.
    pub load: f64,
    /// Node and rack of each, numbered as those of the group; `u32::MAX` for others.
    pub places: std::sync::Arc<[[u32; 2]]>,
}

/// Overlap of rebuilds of two drives: the share of the drives, nodes and racks from which one reads that the other reads from, too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RebuildOverlap {
    /// Of drives that share a group.
    pub own: [f64; 3],
    /// Of others.
    pub other: [f64; 3],
}

/// Limits of a rebuild: by the bandwidth of drives, of its node and of its rack, as parts of the hours that it takes; the greatest is 1.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SharedBandwidth {
    /// Hours by drives, nodes and racks over those of the rebuild.
    pub parts: [f64; 3],
    /// True if many drives read and write a part of it; false if one drive is written, in one node and rack.
    pub is_spread: bool,
}

/// Reach of a burst or a contagion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureDomain {
    /// Drives of one node.
    Node,
    /// Drives of one rack.
    Rack,
    /// Drives of one site.
    Site,
}

/// After a failure another drive of the same node, rack or site fails with `probability`, within `window` hours, uniformly.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeighbourFailure {
    /// Whence the other drive is taken.
    pub scope: FailureDomain,
    /// Probability of one more failure; below 1, since it causes others in turn.
    pub probability: f64,
    /// Hours within which it comes.
    pub window: f64,
}

/// Each node, rack or site has a burst at `rate` per hour, in which each of its drives fails with `probability`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailureBurst {
    /// What has the burst.
    pub scope: FailureDomain,
    /// Bursts per hour of each.
    pub rate: f64,
    /// Probability that a drive fails in it.
    pub probability: f64,
}

/// How long repairs take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RepairTimes {
    /// Exponential, with the mean of detection and rebuild together: what Markov chains assume.
    Exponential,
    /// Exactly detection and rebuild.
    Fixed,
}

/// Which pieces of a drive are repaired first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PieceOrder {
    /// All together, at the end of the rebuild of the drive.
    Together,
    /// One after the other, in any order.
    Turn,
    /// One after the other, those of groups that miss most first.
    Exposure,
}

/// How failed drives are repaired.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepairPolicy {
    /// Hours until a failure is noticed and its repair may begin.
    pub detection: f64,
    /// Hours of the rebuild of all pieces of a drive.
    pub rebuild: f64,
    /// Distribution of both.
    pub distribution: RepairTimes,
    /// False if rebuilds wait for each other: in a group if groups share no drives, else in the whole fleet.
    pub parallel: bool,
    /// Which pieces come first.
    pub order: PieceOrder,
    /// Missing pieces of a group from which on it is repaired: 1 for at once, more for lazy repair.
    pub threshold: u32,
    /// Pieces of a drive, where the fleet is one group of many: its piece has a random place among them. 0: as many as there are.
    pub pieces_of_drive: u32,
    /// Probability that two pieces of one drive share another drive as well, where the fleet is one group of many.
    pub shared: f64,
    /// Bandwidths that rebuilds at one time share; absent if each is as fast as alone. Of no effect where they wait for each other.
    #[serde(default)]
    pub sharing: Option<SharedBandwidth>,
}

/// A plan that cannot be played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetError(pub String);

impl fmt::Display for FleetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for FleetError {}

impl FleetSettings {
    pub(crate) fn check(&self) -> Result<(), FleetError> {
        let fail = |message: String| Err(FleetError(message));
        let drives = self.node.len();
        if let Some(fault) = self.code.fault() {
            return fail(format!("code: {fault}"));
        }
        if let Some(fault) = self.hazard.fault() {
            return fail(format!("hazard: {fault}"));
        }
        if drives == 0 || drives > MOST || self.groups.len() > MOST {
            return fail(format!("drives and pieces: from 1 to {MOST}"));
        }
        let within = |list: &[u32], most: usize| list.iter().all(|&index| (index as usize) < most);
        if !within(&self.node, self.rack.len())
            || !within(&self.rack, self.site.len())
            || !within(&self.site, drives)
        {
            return fail("node, rack or site: is not listed".into());
        }
        if self.groups.is_empty()
            || !self.groups.len().is_multiple_of(self.code.pieces() as usize)
            || !within(&self.groups, drives)
        {
            return fail("groups: must be lists of drives, as many as the code has pieces".into());
        }
        if self.age.len() != 1 && self.age.len() != drives {
            return fail("age: one for all drives, or one for each".into());
        }
        if self.frailty.is_empty() || (self.batch.len() != 1 && self.batch.len() != drives) {
            return fail("frailty: at least one batch; batch: one for all drives, or one for each".into());
        }
        let shares = [self.die_share, self.read_failure, self.repair.shared];
        let bursts = self.bursts.iter().map(|burst| burst.probability);
        if !shares.into_iter().chain(bursts).all(|share| (0.0..=1.0).contains(&share)) {
            return fail("shares and probabilities: from 0 to 1".into());
        }
        if self.contagion.iter().map(|one| one.probability).sum::<f64>() >= 1.0 {
            return fail("contagion: probabilities must add up to less than 1, or failures never end".into());
        }
        let times = [self.repair.detection, self.repair.rebuild, self.die_repair.unwrap_or(0.0)];
        let more = self.contagion.iter().flat_map(|one| [one.probability, one.window]);
        let rates = self.bursts.iter().map(|burst| burst.rate);
        let all = times.into_iter().chain(more).chain(rates);
        if !all
            .chain(self.age.iter().copied())
            .chain(self.frailty.iter().copied())
            .all(|x| x.is_finite() && x >= 0.0)
        {
            return fail("times, rates, ages and factors: must be numbers of at least 0".into());
        }
        if self
            .repair
            .sharing
            .is_some_and(|sharing| !sharing.parts.iter().all(|part| (0.0..=1.0).contains(part)))
        {
            return fail("sharing: parts from 0 to 1".into());
        }
        if self.retire_at.is_some_and(|age| !age.is_finite() || age <= 0.0) {
            return fail("retire_at: must be above 0".into());
        }
        if self.repair.threshold == 0 || self.repair.threshold > self.code.survives().max(1) {
            return fail("threshold: from 1 to what the code survives".into());
        }
        Ok(())
    }
}
