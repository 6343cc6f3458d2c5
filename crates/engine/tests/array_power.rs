//! Does a scenario survive losses of power of a whole array: commands end, the run goes on, and parity fits again?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_array::ArrayHealth;
use outlast_engine::{ResultColumn, RunControl, RunResult, Scenario, Simulation, parse_text};
use outlast_media::{FaultKind, FaultSpec};
use outlast_settings::drive::WriteCache;
use outlast_units::Nanos;
use support::DriveText;

/// Three drives of 60 MiB as RAID-5, random writes for three seconds, and `more`.
fn scenario(array: &str, workload: &str, more: &str) -> Scenario {
    let text = format!(
        r#"
{drive}
[array]
level = "raid5"
members = 3
chunk = "16KiB"
background = {{ min_rate = "200MB/s", scrub_interval = "1s" }}
{array}
[precondition]
overwrite = "none"
[workload.synthetic]
pattern = "uniform"
read_percent = 20
duration = "3s"
{workload}
{more}
"#,
        drive = DriveText::of_60_mib().controller("write_cache = \"off\"")
    );
    parse_text(&text).unwrap().0
}

const CLOSED: &str = "queue_depth = 16";
const OPEN: &str = "rate_iops = 800";
const CUT: &str = "[[faults]]\nat = \"700ms\"\nkind = \"power\"\n";

fn run(scenario: Scenario) -> RunResult {
    let mut simulation = Simulation::new(scenario).unwrap();
    let result = simulation.run(&mut |_| RunControl::Continue).unwrap();
    simulation.self_check().unwrap();
    result
}

fn events(result: &RunResult) -> Vec<String> {
    let (_, table) = result.tables.iter().find(|(name, _)| name == "array_events").unwrap();
    let (_, names) = table.columns.iter().find(|(name, _)| name == "event").unwrap();
    let ResultColumn::Text(names) = names else { panic!("events have names") };
    let mut names = names.clone();
    // Scrubs come again and again.
    names.dedup();
    names
}

#[test]
fn resynchronising_corrects_torn_parity_so_that_a_scrub_finds_nothing() {
    for (workload, aborted) in [(CLOSED, 16..=16), (OPEN, 1..=800)] {
        for consistency in ["resync", "bitmap"] {
            let array = format!("consistency = \"{consistency}\"");
            let result = run(scenario(&array, workload, CUT));
            let (summary, array) = (&result.summary, result.summary.array.as_ref().unwrap());
            assert_eq!((array.power_cuts, array.mismatches, array.write_holes), (1, 0, 0), "{consistency}");
            assert!(array.write_hole_repairs > 0, "{consistency}: nothing was torn");
            assert!(aborted.contains(&summary.host.errors), "{consistency}: {} aborted", summary.host.errors);
            assert!(array.write_hole_repairs <= summary.host.errors, "more torn than was under way");
            assert_eq!((array.state, array.lost_bytes, array.bad_sectors), (ArrayHealth::Clean, 0, 0));
            assert_eq!(events(&result), ["power failed", "resynchronised", "scrubbed"], "{consistency}");
            // The run went on: three quarters of it come after the cut.
            let iops = (summary.host.reads + summary.host.writes) as f64 / 3.0;
            assert!(iops > 500.0, "{consistency}: {iops} requests a second");
        }
    }
}

#[test]
fn write_hole_records_leave_no_parity_in_doubt() {
    for consistency in ["ppl", "journal"] {
        let result = run(scenario(&format!("consistency = \"{consistency}\""), CLOSED, CUT));
        let array = result.summary.array.as_ref().unwrap();
        assert_eq!((array.power_cuts, array.mismatches, array.write_holes), (1, 0, 0), "{consistency}");
        // What was being written is carried out from records, at most one for each command under way.
        assert!((1..=16).contains(&array.write_hole_repairs), "{consistency}: {}", array.write_hole_repairs);
        assert_eq!(events(&result), ["power failed", "scrubbed"], "{consistency}");
        assert_eq!((array.state, array.lost_bytes), (ArrayHealth::Clean, 0));
    }
}

#[test]
fn a_run_ends_only_when_resynchronising_has_ended() {
    let slow = "background = { min_rate = \"2MB/s\", max_rate = \"50MB/s\" }";
    let mut cut = scenario("", CLOSED, "[[faults]]\nat = \"2900ms\"\nkind = \"power\"\n");
    let slowly = toml_array(slow);
    cut.array.as_mut().unwrap().background = slowly;
    let result = run(cut.clone());
    let note =
        result.summary.notes.iter().find(|note| note.contains("continued making parity consistent until"));
    assert!(
        note.is_some() && events(&result) == ["power failed", "resynchronised"],
        "{:?}",
        result.summary.notes
    );
    cut.run.finish_rebuild = false;
    assert_eq!(events(&run(cut)), ["power failed"]);
}

fn toml_array(background: &str) -> outlast_settings::array::BackgroundConfig {
    let text = format!("level = \"raid5\"\nmembers = 3\n{background}");
    toml::from_str::<outlast_settings::array::ArrayConfig>(&text).unwrap().background
}

