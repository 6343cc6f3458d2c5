//! Does every page have a cause, and does every table add up to the totals?
//!
//! Everything here is exact: counts are compared with `==`, ratios up to rounding of 64-bit floats.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::float_cmp, reason = "neighbouring windows share the very same number")]

mod checks;

use crate::support;

use checks::{check_amplification, check_flash, check_tables};
use outlast_engine::Scenario;
use outlast_ftl::ProgramCause;
use outlast_units::Nanos;
use support::{DriveText, assert_close, run, scenario};

const POLICIES: [&str; 4] = ["greedy", "cost-benefit", "fifo", "d-choices"];
const CACHES: [&str; 3] = ["protected", "volatile", "off"];

/// Mapping unit and page in KiB: one to a page, four to a page, one over two pages (of two planes), one over four pages (two
/// rows of two planes).
const SIZES: [(u32, u32); 4] = [(4, 4), (4, 16), (8, 4), (16, 4)];

#[derive(Clone, Copy)]
struct Case {
    policy: &'static str,
    cache: &'static str,
    unit: u32,
    page: u32,
    timing: &'static str,
    cores: u32,
    leveling: bool,
    multi_plane: bool,
    /// Settings of the controller beside these.
    controller: &'static str,
}

const PLAIN: Case = Case {
    policy: "greedy",
    cache: "protected",
    unit: 4,
    page: 4,
    timing: "full",
    cores: 1,
    leveling: false,
    multi_plane: true,
    controller: "",
};

impl Case {
    fn scenario(&self, fill: &str, workload: &str) -> Scenario {
        let Self { policy, cache, unit, page, timing, cores, leveling, multi_plane, controller } = *self;
        let blocks = 48;
        let pages = if page == 16 { 8 } else { 16 };
        let leveling = if leveling { "wear_leveling = { dynamic = true, static_gap = 3 }" } else { "" };
        scenario(&format!(
            r#"
{drive}
[precondition]
fill = "{fill}"
overwrite = "none"
[run]
timing = "{timing}"
window = "200us"
[workload.synthetic]
{workload}
"#,
            drive = DriveText::channels(2)
                .dies(2)
                .planes(2)
                .blocks(blocks, pages, &format!("{page}KiB"))
                .spare(0.4)
                .gc(&format!("policy = \"{policy}\", choices = 4"))
                .ftl(&format!("mapping_unit = \"{unit}KiB\"\nmulti_plane = {multi_plane}\n{leveling}"))
                .buffer("1MiB")
                .controller(&format!("flash_cores = {cores}\nwrite_cache = \"{cache}\"\n{controller}"))
        ))
    }
}

/// Writes of all sizes, whole units and parts of them, hot and cold, with trims, flushes and forced writes.
const MIX: &str = r#"
pattern = "hotcold"
read_percent = 20
trim_percent = 3
flush_every = 40
fua_percent = 5
sizes = [{ size = "4KiB", weight = 5 }, { size = "1536B", weight = 2 }, { size = "64KiB", weight = 2 }]
align = "512B"
queue_depth = 16
requests = 12000
"#;

#[test]
fn flash_programs_have_causes_to_the_page_with_every_policy_cache_and_unit() {
    for (first, policy) in POLICIES.into_iter().enumerate() {
        for (second, cache) in CACHES.into_iter().enumerate() {
            // A third of all: every two of a policy, a cache and a size meet.
            for (_, (unit, page)) in
                SIZES.into_iter().enumerate().filter(|(third, _)| (first + second + third).is_multiple_of(3))
            {
                let case = Case { policy, cache, unit, page, ..PLAIN };
                let run = run(case.scenario("none", MIX));
                assert!(
                    run.summary().gc.victims > 0,
                    "nothing was collected: {policy}, {cache}, {unit}, {page}"
                );
                check_flash(&run);
                check_tables(&run, 12_000);
            }
        }
    }
}

#[test]
fn flash_programs_have_causes_without_time() {
    for policy in POLICIES {
        for (unit, page) in SIZES {
            for leveling in [false, true] {
                let case = Case { policy, unit, page, leveling, timing: "none", ..PLAIN };
                let run = run(case.scenario("none", MIX));
                check_flash(&run);
                check_tables(&run, 12_000);
            }
        }
    }
}

#[test]
fn flash_programs_have_causes_with_wear_levelling_cores_and_single_planes() {
    for (cache, cores, multi_plane) in [
        ("protected", 1, true),
        ("volatile", 1, true),
        ("off", 2, true),
        ("volatile", 4, false),
        ("protected", 2, false),
    ] {
        for (unit, page) in [(4, 4), (4, 16)] {
            let case = Case { cache, cores, multi_plane, unit, page, leveling: true, ..PLAIN };
            let run = run(case.scenario("none", MIX));
            check_flash(&run);
            check_tables(&run, 12_000);
        }
    }
}

