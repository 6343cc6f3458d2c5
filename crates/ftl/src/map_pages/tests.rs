use super::*;
use std::collections::BTreeSet;

const HOST: u32 = 1000;

fn pages(entry: u64, dirty_only: bool) -> MapPages {
    let config = MapFlushConfig {
        written: Some(Bytes(4096)),
        entry: Bytes(entry),
        dirty_only,
        ..MapFlushConfig::default()
    };
    MapPages::new(&config, HOST, Bytes(512), true)
}

fn flush(pages: &mut MapPages) -> Vec<u32> {
    pages.begin(0);
    let mut written = Vec::new();
    while let Some(page) = pages.next_page() {
        pages.take_page(page);
        written.push(page);
    }
    written
}

proptest::proptest! {
    /// The oracle is a set of page numbers.
    #[test]
    fn a_flush_writes_what_has_changed_since_the_last_one_and_each_page_once(
        rounds in proptest::collection::vec(proptest::collection::vec(0..HOST + 40, 0..40), 1..6),
        entry in 1u64..9,
    ) {
        let mut pages = pages(entry, true);
        let entries = 512 / entry as u32;
        for changed in rounds {
            let wanted: BTreeSet<u32> =
                changed.iter().filter(|&&lpn| lpn < HOST).map(|lpn| lpn / entries).collect();
            for &lpn in &changed {
                pages.mark_entry(Lpn(lpn));
            }
            proptest::prop_assert_eq!(pages.dirty() as usize, wanted.len());
            proptest::prop_assert_eq!(pages.check(), Ok(()));
            proptest::prop_assert_eq!(flush(&mut pages), wanted.into_iter().collect::<Vec<_>>());
            proptest::prop_assert_eq!((pages.dirty(), pages.is_flushing()), (0, false));
        }
    }
}

/// 1000 entries do not fill the last page.
#[test]
fn each_logical_page_has_its_entry_in_one_page_of_the_table() {
    for entry in 1..9 {
        let pages = pages(entry, true);
        let entries: Vec<u32> = (0..pages.count()).flat_map(|page| pages.entries_of(page)).collect();
        assert_eq!(entries, (0..HOST).collect::<Vec<_>>(), "entries of {entry} bytes");
    }
}

#[test]
fn what_changes_behind_a_flush_waits_for_the_next_and_what_changes_before_it_does_not() {
    let mut pages = pages(8, true);
    for page in [1, 5] {
        pages.mark(page);
    }
    pages.begin(0);
    assert_eq!(pages.next_page(), Some(1));
    pages.take_page(1);
    pages.mark(1);
    pages.mark(9);
    let mut written = Vec::new();
    while let Some(page) = pages.next_page() {
        pages.take_page(page);
        written.push(page);
    }
    assert_eq!((written, pages.dirty()), (vec![5, 9], 1));
    assert_eq!(flush(&mut pages), [1]);
    assert_eq!(pages.flushes(), 2);
}

#[test]
fn the_whole_table_is_written_where_that_is_asked_for() {
    let mut pages = pages(8, false);
    assert_eq!(flush(&mut pages), (0..16).collect::<Vec<_>>());
    assert_eq!(pages.entries_of(15), 960..1000, "the last page is not full");
    assert_eq!(
        (pages.page_of(Lpn(999)), pages.page_of(Lpn(1015)), pages.page_of(Lpn(1016))),
        (None, Some(15), None)
    );
    assert_eq!(pages.lpn(15), Lpn(1015));
}

#[test]
fn a_flush_is_due_by_what_is_written_or_when_it_is_called() {
    let mut pages = pages(8, true);
    assert!(!pages.is_due(7) && pages.is_due(8));
    pages.begin(9);
    pages.request();
    assert!(pages.is_due(9) && pages.is_flushing());
    pages.stop();
    assert!(!pages.is_due(15) && !pages.is_flushing() && pages.is_due(16));
}

#[test]
fn evicted_pages_are_written_once_there_are_enough_unless_they_are_taken_back() {
    let mut pages = pages(8, true).cached(3);
    for page in [4, 7, 9] {
        pages.mark(page);
    }
    for page in [7, 2, 4] {
        pages.evict(page);
    }
    // Page 2 was clean.
    assert!(!pages.has_batch() && !pages.recall(2));
    pages.evict(9);
    assert!(pages.has_batch() && pages.recall(7) && !pages.has_batch());
    pages.evict(7);
    let mut written = Vec::new();
    while let Some(page) = pages.next_evicted() {
        pages.take_page(page);
        written.push(page);
    }
    assert_eq!((written, pages.dirty()), (vec![4, 7, 9], 0));
    pages.mark(5);
    pages.evict(5);
    pages.stop();
    assert_eq!((pages.next_evicted(), pages.dirty(), pages.check()), (None, 1, Ok(())));
}
