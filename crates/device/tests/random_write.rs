//! Random write areas of zones: what is allowed, as a table, and the write pointer against a model that moves it granule by granule.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use outlast_device::ZoneState::{Closed, Empty, ExplicitlyOpen, Full, ImplicitlyOpen, ReadOnly};
use outlast_device::{
    Op, RandomWriteAreas, ZoneAction, ZoneError, ZoneId, ZoneLayout, ZoneLimits, ZoneState, ZoneTable,
};
use outlast_units::Lba;
use proptest::prelude::*;

const LAYOUT: ZoneLayout = ZoneLayout { zones: 5, size: 128, capacity: 104, block: 8 };
const AREAS: RandomWriteAreas = RandomWriteAreas { size: 32, granularity: 16, zones: 2 };

fn table() -> ZoneTable {
    ZoneTable::new(LAYOUT, ZoneLimits { open: 3, active: 3 }).with_random_write(AREAS)
}

fn opened() -> ZoneTable {
    let mut table = table();
    table.manage(ZoneAction::OpenRandom, Lba(0)).unwrap();
    table
}

#[test]
fn only_an_empty_zone_gets_an_area_and_as_many_as_there_are() {
    let mut table = opened();
    assert!(table.has_area(ZoneId(0)) && table.descriptor(ZoneId(0)).has_area);
    table.write(Op::Write, Lba(128), 8).unwrap();
    assert_eq!(table.manage(ZoneAction::OpenRandom, Lba(128)), Err(ZoneError::InvalidOperation), "not empty");
    table.manage(ZoneAction::OpenRandom, Lba(256)).unwrap();
    assert_eq!(table.manage(ZoneAction::OpenRandom, Lba(384)), Err(ZoneError::NoRandomWriteArea));
    // One that is closed and opened again neither takes another nor loses its own.
    table.manage(ZoneAction::Close, Lba(0)).unwrap();
    table.manage(ZoneAction::OpenRandom, Lba(0)).unwrap();
    assert_eq!((table.areas(), table.state(ZoneId(0))), (2, ExplicitlyOpen));
    for action in [ZoneAction::Reset, ZoneAction::Finish] {
        table.manage(action, Lba(256)).unwrap();
        assert_eq!(table.areas(), 1, "{action:?} gives the area back");
        table.manage(ZoneAction::Reset, Lba(256)).unwrap();
        table.manage(ZoneAction::OpenRandom, Lba(256)).unwrap();
    }
    table.give_up(ZoneId(0), ReadOnly);
    assert_eq!(table.areas(), 1);
    table.self_check().unwrap();
}

#[test]
fn each_of_two_namespaces_has_half_of_the_areas() {
    let mut table = table();
    table.share_among(&[2, 3]);
    table.manage(ZoneAction::OpenRandom, Lba(0)).unwrap();
    assert_eq!(table.manage(ZoneAction::OpenRandom, Lba(128)), Err(ZoneError::NoRandomWriteArea));
    table.manage(ZoneAction::OpenRandom, Lba(256)).unwrap();
    table.power_cycle_with_areas(|_| 16, |zone| if zone.0 < 2 { 24 } else { 0 }, |_| false);
    let areas = [0, 1, 2, 3, 4].map(|zone| table.has_area(ZoneId(zone)));
    assert_eq!(areas, [true, false, true, false, false]);
    table.self_check().unwrap();
}

#[test]
fn a_device_without_areas_refuses_them_by_name() {
    let mut table = ZoneTable::new(LAYOUT, ZoneLimits { open: 3, active: 3 });
    for action in [ZoneAction::OpenRandom, ZoneAction::Commit] {
        assert_eq!(table.manage(action, Lba(0)), Err(ZoneError::InvalidOperation));
    }
}

#[test]
fn what_a_write_to_an_area_may_do() {
    // First sector, sectors, and the write pointer after it, or the refusal; each of a zone that has just been opened.
    let cases = [
        (0, 8, Ok(0)),
        (24, 8, Ok(0)),
        (0, 32, Ok(0)),
        (24, 16, Ok(16)),
        (32, 8, Ok(16)),
        (48, 16, Ok(32)),
        (0, 64, Ok(32)),
        (56, 16, Err(ZoneError::InvalidWrite)),
        (4, 8, Err(ZoneError::InvalidWrite)),
        (8, 4, Err(ZoneError::InvalidWrite)),
        (64, 48, Err(ZoneError::BoundaryError)),
    ];
    for (first, sectors, expected) in cases {
        let mut table = opened();
        let done = table.write(Op::Write, Lba(first), sectors).map(|_| table.written(ZoneId(0)));
        assert_eq!(done, expected, "{sectors} sectors at {first}");
        table.self_check().unwrap();
    }
    let mut table = opened();
    assert_eq!(table.write(Op::Append, Lba(0), 8), Err(ZoneError::InvalidOperation));
    table.write(Op::Write, Lba(32), 16).unwrap();
    assert_eq!(table.write(Op::Write, Lba(8), 8), Err(ZoneError::InvalidWrite), "it is committed");
}

