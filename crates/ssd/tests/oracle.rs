//! Does every read return the last write? Random mixes of commands against a plain map, with real bytes, on tiny drives of many
//! kinds, until everything has come to rest.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Command, Device, Op, Outcome, PlacementId, Tag};
use outlast_ftl::ProgramCause;
use outlast_media::{ChannelOrder, PageTimes, PlaneReads, SuspendConfig};
use outlast_settings::drive::{HostLatency, PausesConfig, SsdConfig, WriteCache};
use outlast_settings::ftl::{Allocation, GcConfig, VictimPolicy, WearLeveling};
use outlast_ssd::Ssd;
use outlast_units::rng::SplitMix;
use outlast_units::{ByteRate, Bytes, Lba, Nanos};
use proptest::prelude::*;
use support::host::{Host, SECTOR, stamp};
use support::pacing::pacings;
use support::tiny;
use support::torture::coalesces;

fn drive(mut config: SsdConfig, seed: u64, commands: u32, depth: u32) -> Ssd {
    config.bytes = true;
    let ssd = Ssd::new(config, seed).expect("a drive that works");
    let mut host = Host::new(ssd);
    let mut rng = SplitMix::new(seed, "commands");
    let sectors = host.sectors.len() as u64;
    for number in 0..commands {
        while host.pending.len() >= depth as usize {
            assert!(host.step(), "commands are pending and nothing happens");
        }
        let op = match rng.below(100) {
            0..55 => Op::Write,
            55..90 => Op::Read,
            90..97 => Op::Trim,
            _ => Op::Flush,
        };
        let longest = if rng.below(4) == 0 { 100 } else { 9 };
        let length = if op == Op::Flush { 0 } else { 1 + rng.below(longest) };
        // Two writes in three go to a tenth of the space, so that overwrites, and races, are common.
        let span = if rng.below(3) == 0 { sectors } else { sectors / 10 };
        let lba = Lba(rng.below(span - length));
        let placement = PlacementId(if op == Op::Write { rng.below(3) as u16 } else { 0 });
        let fua = op == Op::Write && rng.below(10) == 0;
        let command = Command { placement, fua, ..Command::new(op, lba, length as u32) };
        host.submit(Tag(number), command);
        if number % 512 == 0 {
            host.ssd.self_check().unwrap();
        }
    }
    host.settle_down();
    host.read_everything(commands);
    host.ssd.self_check().unwrap();
    assert!(host.reads_checked > sectors);
    let written = host.ssd.written();
    let slots: u32 = host.ssd.ftls().map(|ftl| ftl.layout().slots()).sum();
    let (host_units, moved) = (written[ProgramCause::Host], written[ProgramCause::Gc]);
    assert!(moved > 0 || host_units < u64::from(slots), "the mix never made garbage collection run");
    host.ssd
}

