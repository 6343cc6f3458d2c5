//! Is the health log what happened? Random lives beside a host that keeps its own account.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::health_log::critical_warning;
use outlast_device::{Completion, Device, Op, Outcome, Tag};
use outlast_media::{DefectConfig, DieDamage, DriveFault};
use outlast_settings::drive::WriteCache;
use outlast_ssd::Ssd;
use outlast_units::rng::SplitMix;
use outlast_units::{ByteRate, Nanos};
use support::{command, tiny};

/// What the host has seen.
#[derive(Default)]
struct Account {
    in_flight: Vec<Tag>,
    busy_since: Nanos,
    busy: Nanos,
    errors: u64,
    medium_errors: u64,
}

impl Account {
    fn ended(&mut self, completion: &Completion) {
        self.in_flight.retain(|&tag| tag != completion.tag);
        if self.in_flight.is_empty() {
            self.busy += completion.at - self.busy_since;
        }
        self.errors += u64::from(completion.outcome != Outcome::Ok);
        self.medium_errors += u64::from(completion.outcome == Outcome::MediumError);
    }
}

#[test]
fn busy_time_errors_and_cycles_are_the_hosts_own_account() {
    for seed in 0..12 {
        let mut rng = SplitMix::new(seed, "health log");
        let mut config = tiny();
        config.controller.write_cache =
            if seed % 2 == 0 { WriteCache::Volatile } else { WriteCache::Protected };
        config.controller.queue_depth = 4;
        config.controller.link = (seed % 3 == 0).then(|| ByteRate::new(500_000_000).unwrap());
        let mut ssd = Ssd::new(config, seed).unwrap();
        ssd.begin_timed();
        assert_eq!(
            (ssd.health_log(Nanos::ZERO).power_cycles, ssd.health_log(Nanos::ZERO).unsafe_shutdowns),
            (1, 0)
        );
        let (mut own, mut now, mut done) = (Account::default(), Nanos::ZERO, Vec::new());
        let (mut cuts, mut safe) = (0, 0);
        for number in 0..3000u32 {
            if number == 1500 {
                ssd.inject(now, DriveFault { die: 1, damage: DieDamage::Die });
            }
            let lba = rng.below(620) * 8;
            let op = [Op::Read, Op::Write, Op::Flush][rng.below(3) as usize];
            if own.in_flight.is_empty() {
                own.busy_since = now;
            }
            own.in_flight.push(Tag(number));
            ssd.submit(now, command(op, lba, if op == Op::Flush { 0 } else { 8 }), Tag(number));
            // Some wait for room in the queue; now and then all end, and nothing happens for a while.
            let (depth, rest) = if rng.below(4) == 0 { (0, rng.below(3_000_000)) } else { (rng.below(9), 0) };
            while own.in_flight.len() as u64 > depth {
                now = ssd.advance_to_completion(Nanos::MAX, &mut done);
                done.drain(..).for_each(|completion| own.ended(&completion));
            }
            let log = ssd.health_log(now);
            let running = if own.in_flight.is_empty() { Nanos::ZERO } else { now - own.busy_since };
            assert_eq!(log.controller_busy, own.busy + running, "seed {seed}, command {number}");
            let (told, heard) =
                ((log.error_log_entries, log.smart.media_errors), (own.errors, own.medium_errors));
            // Of commands that have ended the host hears when their completions are due.
            assert!(told.0 >= heard.0 && told.1 >= heard.1 && (told == heard || !own.in_flight.is_empty()));
            assert_eq!((log.power_cycles, log.unsafe_shutdowns, log.power_on), (1 + cuts, cuts - safe, now));
            let until = now + Nanos(rest);
            ssd.advance(until, &mut done);
            done.drain(..).for_each(|completion| own.ended(&completion));
            now = until;
            if rng.below(300) == 0 {
                if rng.below(2) == 0 {
                    ssd.announce_shutdown();
                    safe += 1;
                }
                ssd.power_cut(now);
                let log = ssd.health_log(now);
                (own.errors, own.medium_errors) = (log.error_log_entries, log.smart.media_errors);
                if !own.in_flight.is_empty() {
                    own.busy += now - own.busy_since;
                    own.in_flight.clear();
                }
                cuts += 1;
            }
        }
        assert!(
            own.errors > own.medium_errors && own.medium_errors > 10,
            "{} of {}",
            own.medium_errors,
            own.errors
        );
        assert!(cuts > 2 && own.busy < now);
    }
}