/// Units that coalesce are written by the host and not by the drive.
#[test]
fn flash_programs_have_causes_while_writes_coalesce() {
    for (cache, timing, cores) in
        [("protected", "full", 1), ("volatile", "full", 2), ("protected", "none", 2)]
    {
        for controller in ["coalesce = true", "coalesce = true\nhold_back = \"256KiB\""] {
            for (unit, page) in [(4, 4), (4, 16)] {
                let case = Case { cache, unit, page, timing, cores, controller, ..PLAIN };
                let run = run(case.scenario("none", MIX));
                check_flash(&run);
                check_tables(&run, 12_000);
                let (ssd, summary) = (run.simulation.ssd(), run.summary());
                let coalesced = summary.host.coalesced_writes;
                // What is held back waits to be written again; else a unit has until its program unit is full.
                let few = if controller.contains("hold_back") { 20 } else { 2 };
                assert!(coalesced > few, "{coalesced} writes coalesce: {cache}, {timing}, {controller}");
                let waf = summary.write_amplification.as_ref().unwrap();
                let saved = coalesced as f64 * f64::from(unit) * 1024.0 / summary.host.bytes_written as f64;
                assert_close("coalesced", -waf.coalesced, saved, 1e-12);
                // Each unit that the host wrote, in whole or in part, has a slot or took an older one's.
                let units = summary.host.bytes_written + ssd.counters().partial_bytes;
                assert_eq!(ssd.written()[ProgramCause::Host] + coalesced, units / (u64::from(unit) * 1024));
            }
        }
    }
}

#[test]
fn tables_add_up_with_streams() {
    let workload = r#"
pattern = "hotcold"
hot_stream = 1
cold_stream = 2
read_percent = 30
size = "8KiB"
queue_depth = 8
requests = 8000
"#;
    let run = run(PLAIN.scenario("sequential", workload));
    let streams: Vec<u16> = run.summary().latency_us.by_stream.iter().map(|stream| stream.stream).collect();
    assert_eq!(streams, [0, 1, 2]);
    let writes: u64 =
        run.summary().latency_us.by_stream.iter().filter_map(|s| s.write.as_ref()).map(|w| w.count).sum();
    assert_eq!(writes, run.summary().host.writes);
    check_tables(&run, 8000);
    check_amplification(run.summary());
}

/// A filled drive has units in the buffer when the measurement begins: what they add to the programs is bounded by what
/// was begun then and what is under way now.
#[test]
fn programs_of_a_preconditioned_drive_are_off_by_the_buffer_at_most() {
    for timing in ["full", "none"] {
        let mut scenario = Case { timing, page: 16, ..PLAIN }.scenario("sequential", MIX);
        scenario.run.warm_up = if timing == "full" { Nanos::millis(20) } else { Nanos::ZERO };
        let run = run(scenario);
        let summary = run.summary();
        check_amplification(summary);
        let causes = summary.flash.by_cause.programs.total();
        // Host data: the write buffer, 1 MiB = 64 pages. Collected data: two superpages of 4 dies × 2 planes.
        let most = if timing == "full" { 64.0 + 16.0 } else { 2.0 * 2.0 };
        assert!(
            (causes - summary.flash.programs as f64).abs() <= most,
            "{causes} against {}",
            summary.flash.programs
        );
    }
}

#[test]
fn wear_adds_up_to_the_erasures() {
    let run = run(Case { timing: "none", ..PLAIN }.scenario("none", MIX));
    let cycles = run.table("wear").u64("cycles");
    assert_eq!(cycles.iter().sum::<u64>(), run.summary().flash.erases);
    assert_eq!(cycles.len(), 4 * 2 * 48);
    let wear = &run.summary().wear;
    assert_eq!(cycles.iter().max(), Some(&u64::from(wear.max_pe)));
    assert_close("mean", wear.mean_pe, run.summary().flash.erases as f64 / cycles.len() as f64, 1e-12);
}

/// After a run without time nothing is under way, and the drive's own check must agree.
#[test]
fn a_run_without_time_leaves_a_consistent_drive() {
    let run = run(Case { timing: "none", page: 16, ..PLAIN }.scenario("none", MIX));
    run.simulation.self_check().unwrap();
}

/// A warm-up that the run never gets past must not pass unnoticed: what is reported was not meant to be measured.
#[test]
fn a_run_shorter_than_its_warm_up_says_so() {
    let mut scenario = PLAIN.scenario("none", MIX);
    scenario.run.warm_up = Nanos::secs(1000);
    let run = run(scenario);
    let notes = run.summary().notes.join(" ");
    assert!(notes.contains("warm"), "notes: {notes:?}");
}

/// On dies of one plane no program is on several, whatever `multi_plane` says; on dies of four, one operation programs four pages.
#[test]
fn programs_of_several_planes_are_those_of_the_geometry() {
    for (planes, multi_plane) in [(1, true), (2, true), (4, true), (4, false)] {
        let mut scenario = Case { multi_plane, ..PLAIN }.scenario("none", MIX);
        scenario.device.geometry.planes_per_die = planes;
        scenario.device.geometry.blocks_per_plane = 96 / u32::from(planes);
        let run = run(scenario);
        check_flash(&run);
        let flash = &run.summary().flash;
        let together = multi_plane && planes > 1;
        assert!(flash.programs > 10_000);
        assert_eq!(flash.multi_plane_programs, if together { flash.programs / u64::from(planes) } else { 0 });
    }
}

/// One write at a time into a buffer that is never full: a write takes the time of the master core, and what is beyond that it waited
/// for collection.
#[test]
fn blocked_time_is_what_writes_take_beyond_their_service() {
    for policy in ["greedy", "fifo"] {
        let workload =
            "pattern = \"uniform\"\nread_percent = 0\nsize = \"4KiB\"\nqueue_depth = 1\nrequests = 12000\n";
        let mut scenario = Case { policy, ..PLAIN }.scenario("sequential", workload);
        scenario.device.controller.master_cost = Nanos::micros(150);
        let run = run(scenario);
        let summary = run.summary();
        let waited = summary.time.simulated_s - 12_000.0 * 150e-6;
        let blocked = summary.gc.blocked_s;
        assert!(blocked > 1e-3, "{policy}: nothing was blocked: {blocked}");
        assert!((blocked - waited).abs() < 1e-9, "{policy}: {blocked} against {waited}");
    }
}
