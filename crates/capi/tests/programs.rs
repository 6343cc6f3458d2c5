//! Does a program in C that drives a device get what a run of the engine gets, to the nanosecond and to the byte?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "what a compiler reads")]

use outlast_engine::{ResultTable, RunControl, RunResult, ScenarioLayer, Simulation, load_scenario};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A drive of 112 MiB, which collects, and an open load: when requests come does not depend on when others end.
const DRIVE: &str = r#"
extends = "demo"
name = "small"
seed = 3
[device.geometry]
channels = 2
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 128
pages_per_block = 32
[device.ftl]
capacity = "112MiB"
[workload.synthetic]
read_percent = 60
trim_percent = 5
rate_iops = 3000
duration = "1500ms"
[run]
warm_up = "0s"
log = "requests.parquet"
"#;

const ARRAY: &str = r#"
[array]
level = "raid5"
members = 4
spares = 1
chunk = "16KiB"
[[faults]]
at = "300ms"
kind = "device"
device = 2
[[faults]]
at = "900ms"
kind = "die"
device = 1
die = 1
"#;

/// The folder in which cargo puts this test, and the library beside it.
fn libraries() -> PathBuf {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    assert!(
        fs::read_dir(&folder).unwrap().any(|file| is_library(&file.unwrap().path())),
        "{}: liboutlast",
        folder.display()
    );
    folder
}

fn is_library(file: &Path) -> bool {
    file.file_stem().is_some_and(|stem| stem == "liboutlast")
        && file.extension().is_some_and(|kind| kind == "so" || kind == "dylib")
}

/// Compiles an example, which finds the library where it was built.
fn compiled(example: &str, folder: &Path) -> PathBuf {
    let (program, libraries) = (folder.join(example), libraries());
    let done = Command::new("cc")
        .args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic"])
        .arg(format!("-I{ROOT}/python/outlast/include"))
        .arg("-o")
        .arg(&program)
        .arg(format!("{ROOT}/examples/c/{example}.c"))
        .arg(format!("-L{}", libraries.display()))
        .arg(format!("-Wl,-rpath,{}", libraries.display()))
        .arg("-loutlast")
        .output()
        .expect("cc");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    program
}

fn run(scenario: &str) -> (RunResult, Vec<[u64; 6]>) {
    let layer =
        ScenarioLayer::Toml { name: "s".to_owned(), text: scenario.to_owned(), folder: PathBuf::new() };
    let (scenario, _) = load_scenario(&[layer], &[]).unwrap();
    let mut parts: Vec<ResultTable> = Vec::new();
    let mut simulation = Simulation::new(scenario).unwrap();
    let result =
        simulation.run_logged(&mut |_| RunControl::Continue, Some(&mut |part| parts.push(part))).unwrap();
    let names = ["submitted_ns", "completed_ns", "kind", "lba", "bytes", "outcome"];
    let columns = names.map(|name| parts.iter().flat_map(|part| part.u64(name).to_vec()).collect::<Vec<_>>());
    let rows = (0..columns[0].len()).map(|row| std::array::from_fn(|column| columns[column][row])).collect();
    (result, rows)
}

/// Output of the program: a row of numbers for each request, and the last line.
fn replayed(scenario: &str, requests: &[[u64; 6]]) -> (Vec<[u64; 4]>, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("scenario.toml");
    fs::write(&file, scenario).unwrap();
    let mut child = Command::new(compiled("replay", folder.path()))
        .arg(&file)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let line = |[submitted, _, kind, lba, bytes, _]: &[u64; 6]| {
        format!("{submitted} {kind} {} {bytes}\n", lba * 512)
    };
    let text: String = requests.iter().map(line).collect();
    let mut input = child.stdin.take().unwrap();
    let writer =
        std::thread::Builder::new().spawn(move || input.write_all(text.as_bytes()).unwrap()).unwrap();
    let done = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(done.status.success());
    let text = String::from_utf8(done.stdout).unwrap();
    let (rows, last) = text.trim_end().rsplit_once('\n').unwrap();
    let numbers = |line: &str| {
        let row: Vec<u64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
        row.try_into().unwrap()
    };
    (rows.lines().map(numbers).collect(), last.to_owned())
}

/// Runs a scenario by the engine and its requests by the program, and compares all that the two say.
fn compare(scenario: &str) -> RunResult {
    let (result, rows) = run(scenario);
    // As the workload handed them over: equal times in the order of their log, which an open load makes rare.
    let mut requests = rows.clone();
    requests.sort_by_key(|row| row[0]);
    assert!(requests.windows(2).all(|pair| pair[0][0] < pair[1][0]), "two requests at one time");
    assert!(requests.len() > 4000);
    let (mut ended, last) = replayed(scenario, &requests);
    assert_eq!(ended.len(), requests.len());
    ended.sort_unstable();
    for (row, [line, submitted, completed, outcome]) in requests.iter().zip(ended) {
        assert_eq!([row[0], row[1], row[5]], [submitted, completed, outcome], "request {line}: {row:?}");
    }
    let served = |kind: u64| -> u64 {
        requests.iter().filter(|row| row[2] == kind && row[5] == 0).map(|row| row[4]).sum()
    };
    let expected = format!("requests {} read {} written {} ", requests.len(), served(0), served(1));
    assert!(last.starts_with(&expected), "{last}: {expected}");
    result
}

#[test]
fn a_drive_in_a_program_is_that_of_a_run() {
    let result = compare(DRIVE);
    assert!(result.summary.gc.victims > 0, "the drive collects");
}

#[test]
fn an_array_that_is_rebuilt_in_a_program_is_that_of_a_run() {
    compare(&format!("{DRIVE}\n{ARRAY}"));
}

#[test]
fn a_closed_loop_in_a_program_ends() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("scenario.toml");
    fs::write(&file, DRIVE).unwrap();
    let done = Command::new(compiled("closed_loop", folder.path())).arg(&file).arg("5000").output().unwrap();
    assert!(done.status.success());
    let text = String::from_utf8(done.stdout).unwrap();
    let iops: f64 = text.split(' ').next().unwrap().parse().unwrap();
    // Four dies of 60 us reads and 700 us programs: as the engine says of 32 requests in flight, some 10 000.
    assert!((2_000.0..60_000.0).contains(&iops), "{text}");
}

#[test]
fn a_scenario_that_is_wrong_is_said_in_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("wrong.toml");
    fs::write(&file, "extends = \"demo\"\nsed = 1\n").unwrap();
    let done =
        Command::new(compiled("replay", folder.path())).arg(&file).stdin(Stdio::null()).output().unwrap();
    assert_eq!(done.status.code(), Some(1));
    let said = String::from_utf8(done.stderr).unwrap();
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(said.contains("sed: unknown setting; did you mean `seed`?"), "{said}");
}
