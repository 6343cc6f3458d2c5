//! The mapping beside a plain map.

use super::*;
use std::collections::BTreeMap;

const PAGES: u32 = 40;
const SLOTS: u32 = 150;

proptest::proptest! {
    /// Against a plain map of pages to slots, under every operation in any order.
    #[test]
    fn agrees_with_a_plain_map(steps in proptest::collection::vec((0u8..4, 0..PAGES, 0..SLOTS, proptest::num::u64::ANY), 1..200)) {
        let (mut map, mut plain) = (FlatMap::new(u64::from(PAGES), SLOTS), BTreeMap::<u32, u32>::new());
        for (step, lpn, slot, mask) in steps {
            let is_free = |plain: &BTreeMap<u32, u32>, slot: u32| plain.values().all(|&used| used != slot);
            match step {
                0 if is_free(&plain, slot) => {
                    let old = map.put(Lpn(lpn), Ppn(slot));
                    proptest::prop_assert_eq!(old.0, plain.insert(lpn, slot).unwrap_or(u32::MAX));
                }
                1 => proptest::prop_assert_eq!(map.unmap(Lpn(lpn)).0, plain.remove(&lpn).unwrap_or(u32::MAX)),
                2 => {
                    let count = (SLOTS - slot).min(64);
                    let moved = mask & map.valid_in(Ppn(slot), count);
                    let to = SLOTS - 64;
                    if moved != 0 && (to..SLOTS).all(|slot| is_free(&plain, slot)) {
                        map.relocate(Ppn(slot), moved, moved.count_ones(), Ppn(to));
                        let from = (0..count).filter(|bit| moved >> bit & 1 == 1).map(|bit| slot + bit);
                        for (at, from) in (to..).zip(from) {
                            *plain.values_mut().find(|used| **used == from).unwrap() = at;
                        }
                    }
                }
                _ if is_free(&plain, slot) => {
                    map.disown(Ppn(slot), 1);
                    proptest::prop_assert!(!map.owner(Ppn(slot)).is_some());
                }
                _ => {}
            }
            proptest::prop_assert_eq!(map.check(), Ok(()));
            for (&lpn, &slot) in &plain {
                proptest::prop_assert_eq!((map.lookup(Lpn(lpn)), map.owner(Ppn(slot))), (Ppn(slot), Lpn(lpn)));
                proptest::prop_assert!(map.is_valid(Ppn(slot)));
            }
            let valid: u32 = (0..SLOTS).map(|slot| u32::from(map.is_valid(Ppn(slot)))).sum();
            proptest::prop_assert_eq!(valid as usize, plain.len());
        }
    }
}

#[test]
fn a_validity_bit_that_is_off_is_found() {
    let mut map = FlatMap::new(4, 64);
    map.put(Lpn(1), Ppn(5));
    map.valid.set(9);
    assert_eq!(map.check(), Err("2 slots count as valid, 1 pages are mapped".to_owned()));
    map.valid.clear(9);
    map.valid.clear(5);
    assert_eq!(map.check(), Err("page 1 maps to slot 5, which counts as stale".to_owned()));
}

#[test]
fn pages_that_are_added_hold_nothing() {
    let mut map = FlatMap::new(2, 8);
    map.grow(5);
    map.grow(3);
    assert_eq!((map.pages(), map.lookup(Lpn(4))), (5, Ppn::NONE));
}
