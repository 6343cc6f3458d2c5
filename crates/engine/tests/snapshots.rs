//! Does a run from a snapshot give what a run gives that has prepared its drives itself, and is every file that is no such snapshot refused?

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and writes files"
)]

use crate::support;

use outlast_engine::{EngineError, ResultTable, RunControl, RunResult, Scenario, Simulation};
use std::path::PathBuf;
use support::{DriveText, scenario, stripped};

/// A drive that errs, scrubs, has hazards, classes of protection, and loses a die.
fn drive() -> Scenario {
    scenario(&format!(
        r#"
name = "snapshots"
seed = 7
{drive}
[device.defects]
factory_bad = 0.01
[device.protection]
data = 7
parity = 1
[device.reliability]
chip = "tlc-72-layer"
ecc = {{ strength = 110 }}
initial = {{ pe_cycles = 4000, pe_spread = 200 }}
[device.scrub]
age = "1d"
reprotect = true
[device.hazards]
per_operation = {{ read = 1e-4, program = 1e-5 }}
[[faults]]
at = "20ms"
kind = "die"
die = 3
[precondition]
max_drive_writes = 1.5
[workload.synthetic]
pattern = "zipf"
read_percent = 50
trim_percent = 2
flush_every = 100
queue_depth = 16
requests = 3000
"#,
        drive = DriveText::channels(4)
            .chips(2)
            .planes(2)
            .blocks(96, 32, "16KiB")
            .spare(0.6)
            .gc("policy = \"d-choices\", choices = 3")
            .ftl("spare_blocks = 8\nstreams = 2\nwear_leveling = { static_gap = 2 }")
            .buffer("4MiB")
            .controller("write_cache = \"volatile\"")
    ))
}

/// An array whose member loses a die, while another is exchanged: drives are made after the snapshot, too.
fn array() -> Scenario {
    scenario(&format!(
        r#"
name = "snapshots of arrays"
{drive}
[device.repair]
identifier = "p2l-block"
[array]
level = "raid6"
members = 6
spares = 1
chunk = "64KiB"
consistency = "bitmap"
member = [{{ device = 1, capacity = "40MiB" }}, {{ device = 5, fail_at = "300ms" }}]
[[faults]]
at = "10ms"
kind = "die"
device = 2
die = 3
[[faults]]
at = "200ms"
kind = "replace"
device = 0
[[faults]]
at = "400ms"
kind = "power"
[precondition]
overwrite = "workload"
max_drive_writes = 1
min_drive_writes = 0.5
[workload.synthetic]
pattern = "uniform"
read_percent = 40
queue_depth = 16
requests = 4000
"#,
        drive = DriveText::channels(4)
            .dies(2)
            .blocks(64, 32, "16KiB")
            .spare(0.6)
            .ftl("spare_blocks = 4")
            .buffer("2MiB")
            .controller("flash_cores = 2")
    ))
}

fn build(scenario: Scenario) -> Result<Simulation, EngineError> {
    Simulation::new(scenario)
}

fn once(scenario: Scenario) -> RunResult {
    let mut simulation = build(scenario).unwrap();
    let result = simulation.run(&mut |_| RunControl::Continue).unwrap();
    simulation.self_check().unwrap();
    result
}

/// The snapshot of what `scenario` prepares, in a file of this name.
fn snapshot(scenario: &Scenario, name: &str) -> (Vec<u8>, PathBuf) {
    let mut bytes = Vec::new();
    assert!(build(scenario.clone()).unwrap().snapshot(&mut bytes, &mut |_| RunControl::Continue).unwrap());
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, &bytes).unwrap();
    (bytes, path)
}

fn from(scenario: &Scenario, path: &std::path::Path) -> Scenario {
    let mut scenario = scenario.clone();
    scenario.precondition.from = Some(path.display().to_string());
    scenario
}

fn tables(result: &RunResult) -> String {
    let bits = |(name, table): &(String, ResultTable)| format!("{name}: {table:?}\n");
    result.tables.iter().map(bits).collect()
}

