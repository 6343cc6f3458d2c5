//! Cost-benefit: the largest (1 − u) / 2u · age (Kawaguchi, Nishioka, Motoda, "A flash-memory based file system", USENIX 1995).

use super::{NO_CANDIDATE, View};
use outlast_units::SuperblockId;

pub(super) fn choose(view: &View<'_>) -> Option<SuperblockId> {
    let mut best: Option<(f64, usize)> = None;
    for (index, (&valid, &at)) in view.valid.iter().zip(view.sealed_at).enumerate() {
        if valid & NO_CANDIDATE != 0 || valid >= view.units {
            continue;
        }
        // Age counts from one, so that among superblocks sealed just now the emptiest still wins.
        let age = (view.clock - at + 1) as f64;
        let benefit = f64::from(view.units - valid) * age / (2.0 * f64::from(valid));
        if best.is_none_or(|(most, _)| benefit > most) {
            best = Some((benefit, index));
        }
    }
    best.map(|(_, index)| SuperblockId(index as u32))
}
