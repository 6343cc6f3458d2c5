//! Is everything that cannot work refused, by name, before it runs; and does everything else run to its end?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(
    clippy::format_push_string,
    clippy::too_many_lines,
    reason = "texts of scenarios are put together line by line"
)]

use crate::support;

use outlast_engine::{RunControl, Scenario, Simulation, parse_text};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use std::panic::{AssertUnwindSafe, catch_unwind};
use support::TIMING;

/// A small drive that works, with `{}` places to break it.
const GEOMETRY: &str = r#"
[device.geometry]
channels = 2
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 32
pages_per_block = 16
page_size = "16KiB"
"#;

/// The scenario with `changes` (TOML by dotted names), or why it was refused.
fn refused(changes: &[(&str, &str)]) -> String {
    let mut text = String::new();
    // Dotted keys first: tables that follow extend them.
    let base = [
        ("device.ftl.over_provisioning", "0.5"),
        ("device.controller.write_buffer", "\"1MiB\""),
        ("workload.synthetic.requests", "100"),
    ];
    let is_given = |key: &str| changes.iter().any(|&(name, _)| name == key);
    for (key, value) in
        base.iter().filter(|(key, _)| !is_given(key)).chain(changes).filter(|(_, value)| !value.is_empty())
    {
        text.push_str(&format!("{key} = {value}\n"));
    }
    for line in GEOMETRY.lines().filter(|line| line.contains(" = ")) {
        let (key, value) = line.split_once(" = ").unwrap();
        let key = format!("device.geometry.{key}");
        if !is_given(&key) {
            text.push_str(&format!("{key} = {value}\n"));
        }
    }
    for line in TIMING.lines().filter(|line| line.contains(" = ")) {
        text.push_str(&format!("device.timing.{line}\n"));
    }
    let scenario = match parse_text(&text) {
        Ok((scenario, _)) => scenario,
        Err(error) => return error.to_string(),
    };
    match Simulation::new(scenario) {
        Ok(_) => panic!("accepted: {changes:?}"),
        Err(error) => error.to_string(),
    }
}

#[track_caller]
fn names(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "\"{message}\" does not name {part}");
    }
    assert!(!message.contains('\n'), "more than a line: {message}");
}

#[test]
fn the_settings_that_refusals_change_work_unchanged() {
    let text = format!(
        "device.ftl.over_provisioning = 0.5\ndevice.controller.write_buffer = \"1MiB\"\nworkload.synthetic.requests = 100\n{TIMING}{GEOMETRY}"
    );
    let scenario = parse_text(&text).unwrap().0;
    Simulation::new(scenario).unwrap().run(&mut |_| RunControl::Continue).unwrap();
}

#[test]
fn an_overfilled_drive_is_refused() {
    // 32 superblocks of 2 × 2 × 16 × 16 KiB = 1 MiB. Host, collection, one held back and one more: 28 hold data.
    let message = refused(&[("device.ftl.over_provisioning", ""), ("device.ftl.capacity", "\"29MiB\"")]);
    names(&message, &["device.ftl.capacity", "29MiB", "32", "4 more"]);
    let message = refused(&[("device.ftl.over_provisioning", "0.01")]);
    names(&message, &["device.ftl.", "32"]);
}

#[test]
fn a_capacity_at_or_above_the_raw_one_is_refused() {
    for capacity in ["\"32MiB\"", "\"1GiB\"", "\"16EiB\""] {
        let message = refused(&[("device.ftl.over_provisioning", ""), ("device.ftl.capacity", capacity)]);
        names(&message, &["device.ftl.capacity", if capacity.contains("EiB") { "EiB" } else { "32MiB" }]);
    }
    for capacity in ["0", "\"1KiB\""] {
        let message = refused(&[("device.ftl.over_provisioning", ""), ("device.ftl.capacity", capacity)]);
        names(&message, &["device.ftl.capacity", "at least one"]);
    }
}

#[test]
fn too_few_spare_blocks_for_the_factory_bad_ones_are_refused() {
    let message = refused(&[("device.defects.factory_bad", "0.3"), ("device.ftl.spare_blocks", "1")]);
    names(&message, &["device.ftl.spare_blocks = 1", "bad blocks", "raise it above 1"]);
    names(&refused(&[("device.ftl.spare_blocks", "32")]), &["device.ftl.spare_blocks = 32", "32 blocks"]);
    names(&refused(&[("device.defects.factory_bad", "0.7")]), &["device.defects.factory_bad = 0.7", "0.5"]);
    names(&refused(&[("device.defects.endurance", "0")]), &["device.defects.endurance = 0", "1"]);
}