#[track_caller]
fn goes_on_as_if_it_had_never_stopped(scenario: &Scenario, name: &str) {
    let (bytes, path) = snapshot(scenario, name);
    let (prepared, read) = (once(scenario.clone()), once(from(scenario, &path)));
    let [mut one, mut other] = [&prepared, &read].map(|result| stripped(&result.summary));
    for json in [&mut one, &mut other] {
        json["scenario"]["precondition"].as_object_mut().unwrap().remove("from");
    }
    for (group, figures) in one.as_object().unwrap() {
        assert_eq!(figures, &other[group], "{group}");
    }
    assert!(tables(&prepared) == tables(&read), "tables differ");
    // What was read is written the same again.
    assert!(snapshot(&from(scenario, &path), &format!("{name}.again")).0 == bytes);
}

#[test]
fn a_drive_continues_from_a_snapshot_as_if_never_stopped() {
    goes_on_as_if_it_had_never_stopped(&drive(), "drive.outlast");
}

#[test]
fn an_array_continues_from_a_snapshot_as_if_never_stopped() {
    goes_on_as_if_it_had_never_stopped(&array(), "array.outlast");
}

#[test]
fn zones_that_were_filled_continue_from_a_snapshot_as_if_never_stopped() {
    let zoned = scenario(&format!(
        r#"
{drive}
[device.zones]
count = 10
max_active = 4
[precondition]
fill_fraction = 0.6
overwrite = "none"
[workload.zoned]
size = "64KiB"
zones_in_flight = 3
read_percent = 30
bytes = "20MiB"
"#,
        drive = DriveText::channels(2).dies(2).planes(2).blocks(24, 24, "16KiB").buffer("1MiB")
    ));
    goes_on_as_if_it_had_never_stopped(&zoned, "zoned.outlast");
    let mut simulation = build(zoned).unwrap();
    simulation.open_run(&mut |_| RunControl::Continue).unwrap();
    simulation.self_check().unwrap();
}

#[test]
fn stand_ins_continue_from_a_snapshot_as_if_never_stopped() {
    let mut scenario = array();
    let light = r#"{"devices": [3, 4], "read_latency": "80us", "write_latency": "40us"}"#;
    scenario.array.as_mut().unwrap().light = Some(serde_json::from_str(light).unwrap());
    goes_on_as_if_it_had_never_stopped(&scenario, "light.outlast");
}

#[test]
fn seed_workload_and_faults_are_not_part_of_a_snapshot() {
    let (_, path) = snapshot(&array(), "later.outlast");
    let mut other = array();
    other.seed = 99;
    other.faults.clear();
    other.array.as_mut().unwrap().member[1].fail_at = None;
    other.workload.synthetic.as_mut().unwrap().requests = Some(100);
    once(from(&other, &path));
}

