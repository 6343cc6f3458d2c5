//! Who waits for whom on a die, and for how long at most.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Command, Completion, Device, Op, Outcome, Tag};
use outlast_media::SuspendConfig;
use outlast_settings::drive::{ControllerConfig, ReliabilityConfig, ScrubConfig, SsdConfig, WriteCache};
use outlast_settings::ftl::WearLeveling;
use outlast_ssd::Ssd;
use outlast_units::Nanos;
use support::{command, tiny};

const OVERHEAD: u64 = 5_000;
/// Command cycles, tR, and 4096 B at 667 MB/s, rounded up.
const READ: u64 = 200 + 60_000 + 6_141;
/// Command cycles, two units over the channel, tPROG.
const PROGRAM: u64 = 200 + 12_282 + 700_000;
const ERASE: u64 = 200 + 3_500_000;

fn one_die(suspend: Option<SuspendConfig>) -> SsdConfig {
    let mut config = tiny();
    config.geometry.channels = 1;
    config.geometry.dies_per_chip = 1;
    config.geometry.blocks_per_plane = 64;
    config.timing.suspend = suspend;
    config
}

fn suspend(limit: u8, reads: u8) -> SuspendConfig {
    SuspendConfig::both(Nanos(OVERHEAD), limit, reads)
}

fn advance(ssd: &mut Ssd, now: Nanos) -> Nanos {
    let mut completions = Vec::new();
    let mut now = now;
    while !ssd.is_idle() {
        now = ssd.next_deadline().unwrap();
        ssd.advance(now, &mut completions);
    }
    now
}

/// A drive with units 0 to `units` - 1 on flash, at rest.
fn filled(config: SsdConfig, units: u64) -> (Ssd, Nanos) {
    let mut ssd = Ssd::new(config, 1).unwrap();
    for unit in 0..units {
        ssd.submit(Nanos::ZERO, command(Op::Write, unit * 8, 8), Tag(unit as u32));
    }
    let now = advance(&mut ssd, Nanos::ZERO);
    ssd.reset_counters(now);
    (ssd, now)
}

/// Keeps `depth` reads of units beyond unit 16 waiting until `is_done`, or for `limit`; returns when that was and the reads served.
fn read_until(
    ssd: &mut Ssd,
    start: Nanos,
    depth: u32,
    limit: Nanos,
    mut on_other: impl FnMut(&mut Ssd, &Completion),
    is_done: impl Fn(&Ssd) -> bool,
) -> (Nanos, u64) {
    let read = |number: u64| -> Command { command(Op::Read, 128 + number * 16 % 256, 8) };
    let mut reads = 0;
    for tag in 0..depth {
        ssd.submit(start, read(u64::from(tag)), Tag(tag));
    }
    let mut completions = Vec::new();
    let mut now = start;
    while !is_done(ssd) && now < start + limit {
        now = ssd.advance_to_completion(start + limit, &mut completions);
        for done in completions.drain(..) {
            assert_eq!(done.outcome, Outcome::Ok);
            if done.tag.0 < depth {
                reads += 1;
                ssd.submit(now, read(reads + u64::from(depth)), done.tag);
            } else {
                on_other(ssd, &done);
            }
        }
    }
    (now, reads)
}

/// Reads at depth 4 keep the die busy. A program suspended twice, for three reads each time, is delayed by six reads and four overheads.
#[test]
fn a_suspended_program_ends_within_its_bound() {
    for (limit, reads) in [(1, 1), (1, 16), (2, 3), (4, 2)] {
        let (mut ssd, start) = filled(one_die(Some(suspend(limit, reads))), 64);
        ssd.submit(start, command(Op::Write, 0, 16), Tag(1000));
        let bound = PROGRAM + u64::from(limit) * (2 * OVERHEAD + u64::from(reads) * READ);
        let programmed = |ssd: &Ssd| ssd.counters().programs > 0;
        let (end, served) = read_until(&mut ssd, start, 4, Nanos::secs(1), |_, _| {}, programmed);
        // Its end is noticed at the end of the read after it.
        assert!(end.0 - start.0 <= bound + READ, "{limit} x {reads}: {} ns, bound {bound}", end.0 - start.0);
        assert_eq!(ssd.counters().suspends, u64::from(limit), "{limit} x {reads}");
        // The first suspension comes at once; of the reads one is under way when the last is counted.
        assert_eq!(served, u64::from(limit) * u64::from(reads) + 1, "{limit} x {reads}");
    }
}

