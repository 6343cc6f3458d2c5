//! Are the bytes of flash those that were written, and does parity bring back what is lost?

use outlast_media::{SlotBytes, UnitBytes};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn bytes(of: u32) -> [u8; 8] {
    std::array::from_fn(|i| of.wrapping_mul(2_654_435_761).rotate_left(i as u32 * 4) as u8)
}

/// The unit that page `owner` is written with.
fn unit(owner: u32) -> UnitBytes {
    UnitBytes::new(owner, &bytes(owner))
}

fn bytes_of(unit: &UnitBytes) -> [u8; 8] {
    let mut bytes = [0; 8];
    unit.copy_to(0, &mut bytes);
    bytes
}

/// XOR of tags and bytes of `slots`, empty ones adding nothing.
fn xor(contents: &SlotBytes, slots: impl IntoIterator<Item = u32>) -> (u32, Vec<u8>) {
    slots
        .into_iter()
        .filter_map(|slot| contents.raw(slot).map(|unit| (unit.tag(), bytes_of(unit))))
        .fold((0, vec![0; 8]), |(tag, sum), (other, bytes)| {
            (tag ^ other, sum.iter().zip(bytes).map(|(a, b)| a ^ b).collect())
        })
}

#[test]
fn an_image_rebuilds_any_page_of_a_stripe_after_its_neighbours_went_stale() {
    let mut contents = SlotBytes::new(8, true);
    for (slot, owner) in [(0, 70), (1, 71), (2, 72)] {
        contents.write(slot, unit(owner));
    }
    // Slot 3 stays padding.
    let (tag, parity) = xor(&contents, 0..4);
    contents.write_parity(4, UnitBytes::new(tag, &parity));
    contents.discard(1);
    contents.relocate(2, 100, 72);
    assert_eq!(contents.read(100, 72), &unit(72));
    for (slot, owner) in [(0, 70), (1, 71), (2, 72)] {
        let (tag, rebuilt) = xor(&contents, (0..=4).filter(|&other| other != slot));
        assert_eq!((tag, &*rebuilt), (owner, &bytes(owner)[..]));
    }
    let (tag, rebuilt) = xor(&contents, [0, 1, 2, 4]);
    assert_eq!((tag, rebuilt), (0, vec![0; 8]), "an empty slot is rebuilt as zeros of nobody");
    contents.erase(0, 5);
    assert_eq!((contents.len(), contents.raw(0), contents.raw(4)), (1, None, None));
    contents.write(0, unit(9));
}

#[test]
fn without_stripes_only_live_units_take_memory() {
    let mut contents = SlotBytes::new(8, false);
    contents.write(1, unit(10));
    contents.write(2, unit(20));
    contents.relocate(1, 5, 10);
    contents.discard(2);
    assert_eq!((contents.len(), contents.raw(1), contents.raw(2)), (1, None, None));
    assert_eq!(contents.read(5, 10), &unit(10));
    contents.erase(0, 4);
    contents.write(1, unit(11));
    assert!(!contents.is_empty() && !contents.keeps_stale());
}

#[test]
fn a_clone_shares_its_units_and_goes_its_own_way() {
    let mut contents = SlotBytes::new(8, true);
    contents.write(3, unit(30));
    contents.write(900, unit(90));
    contents.write(1, unit(10));
    contents.erase(1, 1);
    let mut copy = contents.clone();
    let made = contents.make(11, &[1; 8]);
    contents.write(1, made);
    let place = |contents: &SlotBytes| contents.raw(3).and_then(UnitBytes::in_memory).map(<[u8]>::as_ptr);
    assert_eq!(place(&copy), place(&contents));
    copy.erase(0, 1000);
    let made = copy.make(31, &[7; 8]);
    copy.write(3, made);
    assert_eq!((contents.read(3, 30), contents.read(900, 90)), (&unit(30), &unit(90)));
    assert_eq!((copy.read(3, 31).in_memory(), copy.len()), (Some(&[7; 8][..]), 1));
}

