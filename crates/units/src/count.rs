//! Conversions between lengths of tables and the numbers that count their entries.

/// A number of entries as `u32`, by which places of a flash core are numbered: no core has 2^32 blocks, slots or anything fewer than these.
///
/// # Panics
/// With debug assertions, if there are more.
#[allow(clippy::inline_always, reason = "a conversion that takes no instruction")]
#[inline(always)]
pub const fn to_count(entries: usize) -> u32 {
    debug_assert!(entries <= u32::MAX as usize, "more entries than 32 bits can number");
    #[allow(clippy::cast_possible_truncation, reason = "below 2^32, as asserted")]
    let count = entries as u32;
    count
}

/// A number of entries or bytes as a length in memory.
///
/// # Panics
/// With debug assertions, if no address reaches so far.
#[allow(clippy::inline_always, reason = "a conversion that takes no instruction")]
#[inline(always)]
pub const fn to_length(entries: u64) -> usize {
    debug_assert!(entries <= usize::MAX as u64, "more entries than memory has addresses");
    #[allow(clippy::cast_possible_truncation, reason = "an address reaches so far, as asserted")]
    let length = entries as usize;
    length
}

#[cfg(test)]
mod tests {
    use super::{to_count, to_length};

    #[test]
    fn counts_and_lengths_keep_their_value() {
        assert_eq!((to_count(0), to_count(u32::MAX as usize), to_length(1 << 40)), (0, u32::MAX, 1 << 40));
    }

    #[cfg(target_pointer_width = "64")]
    #[test]
    #[should_panic(expected = "more entries than 32 bits can number")]
    fn a_count_beyond_32_bits_is_refused() {
        let _ = to_count(1 << 32);
    }
}