#[test]
fn counts_of_zero_are_refused() {
    for field in [
        "channels",
        "chips_per_channel",
        "dies_per_chip",
        "planes_per_die",
        "blocks_per_plane",
        "pages_per_block",
    ] {
        let field = format!("device.geometry.{field}");
        names(&refused(&[(&field, "0")]), &[&format!("{field} = 0"), "at least 1"]);
    }
    names(&refused(&[("device.geometry.page_size", "0")]), &["device.geometry.page_size", "512"]);
    names(&refused(&[("device.ftl.streams", "0")]), &["device.ftl.streams = 0", "1 and 16"]);
    names(&refused(&[("device.ftl.gc.choices", "0")]), &["device.ftl.gc.choices = 0", "at least 1"]);
    names(&refused(&[("device.controller.queue_depth", "0")]), &["device.controller.queue_depth = 0", "1"]);
    names(
        &refused(&[("device.controller.internal_operations", "0")]),
        &["internal_operations = 0", "at least 1"],
    );
    names(
        &refused(&[("device.controller.flash_cores", "0")]),
        &["device.controller.flash_cores = 0", "2 dies"],
    );
}

#[test]
fn divisions_with_a_remainder_are_refused() {
    names(
        &refused(&[("device.controller.flash_cores", "3")]),
        &["device.controller.flash_cores = 3", "2 dies"],
    );
    names(&refused(&[("device.ftl.mapping_unit", "\"3KiB\"")]), &["device.ftl.mapping_unit = 3KiB", "16KiB"]);
    names(
        &refused(&[("device.ftl.mapping_unit", "\"24KiB\"")]),
        &["device.ftl.mapping_unit = 24KiB", "16KiB"],
    );
    names(&refused(&[("device.ftl.mapping_unit", "1000")]), &["device.ftl.mapping_unit = 1000B", "512"]);
    names(&refused(&[("device.ftl.mapping_unit", "0")]), &["device.ftl.mapping_unit", "512"]);
    names(&refused(&[("device.ftl.mapping_unit", "\"2MiB\"")]), &["device.ftl.mapping_unit = 2MiB", "1MiB"]);
    // A unit of 4 pages takes 2 rows of 2 planes: 15 pages do not divide.
    let message =
        refused(&[("device.ftl.mapping_unit", "\"64KiB\""), ("device.geometry.pages_per_block", "15")]);
    names(&message, &["device.geometry.pages_per_block = 15", "2 page rows"]);
}

#[test]
fn a_write_buffer_that_cannot_hold_all_open_programs_is_refused() {
    // Two planes of 16 KiB hold 8 units; one more must fit: 9 units of 4 KiB.
    let message = refused(&[("device.controller.write_buffer", "\"32KiB\"")]);
    names(&message, &["device.controller.write_buffer = 32KiB", "36KiB"]);
    names(&refused(&[("device.controller.write_buffer", "0")]), &["device.controller.write_buffer", "36KiB"]);
}

#[test]
fn a_collection_that_could_not_start_is_refused() {
    names(&refused(&[("device.ftl.gc.start_free", "0")]), &["device.ftl.gc.start_free = 0", "between 1 and"]);
    names(
        &refused(&[("device.ftl.gc.start_free", "31")]),
        &["device.ftl.gc.start_free = 31", "between 1 and"],
    );
}

