//! Where does the time of a command go? The parts sum to the latency, whatever the drive does, and on a drive that does one thing at a time
//! each part is what it must be. No tolerance: times are whole nanoseconds.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Command, Device, LatencyCause, LatencyParts, Op, Outcome, Tag};
use outlast_media::{DieDamage, DriveFault, SuspendConfig, UnitTear};
use outlast_settings::drive::{DecodeTimes, HostLatency, SsdConfig, WriteCache};
use outlast_ssd::Ssd;
use outlast_units::{ByteRate, Bytes, Nanos};
use proptest::prelude::*;
use support::life::{begun, drives};
use support::{command, tiny};

const READ: u64 = 60_000;
const PROGRAM: u64 = 700_000;
const COMMAND: u64 = 200;
/// One byte a nanosecond: transfers take as many nanoseconds as they have bytes.
const BUS: u64 = 1_000_000_000;
const UNIT: u64 = 4096;

/// One die and one flash core; a program unit holds two units of 4 KiB, one of each plane.
fn one_die() -> SsdConfig {
    let mut config = tiny();
    config.geometry.channels = 1;
    config.geometry.dies_per_chip = 1;
    config.geometry.blocks_per_plane = 64;
    config.timing.bus = ByteRate::new(BUS).unwrap();
    config
}

/// A drive that splits latencies, with `units` units written, all of them on flash.
fn written(config: &SsdConfig, units: u64) -> (Ssd, Nanos) {
    let mut ssd = Ssd::new(config.clone(), 1).unwrap();
    ssd.split_latencies();
    for unit in 0..units {
        ssd.submit(Nanos::ZERO, command(Op::Write, unit * 8, 8), Tag(unit as u32));
    }
    let done = run_out(&mut ssd, Nanos::ZERO);
    for tag in 0..units as u32 {
        assert!(ssd.take_parts(Tag(tag)).is_some() && ssd.take_parts(Tag(tag)).is_none());
    }
    (ssd, done)
}

fn run_out(ssd: &mut Ssd, mut now: Nanos) -> Nanos {
    let mut completions = Vec::new();
    while !ssd.is_idle() {
        now = ssd.next_deadline().unwrap();
        ssd.advance(now, &mut completions);
    }
    assert!(completions.iter().all(|done| done.outcome == Outcome::Ok), "{completions:?}");
    now
}

/// Submits `commands` at their times; returns latency and parts of each.
fn parts(ssd: &mut Ssd, commands: &[(Nanos, Command)]) -> Vec<LatencyParts> {
    let (mut completions, mut latencies) = (Vec::new(), vec![Nanos::ZERO; commands.len()]);
    for (&(at, command), tag) in commands.iter().zip(0..) {
        ssd.advance(at, &mut completions);
        ssd.submit(at, command, Tag(tag));
    }
    ssd.advance(commands.last().unwrap().0 + Nanos::secs(1), &mut completions);
    for done in &completions {
        assert_eq!(done.outcome, Outcome::Ok);
        latencies[done.tag.0 as usize] = done.at - commands[done.tag.0 as usize].0;
    }
    let all: Vec<_> = (0..commands.len()).map(|tag| ssd.take_parts(Tag(tag as u32)).unwrap()).collect();
    for (own, latency) in all.iter().zip(&latencies) {
        assert_eq!(own.total(), latency.0, "{own:?}");
    }
    all
}

/// The parts that are not zero.
fn shown(parts: &LatencyParts) -> Vec<(LatencyCause, u64)> {
    parts.iter().filter(|&(_, part)| part != 0).collect()
}

#[test]
fn a_read_of_an_idle_drive_is_link_firmware_sensing_and_channel() {
    let mut config = one_die();
    config.controller.link = ByteRate::new(2 * BUS);
    config.controller.master_cost = Nanos(1_500);
    config.controller.read_cost = Nanos(2_500);
    config.controller.host_latency.submit = Nanos(1_000);
    config.controller.host_latency.complete = Nanos(7_000);
    config.controller.decode.hard = Nanos(9_000);
    let (mut ssd, now) = written(&config, 16);
    let read = parts(&mut ssd, &[(now, command(Op::Read, 0, 8))]);
    assert_eq!(
        shown(&read[0]),
        [
            (LatencyCause::Link, UNIT / 2 + 8_000),
            (LatencyCause::Firmware, 4_000),
            (LatencyCause::Channel, UNIT),
            (LatencyCause::Sensing, COMMAND + READ),
            (LatencyCause::Decode, 9_000),
        ]
    );
}

