//! Redundancy after failures of dies: the drive makes it whole again by itself, says how many failures data survives, and comes to rest.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Completion, Device, Op, Outcome, Tag};
use outlast_ftl::{PartialConfig, PartialPlace, ProgramCause, ProtectedStreams, ProtectionConfig};
use outlast_media::{Damage, Fault};
use outlast_ssd::{Reason, ScrubConfig, Ssd, SsdConfig, WriteCache};
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, Nanos};
use proptest::prelude::*;
use support::host::{SECTOR, stamp};
use support::{command, tiny};

const DIES: u16 = 8;
const UNITS: u64 = 600;
const SECTORS: u64 = 8;

/// Eight dies of one plane, whose blocks give 64 superblocks of 64 units.
fn drive(protection: ProtectionConfig, cache: WriteCache) -> SsdConfig {
    let mut config = tiny();
    config.geometry.channels = 4;
    config.geometry.planes_per_die = 1;
    config.geometry.blocks_per_plane = 64;
    config.ftl.capacity = Some(Bytes(UNITS * 4096));
    config.controller.write_cache = cache;
    config.controller.write_buffer = Bytes::kib(256);
    config.protection = Some(protection);
    config.bytes = true;
    config
}

fn code(data: u16, parity: u8) -> ProtectionConfig {
    ProtectionConfig { data, parity, ..ProtectionConfig::default() }
}

/// A drive and what each of its units holds: the number of the write that came last, 0 for none.
#[derive(Clone)]
struct Life {
    ssd: Ssd,
    now: Nanos,
    units: Vec<u64>,
    writes: u64,
}

impl Life {
    fn new(config: SsdConfig, seed: u64) -> Self {
        let mut ssd = Ssd::new(config, seed).unwrap();
        ssd.begin_timed();
        Self { ssd, now: Nanos::ZERO, units: vec![0; UNITS as usize], writes: 0 }
    }

    fn ask(&mut self, op: Op, unit: u64, data: &[u8]) -> (Outcome, Option<Vec<u8>>) {
        let sectors = if op == Op::Flush { 0 } else { SECTORS as u32 };
        self.ssd.submit_data(self.now, command(op, unit * SECTORS, sectors), Tag(0), data);
        let mut completions: Vec<Completion> = Vec::new();
        self.now = self.ssd.advance_to_completion(Nanos::MAX, &mut completions);
        assert_eq!(completions.len(), 1, "one command, one answer");
        (completions[0].outcome, self.ssd.take_data(Tag(0)))
    }

    fn bytes(unit: u64, write: u64) -> Vec<u8> {
        let sectors = unit * SECTORS..(unit + 1) * SECTORS;
        if write == 0 {
            vec![0; SECTOR * SECTORS as usize]
        } else {
            sectors.flat_map(|lba| stamp(lba, write)).collect()
        }
    }

    /// Whether the write was taken.
    fn write(&mut self, unit: u64) -> bool {
        self.writes += 1;
        let (outcome, _) = self.ask(Op::Write, unit, &Self::bytes(unit, self.writes));
        if outcome == Outcome::Ok {
            self.units[unit as usize] = self.writes;
        }
        outcome == Outcome::Ok
    }

    fn write_some(&mut self, rng: &mut SplitMix, count: u64) {
        for _ in 0..count {
            self.write(rng.below(UNITS));
        }
    }

    fn flush(&mut self) {
        assert_eq!(self.ask(Op::Flush, 0, &[]).0, Outcome::Ok);
    }

    /// Units that cannot be read; all others hold what they should.
    fn unreadable(&mut self) -> Vec<u64> {
        let mut bad = Vec::new();
        for unit in 0..UNITS {
            let (outcome, data) = self.ask(Op::Read, unit, &[]);
            match data {
                Some(data) => {
                    assert!(
                        data == Self::bytes(unit, self.units[unit as usize]),
                        "unit {unit} holds something else"
                    );
                }
                None => {
                    assert_eq!(outcome, Outcome::MediumError, "unit {unit}");
                    bad.push(unit);
                }
            }
        }
        bad
    }

    fn rest(&mut self, span: Nanos) {
        self.now = self.now + span;
        self.ssd.advance(self.now, &mut Vec::new());
    }

    fn kill(&mut self, die: u16) {
        self.ssd.inject(self.now, Fault { die, damage: Damage::Die });
    }

    fn check(&self) {
        self.ssd.self_check().unwrap();
    }

    fn moved_for_protection(&self) -> u64 {
        [Reason::Exposed, Reason::Code, Reason::Dies].map(|reason| self.ssd.moved_for(reason)).iter().sum()
    }
}

/// Long enough for everything that is to be moved.
const LONG: Nanos = Nanos::secs(60);

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
            assert_eq!(
                life.ssd.superblock_counts().collecting,
                0,
                "{cache:?}, {seed}: nothing waits for ever"
            );
            // The second failure and a loss of power at once: what has been rebuilt is on flash.
            life.kill(5);
            life.ssd.power_cut(life.now);
            assert_eq!(life.unreadable(), [0u64; 0], "{cache:?}, {seed}");
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
    // Without the host nothing goes stale: rebuilding moves all, but for what was on its way to the die and was written again at once.
    let rebuilt: u64 = rebuilt.iter().map(|own| own.2).sum();
    assert!(of(Reason::Space).next().is_none(), "collection has nothing to do");
    assert!(rebuilt <= units && rebuilt + rewritten >= units, "{rebuilt} and {rewritten} of {units}");
}