#[test]
fn a_collection_that_could_not_stop_is_refused() {
    let gc = |changes: &[(&str, &str)]| {
        let named: Vec<_> =
            changes.iter().map(|&(name, value)| (format!("device.ftl.gc.{name}"), value)).collect();
        refused(&named.iter().map(|(name, value)| (name.as_str(), *value)).collect::<Vec<_>>())
    };
    let burst = ("pacing", "\"burst\"");
    names(&gc(&[burst]), &["device.ftl.gc.stop_free = absent", "pacing = \"burst\""]);
    names(&gc(&[("stop_free", "3")]), &["device.ftl.gc.stop_free = 3", "\"token\""]);
    names(&gc(&[burst, ("stop_free", "1")]), &["device.ftl.gc.stop_free = 1", "above start_free, 1"]);
    names(&gc(&[burst, ("stop_free", "31")]), &["device.ftl.gc.stop_free = 31", "at most"]);
    let shared = [burst, ("stop_free", "3"), ("host_share", "1.5")];
    names(&gc(&shared), &["device.ftl.gc.host_share = 1.5", "between 0 and 1"]);
    names(&gc(&[("host_share", "0.5")]), &["device.ftl.gc.host_share = 0.5", "stop_free"]);
    names(&gc(&[("token.window", "\"1s\"")]), &["device.ftl.gc.token.window = 1s", "pacing = \"token\""]);
    for (field, value) in [("window", "\"1us\""), ("factor", "0"), ("depth", "512"), ("depth", "\"2GiB\"")] {
        let field = format!("token.{field}");
        names(
            &gc(&[("pacing", "\"token\""), (field.as_str(), value)]),
            &[&format!("device.ftl.gc.{field} = ")],
        );
    }
    names(
        &refused(&[("device.ftl.gc.overlap", "true"), ("device.controller.write_cache", "\"volatile\"")]),
        &["device.ftl.gc.overlap = true", "write_cache", "protected"],
    );
    names(
        &refused(&[("device.ftl.gc.relocation", "\"host\""), ("device.controller.write_cache", "\"off\"")]),
        &["device.ftl.gc.relocation = host", "write_cache", "protected"],
    );
    names(
        &gc(&[("relocation", "\"host\""), ("overlap", "true")]),
        &["device.ftl.gc.relocation = host", "overlap"],
    );
    names(&gc(&[("reads", "\"row\"")]), &["reads", "row", "multi-plane", "page"]);
    names(
        &refused(&[("device.controller.read_cache", "512")]),
        &["device.controller.read_cache = 512B", "4KiB"],
    );
    let coalesces = ("device.controller.coalesce", "true");
    names(
        &refused(&[coalesces, ("device.controller.write_cache", "\"off\"")]),
        &["device.controller.coalesce = true", "write_cache"],
    );
    names(
        &refused(&[("device.controller.hold_back", "\"1MiB\"")]),
        &["device.controller.hold_back = 1MiB", "coalesce = true"],
    );
    names(
        &refused(&[coalesces, ("device.controller.hold_back", "\"1GiB\"")]),
        &["device.controller.hold_back = 1GiB", "at most", "write buffer"],
    );
}

#[test]
fn workloads_without_an_end_are_refused() {
    names(
        &refused(&[("workload.synthetic.requests", ""), ("workload.synthetic.read_percent", "50")]),
        &["workload", "requests"],
    );
    let untimed = [
        ("workload.synthetic.requests", ""),
        ("workload.synthetic.duration", "\"1s\""),
        ("run.timing", "\"none\""),
    ];
    names(&refused(&untimed), &["run.timing", "none", "requests"]);
}

#[test]
fn times_that_no_flash_has_are_refused() {
    for field in ["read", "program", "erase"] {
        let text = format!("{TIMING}{GEOMETRY}")
            .replace(&format!("{field} = \""), &format!("{field} = \"1h\" # \""));
        let text = format!("device.ftl.over_provisioning = 0.5\nworkload.synthetic.requests = 100\n{text}");
        let error = Simulation::new(parse_text(&text).unwrap().0).unwrap_err().to_string();
        names(&error, &[&format!("device.timing.{field} = 1h"), "4294967295ns"]);
    }
}

/// Settings of a tiny drive, one in three or so of which cannot work.
#[derive(Clone, Debug)]
struct Settings {
    text: String,
}

const PACINGS: [&str; 10] = [
    "pacing = true",
    "pacing = \"smooth\"",
    "pacing = false",
    "pacing = \"none\"",
    "pacing = \"burst\"\nstop_free = 3",
    "pacing = \"burst\"\nstop_free = 5\nhost_share = 0",
    "pacing = \"burst\"\nstop_free = 9\nhost_share = 0.3",
    "pacing = \"token\"",
    "pacing = \"token\"\ntoken = { window = \"100us\", factor = 0.5, depth = \"192KiB\" }",
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
        let text = format!(
            r#"
seed = {seed}
[device.timing]
read = ["40us", "60us"]
program = ["300us", "900us"]
erase = "3500us"
bus = "800MB/s"
command = "200ns"
{suspend}
[device.geometry]
channels = {channels}
chips_per_channel = {chips}
dies_per_chip = {dies}
planes_per_die = {planes}
blocks_per_plane = {blocks}
pages_per_block = {pages}
page_size = "{page}"
[device.defects]
factory_bad = {bad}
{endurance}
[device.ftl]
mapping_unit = "{unit}"
over_provisioning = {over}
spare_blocks = {spare}
streams = {streams}
multi_plane = {multi_plane}
allocation = "{allocation}"
[device.ftl.gc]
policy = "{policy}"
choices = {choices}
{pacing}
{start_free}
[device.ftl.wear_leveling]
dynamic = {dynamic}
{static_gap}
[device.controller]
flash_cores = {cores}
write_cache = "{cache}"
write_buffer = "{buffer}"
queue_depth = {depth}
{internal}
{link}
{cpu}
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
            internal = maybe("internal_operations", internal),
        );
        Settings { text }
    })
}

