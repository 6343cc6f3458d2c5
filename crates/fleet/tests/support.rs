//! Plans of small fleets.

use outlast_fleet::{AgeHazard, FleetSettings, GroupCode, PieceOrder, RepairPolicy, RepairTimes};

/// Groups that share no drives, each drive in a node of its own: what chains describe.
pub(crate) fn separate(
    groups: u32,
    data: u32,
    parity: u32,
    rate: f64,
    hours: f64,
    parallel: bool,
) -> FleetSettings {
    let drives = groups * (data + parity);
    FleetSettings {
        node: (0..drives).collect(),
        rack: vec![0; drives as usize],
        site: vec![0],
        groups: (0..drives).collect(),
        code: GroupCode::Mds { data, parity },
        hazard: AgeHazard::constant(rate),
        age: vec![0.0],
        frailty: vec![1.0],
        batch: vec![0],
        die_share: 0.0,
        die_repair: None,
        contagion: Vec::new(),
        bursts: Vec::new(),
        repair: RepairPolicy {
            detection: 0.0,
            rebuild: hours,
            distribution: RepairTimes::Exponential,
            parallel,
            order: PieceOrder::Together,
            threshold: 1,
            pieces_of_drive: 0,
            shared: 0.0,
            sharing: None,
        },
        read_failure: 0.0,
        retire_at: None,
        elsewhere: None,
        overlap: None,
    }
}

/// Failures per hour of a drive of which a share fails in a year.
pub(crate) fn hourly(afr: f64) -> f64 {
    -f64::ln_1p(-afr) / 8760.0
}
