//! Do contents in a store take little memory, and does a store that is full take nothing away?

use outlast_media::{ByteStore, SlotBytes, StoreAddress, UnitBytes};
use std::sync::{Arc, Mutex};

const UNIT: usize = 4096;

/// A store with room for so many units; what is given up stays.
#[derive(Debug)]
struct Room {
    units: Mutex<Vec<Vec<u8>>>,
    most: usize,
}

impl Room {
    fn of(most: usize) -> Arc<Self> {
        Arc::new(Self { units: Mutex::default(), most })
    }

    fn taken(&self) -> usize {
        self.units.lock().expect("nobody has panicked").len()
    }
}

impl ByteStore for Room {
    fn put(&self, bytes: &[u8]) -> Option<StoreAddress> {
        let mut units = self.units.lock().expect("nobody has panicked");
        (units.len() < self.most).then(|| {
            units.push(bytes.to_vec());
            StoreAddress(units.len() as u32 - 1)
        })
    }

    fn get(&self, place: StoreAddress, from: usize, to: &mut [u8]) {
        let units = self.units.lock().expect("nobody has panicked");
        to.copy_from_slice(&units[place.0 as usize][from..from + to.len()]);
    }

    fn free(&self, _: StoreAddress, length: usize) {
        assert_eq!(length, UNIT);
    }
}

fn content(slot: u32) -> Vec<u8> {
    (0..UNIT).map(|at| (at as u32 + slot * 7 + 1) as u8).collect()
}

fn write(contents: &mut SlotBytes, slots: std::ops::Range<u32>) {
    for slot in slots {
        let made = contents.make(slot, &content(slot));
        contents.write(slot, made);
    }
}

fn check(contents: &SlotBytes, slots: std::ops::Range<u32>) {
    for slot in slots {
        assert_eq!(contents.read(slot, slot), &UnitBytes::new(slot, &content(slot)), "slot {slot}");
    }
}

/// A slot, and behind it where the bytes are; a unit's memory to be written again, which all of them share.
#[test]
fn a_unit_in_a_store_takes_64_bytes_of_memory() {
    const SLOTS: u32 = 8192;
    let room = Room::of(usize::MAX);
    let mut contents = SlotBytes::new(UNIT, true);
    contents.keep_in(room.clone());
    write(&mut contents, 0..SLOTS);
    let (found, chunks) = (contents.heap_bytes(), SLOTS as usize / 512);
    assert!(found >= SLOTS as usize * 64, "{found} bytes cannot hold where all is");
    assert!(found <= SLOTS as usize * 64 + chunks * 40 + UNIT + 16 + 4 * 16, "{found} bytes");
    assert_eq!(room.taken(), SLOTS as usize);
    check(&contents, 0..SLOTS);
}

/// Bytes in memory move to a new store once, however many units share them.
#[test]
fn a_store_takes_over_existing_bytes() {
    let room = Room::of(usize::MAX);
    let mut contents = SlotBytes::new(UNIT, true);
    write(&mut contents, 0..3);
    contents.relocate(1, 600, 1);
    contents.write(4, UnitBytes::zero(4));
    let before = contents.clone();
    contents.keep_in(room.clone());
    assert_eq!(room.taken(), 3);
    check(&contents, 0..3);
    assert_eq!(contents.read(600, 1), before.read(1, 1));
    assert!(contents.raw(1).is_some_and(|unit| unit.in_memory().is_none() && unit.length() == Some(UNIT)));
    assert!(before.raw(1).is_some_and(|unit| unit.in_memory().is_some()));
}

#[test]
fn what_a_store_does_not_take_stays_in_memory() {
    let mut contents = SlotBytes::new(UNIT, true);
    contents.keep_in(Room::of(2));
    write(&mut contents, 0..5);
    check(&contents, 0..5);
    let in_memory = (0..5).filter(|&slot| contents.read(slot, slot).in_memory().is_some());
    assert_eq!(in_memory.count(), 3);
}
