//! Wait of a read for a program that it meets at any time, and time of the program.

use crate::support;

use outlast_flash::{DieActivity, DieQueue};
use outlast_media::{ChannelOrder, SuspendConfig};
use outlast_units::Nanos;
use support::{
    COMMAND, Caller, ERASE, OVERHEAD, PROGRAM, READ, Shape, UNIT, erase, program, program_time, read,
    read_time,
};

const LATENCY: u64 = 40_000;
const RESUME: u64 = 10_000;
/// When a program's data is in and its array begins.
const DATA_IN: u64 = COMMAND + 2 * UNIT;

/// Suspension with a least progress of `least`.
fn shape(least: u64, limit: u8, reads: u8) -> Shape {
    let suspend = SuspendConfig {
        least_progress: Some(Nanos(least)),
        resume: Some(Nanos(RESUME)),
        ..SuspendConfig::both(Nanos(LATENCY), limit, reads)
    };
    Shape { suspend: Some(suspend), ..Shape::default() }
}

/// Wait of a read that comes `phase` after the array of a program has begun, and the end of the program.
fn wait(shape: &Shape, phase: u64) -> (u64, u64) {
    let mut caller = Caller::new(shape);
    caller.submit(0, DieQueue::Programs, program(1));
    caller.submit_at(DATA_IN + phase, 0, DieQueue::Reads, read(2));
    caller.run();
    (caller.end_of(2) - (DATA_IN + phase) - read_time(1), caller.end_of(1))
}

/// A read comes at a uniformly random time of a program of T: with a least progress of p and a latency of L it waits p + L - u as long as
/// u < p, then L, and at the end T - u. The mean is (p^2 / 2 + L T - L^2 / 2) / T, and P(wait > w) what of T lies beyond w.
#[test]
fn a_read_that_meets_a_program_waits_as_integrated_over_its_phase() {
    const STEP: u64 = 1000;
    let (time, latency) = (PROGRAM[0] as f64, LATENCY as f64);
    for least in [0, 60_000, 150_000, 459_000] {
        let shape = shape(least, 1, 16);
        // Every corner lies between two steps, so that midpoints give the integral.
        let waits: Vec<u64> = (0..PROGRAM[0] / STEP).map(|at| wait(&shape, at * STEP + STEP / 2).0).collect();
        let mean = waits.iter().sum::<u64>() as f64 / waits.len() as f64;
        let progress = least as f64;
        let expected = (progress * progress / 2.0 + latency * time - latency * latency / 2.0) / time;
        assert!((mean - expected).abs() < 1e-6 * expected, "{least}: {mean}, expected {expected}");
        for longer in [LATENCY / 2, LATENCY, LATENCY + least / 3, LATENCY + least] {
            let counted = waits.iter().filter(|&&wait| wait > longer).count() as u64 * STEP;
            // Beyond the latency only a phase in the first p - (w - L) waits so long; below it, all but the last w do.
            let expected = if longer < LATENCY { PROGRAM[0] - longer } else { least - (longer - LATENCY) };
            assert!(counted.abs_diff(expected) <= STEP, "{least}, P(> {longer}): {counted} of {expected}");
        }
        // Nobody waits longer than the bound, and the program loses latency, resumption and the read.
        assert!(waits.iter().all(|&wait| wait <= least + LATENCY));
        let lost = LATENCY + RESUME + read_time(1);
        assert_eq!(wait(&shape, least / 2).1, program_time() + lost);
    }
}

/// The read waits for the end of an operation that would end before the die could read.
#[test]
fn a_least_progress_too_near_the_end_suspends_nothing() {
    let least = PROGRAM[0] - LATENCY;
    assert_eq!(wait(&shape(least - 1, 1, 16), 0).0, least - 1 + LATENCY);
    assert_eq!(wait(&shape(least, 1, 16), 0), (PROGRAM[0], program_time()));
}

/// Reads without end: between suspensions the program makes its least progress, exactly, until it has been suspended often enough or would
/// end before the die could read.
#[test]
fn a_program_among_reads_without_end_keeps_its_bound() {
    for (least, limit, reads) in [(100_000, 255, 1), (60_000, 3, 2), (0, 5, 1), (50_000, 255, 16)] {
        let mut caller = Caller::new(&shape(least, limit, reads));
        caller.submit(0, DieQueue::Programs, program(0));
        for number in 1..400 {
            caller.submit(0, DieQueue::Reads, read(number));
        }
        caller.run();
        let by_progress = if least == 0 { u64::MAX } else { (PROGRAM[0] - LATENCY).div_ceil(least) - 1 };
        let times = by_progress.min(u64::from(limit));
        let lost = times * (LATENCY + RESUME + u64::from(reads) * read_time(1));
        assert_eq!(caller.end_of(0), program_time() + lost, "{least}, {limit} x {reads}");
        assert_eq!(caller.room.suspends(), times);
    }
}

