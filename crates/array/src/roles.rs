//! Sets of roles, or of members, as bits of one word.

use outlast_settings::array::MEMBERS_MAX;

/// The roles in `set`, rising.
pub(crate) fn roles(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (set != 0).then(|| {
            let role = set.trailing_zeros() as usize;
            // Clears the lowest bit.
            set &= set - 1;
            role
        })
    })
}

/// The lowest `count` roles as a set.
pub(crate) fn first_roles(count: usize) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

/// A role, or the end of a range of roles, as operations and commands keep it.
#[inline]
pub(crate) fn to_role(role: usize) -> u8 {
    debug_assert!(role <= MEMBERS_MAX, "a group has a role on each member at most");
    #[allow(clippy::cast_possible_truncation, reason = "at most 64, as asserted")]
    let role = role as u8;
    role
}
