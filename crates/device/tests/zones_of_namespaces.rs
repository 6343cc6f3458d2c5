//! Namespaces of a drive with zones: each has the limits that its host is told, whatever others do.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use outlast_device::ZoneState::{Closed, Empty, ImplicitlyOpen, ReadOnly};
use outlast_device::{Op, ZoneAction, ZoneError, ZoneId, ZoneLayout, ZoneLimits, ZoneTable};
use outlast_units::Lba;
use proptest::prelude::*;
use support::{LAYOUT, Model, Step, step, table};

/// The table of a drive of two namespaces, of 4 zones and of 2, and the plain models of two drives with what hosts are told of each.
fn two_namespaces(open: u32, active: u32) -> (ZoneTable, [Model; 2]) {
    let model = |zones| Model {
        zones: vec![(Empty, 0, 0); zones],
        open: (open / 2) as usize,
        active: (active / 2) as usize,
        clock: 0,
    };
    let mut table = table(open, active);
    table.share_among(&[4, 2]);
    (table, [model(4), model(2)])
}

/// What a namespace was told was not enforced: the drive counted the zones of all, so that one host took what another was promised.
#[test]
fn a_namespace_does_not_take_what_another_was_promised() {
    let layout = ZoneLayout { zones: 12, ..LAYOUT };
    let mut table = ZoneTable::new(layout, ZoneLimits { open: 4, active: 6 });
    table.share_among(&[5, 5]);
    let write = |table: &mut ZoneTable, zone: u64| table.write(Op::Write, Lba(64 * zone), 8).map(|_| ());
    for first in [0, 5] {
        let done: Vec<_> = (first..first + 4).map(|zone| write(&mut table, zone)).collect();
        assert_eq!(
            done,
            [Ok(()), Ok(()), Ok(()), Err(ZoneError::TooManyActive)],
            "three of zones {first} on"
        );
        let states = [0, 1, 2].map(|zone| table.state(ZoneId(first as u32 + zone)));
        assert_eq!(states, [Closed, ImplicitlyOpen, ImplicitlyOpen], "two are open, the oldest is closed");
    }
    assert_eq!((table.open(), table.active()), (4, 6));
    assert_eq!(write(&mut table, 10), Err(ZoneError::TooManyActive), "nothing is left over for other zones");
    // What is given back is given back to the namespace.
    table.manage(ZoneAction::Finish, Lba(0)).unwrap();
    assert_eq!(write(&mut table, 8), Err(ZoneError::TooManyActive));
    write(&mut table, 3).unwrap();
    table.self_check().unwrap();
    table.power_cycle(|zone| if zone.0 < 5 { 8 } else { 0 });
    let closed = (0..5).filter(|&zone| table.state(ZoneId(zone)) == Closed).count();
    assert_eq!((closed, table.active()), (3, 3), "no more of a namespace are active after a loss of power");
    table.self_check().unwrap();
}

#[test]
fn what_namespaces_do_not_share_equally_is_for_the_zones_behind_them() {
    let mut table = table(5, 5);
    table.share_among(&[2, 2]);
    for zone in [0, 1, 2, 3, 4] {
        table.write(Op::Write, Lba(64 * zone), 8).unwrap();
    }
    assert_eq!(table.write(Op::Write, Lba(64 * 5), 8), Err(ZoneError::TooManyActive));
    let mut one = support::table(5, 5);
    one.share_among(&[2]);
    (0..5).for_each(|zone| _ = one.write(Op::Write, Lba(64 * zone), 8).unwrap());
}

proptest! {
    #[test]
    fn two_namespaces_are_two_drives_with_the_limits_that_they_are_told(
        steps in prop::collection::vec(step(), 1..120),
        active in 2..9u32,
        open in 2..9u32,
    ) {
        let (mut table, mut models) = two_namespaces(open.min(active), active);
        for step in steps {
            let (Step::Write(zone, _)
            | Step::WriteElsewhere(zone, ..)
            | Step::Append(zone, _)
            | Step::Manage(zone, _)
            | Step::GiveUp(zone)) = step;
            let (model, own) = (&mut models[usize::from(zone >= 4)], zone % 4);
            let (start, written) = (64 * zone as u64, model.zones[own].1);
            let (expected, done) = match step {
                Step::Write(_, blocks) => (
                    model.write(own, written, blocks * 8),
                    table.write(Op::Write, Lba(start + written), blocks as u32 * 8).map(|_| ()),
                ),
                Step::WriteElsewhere(_, at, blocks) => (
                    model.write(own, at * 8, blocks * 8),
                    table.write(Op::Write, Lba(start + at * 8), blocks as u32 * 8).map(|_| ()),
                ),
                Step::Append(_, blocks) => (
                    model.write(own, written, blocks * 8),
                    table.write(Op::Append, Lba(start), blocks as u32 * 8).map(|_| ()),
                ),
                Step::Manage(_, action) => (model.manage(own, action), table.manage(action, Lba(start)).map(|_| ())),
                Step::GiveUp(_) => {
                    model.zones[own].0 = ReadOnly;
                    table.give_up(ZoneId(zone as u32), ReadOnly);
                    (Ok(()), Ok(()))
                }
            };
            prop_assert_eq!(done, expected, "{:?}", step);
            prop_assert_eq!(table.self_check(), Ok(()));
            for (zone, &(state, written, _)) in table.ids().zip(models.iter().flat_map(|model| &model.zones)) {
                prop_assert_eq!((table.state(zone), table.written(zone)), (state, written), "{:?} after {:?}", zone, step);
            }
        }
    }
}
