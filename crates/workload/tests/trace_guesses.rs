//! Is what a published trace leaves open guessed as its publisher means it, and told?

#![allow(
    clippy::unwrap_used,
    clippy::format_collect,
    reason = "tests fail by panicking and build small texts"
)]

use crate::trace_formats::file;
use outlast_workload::{BlkEvent, TimeUnit, TraceInfo, TraceSpec, trace_info};

fn info(name: &str, text: &str) -> TraceInfo {
    trace_info(&TraceSpec { file: file(name, text.as_bytes()), ..TraceSpec::default() }).unwrap()
}

/// `DiskSim` defines milliseconds; its own example `valid/ascii.trace` has six decimals and a mean gap of 15.
#[test]
fn times_with_six_decimals_are_milliseconds_unless_that_is_too_fast() {
    for (gap, unit, span) in [(15.329_512, TimeUnit::Ms, 0.597_851), (0.010_5, TimeUnit::S, 0.409_5)] {
        let text: String = (0..40)
            .map(|i| format!("{:.6}\t17\t{}\t24\t{}\n", 13.2 + gap * f64::from(i), 8 * i, i % 2))
            .collect();
        let info = info("six-decimals", &text);
        assert_eq!(info.time_unit, unit, "{:?}", info.notes);
        assert!((info.span_s - span).abs() < 1e-6, "{}", info.span_s);
    }
}

/// A kernel that is traced with `-a issue`, or a device without a queue, gives no event Q.
#[test]
fn requests_are_the_earliest_event_that_a_trace_of_blkparse_begins_with() {
    let text = |actions: &str| -> String {
        let lines = actions.chars().enumerate();
        lines.map(|(i, action)| format!("8,52 0 {i} 0.{i:09} 226 {action} W {} + 8 [x]\n", 8 * i)).collect()
    };
    for (actions, requests, noted) in [
        ("DCDDCC", 3, "events D"),
        ("CCCC", 4, "events C"),
        ("DQCDQC", 2, "recognised"),
        ("DQ", 1, "recognised"),
    ] {
        let info = info("events", &text(actions));
        assert_eq!(info.writes.count, requests, "{actions}");
        assert!(info.notes.iter().any(|note| note.contains(noted)), "{actions}: {:?}", info.notes);
        assert_eq!(info.notes.iter().any(|note| note.contains("requests are")), noted != "recognised");
    }
    let spec =
        TraceSpec { file: file("asked", text("DQC").as_bytes()), event: BlkEvent::C, ..TraceSpec::default() };
    assert_eq!(trace_info(&spec).unwrap().records, 1);
}

/// The same capture is published with seconds (libCacheSim) and with the microseconds of vscsiStats (`PyMimircache`).
#[test]
fn times_of_cloudphysics_are_seconds_or_microseconds() {
    let text = |at: fn(u64) -> u64| -> String {
        let rows = (0..9).map(|i| format!("1,{},2a,512,{}\n", at(i), 42_932_745 + i));
        "version,time,op,size,lbn\n".chars().map(String::from).chain(rows).collect()
    };
    let seconds = info("cloud-s", &text(|i| 5_633_898 + i));
    assert_eq!((seconds.time_unit, seconds.span_s), (TimeUnit::S, 8.0));
    let micros = info("cloud-us", &text(|i| 5_633_898_368_802 + 250_000 * i));
    assert_eq!((micros.time_unit, micros.span_s), (TimeUnit::Us, 2.0));
    assert!(micros.notes.iter().any(|note| note.contains("guessed as us")), "{:?}", micros.notes);
}
