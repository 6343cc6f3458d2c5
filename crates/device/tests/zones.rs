//! The machine of zone states against the specification's transitions, as data, and against a plain model.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use outlast_device::ZoneState::{Closed, Empty, ExplicitlyOpen, Full, ImplicitlyOpen, Offline, ReadOnly};
use outlast_device::{Op, ZoneAction, ZoneError, ZoneId, ZoneState, ZoneTable};
use outlast_units::Lba;
use proptest::prelude::*;
use support::{LAYOUT, Model, Step, TRANSITIONS, step, table};

/// A table whose first zone is in `state`, partly written where that can be.
fn in_state(state: ZoneState) -> ZoneTable {
    let mut table = table(6, 6);
    let write = |table: &mut ZoneTable| table.write(Op::Write, Lba(0), 8).unwrap();
    match state {
        Empty => {}
        ImplicitlyOpen => _ = write(&mut table),
        ExplicitlyOpen => _ = table.manage(ZoneAction::Open, Lba(0)).unwrap(),
        Closed => {
            write(&mut table);
            table.manage(ZoneAction::Close, Lba(0)).unwrap();
        }
        Full => _ = table.manage(ZoneAction::Finish, Lba(0)).unwrap(),
        ReadOnly | Offline => table.give_up(ZoneId(0), state),
    }
    assert_eq!(table.state(ZoneId(0)), state);
    table
}

#[test]
fn every_transition_is_that_of_the_specification() {
    for (state, actions, writes) in TRANSITIONS {
        for (action, expected) in ZoneAction::ALL.into_iter().zip(actions) {
            let mut table = in_state(state);
            let done = table.manage(action, Lba(0)).map(|zone| table.state(zone));
            assert_eq!(done, expected, "{action:?} of a zone that is {state:?}");
            assert_eq!(table.state(ZoneId(0)), expected.unwrap_or(state), "a refused action changes nothing");
            table.self_check().unwrap();
        }
        for (fills, expected) in [false, true].into_iter().zip(writes) {
            for op in [Op::Write, Op::Append] {
                let mut table = in_state(state);
                let at = table.written(ZoneId(0));
                let sectors = if fills { LAYOUT.capacity - at } else { 8 };
                let lba = if op == Op::Append { Lba(0) } else { Lba(at) };
                let done = table.write(op, lba, u32::try_from(sectors).unwrap());
                assert_eq!(
                    done.map(|(zone, _)| table.state(zone)),
                    expected,
                    "{op:?} to a zone that is {state:?}"
                );
                table.self_check().unwrap();
            }
        }
    }
}

#[test]
fn what_a_write_may_not_do_has_its_name() {
    let mut table = table(6, 6);
    table.write(Op::Write, Lba(64), 16).unwrap();
    let cases = [
        (Op::Write, 64, 8, ZoneError::InvalidWrite),
        (Op::Write, 88, 8, ZoneError::InvalidWrite),
        (Op::Write, 80, 4, ZoneError::InvalidWrite),
        (Op::Write, 80, 32, ZoneError::BoundaryError),
        (Op::Append, 64, 32, ZoneError::BoundaryError),
        (Op::Append, 80, 8, ZoneError::InvalidField),
    ];
    for (op, lba, sectors, error) in cases {
        assert_eq!(table.write(op, Lba(lba), sectors), Err(error), "{op:?} of {sectors} at {lba}");
    }
    assert_eq!(table.manage(ZoneAction::Reset, Lba(72)), Err(ZoneError::InvalidField));
    assert_eq!(table.check_read(Lba(60), 8), Err(ZoneError::BoundaryError), "from one zone into the next");
    assert_eq!(table.check_read(Lba(100), 28), Ok((ZoneId(1), 36)), "beyond the write pointer are zeroes");
    table.give_up(ZoneId(2), Offline);
    assert_eq!(table.check_read(Lba(128), 8), Err(ZoneError::IsOffline));
}