fn configurations() -> impl Strategy<Value = SsdConfig> {
    let policy = prop::sample::select(VictimPolicy::ALL);
    let cache = prop::sample::select(vec![WriteCache::Protected, WriteCache::Volatile, WriteCache::Off]);
    // Mapping unit and page: several units to a page, one, a unit over planes, a unit over page rows.
    let sizes = prop::sample::select(vec![(4, 4), (2, 4), (4, 16), (8, 4), (16, 4), (4, 2)]);
    let order = (prop::sample::select(vec!["CWDP", "PDWC", "DCPW"]), 0u32..8);
    (
        (policy, cache, sizes, order),
        (any::<bool>(), 1u8..4, prop::sample::select(vec![1u16, 2, 4]), pacings()),
        (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()),
    )
        .prop_map(
            |((policy, cache, (unit, page), order), (multi_plane, streams, cores, pacing), rest)| {
                let (link, cpu, suspend, leveling, bound) = rest;
                let mut config = tiny();
                config.geometry.page_size = Bytes::kib(page);
                config.geometry.blocks_per_plane = 24 * u32::from(streams);
                config.geometry.pages_per_block = if page == 16 { 4 } else { 8 };
                config.ftl.mapping_unit = Bytes::kib(unit);
                let raw = config.geometry.raw_capacity().0;
                config.ftl.capacity = Some(Bytes(raw / 2));
                config.controller.write_cache = cache;
                pacing.set(&mut config);
                config.ftl.gc = GcConfig { policy, choices: 3, ..config.ftl.gc };
                let (order, stride) = order;
                config.ftl.allocation = Allocation::try_from(order.to_owned()).unwrap();
                config.ftl.multi_plane = multi_plane;
                config.ftl.stride = 1 + stride % (if multi_plane { 4 } else { 8 } / u32::from(cores));
                config.ftl.streams = streams;
                config.ftl.wear_leveling =
                    WearLeveling { dynamic: !leveling, static_gap: leveling.then_some(2) };
                config.controller.flash_cores = cores;
                config.controller.write_buffer = Bytes::kib(512);
                config.controller.read_cache = link.then(|| Bytes::kib(256));
                coalesces(&mut config, cpu, if suspend { 128 } else { 0 });
                config.controller.link = link.then(|| ByteRate::new(500_000_000).unwrap());
                config.controller.internal_operations = bound.then_some(1);
                config.controller.think_time = if link { Nanos::micros(90) } else { Nanos::ZERO };
                config.controller.pauses =
                    bound.then_some(PausesConfig { every: Nanos::millis(2), length: Nanos::micros(900) });
                config.controller.queue_depth = if bound { 3 } else { 64 };
                if cpu {
                    config.controller.master_cost = Nanos(700);
                    config.controller.read_cost = Nanos(900);
                    config.controller.write_cost = Nanos(1100);
                    config.controller.relocation_cost = Nanos(500);
                }
                if cpu != link {
                    let (submit, complete) = (Nanos(1500), Nanos::micros(7));
                    config.controller.host_latency = HostLatency { submit, complete };
                }
                if suspend {
                    config.timing.suspend = Some(SuspendConfig::both(Nanos::micros(5), 3, 2));
                    config.timing.channel = ChannelOrder::ReadsFirst;
                    config.controller.decode.hard = Nanos::micros(7);
                    config.timing.cache_read = bound.then_some(Nanos::micros(3));
                    if config.ftl.multi_plane {
                        config.timing.plane_reads = PlaneReads::Independent;
                    }
                    config.timing.read = PageTimes::ByType(vec![Nanos::micros(40), Nanos::micros(70)]);
                }
                config
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, ..ProptestConfig::default() })]

    #[test]
    fn every_read_returns_the_last_write(config in configurations(), seed: u64) {
        let deep = seed % 3 != 0;
        drive(config, seed, 6000, if deep { 16 } else { 1 });
    }
}

#[test]
fn factory_bad_blocks_change_nothing_that_the_host_sees() {
    let mut config = tiny();
    config.geometry.blocks_per_plane = 40;
    config.ftl.spare_blocks = 12;
    config.defects.factory_bad = 0.1;
    let ssd = drive(config, 11, 6000, 8);
    assert!(ssd.ftls().next().unwrap().space().blocks().bad_blocks() > 0);
}

#[test]
fn one_seed_gives_one_history() {
    let run = || {
        let ssd = drive(tiny(), 5, 3000, 16);
        (ssd.counters(), ssd.written())
    };
    assert_eq!(run(), run());
}

#[test]
fn a_drive_that_wears_out_refuses_writes_and_still_returns_the_data() {
    let mut config = tiny();
    config.bytes = true;
    config.ftl.spare_blocks = 2;
    config.defects.endurance = Some(12);
    let mut ssd = Ssd::new(config, 3).unwrap();
    let units = ssd.units();
    let mut rng = SplitMix::new(3, "wear");
    let mut last = vec![0u64; units as usize];
    let (mut now, mut refused) = (Nanos::ZERO, 0);
    for version in 1..200_000u64 {
        let unit = rng.below(units);
        let data = stamp(unit, version).repeat(8);
        ssd.submit_data(now, support::command(Op::Write, unit * 8, 8), Tag(0), &data);
        let mut completions = Vec::new();
        now = ssd.advance_to_completion(Nanos::MAX, &mut completions);
        match completions[0].outcome {
            Outcome::Ok => last[unit as usize] = version,
            Outcome::ReadOnly => refused += 1,
            outcome => unreachable!("{outcome:?} within the capacity, without faults"),
        }
        if refused > 100 {
            break;
        }
    }
    assert!(refused > 100, "the drive never wore out");
    for (unit, &version) in (0u64..).zip(&last) {
        ssd.submit(now, support::command(Op::Read, unit * 8, 1), Tag(0));
        now = ssd.advance_to_completion(Nanos::MAX, &mut Vec::new());
        let data = ssd.take_data(Tag(0)).unwrap();
        let expected = if version == 0 { [0; SECTOR] } else { stamp(unit, version) };
        assert_eq!(data, expected, "unit {unit}");
    }
    ssd.self_check().unwrap();
}
