//! Cost-age-times: the largest (1 − u) / u · age / erasures (Chiang, Chang, "Cleaning policies in mobile computers using flash memory",
//! Journal of Systems and Software 48, 1999). Cost-benefit that spares worn superblocks.

use outlast_decisions::{RandomDraws, SuperblockColumns};
use outlast_units::SuperblockId;

pub(super) fn choose(view: &SuperblockColumns<'_>, _: &mut RandomDraws<'_>) -> Option<SuperblockId> {
    let mut best: Option<(f64, SuperblockId)> = None;
    for (superblock, valid) in view.candidates().filter(|&(_, valid)| valid < view.units) {
        // Age and erasures count from one, so that new superblocks can be told apart.
        let (age, times) = ((view.age(superblock) + 1) as f64, f64::from(view.cycles(superblock)) + 1.0);
        let benefit = f64::from(view.units - valid) / f64::from(valid) * age / times;
        if best.is_none_or(|(most, _)| benefit > most) {
            best = Some((benefit, superblock));
        }
    }
    best.map(|(_, superblock)| superblock)
}
