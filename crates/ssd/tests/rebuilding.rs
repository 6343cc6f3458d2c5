//! Rebuilding after a failure: it goes on by itself, keeps to its bandwidth and its turns, and ends on flash.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Device, Op, Tag};
use outlast_ftl::ProgramCause;
use outlast_settings::drive::WriteCache;
use outlast_settings::ftl::ProtectionConfig;
use outlast_ssd::{Reason, Ssd};
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, Nanos};
use support::command;
use support::redundant::{LONG, Life, SECTORS, UNITS, code, drive};

#[test]
fn a_drive_that_has_rebuilt_loses_nothing_with_the_next_die() {
    for cache in [WriteCache::Protected, WriteCache::Volatile, WriteCache::Off] {
        for (data, parity) in [(7, 1), (3, 1), (6, 2)] {
            let mut life = Life::new(drive(code(data, parity), cache), 1);
            assert_eq!(life.ssd.redundancy().data_survives, u32::from(parity));
            life.write_some(&mut SplitMix::new(7, "host"), 1500);
            life.flush();
            for die in [0, 5, 3] {
                assert_eq!(life.ssd.redundancy().data_survives, u32::from(parity), "before die {die}");
                life.kill(die);
                assert_eq!(life.ssd.redundancy().data_survives, u32::from(parity) - 1);
                assert!(life.ssd.redundancy().rebuilds, "{:?}", life.ssd.redundancy());
                life.rest(LONG);
                let view = life.ssd.redundancy();
                assert_eq!(
                    (view.data_survives, view.degraded_superblocks, view.rebuilds),
                    (parity.into(), 0, false)
                );
                assert_eq!(life.unreadable(), [0u64; 0], "die {die}, ({data}, {parity}), {cache:?}");
                life.check();
            }
            let losses = life.ssd.redundancy_losses();
            assert_eq!(losses.iter().map(|loss| loss.die).collect::<Vec<_>>(), [0, 5, 3]);
            assert!(
                losses.iter().all(|loss| loss.units != 0 && loss.restored_at.is_some_and(|at| at > loss.at))
            );
            assert_eq!(life.ssd.lost_units(), 0);
        }
    }
}

/// Program units of several mapping units, of which the last data of a superblock begins one: nothing but the next superblock fills it.
#[test]
fn rebuilding_goes_on_on_an_idle_drive_and_ends_on_flash() {
    for cache in [WriteCache::Protected, WriteCache::Volatile, WriteCache::Off] {
        for seed in 0..6 {
            let mut config = drive(code(7, 1), cache);
            config.geometry.page_size = outlast_units::Bytes::kib(16);
            let mut life = Life::new(config, seed);
            life.write_some(&mut SplitMix::new(seed, "host"), 1000 + seed * 37);
            life.flush();
            life.kill(0);
            life.rest(LONG);
            let view = life.ssd.redundancy();
            assert_eq!(
                (view.data_survives, view.degraded_superblocks),
                (1, 0),
                "{cache:?}, {seed}: {view:?}"
            );
            // Either of a second failure and a loss of power takes nothing: what has been rebuilt is on flash, and parity in the buffer counts
            // until power is lost.
            let mut cut = life.clone();
            cut.ssd.power_cut(cut.now);
            assert_eq!(cut.unreadable(), [0u64; 0], "{cache:?}, {seed}: after a loss of power");
            life.kill(5);
            assert_eq!(life.unreadable(), [0u64; 0], "{cache:?}, {seed}: after a second failure");
            life.check();
        }
    }
}

#[test]
fn without_rebuild_the_next_die_takes_data_with_it() {
    let mut config = drive(ProtectionConfig { rebuild: false, ..code(7, 1) }, WriteCache::Protected);
    config.ftl.capacity = Some(Bytes(UNITS * 4096));
    let mut life = Life::new(config, 1);
    life.write_some(&mut SplitMix::new(7, "host"), 1500);
    life.kill(0);
    life.rest(LONG);
    let view = life.ssd.redundancy();
    assert_eq!((view.data_survives, view.rebuilds, view.lacks_space), (0, false, false));
    assert!(view.degraded_units != 0 && life.ssd.redundancy_losses()[0].restored_at.is_none());
    assert_eq!(life.unreadable(), [0u64; 0]);
    life.kill(5);
    assert_ne!(life.unreadable(), [0u64; 0]);
}

