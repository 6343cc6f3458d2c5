//! Does a run come to the same whatever its steps were?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_engine::{LegGoal, OnRows, ResultTable, RunResult, Scenario, Simulation};
use outlast_units::Nanos;
use support::steps::{ARRAY, CLOSED, FinishAtEnd, LANES, OPEN, go, made, once, stand, step};
use support::stripped;

const NO_TIME: &str =
    "[workload.synthetic]\npattern = \"uniform\"\nrequests = 100\n[run]\ntiming = \"none\"\n";

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
        let before = stepped.status();
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
fn a_closed_loop_has_the_same_result_in_steps() {
    comes_to_the_same(&made(&[CLOSED]));
    comes_to_the_same(&made(&[ARRAY, CLOSED]));
}

#[test]
fn an_open_loop_has_the_same_result_in_steps() {
    comes_to_the_same(&made(&[OPEN]));
    comes_to_the_same(&made(&[ARRAY, OPEN]));
}

#[test]
fn jobs_have_the_same_result_in_steps() {
    comes_to_the_same(&made(&[LANES]));
    comes_to_the_same(&made(&[ARRAY, LANES]));
    let sharing = LANES.replace("[workload.fio]", "[workload.fio]\ntime_slice = \"200us\"");
    comes_to_the_same(&made(&[&sharing]));
    comes_to_the_same(&made(&[ARRAY, &sharing]));
}

#[test]
fn the_log_of_requests_is_the_same_in_steps() {
    let logged = made(&[OPEN, "[run]\nlog = \"requests.parquet\"\n"]);
    let (mut whole, mut pieces): (Vec<ResultTable>, Vec<ResultTable>) = (Vec::new(), Vec::new());
    let mut one = Simulation::new(logged.clone()).unwrap();
    one.run_logged(&mut go, Some(&mut |rows| whole.push(rows))).unwrap();
    let mut other = Simulation::new(logged).unwrap();
    let mut keep = |rows| pieces.push(rows);
    for requests in [10, 4096, 4097, u64::MAX] {
        let rows: OnRows<'_> = &mut keep;
        other.advance(&LegGoal { requests, ..LegGoal::END }, &mut go, Some(rows)).unwrap();
    }
    other.finish(&mut go, Some(&mut keep)).unwrap();
    assert_eq!(whole.iter().map(|table| table.u64("lba").len()).sum::<usize>(), 9000);
    assert_eq!(whole, pieces);
}

#[test]
fn steps_of_requests_are_exact() {
    for parts in [[CLOSED], [OPEN], [LANES]] {
        let mut simulation = Simulation::new(made(&parts)).unwrap();
        assert_eq!(step(&mut simulation, Some(1), None).requests, 1);
        assert_eq!(step(&mut simulation, Some(999), None).requests, 1000);
        assert_eq!(step(&mut simulation, Some(3096), None).requests, 4096);
        assert!(!stand(&simulation).ended);
    }
}

#[test]
fn an_open_loop_stops_exactly_at_the_time_of_its_goal() {
    let slow = OPEN.replace("20000", "100").replace("9000", "50");
    let mut simulation = Simulation::new(made(&[&slow])).unwrap();
    for millis in 1..100 {
        assert_eq!(step(&mut simulation, None, Some(Nanos::millis(1))).now, Nanos::millis(millis));
    }
    let whole = once(made(&[&slow]));
    same(&whole, &simulation.finish_at_end());
}

#[test]
fn a_run_stopped_early_is_partial() {
    let mut simulation = Simulation::new(made(&[CLOSED])).unwrap();
    step(&mut simulation, Some(5000), None);
    let result = simulation.finish(&mut go, None).unwrap();
    assert!(result.summary.partial);
    assert!(simulation.status().is_none());
}

#[test]
fn without_time_there_are_no_steps() {
    let mut simulation = Simulation::new(made(&[NO_TIME])).unwrap();
    let refused = simulation.advance(&LegGoal { requests: 10, ..LegGoal::END }, &mut go, None).unwrap_err();
    assert!(refused.to_string().starts_with("run.timing = none: must be full"), "{refused}");
    assert!(!simulation.finish_at_end().summary.partial);
}
