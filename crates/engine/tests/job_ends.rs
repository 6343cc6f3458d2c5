//! Where a run of jobs ends: with its last command, though jobs may sleep before they end.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_engine::{RunControl, RunSummary, Simulation};
use support::{DriveText, scenario};

/// A drive whose buffer has much to program when the last of a hundred writes completes; `more` are lines of the job.
fn run(more: &str, faults: &str) -> RunSummary {
    let scenario = scenario(&format!(
        r#"
{drive}
[device.energy]
active_watts = 3.0
idle_watts = 1.0
die_watts = 0.08
[precondition]
overwrite = "none"
[run]
utilisation = true
{faults}
[workload.fio]
job = """
[one]
rw=randwrite
bs=64k
iodepth=1
number_ios=100
{more}
"""
"#,
        drive = DriveText::channels(8).dies(2).planes(2).blocks(24, 64, "16KiB").spare(0.3).buffer("4MiB")
    ));
    let mut simulation = Simulation::new(scenario).unwrap();
    let summary = simulation.run(&mut |_| RunControl::Continue).unwrap().summary;
    simulation.self_check().unwrap();
    summary
}

#[test]
fn a_drive_is_measured_to_the_last_command_however_long_its_job_then_sleeps() {
    let (at_once, sleeps) = (run("", ""), run("thinktime=50ms\nthinktime_blocks=100", ""));
    assert_eq!(at_once.time.simulated_s.to_bits(), sleeps.time.simulated_s.to_bits());
    let figures = |summary: &RunSummary| {
        let mut whole = serde_json::to_value(summary).unwrap();
        // A job that sleeps keeps no constant number in flight.
        whole["queue"]["host_queue_depth"].take();
        ["flash", "energy", "queue", "write_amplification", "gc", "wear"].map(|group| whole[group].clone())
    };
    assert_eq!(figures(&at_once), figures(&sleeps));
    let work = sleeps.queue.die_work.program;
    assert!(work > 0.5 && work <= 1.0, "{work}");
    let most = 3.0 + 16.0 * 0.08;
    let watts = sleeps.energy.unwrap().mean_watts;
    assert!(watts <= most, "{watts} W of at most {most}");
}

/// Between two commands the drive works on: the think time is part of the run.
#[test]
fn a_drive_works_on_while_its_job_sleeps_between_commands() {
    let summary = run("thinktime=50ms\nthinktime_blocks=50", "");
    assert!(summary.time.simulated_s >= 0.05, "{} s", summary.time.simulated_s);
    // At least the first fifty writes, of 64 KiB on pages of 16 KiB, are on flash.
    assert!(summary.flash.programs >= 200, "{} programs", summary.flash.programs);
    assert!(summary.queue.die_work.program < 0.5);
}

/// A die that fails while the job only sleeps before it ends fails after the run.
#[test]
fn a_fault_after_the_last_command_is_none_of_the_run() {
    let fault = "[[faults]]\nat = \"20ms\"\nkind = \"die\"\ndie = 3";
    let sleeps = run("thinktime=50ms\nthinktime_blocks=100", fault);
    assert!(sleeps.time.simulated_s < 0.02);
    let whole = serde_json::to_value(&sleeps).unwrap();
    assert_eq!(whole["flash"], serde_json::to_value(run("", "").flash).unwrap());
}
