//! Does every drive of random settings run to its end, unless it is refused by name?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(
    clippy::format_push_string,
    clippy::too_many_lines,
    reason = "texts of scenarios are put together line by line"
)]

use crate::refusals::names;
use crate::support::DriveText;

use outlast_engine::{RunControl, Scenario, Simulation, parse_text};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Settings of a tiny drive, one in three or so of which cannot work.
#[derive(Clone, Debug)]
struct Settings {
    text: String,
}

const PACINGS: [&str; 11] = [
    "pacing = true",
    "pacing = \"smooth\"",
    "pacing = false",
    "pacing = \"none\"",
    "pacing = \"burst\"\nstop_free = 3",
    "pacing = \"burst\"\nstop_free = 5\nhost_share = 0",
    "pacing = \"burst\"\nstop_free = 9\nhost_share = 0.3",
    "pacing = \"token\"",
    "pacing = \"token\"\ntoken = { window = \"100us\", factor = 0.5, depth = \"192KiB\" }",
    "pacing = \"token\"\nstop_free = 7\ntoken = { window = \"5ms\", factor = 0.7, depth = \"192KiB\", rate = \"burst\" }",
    "pacing = \"token\"\nstop_free = 6\nhost_share = 0.8\ntoken = { window = \"20ms\", factor = 0.01, depth = \"192KiB\" }",
];

fn settings() -> impl Strategy<Value = Settings> {
    let geometry =
        (1u16..4, 1u16..3, 1u16..3, 1u16..5, 12u32..80, prop::sample::select(vec![1u32, 4, 8, 12, 16, 16]));
    let sizes = (
        prop::sample::select(vec!["512B", "2KiB", "4KiB", "4KiB", "16KiB"]),
        prop::sample::select(vec!["512B", "2KiB", "4KiB", "4KiB", "4KiB", "8KiB", "16KiB", "64KiB"]),
        prop::sample::select(vec![0.02, 0.1, 0.2, 0.3, 0.5, 0.8, 1.5]),
        prop::sample::select(vec![0u32, 0, 1, 6]),
        1u8..5,
    );
    let gc = (
        prop::sample::select(vec!["greedy", "cost-benefit", "fifo", "d-choices"]),
        1u32..6,
        prop::option::weighted(0.2, 0u32..8),
        prop::sample::select(PACINGS.to_vec()),
        prop::option::weighted(0.4, 0u32..5),
        any::<bool>(),
    );
    let controller = (
        prop::sample::select(vec![1u16, 1, 1, 1, 1, 1, 2, 3]),
        prop::sample::select(vec!["protected", "volatile", "off"]),
        prop::sample::select(vec!["16KiB", "512KiB", "2MiB"]),
        prop::option::weighted(0.3, 1u32..3),
        1u32..70,
        any::<bool>(),
    );
    let media = (
        prop::sample::select(vec![0.0, 0.0, 0.0, 0.0, 0.0, 0.03]),
        prop::option::weighted(0.3, 1u32..30),
        any::<bool>(),
        any::<bool>(),
        prop::sample::select(vec!["CWDP", "PDWC", "DCPW"]),
        prop::option::weighted(0.3, 0u8..4),
    );
    let run = (
        prop::sample::select(vec!["none", "sequential"]),
        prop::sample::select(vec!["none", "random", "workload"]),
        prop::sample::select(vec!["full", "full", "full", "none"]),
        prop::sample::select(vec!["queue_depth = 1", "queue_depth = 40", "rate_iops = 3000"]),
        prop::sample::select(vec!["uniform", "hotcold", "sequential"]),
        any::<u32>(),
    );
    (geometry, sizes, gc, controller, media, run).prop_map(|(geometry, sizes, gc, controller, media, run)| {
        let (channels, chips, dies, planes, blocks, pages) = geometry;
        let (page, unit, over, spare, streams) = sizes;
        let (policy, choices, start_free, pacing, static_gap, dynamic) = gc;
        let (cores, cache, buffer, internal, depth, link) = controller;
        let (bad, endurance, multi_plane, cpu, allocation, suspend) = media;
        let (fill, overwrite, timing, pacing_of_host, pattern, seed) = run;
        let maybe = |name: &str, value: Option<u32>| value.map_or(String::new(), |value| format!("{name} = {value}"));
        let link = if link { "link = \"500MB/s\"" } else { "" };
        let cpu = if cpu { "master_cost = \"700ns\"\nread_cost = \"900ns\"\nwrite_cost = \"1100ns\"\nrelocation_cost = \"300ns\"" } else { "" };
        let suspend = suspend.map_or(String::new(), |limit| {
            format!("suspend = {{ program = true, erase = true, overhead = \"5us\", limit = {limit} }}")
        });
        let internal = maybe("internal_operations", internal);
        let drive = DriveText::channels(channels).chips(chips).dies(dies).planes(planes).blocks(blocks, pages, page)
            .timing(&format!("{TIMES}{suspend}"))
            .spare(over)
            .ftl(&format!("mapping_unit = \"{unit}\"\nspare_blocks = {spare}\nstreams = {streams}"))
            .ftl(&format!("multi_plane = {multi_plane}\nallocation = \"{allocation}\""))
            .buffer(buffer)
            .controller(&format!("flash_cores = {cores}\nwrite_cache = \"{cache}\"\nqueue_depth = {depth}"))
            .controller(&format!("{internal}\n{link}\n{cpu}"));
        let text = format!(
            r#"
seed = {seed}
{drive}
[device.defects]
factory_bad = {bad}
{endurance}
[device.ftl.gc]
policy = "{policy}"
choices = {choices}
{pacing}
{start_free}
[device.ftl.wear_leveling]
dynamic = {dynamic}
{static_gap}
[precondition]
fill = "{fill}"
overwrite = "{overwrite}"
min_drive_writes = 0.5
max_drive_writes = 1
[run]
timing = "{timing}"
[workload.synthetic]
pattern = "{pattern}"
read_percent = 20
trim_percent = 5
flush_every = 30
fua_percent = 5
sizes = [{{ size = "512B", weight = 1 }}, {{ size = "4KiB", weight = 4 }}, {{ size = "20KiB", weight = 1 }}]
align = "512B"
{pacing_of_host}
requests = 2000
"#,
            endurance = maybe("endurance", endurance),
            start_free = maybe("start_free", start_free),
            static_gap = maybe("static_gap", static_gap),
        );
        Settings { text }
    })
}

