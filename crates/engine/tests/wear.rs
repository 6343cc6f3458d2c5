//! Is wear kept even, and does a drive wear out without losing its mind?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_engine::{RunControl, Simulation};
use outlast_ftl::ProgramCause;
use support::{DriveText, Run, run, scenario};

/// 64 superblocks of 64 units; 90 % of the writes go to 10 % of the space. `more` sets wear levelling, defects, spare blocks.
fn skewed(requests: u64, timing: &str, ftl: &str, defects: &str) -> outlast_engine::Scenario {
    scenario(&format!(
        r#"
{drive}
[device.defects]
{defects}
[precondition]
overwrite = "none"
[run]
timing = "{timing}"
[workload.synthetic]
pattern = "hotcold"
hot_fraction = 0.1
hot_access = 1.0
queue_depth = 16
requests = {requests}
"#,
        drive = DriveText::channels(1).dies(2).blocks(64, 32, "4KiB").spare(0.3).ftl(ftl).buffer("256KiB")
    ))
}

/// Most less least P/E cycles of a superblock, with cold data never rewritten.
fn spread(requests: u64, timing: &str, wear_leveling: &str) -> (u32, Run) {
    let mut scenario = skewed(requests, timing, &format!("wear_leveling = {{ {wear_leveling} }}"), "");
    if timing == "full" {
        // Two dies at 700 us a page write 2800 a second: about 60 % load with collection and levelling.
        let synthetic = scenario.workload.synthetic.as_mut().unwrap();
        (synthetic.queue_depth, synthetic.rate_iops) = (None, Some(1500.0));
    }
    let run = run(scenario);
    let wear = &run.summary().wear;
    (wear.max_pe - wear.min_pe, run)
}

/// Cold data is never written, so without static levelling its superblocks are never erased and the spread grows with the
/// writes; with it the spread stays near the gap: a superblock is moved as soon as a free one is more than the gap ahead of the
/// coldest, one for each collected superblock, so the spread exceeds the gap by the few cycles that happen meanwhile.
#[test]
fn static_levelling_bounds_the_spread_and_its_absence_does_not() {
    for timing in ["none", "full"] {
        let (short, _) = spread(20_000, timing, "dynamic = true");
        let (long, _) = spread(80_000, timing, "dynamic = true");
        assert!(short > 12 && long > 3 * short, "{timing}: {short}, then {long}");
        for gap in [4, 8] {
            for requests in [20_000, 80_000] {
                let (levelled, run) =
                    spread(requests, timing, &format!("dynamic = true, static_gap = {gap}"));
                // Without time the host never pauses, and levelling lags: what holds then is below.
                assert!(
                    levelled <= gap + 4 || timing == "none",
                    "{timing}: gap {gap}, spread {levelled} after {requests} writes"
                );
                let waf = run.summary().write_amplification.as_ref().unwrap();
                assert!(
                    waf.causes[ProgramCause::WearLeveling] > 0.0,
                    "{timing}: the gap was kept by moving nothing"
                );
            }
        }
    }
}

/// Also when the host never pauses: levelling may be slow, but it must not starve, or the drive wears out at its hottest blocks.
#[test]
fn static_levelling_does_not_starve_under_full_load() {
    for timing in ["none", "full"] {
        let levelled = |requests: u64| {
            let ftl = "wear_leveling = { dynamic = true, static_gap = 4 }";
            let run = run(skewed(requests, timing, ftl, ""));
            let utilisation = &run.summary().queue.die_utilisation;
            assert!(timing == "none" || utilisation.min > 0.95, "the host pauses");
            run.summary().wear.max_pe - run.summary().wear.min_pe
        };
        let (short, long) = (levelled(40_000), levelled(160_000));
        assert!(long < 2 * short + 8, "{timing}: the spread grows with the writes: {short}, then {long}");
    }
}

/// A smaller gap moves more data.
#[test]
fn a_smaller_gap_costs_more() {
    let cost = |gap: u32| {
        let (_, run) = spread(60_000, "none", &format!("dynamic = true, static_gap = {gap}"));
        run.summary().write_amplification.as_ref().unwrap().causes[ProgramCause::WearLeveling]
    };
    let costs = [cost(2), cost(8), cost(32)];
    assert!(costs[0] > costs[1] && costs[1] > costs[2], "{costs:?}");
}

/// Among superblocks in use, taking the least-worn free one keeps them closer than taking the one freed longest ago can be worse.
#[test]
fn dynamic_levelling_is_not_worse_than_none() {
    let ((with, _), (without, _)) =
        (spread(60_000, "none", "dynamic = true"), spread(60_000, "none", "dynamic = false"));
    assert!(with <= without + 2, "{with} against {without}");
}

