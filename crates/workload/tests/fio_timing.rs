//! Tests that every job of a file is a queue of its own, with its own depth, rates, runtime and end.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use outlast_device::Op;
use outlast_units::{Bytes, Nanos};
use outlast_workload::{FioSpec, JobLog, WorkloadTarget};

const TARGET: WorkloadTarget = WorkloadTarget {
    capacity: Bytes::mib(64),
    seed: 7,
    unit: Bytes::kib(4),
    handles: 0,
    zones: None,
    namespaces: Vec::new(),
};

/// The log of the jobs on a device that completes every request after `latency`.
fn log(text: &str, latency: Nanos) -> JobLog {
    let spec = FioSpec { job: Some(text.to_owned()), ..FioSpec::default() };
    spec.log(&TARGET, latency, true, 1_000_000).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn count(log: &JobLog, job: u32, op: Op) -> usize {
    log.requests.iter().filter(|r| r.job == job && r.command.op == op).count()
}

fn end(log: &JobLog, job: usize) -> Nanos {
    log.jobs[job].end.unwrap()
}

/// Most requests in flight of a job, each for `latency`.
fn most_in_flight(log: &JobLog, job: u32, latency: Nanos) -> usize {
    let times: Vec<u64> = log.requests.iter().filter(|r| r.job == job).map(|r| r.at.0).collect();
    times
        .iter()
        .enumerate()
        .map(|(i, at)| times[..=i].iter().filter(|t| **t + latency.0 > *at).count())
        .max()
        .unwrap()
}

#[test]
fn rates_hold_for_each_direction() {
    // fio 3.33: 999 reads/s and 999 writes/s, also with rwmixread=70.
    let log = log("[a]\nrw=randrw\nrwmixread=70\nrate_iops=1000\nruntime=1\ntime_based\n", Nanos::micros(10));
    assert_eq!((count(&log, 0, Op::Read), count(&log, 0, Op::Write)), (1000, 1000));
    assert_eq!(end(&log, 0), Nanos::secs(1));
}

#[test]
fn a_rate_is_bounded_by_the_depth() {
    // 200 000 a second are asked for, a depth of 1 on 100 us gives 10 000.
    let latency = Nanos::micros(100);
    let log = log("[a]\nrw=randread\nrate_iops=200000\nruntime=100ms\ntime_based\n", latency);
    assert_eq!(count(&log, 0, Op::Read), 1000);
    assert_eq!(most_in_flight(&log, 0, latency), 1);
}

/// A job that has others submit for it sends each request at its time, whatever is in flight, as long as there is a place; a job that submits
/// by itself waits for its requests before it sleeps, as fio does, and sends what it has missed at once.
#[test]
fn a_job_that_offloads_keeps_to_its_times() {
    let latency = Nanos::millis(5);
    let times = |mode: &str| -> Vec<u64> {
        let text =
            format!("[a]\nrw=randwrite\nrate_iops=1000\niodepth=64\nruntime=100ms\ntime_based\n{mode}\n");
        log(&text, latency).requests.iter().map(|r| r.at.0 / 1_000_000).collect()
    };
    assert_eq!(times("io_submit_mode=offload"), (0..100).collect::<Vec<u64>>());
    let inline = times("io_submit_mode=inline");
    // 5 ms until the first is done, then the millisecond that it had decided to sleep.
    assert_eq!(inline[..8], [0, 6, 6, 6, 6, 6, 6, 12], "{inline:?}");
    let late = log(
        "[a]\nrw=randwrite\nrate_iops=1000\niodepth=2\nruntime=100ms\ntime_based\nio_submit_mode=offload\n",
        latency,
    );
    assert_eq!(most_in_flight(&late, 0, latency), 2);
}

#[test]
fn jobs_run_side_by_side_and_each_ends_by_itself() {
    let latency = Nanos::micros(100);
    let log = log(
        "[a]\nrw=randread\nruntime=10ms\ntime_based\n[b]\nrw=write\nbs=1m\niodepth=4\nruntime=30ms\ntime_based\n",
        latency,
    );
    // Depth over latency, times the runtime.
    assert_eq!((count(&log, 0, Op::Read), count(&log, 1, Op::Write)), (100, 1200));
    assert_eq!((end(&log, 0), end(&log, 1)), (Nanos::millis(10), Nanos::millis(30)));
    assert_eq!((most_in_flight(&log, 0, latency), most_in_flight(&log, 1, latency)), (1, 4));
}

#[test]
fn every_job_and_clone_has_a_submission_queue_and_after_256_they_are_shared() {
    let log = log(
        "[a]\nrw=randrw\nnumber_ios=4\n[b]\nrw=write\nfsync=2\nnumber_ios=4\nnumjobs=299\n",
        Nanos::micros(10),
    );
    assert_eq!(log.jobs.len(), 300);
    for request in &log.requests {
        assert_eq!(u32::from(request.command.queue.0), request.job % 256, "{request:?}");
    }
    assert!(
        log.requests.iter().any(|r| r.job == 299) && log.requests.iter().any(|r| r.command.op == Op::Flush)
    );
}

#[test]
fn a_job_does_not_inherit_the_depth_of_one_that_has_ended() {
    let latency = Nanos::micros(100);
    let log = log("[a]\nrw=randread\nnumber_ios=100\n[b]\nrw=randread\nnumber_ios=3000\n", latency);
    assert_eq!((count(&log, 0, Op::Read), count(&log, 1, Op::Read)), (100, 3000));
    assert_eq!((end(&log, 0), end(&log, 1)), (Nanos::millis(10), Nanos::millis(300)));
    assert_eq!(most_in_flight(&log, 1, latency), 1);
}

#[test]
fn groups_behind_a_stonewall_may_have_other_depths() {
    let latency = Nanos::micros(100);
    let log = log(
        "[a]\nrw=read\nnumber_ios=80\niodepth=8\n[b]\nrw=read\nnumber_ios=20\n[c]\nstonewall\nrw=read\nnumber_ios=64\niodepth=64\n",
        latency,
    );
    assert_eq!(log.jobs[2].begin, Some(Nanos::millis(2)));
    assert_eq!(end(&log, 2), Nanos(2_000_000 + latency.0));
}

#[test]
fn number_ios_counts_no_flushes() {
    let log = log("[a]\nrw=write\nnumber_ios=1000\nfsync=1\n", Nanos::micros(10));
    assert_eq!(count(&log, 0, Op::Write), 1000);
    // fio looks at the number before it looks whether to flush.
    assert_eq!(count(&log, 0, Op::Flush), 999);
}

#[test]
fn each_direction_is_aligned_to_its_own_block() {
    let log = log("[a]\nrw=randrw\nbs=4k,16k\nnorandommap\nnumber_ios=2000\n", Nanos::micros(10));
    let rough = |op: Op, sectors: u64| {
        log.requests.iter().filter(|r| r.command.op == op && !r.command.lba.0.is_multiple_of(sectors)).count()
    };
    assert_eq!((rough(Op::Read, 8), rough(Op::Write, 32)), (0, 0));
    assert!(rough(Op::Read, 32) > 0);
}

#[test]
fn a_ramp_ends_its_job_later() {
    let log =
        log("[a]\nrw=read\nrate_iops=1000\nramp_time=200ms\nruntime=300ms\ntime_based\n", Nanos::micros(10));
    let last = end(&log, 0);
    assert!(last >= Nanos::millis(500) && last <= Nanos::millis(502), "{last:?}");
}

#[test]
fn exitall_ends_the_others_of_the_group() {
    let log = log(
        "[a]\nrw=read\nnumber_ios=10\nexitall\n[b]\nrw=write\nruntime=100\ntime_based\n[c]\nnew_group\nrw=read\nruntime=5ms\ntime_based\n",
        Nanos::micros(100),
    );
    // A job ends when its requests in flight have completed.
    assert!(
        end(&log, 1) >= end(&log, 0) && end(&log, 1) <= Nanos(end(&log, 0).0 + 100_000),
        "{:?}",
        log.jobs
    );
    assert_eq!(end(&log, 2), Nanos::millis(5));
}

/// At every moment, jobs of one flow have issued in proportion to their weights: none is ahead of its share by more than one request, beside the one that fio
/// counts at the beginning. What fio itself does is compared in `tests/fio/flow.fio`.
#[test]
fn jobs_of_a_flow_keep_to_their_weights() {
    let weights = [5, 2, 1];
    let job = |number: usize| {
        format!(
            "[j{number}]\nrw=randread\nflow_id=3\nflow={}\niodepth={}\ntime_based\nruntime=20ms\n",
            weights[number],
            1 + 3 * number
        )
    };
    let log = log(&(0..3).map(job).collect::<String>(), Nanos::micros(40));
    let mut issued = [0_u64; 3];
    for request in &log.requests {
        issued[request.job as usize] += 1;
        let all = 1 + issued.iter().sum::<u64>();
        for (own, weight) in issued.into_iter().zip(weights) {
            // Admitted while the share of what was issued before was at most the weight's.
            assert!(own == 0 || (own - 1) * 8 <= weight * (all - 1), "{issued:?}");
        }
    }
    // All but the last few of 20 ms, of which the first has a request every 40 us.
    assert!(issued[0] > 490, "{issued:?}");
    assert!(
        issued[1].abs_diff(issued[0] * 2 / 5) <= 2 && issued[2].abs_diff(issued[0] / 5) <= 2,
        "{issued:?}"
    );
}

/// A job that is left alone in its flow is held back no more, and one that is held back ends with its runtime.
#[test]
fn a_flow_ends_with_its_jobs() {
    let latency = Nanos::micros(100);
    let left = log("[a]\nrw=read\nflow=1\nnumber_ios=50\n[b]\nrw=read\nflow=1\nnumber_ios=300\n", latency);
    assert_eq!((count(&left, 0, Op::Read), count(&left, 1, Op::Read)), (50, 300));
    let held = "[slow]\nrw=read\nflow=1\nthinktime=1s\nnumber_ios=2\n[held]\nrw=read\nflow=3\ntime_based\nruntime=30ms\n";
    let held = log(held, latency);
    assert_eq!(end(&held, 1), Nanos::millis(30));
    // 3 for the one of the other and 3 for fio's first, and the one that brings it ahead.
    assert_eq!(count(&held, 1, Op::Read), 7);
}

/// A job counts in its flow before it begins, as in fio: others wait for it, and for ever if it waits for them, which fio does, too.
#[test]
fn a_job_that_has_not_begun_holds_back_its_flow() {
    let latency = Nanos::micros(100);
    let behind = "[a]\nrw=read\nflow=1\nnumber_ios=100\nruntime=30ms\n[b]\nstonewall\nrw=read\nflow=9\nnumber_ios=20\n";
    let behind = log(behind, latency);
    assert_eq!((count(&behind, 0, Op::Read), end(&behind, 0)), (1, Nanos::millis(30)));
    assert_eq!(count(&behind, 1, Op::Read), 20);
    let late = "[a]\nrw=read\nflow=1\nnumber_ios=3\n[b]\nrw=read\nflow=1\nstartdelay=50ms\nnumber_ios=3\n";
    let late = log(late, latency);
    let times: Vec<u64> = late.requests.iter().filter(|r| r.job == 0).map(|r| r.at.0).collect();
    assert!(times[0] == 0 && times[1] == 100_000 && times[2] >= 50_000_000, "{times:?}");
    let stuck = "[a]\nrw=read\nflow=1\nnumber_ios=100\n[b]\nrw=read\nwait_for=a\nflow=2\nnumber_ios=20\n";
    let spec = FioSpec { job: Some(stuck.to_owned()), ..FioSpec::default() };
    let error = spec.log(&TARGET, latency, true, 1000).unwrap_err().to_string();
    assert!(
        error.contains("line 3") && error.contains("flow=1") && error.contains("held back for ever"),
        "{error}"
    );
    // One that sleeps before it asks again does not end, either, unless its runtime ends it.
    let sleeps = "[a]\nrw=read\nflow=1\nflow_sleep=1000\nnumber_ios=10\n[b]\nrw=read\nwait_for=a\nflow=1\nnumber_ios=20\n";
    let spec = FioSpec { job: Some(sleeps.to_owned()), ..FioSpec::default() };
    let error = spec.log(&TARGET, latency, true, 1000).unwrap_err().to_string();
    assert!(error.contains("held back for ever"), "{error}");
    let timed = log(&sleeps.replace("number_ios=10", "number_ios=10\nruntime=30ms"), latency);
    assert_eq!((count(&timed, 0, Op::Read), count(&timed, 1, Op::Read)), (2, 20));
}

/// fio 3.33: a job that `exitall` ends before it has begun is never reaped, and so counts in its flow for ever; the third job issues 1 in its two seconds.
#[test]
fn a_job_that_never_begins_stays_in_its_flow() {
    let text = "[a]\nrw=read\nnumber_ios=50\nexitall\nexit_what=group\n[b]\nrw=read\nstartdelay=20\nflow=9\n\
                [c]\nnew_group\nrw=read\nflow=1\nnumber_ios=500\nruntime=2\n";
    let log = log(text, Nanos::micros(100));
    let counts = [0, 1, 2].map(|job| count(&log, job, Op::Read));
    assert_eq!((counts, end(&log, 2)), ([50, 0, 1], Nanos::secs(2)));
}

/// A job that is held back by its flow does not reap, as fio does not: what it has in flight counts for its think time when it goes on.
#[test]
fn a_job_that_is_held_back_does_not_reap() {
    // fio 3.33 with libaio on a file: 11 and 13 requests in a second.
    let text = "[a]\nrw=read\niodepth=8\nthinktime=5s\nthinktime_blocks=4\nflow=1\ntime_based\nruntime=1\n\
                [b]\nrw=read\nflow=1\nrate_iops=100\ntime_based\nruntime=1\n";
    let log = log(text, Nanos::micros(10));
    assert_eq!((count(&log, 0, Op::Read), count(&log, 1, Op::Read)), (11, 13));
}

/// With `flow_sleep` a job that is ahead waits for its requests and sleeps before it asks again.
#[test]
fn a_job_that_is_ahead_sleeps() {
    let text = "[slow]\nrw=read\nflow=1\nrate_iops=100\ntime_based\nruntime=100ms\n[fast]\nrw=read\nflow=1\niodepth=4\nflow_sleep=7000\ntime_based\nruntime=100ms\n";
    let log = log(text, Nanos::millis(1));
    let times: Vec<u64> = log.requests.iter().filter(|r| r.job == 1).map(|r| r.at.0).collect();
    // After a request it waits a millisecond for it and sleeps for seven; where it is still ahead then, it has none in flight, and sleeps on.
    let gaps: Vec<u64> =
        times.windows(2).map(|pair| (pair[1] - pair[0]) / 1_000_000).filter(|gap| *gap != 0).collect();
    assert!(gaps.len() > 5 && gaps.iter().all(|gap| *gap >= 7 && gap % 7 <= 1), "{gaps:?}");
}
