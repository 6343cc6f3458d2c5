//! Who goes first over a channel? A plain line of transfers, served one after the other.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_flash::{DieQueue, FlashOp};
use outlast_media::{ChannelOrder, ProgramUnit};
use proptest::prelude::*;
use std::collections::VecDeque;
use support::{Caller, Ended, PROGRAM, READ, Shape, Tag, UNIT, place, read_of};

/// Page of eight units, dies on one channel, commands that take no time.
fn shape(dies: u16) -> Shape {
    let program_unit = ProgramUnit { planes: 1, rows: 1, pages_per_unit: 1, units_per_page: 8 };
    let channel = ChannelOrder::ReadsFirst;
    Shape { dies_per_channel: dies, program_unit, channel, command: 0, ..Shape::default() }
}

fn program_of(number: u32) -> FlashOp<Tag> {
    FlashOp::program(place(1, 0), 8, Tag { number, internal: false })
}

/// One operation of a die: its time, and the units to be read; none: a program.
type DieOp = (u64, Option<u32>);

#[derive(Clone, Copy, Debug)]
struct InLine {
    die: u16,
    is_read: bool,
    span: u64,
    passed: u8,
}

/// When what is asked of each die ends, by a line into which reads come before programs, 16 times at most.
fn plain(ops: &[DieOp]) -> Vec<Ended> {
    let arrival = |&(at, units): &DieOp| at + units.map_or(0, |_| READ[0]);
    let mut arrivals: Vec<u16> = (0..ops.len() as u16).collect();
    // Of the same time, what is submitted goes before what has been sensed.
    arrivals.sort_by_key(|&die| (arrival(&ops[usize::from(die)]), ops[usize::from(die)].1.is_some(), die));
    let mut arrivals: VecDeque<u16> = arrivals.into();
    let (mut line, mut free_at, mut ended) = (VecDeque::<InLine>::new(), 0, Vec::new());
    loop {
        // What comes before the channel is free again gets into line; then the first is served.
        let comes = arrivals.front().map(|&die| arrival(&ops[usize::from(die)]));
        let Some(at) = comes.filter(|&at| line.is_empty() || at < free_at) else {
            let Some(InLine { die, is_read, span, .. }) = line.pop_front() else { break };
            free_at += span;
            ended.push((free_at + if is_read { 0 } else { PROGRAM[0] }, die, u32::from(die)));
            continue;
        };
        let die = arrivals.pop_front().unwrap();
        let units = ops[usize::from(die)].1;
        let span = u64::from(units.unwrap_or(8)) * UNIT;
        let transfer = InLine { die, is_read: units.is_some(), span, passed: 0 };
        if line.is_empty() && at >= free_at {
            free_at = at;
        }
        let may_pass = |other: &InLine| !other.is_read && other.passed < 16;
        let place = if transfer.is_read { line.iter().position(may_pass) } else { None };
        let place = place.unwrap_or(line.len());
        line.range_mut(place..).for_each(|other| other.passed += 1);
        line.insert(place, transfer);
        if at == free_at {
            // It is served at once, so that nobody who comes at the same time passes it.
            let first = line.pop_front().unwrap();
            free_at += first.span;
            let end = free_at + if first.is_read { 0 } else { PROGRAM[0] };
            ended.push((end, first.die, u32::from(first.die)));
        }
    }
    ended.sort_unstable();
    ended
}

fn room(ops: &[DieOp]) -> Vec<Ended> {
    let mut caller = Caller::new(&shape(ops.len() as u16));
    let mut order: Vec<u16> = (0..ops.len() as u16).collect();
    order.sort_by_key(|&die| ops[usize::from(die)].0);
    for die in order {
        let (at, units) = ops[usize::from(die)];
        let number = u32::from(die);
        match units {
            Some(units) => {
                caller.submit_at(at, die, DieQueue::Reads, read_of(number, 0, 0, (1 << units) - 1));
            }
            None => caller.submit_at(at, die, DieQueue::Programs, program_of(number)),
        }
    }
    caller.run();
    let busy: u64 = ops.iter().map(|&(_, units)| u64::from(units.unwrap_or(8)) * UNIT).sum();
    let share = busy as f64 / caller.now.0 as f64;
    assert_eq!(caller.room.channel_utilisation(caller.now, caller.now), [share]);
    let mut ended = caller.ended;
    ended.sort_unstable();
    ended
}

/// The first program's data is under way; what is read meanwhile goes before the second's, which is put off by so much.
#[test]
fn what_is_read_goes_before_data_that_waits() {
    let data = 8 * UNIT;
    let ops = [(READ[0], None), (READ[0], None), (1, Some(2)), (2, Some(1))];
    let (first, program) = (READ[0] + data, PROGRAM[0]);
    let mut expected = vec![
        (first + program, 0, 0),
        (first + 3 * UNIT + data + program, 1, 1),
        (first + 2 * UNIT, 2, 2),
        (first + 3 * UNIT, 3, 3),
    ];
    expected.sort_unstable();
    assert_eq!(room(&ops), expected);
    assert_eq!(plain(&ops), expected);
}

/// At most 16 reads go before data that waits.
#[test]
fn sixteen_reads_go_first() {
    let mut ops: Vec<DieOp> = (0..40).map(|die| (die, Some(1))).collect();
    ops.extend([(READ[0] - 1, None), (READ[0] - 1, None)]);
    let start = READ[0] - 1 + 8 * UNIT;
    let program = |ended: &[Ended]| ended.iter().find(|end| end.2 == 41).unwrap().0 - PROGRAM[0];
    assert_eq!(program(&room(&ops)), start + 16 * UNIT + 8 * UNIT);
    assert_eq!(room(&ops), plain(&ops));
}

proptest! {
    #[test]
    fn a_channel_does_what_a_plain_line_does(
        ops in proptest::collection::vec((0u64..200_000, proptest::option::of(1u32..=8)), 1..60),
    ) {
        prop_assert_eq!(room(&ops), plain(&ops));
    }
}