/// Reads that were waiting when a program began suspend it once it has made its progress; without a least progress the next one does.
#[test]
fn reads_left_waiting_suspend_where_progress_is_asked_for() {
    for (least, waited) in [(Some(Nanos(100_000)), 100_000 + OVERHEAD), (None, PROGRAM[0])] {
        let suspend = SuspendConfig { least_progress: least, ..SuspendConfig::both(Nanos(OVERHEAD), 9, 16) };
        let mut caller = Caller::new(&Shape { suspend: Some(suspend), program_every: 1, ..Shape::default() });
        for number in [1, 2, 3] {
            caller.submit(0, DieQueue::Reads, read(number));
        }
        caller.submit(0, DieQueue::Programs, program(4));
        caller.run();
        // One was under way, one went before the program; the third is left.
        let start = 2 * read_time(1) + DATA_IN;
        assert_eq!(caller.end_of(3), start + waited + read_time(1), "{least:?}");
    }
}

/// Erases have a latency of their own, and each kind may be exempt.
#[test]
fn programs_and_erases_differ() {
    let suspend = SuspendConfig {
        program: false,
        erase_latency: Some(Nanos(90_000)),
        resume: Some(Nanos(11_000)),
        ..SuspendConfig::both(Nanos(7_000), 2, 1)
    };
    let shape = |suspend| Shape { suspend: Some(suspend), ..Shape::default() };
    let run = |suspend: SuspendConfig, erases: bool| {
        let mut caller = Caller::new(&shape(suspend));
        if erases {
            caller.submit(0, DieQueue::Internal(outlast_flash::InternalTask::Gc), erase(1, 9));
        } else {
            caller.submit(0, DieQueue::Programs, program(1));
        }
        for number in 2..6 {
            caller.submit_at(u64::from(number - 1) * 100_000, 0, DieQueue::Reads, read(number));
        }
        caller.run();
        (caller.room.suspends(), caller.end_of(1), caller.end_of(2))
    };
    assert_eq!(run(suspend, false).0, 0, "no program may be suspended");
    let (suspends, end, first) = run(suspend, true);
    assert_eq!(suspends, 2);
    assert_eq!(first, 100_000 + 90_000 + read_time(1));
    assert_eq!(end, COMMAND + ERASE + 2 * (90_000 + 11_000 + read_time(1)));
    let (suspends, end, first) = run(SuspendConfig { program: true, limit: 1, ..suspend }, false);
    assert_eq!(suspends, 1);
    assert_eq!(first, 100_000 + 7_000 + read_time(1));
    assert_eq!(end, program_time() + 7_000 + 11_000 + read_time(1));
}

/// A program, not an erase, runs to its end while host writes wait, where the drive is so.
#[test]
fn while_writes_wait_programs_are_not_suspended() {
    for (while_writes_wait, writes_wait, erases, suspends) in
        [(true, true, false, 1), (false, false, false, 1), (false, true, false, 0), (false, true, true, 1)]
    {
        let suspend = SuspendConfig { while_writes_wait, ..SuspendConfig::both(Nanos(OVERHEAD), 1, 1) };
        let mut caller = Caller::new(&Shape { suspend: Some(suspend), ..Shape::default() });
        caller.demands[0].writes_wait = writes_wait;
        if erases {
            caller.submit(0, DieQueue::Internal(outlast_flash::InternalTask::Gc), erase(1, 9));
        } else {
            caller.submit(0, DieQueue::Programs, program(1));
        }
        caller.submit_at(100_000, 0, DieQueue::Reads, read(2));
        caller.run();
        assert_eq!(caller.room.suspends(), suspends, "{while_writes_wait} {writes_wait} {erases}");
    }
}

