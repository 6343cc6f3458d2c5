//! SLC caches, drawn at random: those that cannot work are refused, with value and limit; all others take writes for ever, and lose none.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::modes::host_mode;
use outlast_ftl::{Ftl, FtlOptions, ProgramCause, SlcCacheRules};
use outlast_media::{DefectConfig, Geometry};
use outlast_settings::drive::WhenFull;
use outlast_settings::ftl::{FtlConfig, GcConfig, ProtectionConfig, VictimPolicy};
use outlast_settings::placement::HandleIsolation::{InitiallyIsolated, PersistentlyIsolated};
use outlast_settings::placement::{FdpConfiguration, PlacementConfig};
use outlast_units::rng::SplitMix;
use outlast_units::{Bytes, DieId, Lpn};
use proptest::prelude::*;

const DIES: u16 = 4;

/// A configuration, and the seed of what is written.
#[derive(Clone, Copy, Debug)]
struct DrawnCache {
    superblocks: u32,
    rows: u32,
    cached_rows: u32,
    streams: u8,
    parity: bool,
    handles: bool,
    spare_percent: u64,
    policy: VictimPolicy,
    start_free: Option<u32>,
    rules: SlcCacheRules,
    seed: u64,
}

impl DrawnCache {
    fn of(rng: &mut SplitMix) -> Self {
        let rows = 2 + rng.below(11) as u32;
        let policies = [VictimPolicy::Greedy, VictimPolicy::Fifo, VictimPolicy::CostBenefit];
        Self {
            superblocks: 6 + rng.below(60) as u32,
            rows,
            cached_rows: 1 + rng.below(u64::from(rows) - 1) as u32,
            streams: 1 + rng.below(3) as u8,
            parity: rng.below(3) == 0,
            handles: rng.below(3) == 0,
            spare_percent: 5 + rng.below(70),
            policy: policies[rng.below(3) as usize],
            start_free: (rng.below(4) == 0).then(|| 2 + rng.below(4) as u32),
            rules: SlcCacheRules {
                bits_per_cell: 1,
                fixed: if rng.below(2) == 0 { 0 } else { rng.below(6) as u32 },
                share: rng.below(5) as f64 / 4.0,
                most_lent: if rng.below(2) == 0 { u32::MAX } else { 1 + rng.below(9) as u32 },
                when_full: if rng.below(2) == 0 { WhenFull::Direct } else { WhenFull::Fold },
                fold_from: (rng.below(3) == 0).then(|| (1 + rng.below(4)) as f64 / 4.0),
                in_idle_time: rng.below(2) == 0,
            },
            seed: rng.below(u64::MAX),
        }
    }

    fn slots(&self) -> u64 {
        u64::from(self.superblocks * self.rows) * u64::from(DIES)
    }

    fn drive(&self, units: u64) -> Result<Ftl, outlast_media::ConfigError> {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: DIES,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: self.superblocks,
            pages_per_block: self.rows,
            page_size: Bytes::kib(4),
            spare_per_page: Bytes(0),
        };
        let gc = GcConfig { policy: self.policy, start_free: self.start_free, ..GcConfig::default() };
        let config =
            FtlConfig { capacity: Some(Bytes(1)), streams: self.streams, gc, ..FtlConfig::default() };
        let protection =
            self.parity.then(|| ProtectionConfig { data: 3, parity: 1, ..ProtectionConfig::default() });
        // Handles choose streams and classes themselves.
        let protection = protection.filter(|_| !self.handles);
        let isolations = [InitiallyIsolated, PersistentlyIsolated, InitiallyIsolated];
        let handles = isolations[..usize::from(self.streams)].to_vec();
        let placement = self.handles.then(|| PlacementConfig {
            configurations: vec![FdpConfiguration { handles, ..FdpConfiguration::default() }],
            ..PlacementConfig::default()
        });
        let options = FtlOptions {
            placement,
            modes: host_mode(Some(self.cached_rows)),
            slc_cache: Some(self.rules),
            protection,
            ..FtlOptions::default()
        };
        let dies: Vec<DieId> = (0..DIES).map(DieId).collect();
        Ftl::new(&geometry, &config, &DefectConfig::default(), &dies, units, &options)
    }
}

/// Fate of a configuration: whether it was refused, and whether anything was folded.
#[derive(Debug, Default)]
struct CacheFate {
    refused: bool,
    folded: bool,
}

