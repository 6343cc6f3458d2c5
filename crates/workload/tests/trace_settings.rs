//! Do the settings of a trace select, order, place and repeat its records, and is a trace beyond the device noted?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::trace_formats::{file, replay};
use outlast_units::Bytes;
use outlast_workload::{TraceSpec, WorkloadRequest, WorkloadSpec, WorkloadTarget, trace_info};

pub(crate) const TARGET: WorkloadTarget = WorkloadTarget {
    capacity: Bytes::mib(1),
    seed: 1,
    unit: Bytes::kib(4),
    handles: 0,
    zones: None,
    namespaces: Vec::new(),
};

#[test]
fn settings_select_order_place_and_repeat_the_records() {
    let backwards = "0,A,0,0,0\n".replace("A,0,0,0", "0,512,r,5.0").replace("0,0,512", "0,8,512")
        + "1,9,512,w,4.0\n1,9999,1024,w,6.0\n";
    let error = replay("order", &backwards, "").unwrap_err().to_string();
    assert!(error.contains("backwards"), "{error}");
    let at =
        |requests: &[WorkloadRequest]| requests.iter().map(|r| r.at.0 / 1_000_000_000).collect::<Vec<_>>();
    let lba = |requests: &[WorkloadRequest]| requests.iter().map(|r| r.command.lba.0).collect::<Vec<_>>();
    let clamped = replay("order", &backwards, "unordered = \"clamp\"").unwrap();
    assert_eq!((at(&clamped), lba(&clamped)), (vec![0, 0, 1], vec![8, 9, 9999 % 2048]));
    let sorted = replay("order", &backwards, "unordered = \"sort\"\ntime_scale = 2.0").unwrap();
    assert_eq!((at(&sorted), lba(&sorted)), (vec![0, 2, 4], vec![9, 8, 9999 % 2048]));
    let sort = "unordered = \"sort\"\n";
    let one = replay("order", &backwards, &(sort.to_owned() + "device = 1\nrepeat = 2")).unwrap();
    // Records at 4 and 6 s: passes of 2 s, the second after the mean gap of 2 s.
    assert_eq!((at(&one), lba(&one)), (vec![0, 2, 4, 6], vec![9, 1807, 9, 1807]));
    let fit = replay("order", &backwards, &(sort.to_owned() + "addresses = \"fit\"")).unwrap();
    // Pieces 0 and 4 are touched; packed they need 2 MiB, so the second wraps in 1 MiB: 9999 = 4 * 2048 + 1807.
    assert_eq!(lba(&fit), [9, 8, 1807]);
    let concat = replay("order", &backwards, &(sort.to_owned() + "devices = \"concat\"")).unwrap();
    // Device 0 (the first in the file) ends at 9 and takes one piece of 2048 sectors, which is the capacity.
    assert_eq!(lba(&concat), [9, 8, 1807]);
    let strict =
        replay("order", &backwards, &(sort.to_owned() + "addresses = \"strict\"")).unwrap_err().to_string();
    assert!(strict.contains("LBA 9999") && strict.contains("2048 sectors"), "{strict}");
    let error = replay("order", &backwards, "device = 7").unwrap_err().to_string();
    assert!(error.contains("device 7 is not among 0, 1"), "{error}");
    let closed = replay(
        "order",
        &backwards,
        "unordered = \"clamp\"\nqueue_depth = 4\nskip = 1\nhead = 1\nalign = \"4KiB\"",
    )
    .unwrap();
    assert_eq!((at(&closed), lba(&closed), closed[0].command.sectors), (vec![0], vec![8], 8));
}

#[test]
fn writes_carry_the_stream_hint_of_their_device_in_every_pass() {
    let text = "5,0,512,w,0.0\n7,8,512,w,1.0\n7,8,512,r,2.0\n9,16,512,w,3.0\n5,24,512,w,4.0\n";
    let settings = "repeat = 2\nstreams = { 5 = 3, 7 = 1 }";
    let hints = |settings: &str| -> Vec<u16> {
        replay("streams", text, settings).unwrap().iter().map(|r| r.command.placement.0).collect()
    };
    assert_eq!(hints(settings), [3, 1, 0, 0, 3, 3, 1, 0, 0, 3]);
    assert_eq!(hints("repeat = 2"), [0; 10]);
}

#[test]
fn stream_hints_of_devices_that_do_not_occur_are_noted() {
    let path = file("absent-streams", b"5,0,512,w,0.0\n7,8,512,w,1.0\n");
    let text = format!("[trace]\nfile = {path:?}\nstreams = {{ 5 = 3, 8 = 1 }}");
    let spec: WorkloadSpec = toml::from_str(&text).unwrap();
    let mut source = spec.open(&TARGET).unwrap().source;
    assert!(source.notes().is_empty(), "nothing has been asked yet");
    source.fill(&mut Vec::new(), 10).unwrap();
    assert_eq!(source.notes(), ["workload.trace.streams names 8; the records replayed are of 5, 7."]);
}

#[test]
fn settings_are_checked() {
    for (settings, parts) in [
        ("repeat = 0", &["workload.trace.repeat", "at least 1"][..]),
        ("time_scale = 0.0", &["workload.trace.time_scale", "1e-6"]),
        ("queue_depth = 0", &["workload.trace.queue_depth"]),
        ("queue_depth = 1\ntime_scale = 2.0", &["queue_depth", "time_scale"]),
        ("align = \"1000B\"", &["workload.trace.align", "1000B"]),
        ("time_unit = \"ms\"", &["workload.trace.time_unit", "spc"]),
    ] {
        let message = replay("settings", "0,0,512,r,0\n", settings).unwrap_err().to_string();
        assert!(parts.iter().all(|part| message.contains(part)), "{settings}: {message}");
    }
    let missing = TraceSpec { file: "/nonexistent/trace".into(), ..TraceSpec::default() };
    assert!(trace_info(&missing).unwrap_err().to_string().contains("/nonexistent/trace: cannot be opened"));
}

/// A trace that reaches beyond the device is told with the share of its requests, whatever becomes of these.
#[test]
fn requests_beyond_the_capacity_are_noted() {
    // One of four lies beyond 1 MiB.
    let text = "0,8,512,r,0.0\n0,9,512,w,1.0\n0,10,512,r,2.0\n0,999999,512,w,3.0\n";
    let path = file("beyond", text.as_bytes());
    let notes = |addresses: &str| {
        let text = format!("[trace]\nfile = {path:?}\n{addresses}");
        let spec: WorkloadSpec = toml::from_str(&text).unwrap();
        let mut workload = spec.open(&TARGET).unwrap();
        assert!(workload.source.notes().is_empty(), "nothing has been asked yet");
        let mut out = Vec::new();
        while workload.source.fill(&mut out, 3).unwrap() > 0 {}
        workload.source.notes().join(" ")
    };
    let start = "25.0 % of the trace's requests (1 of 4) lie beyond the 1 MiB that the host has: ";
    assert!(notes("addresses = \"wrap\"").starts_with(&format!("{start}they wrapped")));
    for same in ["", "addresses = \"fit\""] {
        assert!(notes(same).starts_with(&format!("{start}the 2 MiB of 1-MiB pieces")), "{}", notes(same));
    }
    for same in ["strict", "refuse"] {
        let error = replay("beyond", text, &format!("addresses = \"{same}\"")).unwrap_err().to_string();
        assert!(error.contains("line 4") && error.contains("LBA 999999"), "{error}");
    }
    let within = replay("within", "0,8,512,r,0.0\n", "addresses = \"refuse\"").unwrap();
    assert_eq!(within.len(), 1);
}
