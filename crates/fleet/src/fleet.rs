//! A plan that can be played, with what is looked up often.

use crate::plan::{FailureDomain, FleetError, FleetSettings, RebuildOverlap};

/// A plan that has been checked, with what is looked up often.
#[derive(Clone, Debug)]
pub struct Fleet {
    pub(crate) plan: FleetSettings,
    /// Pieces of each drive: `piece_starts[d]..piece_starts[d + 1]` of `pieces`.
    piece_starts: Vec<u32>,
    pieces: Vec<u32>,
    /// Drives by node, rack and site.
    members: [DomainMembers; 3],
    /// True if no two groups share a drive.
    pub(crate) is_disjoint: bool,
    /// Bandwidth that spread rebuilds have in common; absent if they are not, or share nothing.
    pub(crate) overlap: Option<RebuildOverlap>,
    /// Rate that no drive exceeds.
    pub(crate) highest_rate: f64,
}

/// Lists of drives, one for each node, rack or site.
#[derive(Clone, Debug, Default)]
struct DomainMembers {
    starts: Vec<u32>,
    drives: Vec<u32>,
    of_drive: Vec<u32>,
}

impl DomainMembers {
    fn new(of_drive: Vec<u32>) -> Self {
        let count = of_drive.iter().max().map_or(0, |most| *most as usize + 1);
        let mut starts = vec![0u32; count + 1];
        for &of in &of_drive {
            starts[of as usize + 1] += 1;
        }
        for i in 0..count {
            starts[i + 1] += starts[i];
        }
        let mut free = starts.clone();
        let mut drives = vec![0; of_drive.len()];
        for (drive, &of) in of_drive.iter().enumerate() {
            drives[free[of as usize] as usize] = drive as u32;
            free[of as usize] += 1;
        }
        Self { starts, drives, of_drive }
    }

    fn list(&self, of: usize) -> &[u32] {
        &self.drives[self.starts[of] as usize..self.starts[of + 1] as usize]
    }
}

impl Fleet {
    /// The fleet of a plan.
    ///
    /// # Errors
    /// One line on what is wrong with the plan.
    pub fn new(plan: FleetSettings) -> Result<Self, FleetError> {
        plan.check()?;
        let (drives, width) = (plan.node.len(), plan.code.pieces() as usize);
        let mut piece_starts = vec![0u32; drives + 1];
        for &drive in &plan.groups {
            piece_starts[drive as usize + 1] += 1;
        }
        let is_disjoint = piece_starts.iter().all(|&count| count <= 1);
        for drive in 0..drives {
            piece_starts[drive + 1] += piece_starts[drive];
        }
        let mut free = piece_starts.clone();
        let mut pieces = vec![0; plan.groups.len()];
        for (piece, &drive) in plan.groups.iter().enumerate() {
            let place = &mut free[drive as usize];
            if *place > piece_starts[drive as usize]
                && pieces[*place as usize - 1] as usize / width == piece / width
            {
                return Err(FleetError(format!("group {}: has two pieces on drive {drive}", piece / width)));
            }
            pieces[*place as usize] = piece as u32;
            *place += 1;
        }
        let racks: Vec<u32> = plan.node.iter().map(|&node| plan.rack[node as usize]).collect();
        let sites = racks.iter().map(|&rack| plan.site[rack as usize]).collect();
        let members =
            [DomainMembers::new(plan.node.clone()), DomainMembers::new(racks), DomainMembers::new(sites)];
        let highest_rate = plan.hazard.highest() * plan.frailty.iter().copied().fold(0.0, f64::max);
        let mut fleet =
            Self { plan, piece_starts, pieces, members, is_disjoint, overlap: None, highest_rate };
        if fleet.plan.repair.sharing.is_some_and(|sharing| sharing.is_spread) {
            fleet.overlap = Some(fleet.plan.overlap.unwrap_or_else(|| fleet.measured_overlap()));
        }
        Ok(fleet)
    }

    /// Drives.
    pub fn drives(&self) -> usize {
        self.plan.node.len()
    }

    /// Groups.
    pub fn groups(&self) -> usize {
        self.plan.groups.len() / self.plan.code.pieces() as usize
    }

    /// True if the data of a group are lost, or cannot be read for a while, when the pieces of the set `missing` are not there.
    pub fn is_lost(&self, missing: u64) -> bool {
        self.plan.code.is_lost(missing)
    }

    /// Events per hour in the mean while all drives are up, those that are candidates only included; each failure counts
    /// with the ends of repair that it brings.
    pub fn event_rate(&self) -> f64 {
        let plan = &self.plan;
        let drives = self.drives() as f64;
        let bursts = plan.bursts.iter().map(|burst| burst.rate * self.domains(burst.scope) as f64);
        let hit = plan.bursts.iter().map(|burst| burst.rate * burst.probability * drives);
        let fails = drives * self.highest_rate + hit.sum::<f64>();
        let brought: f64 = 1.0 - plan.contagion.iter().map(|one| one.probability).sum::<f64>();
        let retired = plan.retire_at.map_or(0.0, |age| drives / age);
        let pieces = self.pieces.len() as f64 / drives;
        bursts.sum::<f64>() + fails / brought * (1.0 + pieces) + retired
    }

    /// True if no two groups share a drive.
    pub const fn is_disjoint(&self) -> bool {
        self.is_disjoint
    }

    /// Pieces of a drive: group × width + place in it.
    pub(crate) fn pieces_of(&self, drive: u32) -> &[u32] {
        let drive = drive as usize;
        &self.pieces[self.piece_starts[drive] as usize..self.piece_starts[drive + 1] as usize]
    }

    /// Drives that share a node, rack or site with a drive, itself included.
    pub(crate) fn neighbours(&self, drive: u32, scope: FailureDomain) -> &[u32] {
        let lists = &self.members[scope as usize];
        lists.list(lists.of_drive[drive as usize] as usize)
    }

    /// Node, rack or site of a drive.
    pub(crate) fn domain_of(&self, drive: u32, scope: FailureDomain) -> usize {
        self.members[scope as usize].of_drive[drive as usize] as usize
    }

    /// Number of nodes, racks or sites that have drives.
    pub(crate) fn domains(&self, scope: FailureDomain) -> usize {
        self.members[scope as usize].starts.len() - 1
    }

    /// Drives of one of them.
    pub(crate) fn domain(&self, scope: FailureDomain, index: usize) -> &[u32] {
        self.members[scope as usize].list(index)
    }

    /// Factor of the hazard of a drive that is the `installed`-th in its place.
    pub(crate) fn frailty_of(&self, drive: u32, installed: u32) -> f64 {
        let (frailty, batches) = (&self.plan.frailty, &self.plan.batch);
        let batch = batches[(drive as usize).min(batches.len() - 1)] as usize;
        frailty[(batch + installed as usize) % frailty.len()]
    }
}
