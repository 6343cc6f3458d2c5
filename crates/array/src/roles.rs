//! Sets of roles, or of members, as bits of one word.

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