/// The extended log counts over the drive's life, through a reset of the counters; a drive that is new has counted nothing.
#[test]
fn the_extended_log_is_the_sum_of_what_was_counted_before_a_reset_and_after() {
    let mut config = tiny();
    config.controller.write_cache = WriteCache::Protected;
    config.hazards.transient_read = 0.02;
    config.hazards.erase_failure = 0.005;
    config.geometry.blocks_per_plane = 48;
    config.ftl.spare_blocks = 4;
    let (page, planes) = (config.geometry.page_size.0, config.geometry.planes() as u64);
    let mut ssd = Ssd::new(config, 3).unwrap();
    let log = ssd.extended_health();
    assert_eq!(
        (log.media_bytes_written, log.media_bytes_read, log.soft_errors, log.most_cycles),
        (0, 0, 0, 0)
    );
    assert_eq!((log.bad_blocks, log.available_spare, log.capacitor_health), (0, 100, 100));
    assert_eq!(log.free_percent, 100, "all that the host cannot fill is erased");
    let (mut now, mut done, mut rng) = (Nanos::ZERO, Vec::new(), SplitMix::new(3, "extended log"));
    let (mut reads, mut corrections) = (0, outlast_controller::Corrections::default());
    for number in 0..9000u64 {
        if number == 4000 {
            (reads, corrections) = (ssd.counters().reads.total(), ssd.corrections());
            ssd.reset_counters(now);
        }
        if number == 8000 {
            ssd.inject(now, DriveFault { die: 1, damage: DieDamage::Die });
        }
        let op = if number % 3 == 0 { Op::Read } else { Op::Write };
        ssd.submit(now, command(op, rng.below(600) * 8, 8), Tag(0));
        while done.is_empty() {
            now = ssd.advance_to_completion(Nanos::MAX, &mut done);
        }
        done.clear();
    }
    let (log, counters) = (ssd.extended_health(), ssd.counters());
    let sum = corrections + ssd.corrections();
    assert!(
        reads > 300 && corrections.reread + corrections.stripe_attempts > 5 && sum.uncorrectable > 5,
        "{reads} reads, {corrections:?}, {sum:?}"
    );
    assert_eq!(log.media_bytes_read, (reads + counters.reads.total()) * page);
    assert!(
        log.media_bytes_written > counters.programs * page,
        "what was programmed before the reset counts"
    );
    assert_eq!((log.stripe_recoveries, log.uncorrectable_reads), (sum.stripe_attempts, sum.uncorrectable));
    assert_eq!(log.soft_errors, sum.reread + sum.stripe + sum.block + sum.uncorrectable);
    // The die takes all of its blocks along; some of the others could not be erased.
    let bad: u64 = ssd.ftls().map(|ftl| ftl.space().bad_blocks()).sum();
    assert!(log.bad_blocks == bad && bad > 48, "{bad} of {planes} planes");
    assert!(log.most_cycles > log.fewest_cycles && log.free_percent < 100 && log.available_spare < 100);
}

#[test]
fn warnings_say_what_is_wrong() {
    let mut config = tiny();
    config.ftl.spare_blocks = 2;
    config.geometry.blocks_per_plane = 24;
    let new = Ssd::new(config.clone(), 1).unwrap();
    let warning = |ssd: &Ssd| ssd.health_log(Nanos::ZERO).critical_warning;
    assert_eq!(warning(&new), 0);
    let mut failed = new.clone();
    failed.inject(Nanos::ZERO, DriveFault { die: 1, damage: DieDamage::Die });
    assert_eq!(warning(&failed) & critical_warning::UNRELIABLE, critical_warning::UNRELIABLE);
    // Blocks that fail to be erased use up the spare ones; in the end the drive takes no more writes.
    config.hazards.erase_failure = 0.3;
    let mut worn = Ssd::new(config.clone(), 1).unwrap();
    let (mut now, mut done, mut seen) = (Nanos::ZERO, Vec::new(), 0);
    for number in 0..40_000u64 {
        worn.submit(now, command(Op::Write, number * 37 % 600 * 8, 8), Tag(0));
        while done.is_empty() {
            now = worn.advance_to_completion(Nanos::MAX, &mut done);
        }
        let log = worn.health_log(now);
        assert_eq!(log.critical_warning & critical_warning::SPARE != 0, log.smart.available_spare < 10);
        assert_eq!(log.critical_warning & critical_warning::READ_ONLY != 0, log.smart.read_only);
        seen |= log.critical_warning;
        if done.drain(..).any(|completion| completion.outcome == Outcome::ReadOnly) {
            break;
        }
    }
    let both = critical_warning::SPARE | critical_warning::READ_ONLY;
    assert_eq!(seen & both, both, "the drive wears out");
    // Dies that have not come yet have not failed.
    config.hazards.erase_failure = 0.0;
    config.absent_dies = vec![3];
    config.ftl.capacity = Some(outlast_units::Bytes(400 * 4096));
    assert_eq!(warning(&Ssd::new(config, 1).unwrap()), 0);
}

/// Blocks worn to 40 of 50 rated cycles are 80 % used, whichever of them have been retired.
#[test]
fn smart_tells_the_mean_wear_in_percent() {
    let mut config = tiny();
    config.geometry.channels = 1;
    config.geometry.dies_per_chip = 1;
    config.geometry.blocks_per_plane = 64;
    config.defects = DefectConfig { factory_bad: 0.0, endurance: Some(50) };
    let mut ssd = Ssd::new(config, 1).unwrap();
    ssd.pre_wear(40);
    assert_eq!(ssd.smart().percentage_used, 80);
    for unit in 0..ssd.units() {
        ssd.write_unit_untimed(unit, 0).unwrap();
    }
    for unit in 0..ssd.units() * 2 {
        ssd.write_unit_untimed(unit * 7 % ssd.units(), 0).unwrap();
    }
    let blocks = ssd.ftls().next().unwrap().space().blocks();
    assert!(blocks.max_cycles() > 40);
    assert_eq!(ssd.smart().percentage_used, (blocks.mean_cycles() * 2.0) as u32);
}

/// A drive that takes no more writes has not carried out the write that it refuses.
#[test]
fn a_refused_write_is_none_that_smart_counts() {
    let mut config = tiny();
    config.geometry.channels = 1;
    config.geometry.dies_per_chip = 1;
    config.geometry.blocks_per_plane = 64;
    config.defects = DefectConfig { factory_bad: 0.0, endurance: Some(3) };
    let mut ssd = Ssd::new(config, 1).unwrap();
    let mut done = 0;
    while ssd.write_unit_untimed(done * 7 % ssd.units(), 0).is_ok() {
        done += 1;
    }
    assert_eq!(ssd.smart().host_write_commands, done);
}
