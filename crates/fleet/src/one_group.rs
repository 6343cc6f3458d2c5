//! One group of a fleet by itself. The expected number of groups that are lost is the sum over groups of the probability that each is, however
//! they depend on each other; so what is too rare to be met in a fleet is looked for in one group of it.

use crate::Fleet;
use crate::plan::{Elsewhere, FailureDomain, FleetError, FleetSettings};

impl Fleet {
    /// A fleet of the `group`-th group alone: its drives, and their neighbours if failures bring failures of neighbours. Its pieces have random
    /// places among the pieces that their drives had.
    ///
    /// # Errors
    /// A group that there is not.
    pub fn one_group(&self, group: usize) -> Result<Self, FleetError> {
        let (plan, width) = (&self.plan, self.plan.code.pieces() as usize);
        if group >= self.groups() {
            return Err(FleetError(format!("group {group}: there are {}", self.groups())));
        }
        let members = &plan.groups[group * width..(group + 1) * width];
        let mut kept = members.to_vec();
        for one in &plan.contagion {
            for &member in members {
                kept.extend(self.neighbours(member, one.scope));
            }
        }
        kept.sort_unstable();
        kept.dedup();
        let place = |drive: u32| kept.partition_point(|&other| other < drive) as u32;
        let racks_of: Vec<u32> =
            kept.iter().map(|&drive| plan.rack[plan.node[drive as usize] as usize]).collect();
        let sites_of: Vec<u32> = racks_of.iter().map(|&rack| plan.site[rack as usize]).collect();
        let (nodes, node) = renumbered(kept.iter().map(|&drive| plan.node[drive as usize]).collect());
        let (racks, rack_of_drive) = renumbered(racks_of);
        let (sites, site_of_drive) = renumbered(sites_of);
        let mut rack = vec![0; nodes];
        let mut site = vec![0; racks.max(sites)];
        for (drive, &of) in node.iter().enumerate() {
            rack[of as usize] = rack_of_drive[drive];
            site[rack_of_drive[drive] as usize] = site_of_drive[drive];
        }
        site.truncate(racks);
        let one_each = |list: &[f64]| {
            if list.len() == 1 {
                list.to_vec()
            } else {
                kept.iter().map(|&drive| list[drive as usize]).collect()
            }
        };
        let mut own = FleetSettings {
            rack,
            site,
            node,
            groups: members.iter().map(|&drive| place(drive)).collect(),
            age: one_each(&plan.age),
            batch: if plan.batch.len() == 1 {
                plan.batch.clone()
            } else {
                kept.iter().map(|&drive| plan.batch[drive as usize]).collect()
            },
            ..plan.clone_without_places()
        };
        let pieces: usize = members.iter().map(|&drive| self.pieces_of(drive).len()).sum();
        own.repair.pieces_of_drive = (pieces / width) as u32;
        own.repair.shared = self.shared(members);
        own.overlap = self.overlap;
        own.elsewhere = self.elsewhere(members);
        Self::new(own)
    }

    /// Rebuilds of other groups' drives that a group meets: for bandwidth, or for the one crew of a fleet whose groups share drives. None of a
    /// lazy fleet, whose rebuilds are of single groups.
    fn elsewhere(&self, members: &[u32]) -> Option<Elsewhere> {
        let plan = &self.plan;
        let waits = !plan.repair.parallel && !self.is_disjoint;
        if plan.repair.threshold > 1 || !(waits || (plan.repair.parallel && plan.repair.sharing.is_some())) {
            return None;
        }
        let others = (self.drives() - members.len()) as f64;
        let mean = |list: &[f64]| list.iter().sum::<f64>() / list.len() as f64;
        let replaced = if plan.die_repair.is_some() { 1.0 - plan.die_share } else { 1.0 };
        let brought = 1.0 - plan.contagion.iter().map(|one| one.probability).sum::<f64>();
        let bursts: f64 = plan.bursts.iter().map(|burst| burst.rate * burst.probability).sum();
        let load = match (plan.repair.sharing, self.overlap) {
            (Some(sharing), Some(overlap)) if !waits => {
                sharing.parts.iter().zip(overlap.other).map(|(part, share)| part * share).fold(0.0, f64::max)
            }
            (Some(sharing), None) if !waits => {
                let domains =
                    [FailureDomain::Node, FailureDomain::Rack].map(|scope| self.domains(scope) as f64);
                (sharing.parts[1] / domains[0]).max(sharing.parts[2] / domains[1])
            }
            _ => 1.0,
        };
        let places = if self.overlap.is_some() || waits { Vec::new() } else { self.places_beside(members) };
        Some(Elsewhere {
            drives: others * mean(&plan.frailty) * replaced / brought,
            age: mean(&plan.age),
            rate: others * bursts / brought,
            load,
            places: places.into(),
        })
    }

    /// Node and rack of each drive outside the group, numbered as in the group alone.
    fn places_beside(&self, members: &[u32]) -> Vec<[u32; 2]> {
        let known = |of: usize| {
            let mut list: Vec<u32> = members.iter().map(|&member| self.place_of(member)[of]).collect();
            list.sort_unstable();
            list.dedup();
            list
        };
        let lists = [known(0), known(1)];
        let renamed =
            |of: usize, number: u32| lists[of].binary_search(&number).map_or(u32::MAX, |at| at as u32);
        (0..self.drives() as u32)
            .filter(|drive| !members.contains(drive))
            .map(|drive| {
                let [node, rack] = self.place_of(drive);
                // In none of the group's it meets other rebuilds elsewhere only: these are told apart no further.
                [renamed(0, node), renamed(1, rack)]
            })
            .collect()
    }

    /// Probability that a piece of one of these drives is in a group with another one of them, mean over pairs.
    fn shared(&self, members: &[u32]) -> f64 {
        let width = self.plan.code.pieces();
        let groups_of =
            |drive: &u32| self.pieces_of(*drive).iter().map(|piece| piece / width).collect::<Vec<u32>>();
        let lists: Vec<Vec<u32>> = members.iter().map(groups_of).collect();
        let (mut shared, mut pairs) = (0.0, 0.0f64);
        for (i, first) in lists.iter().enumerate() {
            for other in &lists[i + 1..] {
                // Both rise.
                let both = first.iter().filter(|group| other.binary_search(group).is_ok()).count();
                shared += both as f64 / first.len() as f64;
                pairs += 1.0;
            }
        }
        if pairs > 0.0 { shared / pairs } else { 0.0 }
    }
}

impl FleetSettings {
    /// All but where drives and pieces are.
    fn clone_without_places(&self) -> Self {
        Self {
            node: Vec::new(),
            rack: Vec::new(),
            site: Vec::new(),
            groups: Vec::new(),
            age: Vec::new(),
            batch: Vec::new(),
            hazard: self.hazard.clone(),
            frailty: self.frailty.clone(),
            contagion: self.contagion.clone(),
            bursts: self.bursts.clone(),
            elsewhere: None,
            ..*self
        }
    }
}

/// The same numbers without gaps, and how many differ.
fn renumbered(list: Vec<u32>) -> (usize, Vec<u32>) {
    let mut known = list.clone();
    known.sort_unstable();
    known.dedup();
    (
        known.len(),
        list.into_iter().map(|number| known.partition_point(|&other| other < number) as u32).collect(),
    )
}