/// Reads at depth 8 and writes at depth 64 share one die that has to collect. Every operation but a read waits for a bounded number
/// of reads, so that the time of the whole is bounded by what was done: a stream of reads starves neither writes nor collection.
#[test]
fn reads_starve_neither_writes_nor_collection() {
    for suspend in [None, Some(suspend(2, 4))] {
        let (mut ssd, start) = filled(one_die(suspend), 600);
        let mut issued = 64u64;
        let mut done = 0u64;
        for tag in 0..64 {
            ssd.submit(start, command(Op::Write, (100 + u64::from(tag)) * 8, 8), Tag(1000 + tag));
        }
        let written = std::cell::Cell::new(0u64);
        let (end, reads) = read_until(
            &mut ssd,
            start,
            8,
            Nanos::secs(60),
            |ssd, completion| {
                done += 1;
                written.set(done);
                // Never what is read: a read of the buffer takes no time.
                let unit = 100 + issued * 7919 % 500;
                ssd.submit(completion.at, command(Op::Write, unit * 8, 8), completion.tag);
                issued += 1;
            },
            |_| written.get() >= 4000,
        );
        assert_eq!(done, 4000, "writes in a minute");
        let counters = ssd.counters();
        let (programs, erases) = (counters.programs / 2, counters.erases / 2);
        assert!(erases > 50, "{erases} erasures");
        let delay =
            suspend.map_or(0, |own| u64::from(own.limit) * (2 * OVERHEAD + u64::from(own.reads) * READ));
        let reads_first = u64::from(ControllerConfig::PROGRAM_EVERY) * READ;
        let bound = programs * (PROGRAM + delay + reads_first)
            + erases * (ERASE + delay + reads_first)
            + counters.reads[outlast_ftl::ReadCause::Gc] * (READ + reads_first);
        assert!(end.0 - start.0 < bound, "{} ns against {bound}", end.0 - start.0);
        // And reads go first: most of what the die did was reading.
        assert!(reads > 4 * programs, "{reads} reads, {programs} programs");
    }
}

/// A die is busy once, whatever it does: reading while a program is suspended is not both.
#[test]
fn a_suspended_operation_counts_once_in_utilisation() {
    let (mut ssd, start) = filled(one_die(Some(suspend(4, 16))), 32);
    ssd.submit(start, command(Op::Write, 0, 16), Tag(0));
    let mut completions = Vec::new();
    for k in 1..4u64 {
        let at = start + Nanos::micros(100 * k);
        ssd.advance(at, &mut completions);
        ssd.submit(at, command(Op::Read, 80, 8), Tag(k as u32));
    }
    let end = advance(&mut ssd, start);
    assert_eq!(ssd.counters().suspends, 3);
    assert_eq!(end.0 - start.0, PROGRAM + 3 * (2 * OVERHEAD + READ));
    assert_eq!(ssd.die_utilisation(end, end - start), [1.0]);
}

/// Each task that relocates has a superblock to itself that the host cannot take, two where a victim waits until its data is on flash.
#[test]
fn the_host_leaves_one_superblock_to_each_task() {
    let reserve = |cache, levelling: bool, scrub: bool| {
        let mut config = one_die(None);
        config.controller.write_cache = cache;
        let static_gap = levelling.then_some(4);
        config.ftl.wear_leveling = WearLeveling { dynamic: true, static_gap };
        if scrub {
            config.reliability =
                Some(ReliabilityConfig { chip: Some("tlc-72-layer".into()), ..ReliabilityConfig::default() });
            config.scrub = Some(ScrubConfig { reads: Some(1000), ..ScrubConfig::default() });
        }
        Ssd::new(config, 1).unwrap().ftls().next().unwrap().space().reserve()
    };
    for (cache, each) in [(WriteCache::Protected, 1), (WriteCache::Volatile, 2), (WriteCache::Off, 2)] {
        assert_eq!(reserve(cache, false, false), each, "{cache:?}: collection");
        assert_eq!(reserve(cache, true, false), 2 * each, "{cache:?}: and wear levelling");
        assert_eq!(reserve(cache, true, true), 3 * each, "{cache:?}: and scrubbing");
    }
}
