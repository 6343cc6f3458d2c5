//! What a machine counts.

/// Cause of a drive's failure, or of a loss of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LossCause {
    /// The hazard of the drive's age, by step of its table: 0 is the youngest.
    Age(u8),
    /// A die failed.
    Die,
    /// A burst in a node, rack or site.
    Burst(u8),
    /// The failure of a neighbour.
    Contagion,
    /// Unreadable data, found by the repair of a piece on which all depended.
    Unreadable,
}

/// A loss of data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroupLoss {
    /// Hours from the start.
    pub at: f64,
    /// The group.
    pub group: u32,
    /// What the last failure was due to.
    pub cause: LossCause,
}

/// Counts and times of a machine, for statistics.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FleetTally {
    /// Failures of drives, by step of the hazard's table.
    pub failures_by_age: Vec<u64>,
    /// Failures of dies (also counted above, unless drives repair them by themselves).
    pub dies: u64,
    /// Die failures that drives repaired by themselves.
    pub dies_repaired: u64,
    /// Failures by bursts: in nodes, racks, sites.
    pub bursts: [u64; 3],
    /// Failures because of a neighbour.
    pub contagions: u64,
    /// Drives replaced for their age.
    pub retirements: u64,
    /// Pieces that were rebuilt; those of a failed die that its drive repaired are none.
    pub pieces_rebuilt: u64,
    /// Pieces that are rebuilt from what is read for another one of their group, as lazy repair does.
    pub pieces_along: u64,
    /// Hours during which some group missed 0, 1, 2, … pieces at the most.
    pub hours_at_level: Vec<f64>,
    /// Groups times hours in which they missed a piece.
    pub group_hours_degraded: f64,
    /// Events.
    pub events: u64,
}