#[test]
fn zeroes_take_no_memory_and_are_equal_to_zeroes_that_do() {
    let mut contents = SlotBytes::new(128, true);
    let made = contents.make(4, &[0; 128]);
    assert_eq!(made.bytes(), None);
    let mut blank = contents.blank();
    blank.bytes_mut().fill(0);
    let written = blank.into_unit(4);
    assert_eq!(written.in_memory(), Some(&[0; 128][..]));
    assert_eq!(made, written);
    assert_ne!(made, written.with_tag(5));
    let (mut last, mut read) = ([0; 128], [9; 5]);
    last[127] = 1;
    assert_ne!(contents.make(4, &last), made);
    contents.write(0, made);
    contents.read(0, 4).copy_to(100, &mut read);
    assert_eq!(read, [0; 5]);
}

/// A unit that is kept takes its bytes and 40 more, whatever has been written, moved and erased before; spare memory is bounded.
#[test]
fn a_unit_takes_its_bytes_and_forty_more() {
    const UNIT: usize = 512;
    const SLOTS: u32 = 8192;
    const LIVE: u32 = 4096;
    // Chunks of 512 slots, each with its length, two counts of holders, and at most two words where it is found; so many spare units.
    const CHUNKS: usize = SLOTS as usize / 512;
    const TABLE: usize = SLOTS as usize * 24 + CHUNKS * 40;
    const SPARE: usize = 4096 * (UNIT + 16 + 16);
    for keep_stale in [false, true] {
        let mut contents = SlotBytes::new(UNIT, keep_stale);
        for round in 0..4u32 {
            let first = round % 2 * LIVE;
            for slot in first..first + LIVE {
                let made = contents.make(slot, &[1 + round as u8; UNIT]);
                contents.write(slot, made);
            }
            let held = LIVE as usize * (UNIT + 16) + TABLE + SPARE;
            let found = contents.heap_bytes();
            assert!(found <= held, "{found} of {held} bytes, round {round}");
            assert!(found >= LIVE as usize * (UNIT + 40), "{found} bytes cannot hold what is kept");
            for slot in first..first + LIVE {
                contents.discard(slot);
            }
            contents.erase(first, LIVE);
        }
        assert!(contents.heap_bytes() <= SPARE + CHUNKS * 16, "{} bytes hold nothing", contents.heap_bytes());
    }
}

/// A unit that is still held elsewhere is not written over when its slot is erased.
#[test]
fn only_memory_without_references_is_reused() {
    let mut contents = SlotBytes::new(8, true);
    contents.write(0, unit(5));
    contents.relocate(0, 300, 5);
    let held = contents.raw(0).cloned();
    contents.erase(0, 1);
    let made = contents.make(6, &[0xee; 8]);
    assert_eq!((contents.read(300, 5), held), (&unit(5), Some(unit(5))));
    let place = made.in_memory().map(<[u8]>::as_ptr);
    contents.write(0, made);
    contents.erase(0, 1);
    // Nobody else held this one.
    assert_eq!(contents.make(7, &[0xdd; 8]).in_memory().map(<[u8]>::as_ptr), place);
    assert_eq!(contents.read(300, 5), &unit(5));
}

macro_rules! panics {
    ($($name:ident, $keep_stale:literal, $message:literal, $act:expr;)*) => {$(
        #[test]
        #[should_panic(expected = $message)]
        fn $name() {
            let mut contents = SlotBytes::new(8, $keep_stale);
            contents.write(7, unit(70));
            let act: fn(&mut SlotBytes) = $act;
            act(&mut contents);
        }
    )*};
}

panics! {
    a_slot_written_twice, true, "slot 7 written twice", |c| c.write(7, unit(70));
    a_stale_slot_written_before_erasure, true, "slot 7 written twice", |c| { c.discard(7); c.write(7, unit(1)); };
    a_wrong_tag_read, true, "slot 7 holds page 70, not page 71", |c| { c.read(7, 71); };
    an_empty_slot_read, true, "slot 8 read for page 70 is empty", |c| { c.read(8, 70); };
    a_wrong_tag_relocated, true, "slot 7 holds page 70, not page 3", |c| c.relocate(7, 8, 3);
    an_empty_slot_relocated, false, "slot 6 relocated for page 70 is empty", |c| c.relocate(6, 8, 70);
    a_slot_given_up_twice, false, "slot 7 given up twice", |c| { c.discard(7); c.discard(7); };
    live_data_erased, false, "slot 7 erased with live data", |c| c.erase(0, 8);
    parity_over_units_that_vanish, false, "gives up stale units", |c| c.write_parity(8, unit(0));
}