#[test]
fn rebuilding_keeps_to_its_bandwidth() {
    let time = |bandwidth: Option<&str>| {
        let rebuild_bandwidth = bandwidth.map(|rate| rate.parse().unwrap());
        let mut life =
            Life::new(drive(ProtectionConfig { rebuild_bandwidth, ..code(7, 1) }, WriteCache::Protected), 1);
        life.write_some(&mut SplitMix::new(7, "host"), 1500);
        life.kill(0);
        life.rest(Nanos::secs(600));
        let loss = life.ssd.redundancy_losses()[0];
        let moves = life.ssd.decisions().iter().filter(|own| own.at >= loss.at);
        let moves: Vec<(Nanos, Reason, u64)> =
            moves.map(|own| (own.at, own.reason, u64::from(own.valid))).collect();
        let rewritten = life.ssd.written()[ProgramCause::Rewritten];
        (loss.restored_at.unwrap() - loss.at, loss.units, moves, rewritten)
    };
    let ((free, ..), (paced, units, moves, rewritten)) = (time(None), time(Some("64KiB/s")));
    assert!(free < Nanos::secs(1), "{free} without a bandwidth");
    let of = |reason: Reason| moves.iter().filter(move |own| own.1 == reason);
    // Each move makes the next wait for as long as its own units take; the last makes none wait.
    let rebuilt: Vec<_> = of(Reason::Exposed).collect();
    for pair in rebuilt.windows(2) {
        let least = Nanos(pair[0].2 * 4096 * 1_000_000_000 / 65_536);
        assert!(pair[1].0 - pair[0].0 >= least, "{:?} and {:?} within {least}", pair[0], pair[1]);
    }
    let (first, last) = (rebuilt[0], rebuilt[rebuilt.len() - 1]);
    assert!(paced >= last.0 - first.0, "{paced}");
    // Without the host nothing goes stale: rebuilding moves all except for what was on its way to the die and was written again at once.
    let rebuilt: u64 = rebuilt.iter().map(|own| own.2).sum();
    assert!(of(Reason::Space).next().is_none(), "collection has nothing to do");
    assert!(rebuilt <= units && rebuilt + rewritten >= units, "{rebuilt} and {rewritten} of {units}");
}

#[test]
fn rebuilding_on_busy_dies_is_the_sooner_the_more_turns_it_gets() {
    let time = |every: Option<u8>| {
        let protection = ProtectionConfig { rebuild_every: every, ..code(7, 1) };
        let mut life = Life::new(drive(protection, WriteCache::Protected), 1);
        let mut rng = SplitMix::new(7, "host");
        life.write_some(&mut rng, 1500);
        life.kill(0);
        // Reads keep every die busy.
        let mut completions = Vec::new();
        for tag in 0..64 {
            life.ssd.submit_data(life.now, command(Op::Read, rng.below(UNITS) * SECTORS, 8), Tag(tag), &[]);
        }
        while life.ssd.redundancy_losses()[0].restored_at.is_none() {
            completions.clear();
            life.now = life.ssd.advance_to_completion(Nanos::MAX, &mut completions);
            for done in &completions {
                let _ = life.ssd.take_data(done.tag);
                life.ssd.submit_data(
                    done.at,
                    command(Op::Read, rng.below(UNITS) * SECTORS, 8),
                    done.tag,
                    &[],
                );
            }
            assert!(life.now < Nanos::secs(600), "reads let rebuilding starve");
        }
        life.ssd.redundancy_losses()[0].restored_at.unwrap() - life.ssd.redundancy_losses()[0].at
    };
    let (often, seldom) = (time(Some(1)), time(Some(255)));
    assert!(often.0 * 2 < seldom.0, "{often} with every other turn, {seldom} with one in 256");
}

#[test]
fn a_drive_without_room_for_rebuilding_says_so_and_goes_on() {
    // So much that the drive takes writes after one failure, and no more than that.
    let most = (1..64u64).map(|tenth| UNITS * (10 + tenth) / 10).rev().find(|&units| {
        let mut config = drive(code(7, 1), WriteCache::Protected);
        config.ftl.capacity = Some(Bytes(units * 4096));
        config.bytes = false;
        Ssd::new(config, 1).is_ok_and(|ssd| ssd.dies_it_can_lose(Nanos::ZERO) >= 1)
    });
    let mut config = drive(code(7, 1), WriteCache::Protected);
    config.ftl.capacity = Some(Bytes(most.unwrap() * 4096));
    let mut life = Life::new(config, 1);
    let mut rng = SplitMix::new(7, "host");
    life.write_some(&mut rng, 3000);
    life.kill(2);
    life.rest(LONG);
    let view = life.ssd.redundancy();
    assert!(view.lacks_space && !view.rebuilds && view.data_survives == 0, "{view:?}");
    for _ in 0..3000 {
        assert!(life.write(rng.below(UNITS)), "it takes writes as it did");
    }
    assert_eq!(life.unreadable(), [0u64; 0]);
    life.check();
}
