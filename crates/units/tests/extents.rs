//! Is a number that the machine has not refused as it is read, and not when it is used?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use outlast_persist::{Damage, Extents, Persist, Reader, Writer};
use outlast_units::slab::Slab;
use outlast_units::{Idx, IndexVec, Lpn, Nanos, Ppn, SuperblockId};

fn written(value: &impl Persist) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes);
    value.write(&mut writer);
    writer.end().unwrap();
    bytes
}

/// Reads it in a machine of four superblocks, with eight slots and eight pages.
fn read<T: Persist>(bytes: &[u8]) -> Result<T, Damage> {
    let counts = [(SuperblockId::KIND, 4), (Ppn::KIND, 8), (Lpn::KIND, 8)];
    let extents =
        counts.into_iter().fold(Extents::UNLIMITED, |all, (kind, count)| all.with(kind.unwrap(), count));
    let mut bytes = bytes;
    let mut reader = Reader::new(&mut bytes);
    reader.set_extents(extents);
    T::read(&mut reader)
}

#[test]
fn a_number_beyond_the_machine_is_refused_as_it_is_read() {
    for number in 0..4 {
        assert_eq!(read::<SuperblockId>(&written(&SuperblockId(number))).unwrap(), SuperblockId(number));
    }
    for number in [4, 1 << 16, u32::MAX] {
        let refused = read::<SuperblockId>(&written(&SuperblockId(number))).unwrap_err().to_string();
        assert_eq!(refused, format!("SuperblockId {number} is beyond those of the machine, which has 4"));
    }
    // The end of a range, and no slot at all, are what slots can be; no page is what pages can be.
    assert_eq!(read::<Vec<Ppn>>(&written(&vec![Ppn(8), Ppn::NONE])).unwrap(), [Ppn(8), Ppn::NONE]);
    assert!(read::<Ppn>(&written(&Ppn(9))).is_err());
    assert_eq!(read::<Lpn>(&written(&Lpn::NONE)).unwrap(), Lpn::NONE);
    assert!(read::<Lpn>(&written(&Lpn(8))).is_err());
}

#[test]
fn a_table_has_an_entry_for_each_number_or_none() {
    for (count, fits) in [(0, true), (3, false), (4, true), (5, false)] {
        let table: IndexVec<SuperblockId, u8> = IndexVec::filled(7, count);
        assert_eq!(read::<IndexVec<SuperblockId, u8>>(&written(&table)).is_ok(), fits, "{count} entries");
    }
}

#[test]
fn what_is_free_is_there_and_free_once() {
    for (free, fits) in [(vec![], true), (vec![1u32], true), (vec![1, 1], false), (vec![2], false)] {
        // A slab is written as its entries and its free ones.
        let bytes = written(&(vec![5u8, 6], free.clone()));
        assert_eq!(read::<Slab<u8>>(&bytes).is_ok(), fits, "{free:?}");
    }
}

#[test]
fn times_leave_room_for_what_is_added() {
    for (time, fits) in
        [(0, true), (1 << 63, true), ((1 << 63) + 1, false), (u64::MAX - 1, false), (u64::MAX, true)]
    {
        assert_eq!(read::<Nanos>(&written(&time)).is_ok(), fits, "{time}");
    }
}
