//! Is everything that cannot work refused, by name, before it runs; and does everything else run to its end?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::too_many_lines, reason = "texts of scenarios are put together line by line")]

use crate::support;

use outlast_engine::{RunControl, Simulation, parse_text};
use support::DriveText;

/// A small drive that works, whose settings the tests break.
fn drive() -> DriveText {
    DriveText::channels(2).planes(2).blocks(32, 16, "16KiB").spare(0.5).buffer("1MiB")
}

/// The scenario with `changes` (TOML by dotted names), or why it was refused.
fn refused(changes: &[(&str, &str)]) -> String {
    let (drive, mut table) = (drive().to_string(), "");
    let requests = ("workload.synthetic.requests".to_owned(), "100");
    let base = drive.lines().filter_map(|line| {
        let setting = line.split_once(" = ").map(|(key, value)| (format!("{table}.{key}"), value));
        if setting.is_none() {
            table = line.trim_matches(['[', ']']);
        }
        setting
    });
    let is_given = |key: &str| changes.iter().any(|&(name, _)| name == key);
    let unchanged: Vec<_> = base.chain([requests]).filter(|(key, _)| !is_given(key)).collect();
    let given = changes.iter().filter(|(_, value)| !value.is_empty());
    let text: String = (unchanged.iter().map(|(key, value)| format!("{key} = {value}\n")))
        .chain(given.map(|(key, value)| format!("{key} = {value}\n")))
        .collect();
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
pub(crate) fn names(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "\"{message}\" does not name {part}");
    }
    assert!(!message.contains('\n'), "more than a line: {message}");
}

#[test]
fn the_settings_that_refusals_change_work_unchanged() {
    let text = format!("workload.synthetic.requests = 100\n{}", drive());
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
    for (every, length, name) in
        [("1us", "500ns", "every"), ("1ms", "1ms", "length"), ("1ms", "0s", "length")]
    {
        let pauses = format!("{{ every = \"{every}\", length = \"{length}\" }}");
        let name = format!("device.controller.pauses.{name} = ");
        names(&refused(&[("device.controller.pauses", pauses.as_str())]), &[&name]);
    }
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
    let by_burst = [("pacing", "\"token\""), ("token.rate", "\"burst\"")];
    names(&gc(&by_burst), &["device.ftl.gc.token.rate = burst", "stop_free"]);
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
        let long = format!("{field} = \"1h\" # \"");
        let drive = drive().to_string().replace(&format!("{field} = \""), &long);
        let text = format!("workload.synthetic.requests = 100\n{drive}");
        let error = Simulation::new(parse_text(&text).unwrap().0).unwrap_err().to_string();
        names(&error, &[&format!("device.timing.{field} = 1h"), "4294967295ns"]);
    }
}
