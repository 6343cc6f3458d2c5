//! Counting bits of which mostly one or two are set.

/// How many bits are set in `mask`.
///
/// Without an instruction for it, which the oldest processors that programs are built for lack, [`u64::count_ones`] takes fifteen others:
/// for one or two bits it is known after three or six.
#[inline]
pub fn count_few(mask: u64) -> u32 {
    let rest = mask & mask.wrapping_sub(1);
    if rest == 0 {
        return u32::from(mask != 0);
    }
    if rest.is_power_of_two() { 2 } else { mask.count_ones() }
}

#[cfg(test)]
mod tests {
    use super::count_few;

    proptest::proptest! {
        #[test]
        fn few_bits_are_counted_as_many_are(mask: u64, shift in 0u32..64, other in 0u32..64) {
            for mask in [mask, mask >> shift, 1 << shift, 1 << shift | 1 << other, 0] {
                proptest::prop_assert_eq!(count_few(mask), mask.count_ones());
            }
        }
    }
}