/// Outcome of a scenario.
#[derive(Debug, PartialEq)]
enum Fate {
    Refused(String),
    Ran,
    Broken(String),
}

/// A drive that goes in circles panics after a number of events (`LivelockWatch`): no clock decides.
fn fate(scenario: Scenario) -> Fate {
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

/// Found by [`whatever_is_not_refused_runs_to_its_end`]; each has its story.
fn ends(text: &str) {
    let scenario = parse_text(text).unwrap().0;
    if let Fate::Broken(why) = fate(scenario) {
        panic!("{why}");
    }
}

/// Superblocks of two pages of eight units. Padding the last page of every victim ate all that collecting it had gained, for
/// ever, with half of the drive free.
#[test]
fn padding_does_not_use_up_the_space_that_collection_gains() {
    for over in [0.6, 1.0, 1.2] {
        ends(&format!(
            r#"
{TIMING}
[device.geometry]
channels = 1
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 20
pages_per_block = 1
page_size = "4KiB"
[device.ftl]
mapping_unit = "512B"
over_provisioning = {over}
multi_plane = false
[device.controller]
write_cache = "off"
[precondition]
overwrite = "none"
[workload.synthetic]
size = "512B"
queue_depth = 4
requests = 2000
"#
        ));
    }
}

/// A buffer larger than the drive. Collection was urgent, went before host programs, and gained nothing, since the stale units
/// were in superblocks that waited for just those programs.
#[test]
fn urgent_collection_does_not_starve_the_programs_it_needs() {
    ends(&format!(
        r#"
seed = 4272917669
{TIMING}
[device.geometry]
channels = 1
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 43
pages_per_block = 4
page_size = "2KiB"
[device.ftl]
mapping_unit = "512B"
over_provisioning = 0.5
gc = {{ policy = "d-choices", choices = 2 }}
[device.controller]
write_cache = "volatile"
write_buffer = "512KiB"
[precondition]
fill = "none"
[workload.synthetic]
{MIX}
"#
    ));
}

/// First in, first out, with superblocks sealed at the same moment of the write clock, which stands still while the host waits:
/// the same few wholly valid ones were taken again and again.
#[test]
fn first_in_first_out_reaches_every_superblock() {
    ends(
        r#"
seed = 1088516186
[device.timing]
read = ["40us", "60us"]
program = ["300us", "900us"]
erase = "3500us"
bus = "800MB/s"
command = "200ns"
[device.geometry]
channels = 2
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 54
pages_per_block = 4
page_size = "512B"
[device.defects]
factory_bad = 0
[device.ftl]
mapping_unit = "2KiB"
over_provisioning = 0.3
spare_blocks = 1
streams = 4
multi_plane = true
allocation = "PDWC"
[device.ftl.gc]
policy = "fifo"
choices = 1
pacing = false
[device.ftl.wear_leveling]
dynamic = false
static_gap = 0
[device.controller]
flash_cores = 2
write_cache = "protected"
write_buffer = "512KiB"
queue_depth = 23
internal_operations = 2
link = "500MB/s"
master_cost = "700ns"
read_cost = "900ns"
write_cost = "1100ns"
relocation_cost = "300ns"
[precondition]
fill = "none"
overwrite = "none"
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
rate_iops = 3000
requests = 2000
"#,
    );
}

/// Units begun by wear levelling while the drive was prepared counted as collection's: its victim waited for them to reach flash, and
/// they for company.
#[test]
fn collection_does_not_wait_for_units_of_wear_levelling() {
    for seed in 0..8 {
        ends(&format!(
            r#"
seed = {seed}
{TIMING}
[device.geometry]
channels = 2
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 48
pages_per_block = 16
page_size = "16KiB"
[device.ftl]
over_provisioning = 0.4
wear_leveling = {{ static_gap = 2 }}
[device.controller]
write_buffer = "1MiB"
write_cache = "volatile"
[precondition]
overwrite = "workload"
min_drive_writes = 1
max_drive_writes = 2
[workload.synthetic]
{MIX}
"#
        ));
    }
}

/// The load of the random settings.
const MIX: &str = r#"
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

mod without_building {
    use outlast_engine::{ScenarioLayer, Simulation, load_scenario, parse_text, presets};
    use outlast_units::rng::SplitMix;

    fn text(
        numbers: (u16, u16, u32, u32, u32),
        ftl: (u32, u32, u32),
        drive: (f64, bool, bool, u32),
        array: u16,
    ) -> String {
        let (channels, planes, blocks, pages, unit) = numbers;
        let (capacity, spares, cores) = ftl;
        let (bad, parity, volatile, repaired) = drive;
        let parity = if parity { "protection = { data = 3, parity = 1 }\n" } else { "" };
        let cache = if volatile { ", write_cache = \"volatile\"" } else { "" };
        let repair = match repaired {
            0 => String::new(),
            dies => format!("repair = {{ repaired_dies = {:?} }}\n", (0..dies).collect::<Vec<_>>()),
        };
        let array = if array == 0 {
            String::new()
        } else {
            format!("[array]\nlevel = \"raid5\"\nmembers = {array}\n")
        };
        format!(
            "workload.synthetic = {{ requests = 1 }}\n{array}[device]\n{parity}{repair}\
             geometry = {{ channels = {channels}, chips_per_channel = 1, dies_per_chip = 2, planes_per_die = {planes}, \
             blocks_per_plane = {blocks}, pages_per_block = {pages}, page_size = \"4KiB\" }}\n\
             timing = {{ read = \"60us\", program = \"700us\", erase = \"3.5ms\", bus = \"667MB/s\" }}\n\
             ftl = {{ over_provisioning = 0.{capacity:02}, mapping_unit = \"{unit}KiB\", spare_blocks = {spares} }}\n\
             controller = {{ flash_cores = {cores}{cache} }}\n\
             defects = {{ factory_bad = {bad} }}\n"
        )
    }

    /// A check without building a drive refuses what building it refuses, in the same words.
    #[test]
    fn a_check_fails_with_the_error_of_building() {
        let mut rng = SplitMix::new(1, "check");
        let (mut fine, mut refused) = (0, 0);
        for _ in 0..3000 {
            let mut of = |choices: &[u32]| choices[rng.below(choices.len() as u64) as usize];
            let numbers = (
                of(&[1, 2, 4]) as u16,
                of(&[1, 2]) as u16,
                of(&[8, 12, 20, 33, 60]),
                of(&[1, 2, 4, 16]),
                of(&[4, 4, 8, 16]),
            );
            let ftl = (of(&[7, 15, 28, 50, 100]), of(&[0, 0, 1, 3]), of(&[1, 1, 2, 4]));
            let bad = f64::from(of(&[0, 0, 2, 10])) / 100.0;
            let drive = (bad, of(&[0, 0, 1]) == 1, of(&[0, 1]) == 1, of(&[0, 0, 0, 1, 2]));
            let Ok((scenario, _)) = parse_text(&text(numbers, ftl, drive, of(&[0, 0, 3, 4]) as u16)) else {
                continue;
            };
            let checked = Simulation::check(&scenario).map(drop).map_err(|error| error.to_string());
            let built = Simulation::new(scenario.clone()).map(drop).map_err(|error| error.to_string());
            assert_eq!(checked, built, "{scenario:?}");
            if built.is_ok() { fine += 1 } else { refused += 1 }
        }
        assert!(fine > 100 && refused > 100, "{fine} were built, {refused} refused");
    }

    #[test]
    fn presets_pass_without_being_built() {
        for preset in presets().iter().filter(|preset| preset.name != "x25m-80g") {
            let layers = [ScenarioLayer::Preset(preset.name.to_owned())];
            let set = [("workload".to_owned(), "{ synthetic = { requests = 1 } }".to_owned())];
            let (scenario, _) = load_scenario(&layers, &set).unwrap();
            let memory = Simulation::check(&scenario).unwrap();
            assert!(memory.drives > 0, "{}", preset.name);
        }
    }

    /// A drive of 32 TB, whose tables take seventeen billion bytes.
    #[test]
    fn a_drive_too_large_for_this_machine_is_checked() {
        let text = text((16, 4, 3200, 1024, 4), (15, 0, 16), (0.0, false, false, 0), 0)
            .replace("dies_per_chip = 2", "dies_per_chip = 8")
            .replace("page_size = \"4KiB\"", "page_size = \"16KiB\"");
        let (scenario, _) = parse_text(&text).unwrap();
        let memory = Simulation::check(&scenario).unwrap();
        let units = 16 * 8 * 4 * 3200u64 * 1024 * 4;
        assert!(memory.drives > units * 4 && memory.drives < units * 9, "{}", memory.drives);
    }
}
