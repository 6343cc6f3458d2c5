//! Large tables, on huge pages where the system has them, and entries of them ahead of their use.
//!
//! A drive's mapping takes 9 bytes for each unit and is read at random: with pages of 4 KiB nearly every look-up of a drive of a terabyte
//! also misses the processor's table of pages. Linux gives pages of 2 MiB to memory of which it has been told that it is worth it.

/// A table of `count` entries, all `value`.
pub fn filled<T: Clone>(value: T, count: usize) -> Vec<T> {
    let mut table = Vec::with_capacity(count);
    // Before it is written: pages are given when they are first touched.
    advise(&table);
    table.resize(count, value);
    table
}

/// What a huge page takes, and below which nothing is asked for.
const HUGE: usize = 2 << 20;

/// Tells the system that the memory of `table`, used or not, is worth huge pages. Whether it has any is not known afterwards.
#[cfg(target_os = "linux")]
fn advise<T>(table: &Vec<T>) {
    use rustix::mm::{Advice, madvise};
    let first = table.as_ptr() as usize;
    let end = first + table.capacity() * size_of::<T>();
    // Only huge pages that lie within it whole: memory of others is nobody's business here.
    let (first_page, end_page) = (first.next_multiple_of(HUGE), end / HUGE * HUGE);
    if first_page >= end_page {
        return;
    }
    let start = table.as_ptr().cast::<u8>().wrapping_add(first_page - first);
    #[allow(unsafe_code, reason = "every system call about memory takes an address")]
    // A system without huge pages refuses; the table is as good on small ones.
    // SAFETY: the range lies within one allocation, which lives as long as `table` is borrowed. This advice changes neither what memory
    // holds nor whether and how it can be accessed, only how large the pages are that the system backs it with.
    let _ = unsafe { madvise(start.cast_mut().cast(), end_page - first_page, Advice::LinuxHugepage) };
}

#[cfg(not(target_os = "linux"))]
fn advise<T>(_: &Vec<T>) {}

/// Asks the processor to bring `entry` into its cache, and goes on at once. A load would do as much, but no later one retires before it has
/// its value: of entries at random in a table of gigabytes, some ten are then on their way at a time, and with this as many as there are.
#[inline]
pub fn prefetch<T>(entry: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        #[allow(unsafe_code, reason = "the instruction takes an address")]
        // SAFETY: it belongs to every processor of this architecture, changes nothing that a program can see, and faults at no address.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(entry).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = entry;
}

#[cfg(test)]
mod tests {
    use super::{HUGE, filled};

    #[test]
    fn holds_what_it_was_filled_with_whatever_its_size() {
        for count in [0, 1, 1000, HUGE / 4 - 1, HUGE, 3 * HUGE + 5] {
            let table = filled(0x1234_5678u32, count);
            assert!(
                table.len() == count && table.iter().all(|&entry| entry == 0x1234_5678),
                "{count} entries"
            );
        }
    }

    /// What Linux itself says about the memory (`hg`: advised to be on huge pages).
    #[cfg(target_os = "linux")]
    #[test]
    #[allow(
        clippy::disallowed_methods,
        clippy::unwrap_used,
        reason = "a test asks the system, and fails by panicking"
    )]
    fn large_tables_are_marked_for_huge_pages() {
        let table = filled(7u64, 2 * HUGE);
        let middle = &raw const table[HUGE] as usize;
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let mut inside = false;
        let mut flags = None;
        for line in maps.lines() {
            let range = line.split(' ').next().and_then(|range| range.split_once('-'));
            let number = |text: &str| usize::from_str_radix(text, 16).ok();
            if let Some((first, end)) = range.and_then(|(first, end)| Some((number(first)?, number(end)?))) {
                inside = (first..end).contains(&middle);
            } else if let Some(own) = line.strip_prefix("VmFlags:").filter(|_| inside) {
                flags = Some(own.to_owned());
            }
        }
        let known = std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists();
        let marked = flags.unwrap().split_whitespace().any(|flag| flag == "hg");
        assert_eq!(marked, known);
    }
}