#[track_caller]
fn refused(scenario: Scenario, words: &str) {
    let error = build(scenario).and_then(|mut made| made.run(&mut |_| RunControl::Continue));
    let message = error.map(|_| ()).unwrap_err().to_string();
    assert!(message.starts_with("precondition.from = ") && message.contains(words), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
}

#[test]
fn other_files_are_refused_in_one_line() {
    let (bytes, path) = snapshot(&drive(), "refused.outlast");
    let write = |name: &str, bytes: &[u8]| {
        let path = path.with_file_name(name);
        std::fs::write(&path, bytes).unwrap();
        from(&drive(), &path)
    };
    refused(from(&drive(), &path.with_file_name("nowhere.outlast")), "cannot be read: No such file");
    refused(from(&drive(), path.parent().unwrap()), "is not a snapshot");
    refused(write("empty", b""), "is not a snapshot");
    refused(write("foreign", b"[device]\nmodel = \"none\"\n"), "is not a snapshot");
    let mut other = bytes.clone();
    other[8] ^= 1;
    refused(write("format", &other), "was written by Outlast");
    refused(write("short", &bytes[..bytes.len() - 1]), "is damaged: it ends too early");
    refused(write("cut", &bytes[..bytes.len() / 2]), "is damaged: it ends too early");
    refused(write("long", &[&bytes[..], &bytes[12..]].concat()), "is damaged");
    for place in (12..bytes.len()).step_by(bytes.len() / 60) {
        let mut other = bytes.clone();
        other[place] ^= 0x10;
        refused(write("damaged", &other), "is damaged");
    }
    let mut other = from(&drive(), &path);
    other.device.controller.write_buffer.0 *= 2;
    refused(other, "is of a drive or array with other settings");
    let mut of_array = from(&array(), &path);
    of_array.run.threads = Some(1);
    refused(of_array, "was written by Outlast");
    let mut twin = from(&drive(), &path);
    twin.run.twin = true;
    refused(twin, "must be absent with run.twin");
}

/// A drive that collects while it runs, and is prepared without collection: what a free setting is does not matter until then.
fn filled(drive: &str) -> Scenario {
    scenario(&format!(
        r#"
{drive}
[device.protection]
data = 3
parity = 1
[device.reliability]
chip = "tlc-72-layer"
ecc = {{ strength = 110 }}
initial = {{ pe_cycles = 3000 }}
[precondition]
overwrite = "none"
[workload.synthetic]
pattern = "zipf"
read_percent = 30
queue_depth = 8
requests = 10000
"#
    ))
}

/// Settings that shape no state before the run, with what tests put in their places.
fn free_settings() -> String {
    let timing =
        "read = \"60us\"\nprogram = \"700us\"\nerase = \"3500us\"\nbus = \"800MB/s\"\ncommand = \"100ns\"";
    let drive = DriveText::channels(2).chips(2).planes(2).blocks(48, 32, "16KiB").timing(timing).spare(0.65);
    drive
        .ftl("spare_blocks = 4")
        .gc("policy = \"d-choices\", choices = 3")
        .controller(
            r#"master_cost = "1us"
command_costs = { read = "1us" }
host_latency = { submit = "2us", complete = "1us" }
read_cost = "1us"
write_cost = "1us"
relocation_cost = "1us"
encode_cost = "1us"
decode_cost = "1us""#,
        )
        .to_string()
}

#[test]
fn settings_that_shape_no_state_may_differ_from_the_snapshot() {
    let free = free_settings();
    let (_, path) = snapshot(&filled(&free), "free.outlast");
    let base = stripped(&once(filled(&free)).summary);
    for (one, other) in [
        (r#"policy = "d-choices""#, r#"policy = "greedy""#),
        (r#"policy = "d-choices""#, r#"policy = "fifo""#),
        (r#"policy = "d-choices""#, r#"policy = "cost-benefit""#),
        ("choices = 3", "choices = 9"),
        (r#"read = "60us""#, r#"read = ["50us", "70us"]"#),
        (r#"program = "700us""#, r#"program = "900us""#),
        (r#"erase = "3500us""#, r#"erase = "5ms""#),
        (r#"bus = "800MB/s""#, r#"bus = "400MB/s""#),
        (r#"command = "100ns""#, r#"command = "300ns""#),
        (r#"read_cost = "1us""#, r#"read_cost = "3us""#),
        (r#"write_cost = "1us""#, r#"write_cost = "3us""#),
        (r#"relocation_cost = "1us""#, r#"relocation_cost = "3us""#),
        (r#"encode_cost = "1us""#, r#"encode_cost = "3us""#),
        (r#"decode_cost = "1us""#, r#"decode_cost = "3us""#),
    ] {
        assert!(free.contains(one), "{one}");
        let name = other;
        let other = filled(&free.replace(one, name));
        let run = |scenario| stripped(&once(scenario).summary);
        let (mut anew, mut read) = (run(other.clone()), run(from(&other, &path)));
        for json in [&mut anew, &mut read] {
            json["scenario"]["precondition"].as_object_mut().unwrap().remove("from");
        }
        for (group, figures) in anew.as_object().unwrap() {
            assert_eq!(figures, &read[group], "{group} with {name}");
        }
        // The setting does something: the test could fail.
        assert_ne!(anew["scenario"]["device"], base["scenario"]["device"], "{one}");
        assert!(one.contains("decode_cost") || anew["latency_us"] != base["latency_us"], "{one}");
    }
}

#[test]
fn a_setting_that_shapes_the_state_is_named() {
    let (_, path) = snapshot(&filled(&free_settings()), "named.outlast");
    let named = |change: fn(&mut Scenario), words: &str| {
        let mut other = from(&filled(&free_settings()), &path);
        change(&mut other);
        refused(other, words);
    };
    named(
        |scenario| scenario.device.controller.write_buffer.0 *= 2,
        "device.controller.write_buffer was \"16MiB\" when it was made, and is \"32MiB\"",
    );
    named(
        |scenario| scenario.device.ftl.over_provisioning = Some(0.9),
        "device.ftl.over_provisioning was 0.65",
    );
    named(
        |scenario| scenario.device.controller.host_latency.submit.0 += 1,
        "device.controller.host_latency.submit was \"2us\"",
    );
    named(|scenario| scenario.device.protection = None, "device.protection was");
    named(|scenario| scenario.device.bytes = true, "device.bytes was");
}