#[test]
fn the_oldest_zone_that_was_opened_implicitly_is_closed_for_another() {
    let mut table = table(2, 3);
    table.manage(ZoneAction::Open, Lba(0)).unwrap();
    table.write(Op::Write, Lba(64), 8).unwrap();
    table.write(Op::Write, Lba(128), 8).unwrap();
    let states = [0, 1, 2].map(|zone| table.state(ZoneId(zone)));
    assert_eq!(states, [ExplicitlyOpen, Closed, ImplicitlyOpen], "zone 0 was opened first, but by a command");
    assert_eq!(table.write(Op::Write, Lba(192), 8), Err(ZoneError::TooManyActive));
    table.manage(ZoneAction::Open, Lba(128)).unwrap();
    assert_eq!(table.write(Op::Write, Lba(72), 8), Err(ZoneError::TooManyOpen), "both are open by commands");
    assert_eq!(
        table.manage(ZoneAction::Finish, Lba(192)),
        Ok(ZoneId(3)),
        "a zone that is finished is not active"
    );
}

#[test]
fn all_zones_at_once() {
    let mut table = table(3, 4);
    for zone in 0..4 {
        table.write(Op::Write, Lba(64 * zone), 8).unwrap();
    }
    assert_eq!(table.manage_all(ZoneAction::Close), [ZoneId(1), ZoneId(2), ZoneId(3)]);
    // The first is closed, and as many may be open as the limit says.
    assert_eq!(table.manage_all(ZoneAction::Open).len(), 3);
    assert_eq!(table.manage_all(ZoneAction::Finish).len(), 4);
    assert_eq!(table.manage_all(ZoneAction::Reset).len(), 4);
    assert_eq!(table.by_state()[Empty as usize], 6);
}

#[test]
fn after_a_loss_of_power_zones_are_as_they_are_on_flash() {
    let mut table = table(4, 4);
    for (zone, sectors) in [(0, 16), (1, 16), (2, 40), (3, 40), (4, 8)] {
        table.write(Op::Write, Lba(64 * zone), sectors).unwrap();
    }
    table.manage(ZoneAction::Finish, Lba(64 * 4)).unwrap();
    table.power_cycle(|zone| [8, 0, 40, 32, 40, 0][zone.0 as usize]);
    let states: Vec<_> = table.ids().map(|zone| (table.state(zone), table.written(zone))).collect();
    let expected = [(Closed, 8), (Empty, 0), (Full, 40), (Closed, 32), (Full, 8), (Empty, 0)];
    assert_eq!(states, expected, "the fifth was finished, whatever is behind its write pointer");
    table.self_check().unwrap();
}

proptest! {
    #[test]
    fn the_machine_is_the_plain_model(
        steps in prop::collection::vec(step(), 1..120),
        active in 1..6u32,
        open in 1..6u32,
    ) {
        let open = open.min(active);
        let mut table = table(open, active);
        let zones = vec![(Empty, 0, 0); 6];
        let mut model = Model { zones, open: open as usize, active: active as usize, clock: 0 };
        for step in steps {
            let (expected, done) = match step {
                Step::Write(zone, blocks) => {
                    let at = model.zones[zone].1;
                    let done = table.write(Op::Write, Lba(64 * zone as u64 + at), blocks as u32 * 8);
                    (model.write(zone, at, blocks * 8), done.map(|_| ()))
                }
                Step::WriteElsewhere(zone, at, blocks) => {
                    let done = table.write(Op::Write, Lba(64 * zone as u64 + at * 8), blocks as u32 * 8);
                    (model.write(zone, at * 8, blocks * 8), done.map(|_| ()))
                }
                Step::Append(zone, blocks) => {
                    let at = model.zones[zone].1;
                    let done = table.write(Op::Append, Lba(64 * zone as u64), blocks as u32 * 8);
                    if let Ok((_, first)) = done {
                        prop_assert_eq!(first, at, "the place that an append has got");
                    }
                    (model.write(zone, at, blocks * 8), done.map(|_| ()))
                }
                Step::Manage(zone, action) => {
                    (model.manage(zone, action), table.manage(action, Lba(64 * zone as u64)).map(|_| ()))
                }
                Step::GiveUp(zone) => {
                    model.zones[zone].0 = ReadOnly;
                    table.give_up(ZoneId(zone as u32), ReadOnly);
                    (Ok(()), Ok(()))
                }
            };
            prop_assert_eq!(done, expected, "{:?}", step);
            prop_assert_eq!(table.self_check(), Ok(()));
            for (zone, &(state, written, _)) in table.ids().zip(&model.zones) {
                prop_assert_eq!((table.state(zone), table.written(zone)), (state, written), "{:?} after {:?}", zone, step);
            }
        }
    }
}