/// A program of two units takes its data in, then tPROG; a read that comes in the midst of that waits for the rest.
#[test]
fn a_read_that_meets_a_program_waits_for_the_rest_of_it() {
    let (mut ssd, now) = written(&one_die(), 16);
    let begun = now + Nanos(10_000);
    let wait = 100_000;
    let commands = [(begun, command(Op::Write, 16 * 8, 16)), (begun + Nanos(wait), command(Op::Read, 0, 8))];
    let all = parts(&mut ssd, &commands);
    assert_eq!(shown(&all[0]), [], "a write into a buffer with room takes no time");
    let data_in = COMMAND + 2 * UNIT;
    assert_eq!(
        shown(&all[1]),
        [
            (LatencyCause::DieProgram, data_in + PROGRAM - wait),
            (LatencyCause::Channel, UNIT),
            (LatencyCause::Sensing, COMMAND + READ),
        ]
    );
    // While data comes in the die waits for the channel, not for its array.
    let early = [(begun, command(Op::Write, 18 * 8, 16)), (begun, command(Op::Read, 0, 8))];
    let early = early.map(|(at, command)| (at + Nanos::secs(2), command));
    let all = parts(&mut ssd, &early);
    assert_eq!((all[1][LatencyCause::DieProgram], all[1][LatencyCause::Channel]), (PROGRAM, data_in + UNIT));
}

/// A program must make progress before it may be suspended; the read waits for that, then for the die to let go of it, and the program is
/// resumed after it.
#[test]
fn a_read_that_suspends_a_program_waits_for_its_least_progress_and_the_overhead() {
    let (least, overhead) = (Nanos(150_000), Nanos(20_000));
    let mut config = one_die();
    config.timing.suspend =
        Some(SuspendConfig { least_progress: Some(least), ..SuspendConfig::both(overhead, 3, 2) });
    let (mut ssd, now) = written(&config, 16);
    let begun = now + Nanos(10_000);
    let commands = [
        (begun, command(Op::Write, 16 * 8, 16)),
        (begun + Nanos(100), command(Op::Read, 0, 8)),
        (begun + Nanos(200), command(Op::Read, 8, 8)),
        (begun + Nanos(300), command(Op::Read, 16, 8)),
    ];
    let all = parts(&mut ssd, &commands);
    let data_in = COMMAND + 2 * UNIT;
    let own = COMMAND + READ;
    assert_eq!(
        shown(&all[1]),
        [
            (LatencyCause::DieProgram, least.0),
            (LatencyCause::Suspend, overhead.0),
            (LatencyCause::Channel, data_in - 100 + UNIT),
            (LatencyCause::Sensing, own),
        ]
    );
    // Two reads may go before the rest of the program; the third waits for its resumption and another least progress.
    assert_eq!(
        shown(&all[3]),
        [
            (LatencyCause::DieRead, 2 * own),
            (LatencyCause::DieProgram, 2 * least.0),
            (LatencyCause::Suspend, 3 * overhead.0),
            (LatencyCause::Channel, data_in - 300 + 3 * UNIT),
            (LatencyCause::Sensing, own),
        ]
    );
}

#[test]
fn of_two_reads_the_second_waits_for_the_first_to_be_sensed_and_sent() {
    let (mut ssd, now) = written(&one_die(), 16);
    let all = parts(&mut ssd, &[(now, command(Op::Read, 0, 8)), (now, command(Op::Read, 64, 8))]);
    assert_eq!(
        shown(&all[1]),
        [
            (LatencyCause::DieRead, COMMAND + READ),
            (LatencyCause::Channel, 2 * UNIT),
            (LatencyCause::Sensing, COMMAND + READ),
        ]
    );
}