/// Writes six drives' worth of units with rests between them, if the configuration is not refused; the error says what is wrong with either.
fn life(drawn: &DrawnCache) -> Result<CacheFate, String> {
    let units = (drawn.slots() * (100 - drawn.spare_percent) / 100).max(1);
    let mut ftl = match drawn.drive(units) {
        Ok(ftl) => ftl,
        Err(error) => {
            let text = error.to_string();
            let has_limit = ["must", "needed", "gains nothing"].iter().any(|word| text.contains(word));
            let is_clear = has_limit && text.contains(char::is_numeric);
            return if is_clear { Ok(CacheFate { refused: true, folded: false }) } else { Err(text) };
        }
    };
    let mut rng = SplitMix::new(drawn.seed, "writes");
    let mut written = std::collections::BTreeSet::new();
    for turn in 0..6 * drawn.slots() {
        let unit = if turn < units { turn } else { rng.below(units) };
        let stream = ftl.streams().host(rng.below(u64::from(drawn.streams)) as u16, 0);
        if ftl.write_untimed(stream, Lpn(unit as u32)).is_err() {
            return Err(format!("after {turn} of {} units the drive takes no more", 6 * drawn.slots()));
        }
        written.insert(unit);
        if rng.below(500) == 0 {
            ftl.settle_untimed();
            ftl.self_check()?;
            ftl.check_restored()?;
        }
    }
    let lost = written.iter().filter(|&&unit| !ftl.lookup(Lpn(unit as u32)).is_some()).count();
    if lost != 0 {
        return Err(format!("{lost} units of {} are mapped no more", written.len()));
    }
    let folded = ftl.figures().written[ProgramCause::Fold] != 0;
    ftl.self_check().map(|()| CacheFate { refused: false, folded })
}

fn lives(count: u32, seed: u64) -> [u32; 3] {
    let mut rng = SplitMix::new(seed, "caches");
    let mut counts = [0; 3];
    for _ in 0..count {
        let drawn = DrawnCache::of(&mut rng);
        let CacheFate { refused, folded } = life(&drawn).unwrap_or_else(|error| panic!("{drawn:?}: {error}"));
        counts[0] += u32::from(refused);
        counts[1] += u32::from(!refused);
        counts[2] += u32::from(folded);
    }
    counts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn no_cache_comes_to_a_stop(seed in any::<u64>()) {
        lives(40, seed);
    }
}

/// Ten thousand caches on drives of all sizes.
#[test]
#[ignore = "takes minutes"]
fn ten_thousand_caches_are_refused_or_run() {
    let [refused, ran, folded] = lives(10_000, 1);
    assert!(refused > 1000 && ran > 1000 && folded > 1000, "{refused} refused, {ran} ran, {folded} folded");
}

fn plain(when_full: WhenFull) -> DrawnCache {
    let rules = SlcCacheRules {
        bits_per_cell: 1,
        fixed: 0,
        share: 1.0,
        most_lent: u32::MAX,
        when_full,
        fold_from: None,
        in_idle_time: false,
    };
    DrawnCache {
        superblocks: 60,
        rows: 9,
        cached_rows: 3,
        streams: 1,
        parity: false,
        handles: false,
        spare_percent: 15,
        policy: VictimPolicy::Greedy,
        start_free: None,
        rules,
        seed: 1,
    }
}

/// One fill: what the host writes, and what is folded of it, is all that is programmed. What cannot stay in the cache must be folded: the data takes a third
/// of a superblock of the cache, or a whole one.
#[test]
fn one_fill_costs_one_and_the_folded_share() {
    for when_full in [WhenFull::Direct, WhenFull::Fold] {
        let drawn = plain(when_full);
        let units = drawn.slots() * 85 / 100;
        let mut ftl = drawn.drive(units).unwrap();
        let stream = ftl.streams().host(0, 0);
        (0..units).for_each(|unit| {
            ftl.write_untimed(stream, Lpn(unit as u32)).unwrap();
        });
        let written = ftl.figures().written;
        let folded = written[ProgramCause::Fold];
        assert_eq!(written.total(), units + folded, "{when_full:?}");
        // Superblocks in use: cached data takes three times its size. All data d, of it c in the cache: 3c + (d - c) = flash.
        let in_cache = ftl.space().slc_cache_figures().unwrap().valid;
        let taken = 3 * in_cache + (units - in_cache);
        let free = u64::from(ftl.space().free_superblocks() + 4) * u64::from(drawn.rows) * u64::from(DIES);
        assert!(taken <= drawn.slots() && taken + free >= drawn.slots(), "{when_full:?}: {taken} {free}");
    }
}
