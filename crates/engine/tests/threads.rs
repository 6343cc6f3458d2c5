//! Does an array give the same result on any number of threads?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_engine::{ResultTable, RunControl, RunResult, Simulation, parse_text};
use support::DriveText;

/// Drives of 16 MiB behind `array`, prepared and written to as `rest` says.
fn run(threads: u16, array: &str, settings: &str) -> RunResult {
    let text = format!(
        "
{drive}
[array]
{array}
[run]
threads = {threads}
{settings}
",
        drive = DriveText::channels(2).planes(2).blocks(64, 16, "8KiB").spare(0.3).buffer("1MiB")
    );
    let mut simulation = Simulation::new(parse_text(&text).unwrap().0).unwrap();
    let result = simulation.run(&mut |_| RunControl::Continue).unwrap();
    simulation.self_check().unwrap();
    result
}

/// All that a run found but what it cost and how many threads it was to have, as text: every bit of a number counts.
fn results_of(result: &RunResult) -> String {
    let mut json = serde_json::to_value(&result.summary).unwrap();
    assert!(json["scenario"]["run"].as_object_mut().unwrap().remove("threads").is_some());
    for (group, keys) in [
        ("time", &["wall_s", "cpu_s", "precondition_cpu_s", "precondition_wall_s"][..]),
        ("throughput", &["requests_per_cpu_s"]),
        ("memory", &["peak_rss_mib"]),
    ] {
        for key in keys {
            assert!(json[group].as_object_mut().unwrap().remove(*key).is_some(), "no {group}.{key}");
        }
    }
    let tables =
        result.tables.iter().map(|(name, table): &(String, ResultTable)| format!("{name}: {table:?}\n"));
    std::iter::once(json.to_string()).chain(tables).collect()
}

/// The result on one thread, after comparing it with that on two and on four.
fn same_on_all(array: &str, settings: &str) -> RunResult {
    let one = run(1, array, settings);
    for threads in [2, 4] {
        let other = run(threads, array, settings);
        assert!(
            results_of(&one) == results_of(&other),
            "{threads} threads give another result: {array}\n{settings}"
        );
    }
    one
}

const LEVELS: [&str; 6] = [
    "level = \"raid0\"\nmembers = 3\nchunk = \"16KiB\"",
    "level = \"raid1\"\nmembers = 3",
    "level = \"raid5\"\nmembers = 4\nchunk = \"16KiB\"\nspares = 1",
    "level = \"raid6\"\nmembers = 5\nchunk = \"8KiB\"\nspares = 1",
    "level = \"raid10\"\nmembers = 4\ncopies = 2\nchunk = \"16KiB\"\ncopy_layout = \"far\"",
    "level = \"raid5\"\nmembers = 4\nchunk = \"12KiB\"\nwrites = \"chunk-by-chunk\"",
];

#[test]
fn a_prepared_array_is_the_same_on_any_number_of_threads() {
    let workload = "[workload.synthetic]\npattern = \"zipf\"\nsizes = \"jesd219\"\nread_percent = 30\ntrim_percent = 3\n\
                    requests = 2000\nqueue_depth = 16\n";
    for array in LEVELS {
        for overwrite in ["random", "workload"] {
            let settings = format!(
                "[precondition]\noverwrite = \"{overwrite}\"\nmin_drive_writes = 1\nmax_drive_writes = 2\n{workload}"
            );
            let result = same_on_all(array, &settings);
            assert!(
                result.summary.steady_state.precondition.drive_writes > 0.9,
                "{array}: nothing was overwritten"
            );
            assert!(result.summary.host.reads > 500 && result.summary.host.writes > 1000, "{array}");
        }
    }
}

#[test]
fn failures_repairs_and_losses_of_power_are_the_same_on_any_number_of_threads() {
    let settings = "[precondition]\noverwrite = \"random\"\nmax_drive_writes = 1.5\n\
                [workload.synthetic]\npattern = \"uniform\"\nread_percent = 50\nsize = \"8KiB\"\nduration = \"2s\"\n\
                rate_iops = 1500\n\
                [[faults]]\nat = \"200ms\"\nkind = \"power\"\n\
                [[faults]]\nat = \"400ms\"\nkind = \"device\"\ndevice = 1\n\
                [[faults]]\nat = \"1200ms\"\nkind = \"replace\"\ndevice = 2\n";
    let array = "consistency = \"ppl\"\nbackground = { min_rate = \"200MB/s\" }";
    let result = same_on_all(&format!("{}\n{array}", LEVELS[2]), settings);
    let summary = result.summary.array.unwrap();
    assert_eq!((summary.power_cuts, summary.rebuilds), (1, 2), "less happened than was to");
}

#[test]
fn commands_without_time_are_the_same_on_any_number_of_threads() {
    for array in LEVELS {
        let settings = "timing = \"none\"\n[precondition]\noverwrite = \"none\"\n\
                    [workload.synthetic]\npattern = \"uniform\"\nread_percent = 20\nsize = \"12KiB\"\nrequests = 30000\n";
        let result = same_on_all(array, settings);
        assert_eq!(result.summary.host.reads + result.summary.host.writes, 30_000, "{array}");
    }
}

/// A drive by itself has a thread for each of its flash cores.
#[test]
fn a_drive_of_several_cores_is_the_same_on_any_number_of_threads() {
    let drive = |threads: u16, wears_out: &str| {
        let text = format!(
            r#"
[device]
{wears_out}
{drive}
[precondition]
max_drive_writes = 3
[run]
threads = {threads}
[workload.synthetic]
pattern = "uniform"
read_percent = 50
requests = 2000
queue_depth = 16
"#,
            drive = DriveText::channels(4)
                .planes(2)
                .blocks(64, 16, "8KiB")
                .spare(0.3)
                .buffer("1MiB")
                .controller("flash_cores = 4")
        );
        let mut simulation = Simulation::new(parse_text(&text).unwrap().0).unwrap();
        simulation
            .run(&mut |_| RunControl::Continue)
            .map(|result| results_of(&result))
            .map_err(|error| error.to_string())
    };
    for (wears_out, works) in
        [("", true), ("defects.endurance = 3", false), ("defects.endurance = 3000", true)]
    {
        let one = drive(1, wears_out);
        assert_eq!(one.is_ok(), works, "{wears_out}");
        for threads in [2, 4] {
            assert!(one == drive(threads, wears_out), "{threads} threads give another result: {wears_out}");
        }
    }
}

/// A member that takes no more writes ends a run without time, and no member has done anything that comes after.
#[test]
fn a_worn_out_member_ends_a_run_without_time_at_once() {
    let array = "level = \"raid0\"\nmembers = 2\nchunk = \"4KiB\"";
    let settings = "timing = \"none\"\n[device.defects]\nendurance = 30\n[precondition]\noverwrite = \"none\"\n\
                [workload.synthetic]\npattern = \"uniform\"\nread_percent = 0\nsize = \"4KiB\"\nrequests = 4000000\n";
    let result = same_on_all(array, settings);
    let host = &result.summary.host;
    assert!(host.writes < 4_000_000 && host.errors == 1, "{} writes, {} errors", host.writes, host.errors);
    let flash = serde_json::to_value(&result.summary.flash).unwrap();
    // Two units share a page; the last one of a member may be without its neighbour.
    let pages = flash["by_cause"]["host_programs"].as_f64().unwrap();
    let done = host.writes as f64;
    assert!(pages * 2.0 <= done && done <= pages * 2.0 + 2.0, "{pages} pages for {done} writes");
}