#[test]
fn a_write_without_cache_is_on_its_way_to_flash() {
    let mut config = one_die();
    config.controller.write_cache = WriteCache::Off;
    config.controller.queue_depth = 1;
    let (mut ssd, now) = written(&config, 0);
    let all = parts(&mut ssd, &[(now, command(Op::Write, 0, 16)), (now, command(Op::Write, 16, 16))]);
    let alone = COMMAND + 2 * UNIT + PROGRAM;
    assert_eq!(shown(&all[0]), [(LatencyCause::Program, alone)]);
    assert_eq!(shown(&all[1]), [(LatencyCause::Queue, alone), (LatencyCause::Program, alone)]);
}

/// A part of a unit: the old data is read, the write waits for that as a read would.
#[test]
fn a_partial_write_waits_for_the_old_data() {
    let (mut ssd, now) = written(&one_die(), 16);
    let all = parts(&mut ssd, &[(now, command(Op::Write, 1, 2))]);
    assert_eq!(shown(&all[0]), [(LatencyCause::Channel, UNIT), (LatencyCause::Sensing, COMMAND + READ)]);
}

#[test]
fn a_write_that_finds_the_buffer_full_waits_for_room() {
    let mut config = one_die();
    config.controller.write_buffer = Bytes(4 * UNIT);
    let (mut ssd, now) = written(&config, 0);
    let writes: Vec<_> = (0..6).map(|unit| (now, command(Op::Write, unit * 8, 8))).collect();
    let all = parts(&mut ssd, &writes);
    assert!(all[..4].iter().all(|own| own.total() == 0), "{all:?}");
    // The first program unit leaves the buffer when it is on flash.
    assert_eq!(shown(&all[4]), [(LatencyCause::Buffer, COMMAND + 2 * UNIT + PROGRAM)]);
}

#[test]
fn a_loss_of_power_aborts_what_is_under_way() {
    let mut config = one_die();
    config.controller.queue_depth = 1;
    let (mut ssd, now) = written(&config, 16);
    ssd.begin_timed();
    let reads = [0, 64].map(|lba| command(Op::Read, lba, 8));
    for (read, tag) in reads.into_iter().zip(0..) {
        ssd.submit(now, read, Tag(tag));
    }
    ssd.inject(now + Nanos(1_000), DriveFault { die: 0, damage: DieDamage::Power(UnitTear::Nothing) });
    let mut completions = Vec::new();
    ssd.advance(now + Nanos(1_000), &mut completions);
    assert_eq!(completions.len(), 2);
    for tag in 0..2 {
        assert_eq!(shown(&ssd.take_parts(Tag(tag)).unwrap()), [(LatencyCause::Aborted, 1_000)]);
    }
    ssd.self_check().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// The model compares the sum of the parts of each command with its latency. Nothing else is changed by splitting.
    #[test]
    fn the_parts_of_every_command_sum_to_its_latency(config in drives(), seed: u64, commands in 100u64..1500) {
        let mut config = config;
        if seed % 2 == 1 {
            config.controller.decode = DecodeTimes { hard: Nanos::micros(8), retry: Nanos::micros(40) };
            if let Some(suspend) = &mut config.timing.suspend {
                suspend.least_progress = Some(Nanos::micros(100));
                suspend.program_phase = (seed % 4 == 3).then_some(Nanos::micros(70));
            }
        }
        prop_assume!(Ssd::new(config.clone(), seed).is_ok());
        let mut life = begun(config, seed);
        let mut plain = life.clone();
        life.model.ssd.split_latencies();
        for own in [&mut life, &mut plain] {
            own.go_on(commands);
            own.model.settle_down();
            own.model.ssd.self_check().unwrap();
        }
        prop_assert_eq!((life.model.now, life.figures()), (plain.model.now, plain.figures()));
        prop_assert_eq!(plain.model.told, 0);
        prop_assert!(life.model.told > commands / 2, "{} of {commands} commands told", life.model.told);
        let controller = &life.config.controller;
        if controller.link.is_none() && controller.host_latency == HostLatency::default() {
            prop_assert_eq!(life.model.spent[LatencyCause::Link], 0);
        }
        // What no machine lays claim to counts for firmware: where firmware takes no time there is none of it.
        if controller.master_cost == Nanos::ZERO && life.config.repair.is_none() {
            prop_assert_eq!(life.model.spent[LatencyCause::Firmware], 0);
        }
    }
}