proptest! {
    /// Against a plain map of what each slot holds and whether it is live.
    #[test]
    fn contents_agree_with_a_plain_map(keep_stale: bool, steps in proptest::collection::vec((0..5u8, 0..40u32, 0..40u32), 0..200)) {
        let mut contents = SlotBytes::new(8, keep_stale);
        let mut model: BTreeMap<u32, (u32, bool)> = BTreeMap::new();
        for (what, slot, other) in steps {
            let live = model.get(&slot).is_some_and(|&(_, live)| live);
            match what {
                0 | 1 if !model.contains_key(&slot) => {
                    contents.write(slot, unit(other));
                    model.insert(slot, (other, true));
                }
                2 if live && !model.contains_key(&other) => {
                    let owner = model[&slot].0;
                    contents.relocate(slot, other, owner);
                    model.insert(other, (owner, true));
                    model.insert(slot, (owner, false));
                }
                3 if live => {
                    contents.discard(slot);
                    model.get_mut(&slot).expect("it is live").1 = false;
                }
                4 => {
                    let end = slot + other % 8;
                    if keep_stale || !model.range(slot..end).any(|(_, &(_, live))| live) {
                        contents.erase(slot, other % 8);
                        model.retain(|held, _| !(slot..end).contains(held));
                    }
                }
                _ => {}
            }
            if !keep_stale {
                model.retain(|_, &mut (_, live)| live);
            }
            prop_assert_eq!(contents.len(), model.len());
            for slot in 0..48 {
                let owner = model.get(&slot).map(|&(owner, _)| owner);
                prop_assert_eq!(contents.raw(slot).cloned(), owner.map(unit));
                if let Some(owner) = owner {
                    prop_assert_eq!(contents.read(slot, owner), &unit(owner));
                }
            }
        }
    }
}

proptest! {
    /// Clones of clones over several chunks, each against a plain map of its own.
    #[test]
    fn clones_agree_with_plain_maps_of_their_own(
        keep_stale: bool, steps in proptest::collection::vec((0..8u8, 0..4usize, 0..3000u32, 0..1500u32), 0..200),
    ) {
        let mut all: Vec<(SlotBytes, BTreeMap<u32, u32>)> = vec![(SlotBytes::new(8, keep_stale), BTreeMap::new())];
        for (number, (what, which, slot, other)) in (0..).zip(steps) {
            let which = which % all.len();
            let (contents, model) = &mut all[which];
            match what {
                0..4 => {
                    for slot in (slot..slot + other / 40).filter(|slot| !model.contains_key(slot)).collect::<Vec<_>>() {
                        let made = contents.make(number, &bytes(number));
                        contents.write(slot, made);
                        model.insert(slot, number);
                    }
                }
                4 if model.contains_key(&slot) && !model.contains_key(&other) => {
                    let owner = model[&slot];
                    contents.relocate(slot, other, owner);
                    if !keep_stale {
                        model.remove(&slot);
                    }
                    model.insert(other, owner);
                }
                5 if keep_stale => {
                    contents.erase(slot, other);
                    model.retain(|held, _| !(slot..slot + other).contains(held));
                }
                6 if all.len() < 4 => {
                    let copy = all[which].clone();
                    all.push(copy);
                }
                7 if all.len() > 1 => drop(all.swap_remove(which)),
                _ => {}
            }
        }
        for (contents, model) in &all {
            prop_assert_eq!(contents.len(), model.len());
            for slot in 0..3100 {
                prop_assert_eq!(contents.raw(slot).cloned(), model.get(&slot).map(|&owner| unit(owner)));
            }
        }
    }
}