#[test]
fn what_a_commit_may_do() {
    let cases = [
        (8, Ok(16)),
        (24, Ok(32)),
        (0, Err(ZoneError::InvalidField)),
        (12, Err(ZoneError::InvalidField)),
        (40, Err(ZoneError::BoundaryError)),
    ];
    for (last, expected) in cases {
        let mut table = opened();
        let done = table.manage(ZoneAction::Commit, Lba(last)).map(|_| table.written(ZoneId(0)));
        assert_eq!(done, expected, "up to the block at {last}");
    }
    let mut table = table();
    table.write(Op::Write, Lba(0), 8).unwrap();
    assert_eq!(table.manage(ZoneAction::Commit, Lba(8)), Err(ZoneError::InvalidField), "it has no area");
    // The last granule of a zone may be short, and makes it full.
    let mut table = opened();
    for first in (0..80).step_by(8) {
        table.write(Op::Write, Lba(first), 8).unwrap();
    }
    assert_eq!(table.written(ZoneId(0)), 48);
    table.manage(ZoneAction::Commit, Lba(72)).unwrap();
    table.manage(ZoneAction::Close, Lba(0)).unwrap();
    table.manage(ZoneAction::Commit, Lba(96)).unwrap();
    assert_eq!((table.state(ZoneId(0)), table.written(ZoneId(0)), table.areas()), (Full, 104, 0));
}

#[test]
fn a_finish_counts_what_is_in_the_area() {
    let mut table = opened();
    table.write(Op::Write, Lba(16), 8).unwrap();
    table.manage(ZoneAction::Finish, Lba(0)).unwrap();
    assert_eq!((table.state(ZoneId(0)), table.written(ZoneId(0))), (Full, 24));
}

#[test]
fn after_a_loss_of_power_an_area_that_holds_data_is_there() {
    let mut table = opened();
    table.manage(ZoneAction::OpenRandom, Lba(128)).unwrap();
    table.write(Op::Write, Lba(40), 8).unwrap();
    table.write(Op::Write, Lba(256), 8).unwrap();
    // Half of a granule had been committed.
    table.power_cycle_with_areas(
        |zone| [8, 0, 8, 0, 0][zone.0 as usize],
        |zone| [48, 0, 0, 0, 0][zone.0 as usize],
        |_| false,
    );
    let states: Vec<_> =
        table.ids().map(|zone| (table.state(zone), table.written(zone), table.has_area(zone))).collect();
    assert_eq!(states[..3], [(Closed, 0, true), (Empty, 0, false), (Closed, 8, false)]);
    assert_eq!(table.reached(ZoneId(0)), 48);
    table.self_check().unwrap();
}

/// A finish of which the host was told stays, whatever the area still holds; one that was cut short is none.
#[test]
fn after_a_loss_of_power_a_finish_that_was_told_stays() {
    for is_cut in [false, true] {
        let mut table = opened();
        table.write(Op::Write, Lba(16), 8).unwrap();
        table.manage(ZoneAction::Finish, Lba(0)).unwrap();
        table.power_cycle_with_areas(|_| 0, |zone| if zone == ZoneId(0) { 24 } else { 0 }, |_| is_cut);
        let found = (table.state(ZoneId(0)), table.written(ZoneId(0)), table.has_area(ZoneId(0)));
        assert_eq!(found, if is_cut { (Closed, 0, true) } else { (Full, 24, false) });
        table.self_check().unwrap();
    }
}

/// The plainest form of the rules for one zone with an area.
#[derive(Clone, Copy, Debug)]
struct Model {
    state: ZoneState,
    pointer: u64,
}

impl Model {
    fn moved(mut self, to: u64) -> Self {
        self.pointer = to.min(LAYOUT.capacity);
        if self.pointer == LAYOUT.capacity {
            self.state = Full;
        } else if self.state == Closed {
            self.state = ImplicitlyOpen;
        }
        self
    }

    fn write(self, first: u64, sectors: u64) -> Result<Self, ZoneError> {
        let end = first + sectors;
        if self.state == Full {
            return Err(ZoneError::IsFull);
        }
        if end > LAYOUT.capacity {
            return Err(ZoneError::BoundaryError);
        }
        if first < self.pointer || end > self.pointer + 64 {
            return Err(ZoneError::InvalidWrite);
        }
        let mut to = self.pointer;
        while end > to + 32 {
            to += 16;
        }
        Ok(self.moved(to))
    }

    fn commit(self, last: u64) -> Result<Self, ZoneError> {
        let end = last + 8;
        if self.state == Full {
            return Err(ZoneError::InvalidField);
        }
        if last < self.pointer || end > self.pointer + 32 || end > LAYOUT.capacity {
            return Err(ZoneError::BoundaryError);
        }
        let mut to = self.pointer;
        while to < end {
            to += 16;
        }
        if to != end && end != LAYOUT.capacity { Err(ZoneError::InvalidField) } else { Ok(self.moved(end)) }
    }
}

proptest! {
    #[test]
    fn the_write_pointer_moves_as_in_the_model(steps in prop::collection::vec((0..8u8, 0..13u64, 1..6u64), 1..60)) {
        let mut table = opened();
        let mut model = Model { state: ExplicitlyOpen, pointer: 0 };
        for step in steps {
            let (kind, at, blocks) = step;
            let (expected, done) = match kind {
                0 => {
                    let expected = if model.state == Full { Err(ZoneError::InvalidTransition) } else { Ok(Model { state: Closed, ..model }) };
                    (expected, table.manage(ZoneAction::Close, Lba(0)).map(|_| ()))
                }
                1 | 2 => (model.commit(at * 8), table.manage(ZoneAction::Commit, Lba(at * 8)).map(|_| ())),
                _ => (model.write(at * 8, blocks * 8), table.write(Op::Write, Lba(at * 8), blocks as u32 * 8).map(|_| ())),
            };
            prop_assert_eq!(done, expected.map(|_| ()), "{:?} of {:?}", step, model);
            model = expected.unwrap_or(model);
            prop_assert_eq!((table.state(ZoneId(0)), table.written(ZoneId(0))), (model.state, model.pointer), "after {:?}", step);
            prop_assert_eq!(table.has_area(ZoneId(0)), model.state != Full);
            prop_assert_eq!(table.self_check(), Ok(()));
        }
    }
}
