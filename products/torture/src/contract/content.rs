//! A hash of the content of a whole device: a sum over its sectors, so that a change of one sector updates it in constant time.

use crate::versions::{SectorVersion, SectorVersions};
use outlast_units::rng::mix;

/// Term of one version in the hash of a content; 0 for zeroes, so that sectors never written need no term.
pub(super) fn content_term(version: &SectorVersion, zeroes: u64) -> u128 {
    if version.hash == zeroes {
        return 0;
    }
    let high = mix(version.hash ^ mix(version.sector));
    let low = mix(version.hash.rotate_left(32).wrapping_add(mix(version.sector ^ 0x5bd1_e995)));
    u128::from(high) << 64 | u128::from(low)
}

/// Terms of all versions, in the order of [`SectorVersions::all`].
pub(super) fn content_terms(versions: &SectorVersions) -> Vec<u128> {
    let zeroes = SectorVersions::zeroes();
    versions.all().iter().map(|version| content_term(version, zeroes)).collect()
}