/// Times of random settings: fast and slow pages.
pub(crate) const TIMES: &str = r#"read = ["40us", "60us"]
program = ["300us", "900us"]
erase = "3500us"
bus = "800MB/s"
command = "200ns"
"#;

/// The load of the random settings.
pub(crate) const MIX: &str = r#"
pattern = "uniform"
read_percent = 20
trim_percent = 5
flush_every = 30
fua_percent = 5
sizes = [{ size = "512B", weight = 1 }, { size = "4KiB", weight = 4 }, { size = "20KiB", weight = 1 }]
align = "512B"
queue_depth = 40
requests = 2000
"#;

/// Outcome of a scenario.
#[derive(Debug, PartialEq)]
pub(crate) enum Fate {
    Refused(String),
    Ran,
    Broken(String),
}

/// A drive that goes in circles panics after a number of events (`LivelockWatch`): no clock decides.
pub(crate) fn fate(scenario: Scenario) -> Fate {
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let wears_out = scenario.device.defects.endurance.is_some();
        let mut simulation = match Simulation::new(scenario) {
            Ok(simulation) => simulation,
            Err(error) => return Fate::Refused(error.to_string()),
        };
        let result = match simulation.run(&mut |_| RunControl::Continue) {
            Ok(result) => result,
            Err(error) if wears_out && error.to_string().contains("wore out") => return Fate::Ran,
            Err(error) => return Fate::Broken(format!("failed midway: {error}")),
        };
        let host = &result.summary.host;
        let done = host.reads + host.writes + host.trims + host.flushes;
        // Without time a drive that is worn out ends the study.
        let complete = done == 2000 || (wears_out && host.errors > 0 && done <= 2000);
        if !complete || (host.errors > 0 && !wears_out) {
            return Fate::Broken(format!("{done} of 2000 requests, {} errors", host.errors));
        }
        let broken = simulation.ssd().ftls().find_map(|ftl| ftl.self_check().err());
        broken.map_or(Fate::Ran, Fate::Broken)
    }));
    outcome.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        Fate::Broken(
            text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned())).unwrap_or_default(),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_not_refused_runs_to_its_end(settings in settings()) {
        let scenario = match parse_text(&settings.text) {
            Ok((scenario, _)) => scenario,
            Err(error) => {
                names(&error.to_string(), &[" = "]);
                return Ok(());
            }
        };
        match fate(scenario) {
            Fate::Broken(why) => prop_assert!(false, "{why}\n{}", settings.text),
            Fate::Refused(message) => prop_assert!(message.contains(" = "), "{message}"),
            Fate::Ran => {}
        }
    }
}

/// The random settings above must be worth something: many run, many are refused.
#[test]
fn the_random_settings_both_run_and_are_refused() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut ran, mut refused) = (0, 0);
    for _ in 0..300 {
        let text = settings().new_tree(&mut runner).unwrap().current().text;
        match parse_text(&text).ok().map(|(scenario, _)| Simulation::new(scenario)) {
            Some(Ok(_)) => ran += 1,
            _ => refused += 1,
        }
    }
    assert!(ran >= 40 && refused >= 40, "{ran} run, {refused} refused");
}
