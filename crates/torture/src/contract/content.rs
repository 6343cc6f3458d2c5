//! Contents told apart by a number: a sum over sectors, so that it is known at once what a change makes of it.

use crate::versions::{Version, Versions};
use outlast_units::rng::mix;

/// What a version adds to the number of a content; zeroes add nothing.
pub(super) fn part(version: &Version, zeroes: u64) -> u128 {
    if version.hash == zeroes {
        return 0;
    }
    let high = mix(version.hash ^ mix(version.sector));
    let low = mix(version.hash.rotate_left(32).wrapping_add(mix(version.sector ^ 0x5bd1_e995)));
    u128::from(high) << 64 | u128::from(low)
}

/// What each version adds, by its place.
pub(super) fn parts(versions: &Versions) -> Vec<u128> {
    let zeroes = Versions::zeroes();
    versions.all().iter().map(|version| part(version, zeroes)).collect()
}
