//! Are the bytes of flash those that were written, and does parity bring back what is lost?

use outlast_media::{Contents, Unit};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn bytes(of: u32) -> [u8; 8] {
    std::array::from_fn(|i| of.wrapping_mul(2_654_435_761).rotate_left(i as u32 * 4) as u8)
}

/// The unit that page `owner` is written with.
fn unit(owner: u32) -> Unit {
    Unit::new(owner, &bytes(owner))
}

/// XOR of tags and bytes of `slots`, empty ones adding nothing.
fn xor(contents: &Contents, slots: impl IntoIterator<Item = u32>) -> (u32, Vec<u8>) {
    slots
        .into_iter()
        .filter_map(|slot| contents.raw(slot).map(|unit| (unit.tag(), unit.bytes())))
        .fold((0, vec![0; 8]), |(tag, sum), (other, bytes)| {
            (tag ^ other, sum.iter().zip(bytes).map(|(a, b)| a ^ b).collect())
        })
}

#[test]
fn an_image_rebuilds_any_page_of_a_stripe_after_its_neighbours_went_stale() {
    let mut contents = Contents::new(8, true);
    for (slot, owner) in [(0, 70), (1, 71), (2, 72)] {
        contents.write(slot, unit(owner));
    }
    // Slot 3 stays padding.
    let (tag, parity) = xor(&contents, 0..4);
    contents.write_parity(4, Unit::new(tag, &parity));
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
    let mut contents = Contents::new(8, false);
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
    let mut contents = Contents::new(8, true);
    contents.write(3, unit(30));
    contents.write(900, unit(90));
    contents.write(1, unit(10));
    contents.erase(1, 1);
    let mut copy = contents.clone();
    let made = contents.make(11, |bytes| bytes.fill(1));
    contents.write(1, made);
    assert_eq!(
        copy.raw(3).map(|unit| unit.bytes().as_ptr()),
        contents.raw(3).map(|unit| unit.bytes().as_ptr())
    );
    copy.erase(0, 1000);
    let made = copy.make(31, |bytes| bytes.fill(7));
    copy.write(3, made);
    assert_eq!((contents.read(3, 30), contents.read(900, 90)), (&unit(30), &unit(90)));
    assert_eq!((copy.read(3, 31).bytes(), copy.len()), (&[7; 8][..], 1));
}

/// A unit that is still held elsewhere is not written over when its slot is erased.
#[test]
fn only_what_nobody_holds_is_written_again() {
    let mut contents = Contents::new(8, true);
    contents.write(0, unit(5));
    contents.relocate(0, 300, 5);
    let held = contents.raw(0).cloned();
    contents.erase(0, 1);
    let made = contents.make(6, |bytes| bytes.fill(0xee));
    assert_eq!((contents.read(300, 5), held), (&unit(5), Some(unit(5))));
    contents.erase(300, 1);
    drop(made);
}

macro_rules! panics {
    ($($name:ident, $keep_stale:literal, $message:literal, $act:expr;)*) => {$(
        #[test]
        #[should_panic(expected = $message)]
        fn $name() {
            let mut contents = Contents::new(8, $keep_stale);
            contents.write(7, unit(70));
            let act: fn(&mut Contents) = $act;
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
        let mut contents = Contents::new(8, keep_stale);
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
