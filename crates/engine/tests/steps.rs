//! Does a run come to the same whatever its steps were, and does what is done between two steps happen?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Command, Op, Outcome};
use outlast_engine::{Control, Goal, OnRows, RunResult, Scenario, Simulation, Stand, Table};
use outlast_units::{Lba, Nanos};
use support::{TIMING, scenario, stripped};

const DRIVE: &str = r#"
[device.geometry]
channels = 4
chips_per_channel = 1
dies_per_chip = 2
planes_per_die = 1
blocks_per_plane = 64
pages_per_block = 32
page_size = "16KiB"
[device.ftl]
over_provisioning = 0.6
spare_blocks = 4
[device.controller]
write_buffer = "2MiB"
[precondition]
overwrite = "random"
max_drive_writes = 1
"#;

const ARRAY: &str = r#"
[array]
level = "raid5"
members = 4
chunk = "64KiB"
[[faults]]
at = "8ms"
kind = "device"
device = 1
"#;

const CLOSED: &str = r#"
[workload.synthetic]
pattern = "uniform"
read_percent = 60
queue_depth = 16
requests = 9000
[run]
warm_up = "2ms"
causes = true
"#;

const OPEN: &str = r#"
[workload.synthetic]
pattern = "zipf"
read_percent = 60
rate_iops = 20000
requests = 9000
"#;

const LANES: &str = r#"
[workload.fio]
job = """
[global]
bs=4k
[reads]
rw=randread
iodepth=4
thinktime=300
number_ios=1500
[writes]
rw=randwrite
iodepth=8
number_ios=3000
startdelay=1
"""
"#;

const NO_TIME: &str =
    "[workload.synthetic]\npattern = \"uniform\"\nrequests = 100\n[run]\ntiming = \"none\"\n";

fn made(parts: &[&str]) -> Scenario {
    scenario(&format!("name = \"steps\"\nseed = 3\n{TIMING}{}", parts.concat()))
}

fn go(_: &outlast_engine::Progress) -> Control {
    Control::Continue
}

fn once(scenario: Scenario) -> RunResult {
    Simulation::new(scenario).unwrap().run(&mut go).unwrap()
}

fn stand(simulation: &Simulation) -> Stand {
    simulation.stand().unwrap()
}

/// Goes on to a goal, which is so many requests or so much time away.
fn step(simulation: &mut Simulation, requests: Option<u64>, time: Option<Nanos>) -> Stand {
    simulation.open_run(&mut go).unwrap();
    let at = stand(simulation);
    let goal = Goal {
        requests: requests.map_or(u64::MAX, |more| at.requests + more),
        time: time.map_or(Nanos::MAX, |more| at.now + more),
    };
    simulation.advance(&goal, &mut go, None).unwrap();
    stand(simulation)
}

#[track_caller]
fn same(one: &RunResult, other: &RunResult) {
    let [one_json, other_json] = [one, other].map(|result| stripped(&result.summary));
    for (group, figures) in one_json.as_object().unwrap() {
        assert_eq!(figures, &other_json[group], "{group}");
    }
    assert!(one.tables == other.tables || format!("{:?}", one.tables) == format!("{:?}", other.tables));
}

/// Runs `scenario` at once and in steps of many sizes.
#[track_caller]
fn comes_to_the_same(scenario: &Scenario) {
    let whole = once(scenario.clone());
    let mut state = 88_172_645_463_325_252_u64;
    let mut stepped = Simulation::new(scenario.clone()).unwrap();
    let mut steps = 0;
    loop {
        // Marsaglia's xorshift.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let before = stepped.stand();
        let at = match state % 3 {
            0 => step(&mut stepped, Some(1 + (state >> 8) % 700), None),
            1 => step(&mut stepped, None, Some(Nanos(1 + (state >> 8) % 4_000_000))),
            _ => step(&mut stepped, Some(1 + (state >> 8) % 90), Some(Nanos((state >> 16) % 900_000 + 1))),
        };
        assert!(!stepped.state().is_empty());
        if let Some(before) = before {
            assert!(at.now >= before.now && at.requests >= before.requests && at != before, "{at:?}");
        }
        steps += 1;
        if at.ended {
            break;
        }
    }
    assert!(steps > 20, "{steps} steps");
    let result = stepped.finish(&mut go, None).unwrap();
    stepped.self_check().unwrap();
    same(&whole, &result);
}

