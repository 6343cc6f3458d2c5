//! Do jobs that poll on one core of the host act and see only in their turns, and does nothing else change?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_engine::{LatencyCause, ResultTable, Scenario, Simulation};
use support::assert_close;
use support::steps::{LANES, go, made, once};
use support::stripped;

/// Length of a turn, in nanoseconds.
const SLICE: u64 = 700_000;

fn sharing(jobs: &str) -> String {
    jobs.replace("[workload.fio]", "[workload.fio]\ntime_slice = \"700us\"")
}

/// Three jobs that run for as long as each other, one of them held to a rate.
const THREE: &str = r#"
[workload.fio]
job = """
[global]
bs=4k
time_based
runtime=60ms
[reads]
rw=randread
iodepth=4
[writes]
rw=randwrite
iodepth=2
[paced]
rw=randread
rate_iops=4000
"""
[run]
causes = true
log = "requests.parquet"
"#;

/// Rows of the log of a run: submission, completion, job and the sum of the parts, in nanoseconds.
fn rows(scenario: Scenario) -> Vec<[u64; 4]> {
    let mut tables: Vec<ResultTable> = Vec::new();
    let mut simulation = Simulation::new(scenario).unwrap();
    simulation.run_logged(&mut go, Some(&mut |part| tables.push(part))).unwrap();
    simulation.self_check().unwrap();
    let column =
        |name: &str| -> Vec<u64> { tables.iter().flat_map(|part| part.u64(name).iter().copied()).collect() };
    let [submitted, completed, jobs] = ["submitted_ns", "completed_ns", "queue"].map(column);
    let parts: Vec<Vec<u64>> =
        LatencyCause::ALL.iter().map(|cause| column(&format!("{}_ns", cause.name()))).collect();
    (0..jobs.len())
        .map(|row| [submitted[row], completed[row], jobs[row], parts.iter().map(|part| part[row]).sum()])
        .collect()
}

/// Turns go round from time zero, in the order of the jobs, while all three run.
#[test]
fn jobs_issue_and_see_completions_in_their_turns_alone() {
    let rows = rows(made(&[&sharing(THREE)]));
    let mut at_the_beginning = [0; 3];
    for &[submitted, completed, job, parts] in &rows {
        assert_eq!(completed - submitted, parts, "the parts of a latency, that of the host among them");
        for at in [submitted, completed].into_iter().filter(|at| *at < 60_000_000) {
            assert_eq!(at / SLICE % 3, job, "job {job} at {at} ns");
        }
        if completed % SLICE == 0 {
            at_the_beginning[job as usize] += 1;
        }
    }
    // 60 ms have 28 rounds of three turns; what a job has in flight at the end of a turn it sees when the next begins.
    assert!(at_the_beginning.iter().all(|&seen| seen >= 20), "{at_the_beginning:?}");
    assert!(rows.is_sorted_by_key(|row| row[1]));
    let requests = [0, 1, 2].map(|job| rows.iter().filter(|row| row[2] == job).count());
    assert!(requests.iter().all(|&count| count > 50), "{requests:?}");
}

/// A job that begins later waits for its first turn; turns begin with it.
#[test]
fn a_job_that_begins_in_the_turn_of_another_waits_for_its_own() {
    let text = "[workload.fio]\ntime_slice = \"700us\"\njob = \"\"\"\n[global]\nrw=randread\nbs=4k\ntime_based\nruntime=20ms\n[first]\n\
                [late]\nstartdelay=1ms\niodepth=3\n\"\"\"\n[run]\ncauses = true\nlog = \"requests.parquet\"\n";
    let rows = rows(made(&[text]));
    assert_eq!(rows.iter().filter(|row| row[2] == 1).map(|row| row[0]).min(), Some(1_000_000 + SLICE));
    for &[submitted, completed, job, _] in &rows {
        for at in [submitted, completed].into_iter().filter(|at| (1_000_000..20_000_000).contains(at)) {
            assert_eq!((at - 1_000_000) / SLICE % 2, job, "job {job} at {at} ns");
        }
    }
}

#[test]
fn a_job_that_is_alone_runs_as_on_a_core_of_its_own() {
    let alone = "[workload.fio]\njob = \"\"\"\n[a]\nrw=randrw\nbs=4k\niodepth=8\nnumber_ios=2000\nthinktime=50\n\"\"\"\n";
    let [own, shared] = [alone.to_owned(), sharing(alone)].map(|text| {
        let mut result = stripped(&once(made(&[&text])).summary);
        result.as_object_mut().unwrap().remove("scenario");
        result
    });
    assert_eq!(own, shared);
}

/// Two jobs that read as fast as they may have half of the reads of one each: a read takes much less than a turn, so that what is lost at its ends is small.
#[test]
fn two_jobs_divide_the_time_of_a_core() {
    let job = |name: &str| format!("[{name}]\nrw=randread\nbs=4k\ntime_based\nruntime=84ms\n");
    let reads = |slice: &str, jobs: &str| -> Vec<f64> {
        let text = format!("[workload.fio]\n{slice}job = \"\"\"\n{jobs}\"\"\"\n");
        once(made(&[&text]))
            .summary
            .host
            .jobs
            .iter()
            .map(|job| job.read.as_ref().unwrap().ios as f64)
            .collect()
    };
    let alone = reads("", &job("a"))[0];
    let both = reads("time_slice = \"14ms\"\n", &(job("a") + &job("b")));
    // Three turns each, of which the last may end with one read that is not seen.
    assert_close("the first", both[0], alone / 2.0, 0.02);
    assert_close("the second", both[1], alone / 2.0, 0.02);
}

/// A job that has ended takes no turns: the other goes on without a pause.
#[test]
fn a_job_that_has_ended_leaves_the_core() {
    let text = "[workload.fio]\ntime_slice = \"700us\"\njob = \"\"\"\n[short]\nrw=randread\nbs=4k\nnumber_ios=40\n\
                [long]\nrw=randread\nbs=4k\nnumber_ios=600\n\"\"\"\n[run]\ncauses = true\nlog = \"requests.parquet\"\n";
    let rows = rows(made(&[text]));
    let of = |job: u64| rows.iter().filter(move |row| row[2] == job);
    let end = of(0).map(|row| row[1]).max().unwrap();
    let before = of(1).filter(|row| row[1] < end).map(|row| row[1] - row[0]).max().unwrap();
    let after: Vec<u64> = of(1).filter(|row| row[0] >= end).map(|row| row[1] - row[0]).collect();
    assert!(before >= SLICE, "while both run a read waits for a turn: {before} ns");
    assert!(after.len() > 300 && after.iter().all(|&latency| latency < SLICE), "{:?}", after.iter().max());
}

#[test]
fn a_time_slice_outside_its_limits_is_refused() {
    for slice in ["9us", "11s"] {
        let text = LANES.replace("[workload.fio]", &format!("[workload.fio]\ntime_slice = \"{slice}\""));
        let error = Simulation::new(made(&[&text])).err().unwrap().to_string();
        assert!(
            error.contains("workload.fio.time_slice") && error.contains("between 10us and 10s"),
            "{error}"
        );
    }
}
