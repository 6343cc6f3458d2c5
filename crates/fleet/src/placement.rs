//! Where the pieces of groups are put: at random, on copysets, declustered, or aligned with failure domains.

use crate::plan::{FailureDomain, FleetError};
use outlast_units::rng::SplitMix;
use serde::Deserialize;

/// How drives are chosen for groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind", deny_unknown_fields)]
pub enum DriveChoice {
    /// Drives of each group at random.
    Random {
        /// Groups.
        groups: u32,
    },
    /// Permutations of all drives, each cut into groups, so that every drive has as many pieces (Cidon et al., "Copysets", USENIX ATC 2013):
    /// 1 is one set for each drive, few are copysets, many are declustered.
    Permutations {
        /// Permutations: pieces of each drive.
        count: u32,
    },
}

/// A choice, and what no two pieces of a group may share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupPlacement {
    /// How drives are chosen.
    pub choice: DriveChoice,
    /// Two pieces of a group are never in one of these; absent for never on one drive.
    pub apart: Option<FailureDomain>,
}

impl GroupPlacement {
    /// Drives of each group, one after the other. `domain_of` has the domain of each drive that pieces are to be apart by (the drive itself, if by
    /// none), and `width` is the number of pieces.
    ///
    /// # Errors
    /// Fewer domains than pieces.
    pub fn groups(&self, domain_of: &[u32], width: usize, seed: u64) -> Result<Vec<u32>, FleetError> {
        let mut rng = SplitMix::new(seed, "placement");
        let mut domains = vec![Vec::new(); domain_of.iter().max().map_or(0, |most| *most as usize + 1)];
        for (drive, &domain) in domain_of.iter().enumerate() {
            domains[domain as usize].push(drive as u32);
        }
        domains.retain(|domain: &Vec<u32>| !domain.is_empty());
        if domains.len() < width {
            return Err(FleetError(format!(
                "a group of {width} pieces needs {width} domains to be apart in, and there are {}",
                domains.len()
            )));
        }
        match self.choice {
            DriveChoice::Random { groups } => Ok(at_random(&domains, groups, width, &mut rng)),
            DriveChoice::Permutations { count } => {
                let mut groups = Vec::with_capacity(domain_of.len() * count as usize);
                for _ in 0..count {
                    permutation(&mut domains, domain_of, width, &mut rng, &mut groups);
                }
                Ok(groups)
            }
        }
    }
}

fn at_random(domains: &[Vec<u32>], groups: u32, width: usize, rng: &mut SplitMix) -> Vec<u32> {
    let mut order: Vec<u32> = (0..domains.len() as u32).collect();
    let mut drives = Vec::with_capacity(groups as usize * width);
    for _ in 0..groups {
        for i in 0..width {
            let other = i + rng.below((order.len() - i) as u64) as usize;
            order.swap(i, other);
            let domain = &domains[order[i] as usize];
            drives.push(domain[rng.below(domain.len() as u64) as usize]);
        }
    }
    drives
}

/// One permutation: a drive of each domain in turn, in an order that stays, so that neighbours are of different domains. Where domains have
/// unequal numbers of drives, sets in which two would meet are left out.
fn permutation(
    domains: &mut [Vec<u32>],
    domain_of: &[u32],
    width: usize,
    rng: &mut SplitMix,
    groups: &mut Vec<u32>,
) {
    shuffle(domains, rng);
    for domain in domains.iter_mut() {
        shuffle(domain, rng);
    }
    let most = domains.iter().map(Vec::len).max().unwrap_or(0);
    let row: Vec<u32> = (0..most)
        .flat_map(|turn| domains.iter().filter_map(move |domain| domain.get(turn).copied()))
        .collect();
    for set in row.chunks_exact(width) {
        let mut found: Vec<u32> = set.iter().map(|&drive| domain_of[drive as usize]).collect();
        found.sort_unstable();
        if found.windows(2).all(|pair| pair[0] != pair[1]) {
            groups.extend(set);
        }
    }
}

fn shuffle<T>(list: &mut [T], rng: &mut SplitMix) {
    for i in (1..list.len()).rev() {
        list.swap(i, rng.below(i as u64 + 1) as usize);
    }
}