/// Like md: with a member missing, parity in doubt may give wrong data, and only force starts the array.
#[test]
fn a_degraded_array_in_doubt_does_not_start_by_itself() {
    let failed = "[[faults]]\nat = \"500ms\"\nkind = \"device\"\ndevice = 1\n";
    for workload in [CLOSED, OPEN] {
        let result = run(scenario("", workload, &format!("{failed}{CUT}")));
        let (summary, array) = (&result.summary, result.summary.array.as_ref().unwrap());
        assert_eq!(array.state, ArrayHealth::Failed);
        assert_eq!(events(&result), ["member failed", "power failed", "not started"]);
        let note = summary.notes.iter().find(|note| note.contains("did not start again")).unwrap();
        assert!(note.contains("force"), "{note}");
        assert!(summary.time.simulated_s < 0.8, "the run ended at {} s", summary.time.simulated_s);
        assert!(array.time_s.failed < 0.1 && array.time_s.degraded > 0.19, "{:?}", array.time_s);
        let forced = run(scenario("", workload, &format!("{failed}{CUT}force = true\n")));
        let array = forced.summary.array.as_ref().unwrap();
        assert!(array.write_holes > 0, "what was torn and missing is wrong now");
        assert_eq!(array.state, ArrayHealth::Degraded);
        assert!(forced.summary.time.simulated_s > 2.9);
    }
    // Records leave no doubt.
    let result = run(scenario("consistency = \"ppl\"", CLOSED, &format!("{failed}{CUT}")));
    let array = result.summary.array.as_ref().unwrap();
    assert_eq!((array.state, array.write_holes, array.power_cuts), (ArrayHealth::Degraded, 0, 1));
}

#[test]
fn a_rebuild_resumes_where_power_was_lost() {
    let array = "spares = 1\nmember = [{ device = 0, fail_at = \"300ms\" }]\nconsistency = \"ppl\"";
    let mut often = scenario(array, CLOSED, "");
    for at in (310..370).step_by(8) {
        often.faults.push(FaultSpec::new(Nanos::millis(at), FaultKind::Power));
    }
    // And an exchange at the very moment of a cut.
    let exchange = "[[faults]]\nat = \"2500ms\"\nkind = \"power\"\n[[faults]]\nat = \"2500ms\"\nkind = \"replace\"\ndevice = 2\n";
    often.faults.extend(scenario(array, CLOSED, exchange).faults);
    often.device.controller.write_cache = WriteCache::Protected;
    let result = run(often);
    let array = result.summary.array.as_ref().unwrap();
    assert_eq!((array.power_cuts, array.rebuilds, array.mismatches), (9, 2, 0));
    assert_eq!((array.state, array.write_holes), (ArrayHealth::Clean, 0), "{array:?}");
}

#[test]
fn random_faults_of_members_continue_after_a_loss_of_power() {
    let mut early = scenario("", "rate_iops = 20", "[[faults]]\nat = 0\nkind = \"power\"\n");
    // 6.3 a second on each of three drives: with hardly a command, it is the drives themselves that go on.
    early.device.hazards.page_per_year = 2e8;
    let faults = run(early).summary.reliability.faults;
    // 57 ± 7.5, of which the last part is missing where no command lets time pass.
    assert!((25..=90).contains(&faults), "{faults} pages broke in some 3 s");
}

#[test]
fn one_seed_gives_one_result() {
    let once = || {
        let mut json = serde_json::to_value(run(scenario("", CLOSED, CUT)).summary).unwrap();
        for key in ["time", "throughput", "memory"] {
            json.as_object_mut().unwrap().remove(key);
        }
        json.to_string()
    };
    assert!(once() == once());
}

#[test]
fn a_loss_of_power_of_one_member_loses_no_data() {
    let one = "[[faults]]\nat = \"700ms\"\nkind = \"power\"\ndevice = 1\n";
    let result = run(scenario("", CLOSED, one));
    let array = result.summary.array.as_ref().unwrap();
    assert_eq!((array.power_cuts, array.state, result.summary.host.errors), (0, ArrayHealth::Clean, 0));
    assert_eq!((array.lost_bytes, array.mismatches), (0, 0));
}

#[test]
fn impossible_power_faults_are_refused_by_name() {
    let refused = |fault: &str, volatile: bool| {
        let mut scenario = scenario("", CLOSED, "");
        if volatile {
            scenario.device.controller.write_cache = WriteCache::Volatile;
        }
        let text =
            format!("{}\n[[faults]]\nat = \"1s\"\nkind = \"power\"\n{fault}\n", scenario.to_toml().unwrap());
        parse_text(&text).map(drop).unwrap_err().to_string()
    };
    for (fault, volatile, part) in [
        ("die = 0", false, "faults[0].die = 0"),
        ("device = 3", false, "faults[0].device = 3: must be less than 3"),
        ("device = 0\nforce = true", false, "faults[0].force = true"),
        ("device = 1", true, "faults[0].device = 1: must be absent"),
    ] {
        let message = refused(fault, volatile);
        assert!(message.contains(part), "{message}");
    }
}