/// Where a program has phases of p, a read waits for the end of the one that it meets and then L, so evenly between L and L + p: L + p / 2 on
/// average, as long as a phase ends more than L before the program. One that comes as the array begins waits for a whole phase.
#[test]
fn a_read_waits_for_the_end_of_the_phase_that_it_meets() {
    const STEP: u64 = 1000;
    let phase = 50_000;
    let suspend = SuspendConfig {
        program_phase: Some(Nanos(phase)),
        resume: Some(Nanos(RESUME)),
        ..SuspendConfig::both(Nanos(LATENCY), 9, 16)
    };
    let shape = Shape { suspend: Some(suspend), ..Shape::default() };
    let last = (PROGRAM[0] - LATENCY - 1) / phase * phase;
    let waits: Vec<u64> = (0..last / STEP).map(|at| wait(&shape, at * STEP + STEP / 2).0).collect();
    let mean = waits.iter().sum::<u64>() as f64 / waits.len() as f64;
    let expected = (LATENCY + phase / 2) as f64;
    assert!((mean - expected).abs() < 1e-6 * expected, "{mean}, expected {expected}");
    for longer in [LATENCY, LATENCY + 10 * STEP, LATENCY + phase - STEP] {
        let counted = waits.iter().filter(|&&wait| wait > longer).count() as u64 * STEP;
        assert_eq!(counted, (LATENCY + phase - longer) * last / phase, "P(> {longer})");
    }
    assert_eq!(wait(&shape, 0), (phase + LATENCY, program_time() + LATENCY + RESUME + read_time(1)));
    // After the last phase that gains time a read waits for the end of the program.
    assert_eq!(wait(&shape, last + STEP), (PROGRAM[0] - last - STEP, program_time()));
}

/// Reads without end: a program makes one phase between two suspensions. An erase has no phases: the first read suspends it at once.
#[test]
fn a_program_among_reads_without_end_makes_a_phase_between_suspensions() {
    let phase = 70_000;
    let suspend =
        SuspendConfig { program_phase: Some(Nanos(phase)), ..SuspendConfig::both(Nanos(OVERHEAD), 255, 2) };
    let mut caller = Caller::new(&Shape { suspend: Some(suspend), ..Shape::default() });
    caller.submit(0, DieQueue::Programs, program(0));
    for number in 1..400 {
        caller.submit(0, DieQueue::Reads, read(number));
    }
    caller.run();
    let times = (PROGRAM[0] - OVERHEAD).div_ceil(phase) - 1;
    assert_eq!(caller.end_of(0), program_time() + times * (2 * OVERHEAD + 2 * read_time(1)));
    assert_eq!(caller.room.suspends(), times);

    let mut caller = Caller::new(&Shape { suspend: Some(suspend), ..Shape::default() });
    caller.submit(0, DieQueue::Internal(outlast_flash::InternalTask::Gc), erase(1, 9));
    caller.submit_at(COMMAND + 1000, 0, DieQueue::Reads, read(2));
    caller.run();
    assert_eq!(caller.end_of(2), COMMAND + 1000 + OVERHEAD + read_time(1));
}

/// A read for a die whose program waits for its data plans a suspension. A read of another die that goes over the channel first puts off the data, and
/// with it the suspension. A least progress and phases together are whole phases.
#[test]
fn a_suspension_that_was_planned_before_the_data_came_is_put_off_with_it() {
    let data = 2 * UNIT + COMMAND;
    for (least, phase, progress) in [
        (None, None, 0),
        (Some(30_000), None, 30_000),
        (None, Some(50_000), 50_000),
        (Some(30_000), Some(50_000), 50_000),
        (Some(60_000), Some(50_000), 100_000),
    ] {
        let suspend = SuspendConfig {
            least_progress: least.map(Nanos),
            program_phase: phase.map(Nanos),
            ..SuspendConfig::both(Nanos(OVERHEAD), 1, 1)
        };
        let channel = ChannelOrder::ReadsFirst;
        let shape = Shape { suspend: Some(suspend), channel, dies_per_channel: 3, ..Shape::default() };
        let mut caller = Caller::new(&shape);
        caller.room.keep_accounts();
        caller.submit(2, DieQueue::Reads, read(2));
        let sensed = COMMAND + READ[0];
        // While the first program's data is on the channel the read has been sensed, and passes the second's.
        let begun = sensed - UNIT;
        caller.submit_at(begun, 0, DieQueue::Programs, program(0));
        caller.submit_at(begun, 1, DieQueue::Programs, program(1));
        caller.submit_at(begun + 1, 1, DieQueue::Reads, read(3));
        caller.run();
        let start = begun + data + UNIT + data;
        assert_eq!(caller.end_of(2), begun + data + UNIT, "{least:?}, {phase:?}");
        assert_eq!(caller.end_of(3), start + progress + OVERHEAD + read_time(1), "{least:?}, {phase:?}");
        let waited = caller.room.read_account().map(|account| account.waited);
        let expected = [
            (DieActivity::Channel, start - begun - 1),
            (DieActivity::Program, progress),
            (DieActivity::Suspend, OVERHEAD),
        ];
        for (activity, time) in expected {
            assert_eq!(
                waited.map(|waited| waited[activity as usize].0),
                Some(time),
                "{activity:?}: {least:?}, {phase:?}"
            );
        }
    }
}