/// A loss of power takes members of stripes, without any die that has failed: they are lacking just the same, and are made good.
#[test]
fn what_a_loss_of_power_takes_from_stripes_is_made_good() {
    let mut lacked = 0;
    for cache in [WriteCache::Volatile, WriteCache::Off] {
        for (data, parity) in [(7, 1), (6, 2), (4, 2)] {
            for seed in 0..12 {
                let mut rng = SplitMix::new(seed, "life");
                let mut life = Life::new(drive(code(data, parity), cache), seed);
                life.write_some(&mut rng, 300);
                for _ in 0..4 {
                    // Writes are taken by the buffer, and their program operations cut.
                    let writes = 20 + rng.below(80);
                    life.write_some(&mut rng, writes);
                    life.rest(Nanos(rng.below(1_500_000)));
                    life.ssd.power_cut(life.now);
                    lacked += u32::from(life.ssd.redundancy().degraded_superblocks != 0);
                    life.check();
                }
                life.rest(LONG);
                let view = life.ssd.redundancy();
                assert_eq!(
                    (view.degraded_superblocks, view.rebuilds, view.data_survives),
                    (0, false, parity.into()),
                    "({data}, {parity}), {cache:?}, seed {seed}"
                );
                assert!(life.ssd.redundancy_losses().is_empty() && life.ssd.moved_for(Reason::Dies) == 0);
                let moved = life.moved_for_protection();
                life.rest(LONG);
                assert_eq!(life.moved_for_protection(), moved, "it has come to rest");
            }
        }
    }
    assert!(lacked != 0, "no loss of power took a member of a stripe");
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

fn any_protection() -> impl Strategy<Value = ProtectionConfig> {
    let code = prop::sample::select(vec![(7u16, 1u8), (3, 1), (6, 2), (5, 3), (4, 2)]);
    let places = vec![PartialPlace::None, PartialPlace::Inline, PartialPlace::Blocks, PartialPlace::Cache];
    let streams =
        prop::sample::select(vec![ProtectedStreams::All, ProtectedStreams::All, ProtectedStreams::Gathered]);
    (code, prop::option::weighted(0.3, 1u16..4), prop::sample::select(places), streams).prop_map(
        |((data, parity), block, place, streams)| {
            // A code within blocks and one over dies must divide groups of superpages evenly.
            let data = if block.is_some() { DIES - u16::from(parity) } else { data };
            let partial = PartialConfig { place, timeout: Nanos::millis(2), ..PartialConfig::default() };
            ProtectionConfig { data, parity, block, partial, streams, ..ProtectionConfig::default() }
        },
    )
}

fn any_cache() -> impl Strategy<Value = WriteCache> {
    prop::sample::select(vec![WriteCache::Protected, WriteCache::Volatile, WriteCache::Off])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Of every drive in its life: no choice of as many dies as it says loses anything; where it says none, some die does.
    #[test]
    fn data_survives_as_many_dies_as_the_drive_says(
        protection in any_protection(), cache in any_cache(), rebuild in any::<bool>(), seed in any::<u64>(),
    ) {
        let mut rng = SplitMix::new(seed, "life");
        let mut life = Life::new(drive(ProtectionConfig { rebuild, ..protection }, cache), seed);
        let mut left: Vec<u16> = (0..DIES).collect();
        for _ in 0..4 {
            let writes = 1 + rng.below(900);
            life.write_some(&mut rng, writes);
            if rng.below(2) == 0 {
                life.flush();
            }
            if rng.below(2) == 0 {
                life.rest(Nanos(rng.below(400_000_000)));
            }
            let survives = life.ssd.redundancy().data_survives;
            let before = life.clone().unreadable();
            // One die after the other, without time to rebuild.
            let mut worst = 0;
            for &first in &left {
                let mut killed = life.clone();
                killed.kill(first);
                let of_one = killed.clone().unreadable().len();
                worst = worst.max(of_one);
                prop_assert!(survives == 0 || of_one == before.len(), "die {}: {} lost", first, of_one);
                if survives >= 2 {
                    let others: Vec<u16> = left.iter().copied().filter(|&die| die != first).collect();
                    let second = others[rng.below(others.len() as u64) as usize];
                    killed.kill(second);
                    let lost = killed.unreadable().len();
                    prop_assert!(lost == before.len(), "dies {} and {}: {} lost", first, second, lost);
                }
            }
            prop_assert!(survives != 0 || worst > before.len(), "no die takes data, and none may fail");
            let die = left.swap_remove(rng.below(left.len() as u64) as usize);
            life.kill(die);
            life.check();
        }
    }

    /// A loss of power while redundancy is made whole loses nothing, and it is made whole afterwards.
    #[test]
    fn a_cut_while_rebuilding_loses_nothing(
        protection in any_protection(), cache in any_cache(), seed in any::<u64>(), cuts in 1u64..5,
    ) {
        let protection = ProtectionConfig { streams: ProtectedStreams::All, ..protection };
        let parity = u32::from(protection.parity);
        let mut rng = SplitMix::new(seed, "life");
        let mut life = Life::new(drive(protection, cache), seed);
        life.write_some(&mut rng, 1500);
        life.flush();
        life.rest(Nanos::millis(50));
        life.kill(rng.below(u64::from(DIES)) as u16);
        for _ in 0..cuts {
            life.rest(Nanos(rng.below(60_000_000)));
            life.ssd.power_cut(life.now);
            life.check();
        }
        prop_assert_eq!(life.unreadable(), [0u64; 0]);
        life.rest(LONG);
        let view = life.ssd.redundancy();
        prop_assert!(view.degraded_superblocks == 0 && !view.rebuilds, "{:?}", view);
        prop_assert_eq!(view.data_survives, parity);
        prop_assert!(life.ssd.redundancy_losses().iter().all(|loss| loss.restored_at.is_some()));
        prop_assert_eq!(life.unreadable(), [0u64; 0]);
    }

    /// Whatever fails, moves for the sake of protection end: no superblock is moved twice for one cause.
    #[test]
    fn moves_for_protection_end_whatever_fails(
        protection in any_protection(), reprotect in any::<bool>(), absent in any::<bool>(), seed in any::<u64>(),
    ) {
        let mut rng = SplitMix::new(seed, "life");
        let mut config = drive(ProtectionConfig { data: protection.data.min(5), ..protection }, WriteCache::Protected);
        config.scrub = reprotect.then(|| ScrubConfig { reprotect, ..ScrubConfig::default() });
        config.geometry.planes_per_die = 2;
        config.ftl.multi_plane = rng.below(2) == 0;
        config.defects.factory_bad = if rng.below(2) == 0 { 0.02 } else { 0.0 };
        config.ftl.tolerated_bad_blocks = 1;
        config.bytes = false;
        if absent {
            config.absent_dies = vec![7];
        }
        let Ok(ssd) = Ssd::new(config.clone(), seed) else { return Ok(()) };
        drop(ssd);
        let mut life = Life::new(config, seed);
        let superblocks = u64::from(life.ssd.ftls().next().unwrap().layout().superblocks());
        let (mut causes, mut dies) = (0, 0);
        for _ in 0..6 {
            let before = life.moved_for_protection();
            let (die, plane, block) = (rng.below(7) as u16, rng.below(2) as u16, rng.below(64) as u32);
            let damage = match rng.below(5) {
                0 if dies < 2 => { dies += 1; Damage::Die }
                1 if dies < 2 => { dies += 1; Damage::Plane { plane } }
                2 => Damage::Block { plane, block },
                3 => Damage::Program { plane, block },
                _ => Damage::Erase { plane, block },
            };
            causes += 1;
            life.ssd.inject(life.now, Fault { die, damage });
            for _ in 0..8 {
                life.write_some(&mut rng, 300);
                life.rest(Nanos::millis(100));
            }
            life.rest(LONG);
            let moved = life.moved_for_protection() - before;
            prop_assert!(moved <= superblocks, "{} superblocks of {} moved for one cause", moved, superblocks);
            if !life.ssd.ftls().any(outlast_ftl::Ftl::is_read_only) {
                let at_rest = life.moved_for_protection();
                life.write_some(&mut rng, 600);
                life.rest(LONG);
                prop_assert_eq!(life.moved_for_protection(), at_rest, "nothing has failed since");
            }
            prop_assert_eq!(life.ssd.moved_for(Reason::Dies), 0, "no die was added");
            life.check();
        }
        prop_assert!(life.moved_for_protection() <= superblocks * causes);
        prop_assert_eq!(life.ssd.scrubbed_again() <= superblocks * causes, true);
    }
}

/// The drive of a report: 16 dies, a failure, and scrubbing that moved the same superblocks for ever.
#[test]
fn reprotect_moves_nothing_again_after_a_die_has_failed() {
    for (data, parity) in [(5, 3), (7, 1), (14, 1), (15, 1)] {
        for block in [None, Some(3)] {
            if block.is_some() && data + u16::from(parity) != 16 {
                continue;
            }
            let mut config = drive(ProtectionConfig { block, ..code(data, parity) }, WriteCache::Protected);
            config.geometry.channels = 8;
            config.scrub = Some(ScrubConfig { reprotect: true, ..ScrubConfig::default() });
            let mut life = Life::new(config, 1);
            let mut rng = SplitMix::new(3, "host");
            life.write_some(&mut rng, 2000);
            life.kill(3);
            life.write_some(&mut rng, 3000);
            life.rest(LONG);
            let (again, added) = (life.ssd.scrubbed_again(), life.ssd.moved_for(Reason::Dies));
            assert_eq!((again, added), (0, 0), "({data}, {parity}), {block:?}");
            assert!((1..=64).contains(&life.ssd.moved_for(Reason::Exposed)));
        }
    }
}