/// A drive near its end: no victim is left whose data fills the program unit that the one before it has begun, and on which its erasure waits. The host's write
/// that needs the superblock has that program unit padded; with tokens nothing else came to wake the drive.
#[test]
fn a_victim_that_waits_for_a_begun_program_unit_holds_up_no_write_for_ever() {
    let text = r#"
seed = 87234731
[device.geometry]
channels = 1
chips_per_channel = 1
dies_per_chip = 2
planes_per_die = 2
blocks_per_plane = 55
pages_per_block = 4
page_size = "2KiB"
[device.timing]
read = ["40us", "60us"]
program = ["300us", "900us"]
erase = "3500us"
bus = "800MB/s"
command = "200ns"
[device.ftl]
over_provisioning = 0.8
mapping_unit = "512B"
spare_blocks = 0
streams = 1
multi_plane = true
allocation = "CWDP"
[device.controller]
write_buffer = "16KiB"
flash_cores = 1
write_cache = "off"
queue_depth = 1
[device.defects]
factory_bad = 0
endurance = 3
[device.ftl.gc]
policy = "fifo"
choices = 1
pacing = "token"
stop_free = 7
token = { window = "5ms", factor = 0.7, depth = "192KiB", rate = "burst" }
[device.ftl.wear_leveling]
dynamic = false
[precondition]
fill = "sequential"
overwrite = "random"
min_drive_writes = 0.5
max_drive_writes = 1
[run]
timing = "full"
[workload.synthetic]
pattern = "uniform"
read_percent = 20
trim_percent = 5
flush_every = 30
fua_percent = 5
sizes = [{ size = "512B", weight = 1 }, { size = "4KiB", weight = 4 }, { size = "20KiB", weight = 1 }]
align = "512B"
queue_depth = 1
requests = 2000
"#;
    let (scenario, _) = outlast_engine::parse_text(text).unwrap();
    let run = run(scenario);
    let host = &run.summary().host;
    assert!(host.errors > 0, "the drive never wore out");
    assert_eq!(
        host.reads + host.writes + host.trims + host.flushes + host.errors,
        2000,
        "every command is answered"
    );
}

/// Blocks retire to spares, then superblocks are given up, then the drive serves reads only: writes fail, and are counted.
#[test]
fn a_drive_wears_out_into_read_only() {
    for timing in ["none", "full"] {
        for gap in ["", ", static_gap = 4"] {
            let ftl = format!("spare_blocks = 4\nwear_leveling = {{ dynamic = true{gap} }}");
            let mut scenario = skewed(400_000, timing, &ftl, "endurance = 40");
            scenario.workload.synthetic.as_mut().unwrap().read_percent = Some(30.0);
            let run = run(scenario);
            let summary = run.summary();
            assert!(summary.host.errors > 0, "{timing}{gap}: it never wore out");
            let cycles = run.table("wear").u64("cycles");
            let most = cycles.iter().max();
            assert_eq!(most, Some(&40), "a block was used beyond its endurance, or none reached it");
            assert!(summary.wear.max_pe < 40, "a block in use is one that has not reached its endurance");
            assert!(
                summary.wear.bad_blocks > 8,
                "{timing}: only {} blocks went bad",
                summary.wear.bad_blocks
            );
            assert_eq!(summary.wear.spare_blocks_left, 0);
            assert!(run.simulation.ssd().ftls().all(outlast_ftl::Ftl::is_read_only));
            let series = run.table("timeseries");
            assert_eq!(series.u64("errors").iter().sum::<u64>(), summary.host.errors);
            if timing == "full" {
                // Reads go on, and every command is answered.
                assert_eq!(summary.host.reads + summary.host.writes + summary.host.errors, 400_000);
                assert_eq!(summary.host.failed.as_ref().map(|failed| failed.reads), Some(0));
            } else {
                assert_eq!(summary.host.errors, 1, "a study without time ends at the first error");
            }
        }
    }
}

/// A drive that wears out while it is being prepared is an error in words.
#[test]
fn a_drive_that_wears_out_while_it_is_prepared_says_so() {
    let mut scenario = skewed(100, "none", "", "endurance = 2");
    scenario.precondition.overwrite = outlast_engine::OverwritePattern::Random;
    scenario.precondition.min_drive_writes = 50.0;
    scenario.precondition.max_drive_writes = 50.0;
    let error =
        Simulation::new(scenario).unwrap().run(&mut |_| RunControl::Continue).unwrap_err().to_string();
    assert!(error.contains("wore out") && error.contains("units"), "{error}");
}

/// Host units that a drive with wear levelling takes until it is worn out.
fn lifetime(timing: &str, endurance: u32) -> f64 {
    let ftl = "wear_leveling = { dynamic = true, static_gap = 2 }";
    let run = run(skewed(4_000_000, timing, ftl, &format!("endurance = {endurance}")));
    run.summary().host.writes as f64
}

/// More endurance, more writes: the lifetime is proportional to it, except for the first fill and the last cycle, and for the cycles, some 27, by which wear levelling lags behind a
/// host that always has writes waiting.
#[test]
fn lifetime_grows_with_endurance() {
    let (short, long) = (lifetime("none", 200), lifetime("none", 800));
    assert!((3.2..4.8).contains(&(long / short)), "{short}, then {long}");
}

/// The data that wear levelling moves beside a saturating host decides how long the drive lives. Within 3 %, as write amplification
/// (`both_clocks`).
#[test]
fn wear_levelling_makes_a_drive_live_as_long_by_either_clock() {
    let (none, full) = (lifetime("none", 100), lifetime("full", 100));
    assert!((none / full - 1.0).abs() < 0.03, "{none} without time, {full} in time");
}
