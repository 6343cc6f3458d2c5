//! Cost-benefit: the largest (1 − u) / 2u · age (Kawaguchi, Nishioka, Motoda, "A flash-memory based file system", USENIX 1995).

use outlast_decisions::{RandomDraws, SuperblockColumns};
use outlast_units::SuperblockId;

pub(super) fn choose(view: &SuperblockColumns<'_>, _: &mut RandomDraws<'_>) -> Option<SuperblockId> {
    let mut best: Option<(f64, SuperblockId)> = None;
    for (superblock, valid) in view.candidates().filter(|&(_, valid)| valid < view.units) {
        // Age counts from one, so that among superblocks sealed just now the emptiest still wins.
        let age = (view.age(superblock) + 1) as f64;
        let benefit = f64::from(view.units - valid) * age / (2.0 * f64::from(valid));
        if best.is_none_or(|(most, _)| benefit > most) {
            best = Some((benefit, superblock));
        }
    }
    best.map(|(_, superblock)| superblock)
}