#[test]
fn a_closed_loop_comes_to_the_same_in_steps() {
    comes_to_the_same(&made(&[DRIVE, CLOSED]));
    comes_to_the_same(&made(&[DRIVE, ARRAY, CLOSED]));
}

#[test]
fn an_open_loop_comes_to_the_same_in_steps() {
    comes_to_the_same(&made(&[DRIVE, OPEN]));
    comes_to_the_same(&made(&[DRIVE, ARRAY, OPEN]));
}

#[test]
fn lanes_come_to_the_same_in_steps() {
    comes_to_the_same(&made(&[DRIVE, LANES]));
    comes_to_the_same(&made(&[DRIVE, ARRAY, LANES]));
}

#[test]
fn the_log_of_requests_is_the_same_in_steps() {
    let logged = made(&[DRIVE, OPEN, "[run]\nlog = \"requests.parquet\"\n"]);
    let (mut whole, mut pieces): (Vec<Table>, Vec<Table>) = (Vec::new(), Vec::new());
    let mut one = Simulation::new(logged.clone()).unwrap();
    one.run_logged(&mut go, Some(&mut |rows| whole.push(rows))).unwrap();
    let mut other = Simulation::new(logged).unwrap();
    let mut keep = |rows| pieces.push(rows);
    for requests in [10, 4096, 4097, u64::MAX] {
        let rows: OnRows<'_> = &mut keep;
        other.advance(&Goal { requests, ..Goal::END }, &mut go, Some(rows)).unwrap();
    }
    other.finish(&mut go, Some(&mut keep)).unwrap();
    assert_eq!(whole.iter().map(|table| table.u64("lba").len()).sum::<usize>(), 9000);
    assert_eq!(whole, pieces);
}

#[test]
fn steps_of_requests_are_exact() {
    for parts in [[DRIVE, CLOSED], [DRIVE, OPEN], [DRIVE, LANES]] {
        let mut simulation = Simulation::new(made(&parts)).unwrap();
        assert_eq!(step(&mut simulation, Some(1), None).requests, 1);
        assert_eq!(step(&mut simulation, Some(999), None).requests, 1000);
        assert_eq!(step(&mut simulation, Some(3096), None).requests, 4096);
        assert!(!stand(&simulation).ended);
    }
}

#[test]
fn a_drive_whose_requests_arrive_waits_exactly() {
    let slow = OPEN.replace("20000", "100").replace("9000", "50");
    let mut simulation = Simulation::new(made(&[DRIVE, &slow])).unwrap();
    for millis in 1..100 {
        assert_eq!(step(&mut simulation, None, Some(Nanos::millis(1))).now, Nanos::millis(millis));
    }
    let whole = once(made(&[DRIVE, &slow]));
    same(&whole, &simulation.finish_at_end());
}

trait FinishAtEnd {
    fn finish_at_end(&mut self) -> RunResult;
}

impl FinishAtEnd for Simulation {
    fn finish_at_end(&mut self) -> RunResult {
        self.advance(&Goal::END, &mut go, None).unwrap();
        self.finish(&mut go, None).unwrap()
    }
}

#[test]
fn what_is_stopped_early_is_partial() {
    let mut simulation = Simulation::new(made(&[DRIVE, CLOSED])).unwrap();
    step(&mut simulation, Some(5000), None);
    let result = simulation.finish(&mut go, None).unwrap();
    assert!(result.summary.partial);
    assert!(simulation.stand().is_none());
}

/// A fault by hand strikes as one of the scenario that is due when the same request completes.
#[test]
fn a_fault_by_hand_is_one_of_the_scenario() {
    let mut by_hand =
        Simulation::new(made(&[DRIVE, "[device.protection]\ndata = 7\nparity = 1\n", CLOSED])).unwrap();
    let at = step(&mut by_hand, Some(3000), None).now;
    let fault = r#"{"kind": "die", "die": 3, "at": "0ns"}"#;
    by_hand.inject(&serde_json::from_str(fault).unwrap(), &mut go).unwrap();
    let own = by_hand.finish_at_end();
    let scheduled = format!("[[faults]]\nkind = \"die\"\ndie = 3\nat = \"{}ns\"\n", at.0 + 1);
    let parts = [DRIVE, "[device.protection]\ndata = 7\nparity = 1\n", CLOSED, &scheduled];
    let planned = once(made(&parts));
    let [mut one, mut other] = [&own, &planned].map(|result| stripped(&result.summary));
    for json in [&mut one, &mut other] {
        json["scenario"].as_object_mut().unwrap().remove("faults");
        json.as_object_mut().unwrap().remove("notes");
        // Reads are looked at for errors from when a fault is expected on.
        json["reliability"]["corrected_by"].as_object_mut().unwrap().remove("ecc");
    }
    // The one that is scheduled strikes a nanosecond later, for every page that is then without parity.
    let exposed = [&mut one, &mut other].map(|json| {
        let class = json["protection"]["by_class"][0].as_object_mut().unwrap();
        (class.remove("unprotected_page_seconds").unwrap().as_f64().unwrap(), class["pages"].as_f64().unwrap())
    });
    assert!((exposed[0].0 - exposed[1].0).abs() <= exposed[0].1 * 1e-9, "{exposed:?}");
    for (group, figures) in one.as_object().unwrap() {
        assert_eq!(figures, &other[group], "{group}");
    }
    assert!(own.summary.notes.iter().any(|note| note.contains("injected")), "{:?}", own.summary.notes);
}

#[test]
fn a_request_by_hand_is_answered_and_not_the_hosts() {
    let closed = CLOSED.replace("warm_up = \"2ms\"\n", "");
    for parts in [&[DRIVE, &closed][..], &[DRIVE, OPEN], &[DRIVE, LANES], &[DRIVE, ARRAY, &closed]] {
        let mut simulation = Simulation::new(made(parts)).unwrap();
        for op in [Op::Read, Op::Write, Op::Trim, Op::Flush] {
            let sectors = if op == Op::Flush { 0 } else { 16 };
            let command = Command::new(op, Lba(64), sectors);
            let own = simulation.submit(command, &mut go, None).unwrap().unwrap();
            let (at, outcome) = own.completed.unwrap();
            assert_eq!(outcome, Outcome::Ok);
            assert!(at >= own.submitted && (op != Op::Read || at > own.submitted), "{own:?}");
            step(&mut simulation, Some(100), None);
        }
        let (own, whole) = (simulation.finish_at_end(), once(made(parts)));
        let requests = |result: &RunResult| {
            let host = &result.summary.host;
            host.reads + host.writes + host.trims + host.flushes
        };
        assert_eq!(requests(&own), requests(&whole));
        simulation.self_check().unwrap();
    }
}

#[test]
fn power_goes_and_comes_between_two_steps() {
    let volatile = "[device.controller]\nwrite_buffer = \"2MiB\"\nwrite_cache = \"volatile\"\n";
    let drive = DRIVE.replace("[device.controller]\nwrite_buffer = \"2MiB\"\n", volatile);
    for parts in [&[&drive[..], CLOSED][..], &[&drive, OPEN], &[&drive, LANES], &[DRIVE, ARRAY, CLOSED]] {
        let mut simulation = Simulation::new(made(parts)).unwrap();
        step(&mut simulation, Some(2000), None);
        let force = if parts.contains(&ARRAY) { r#", "force": true"# } else { "" };
        let cut = format!(r#"{{"kind": "power", "at": "0ns"{force}}}"#);
        simulation.inject(&serde_json::from_str(&cut).unwrap(), &mut go).unwrap();
        step(&mut simulation, Some(1000), None);
        simulation.self_check().unwrap();
        simulation.finish_at_end();
    }
}

#[test]
fn without_time_there_are_no_steps() {
    let mut simulation = Simulation::new(made(&[DRIVE, NO_TIME])).unwrap();
    let refused = simulation.advance(&Goal { requests: 10, ..Goal::END }, &mut go, None).unwrap_err();
    assert!(refused.to_string().starts_with("run.timing = none: must be full"), "{refused}");
    assert!(!simulation.finish_at_end().summary.partial);
}
