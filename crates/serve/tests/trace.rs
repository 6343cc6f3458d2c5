//! Is the log of an image, written as a trace, what the device was given?
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and looks into files"
)]

use crate::support;

use outlast_device::{Command, Op};
use outlast_engine::parse_text;
use outlast_serve::log::SegmentReader;
use outlast_serve::{DeviceImage, DeviceInput, LogTraceSummary, PowerChange, parse_fault};
use outlast_units::{Bytes, Lba, Nanos};
use outlast_workload::{WorkloadRequest, WorkloadTarget};
use std::fs::{self, File};
use std::path::Path;
use support::DRIVE;
use support::load::{RecordedLoad, folder};

/// The commands in the first segment of a log, with their times.
fn given(image: &Path, number: u64) -> Vec<(Nanos, Command)> {
    let mut reader = SegmentReader::new(File::open(image.join("log/00000001")).unwrap(), number, 1).unwrap();
    let mut given = Vec::new();
    while let Some(record) = reader.next().unwrap() {
        if let DeviceInput::Command { command, .. } = record.input() {
            // A flush has no address, whatever the command says.
            let lba = if command.op == Op::Flush { Lba(0) } else { command.lba };
            given.push((record.at, Command { lba, ..command }));
        }
    }
    given
}

/// The requests of a run whose workload is the trace.
fn of_a_run(trace: &Path, capacity: Bytes) -> Vec<WorkloadRequest> {
    let file = trace.display();
    let text = format!("extends = \"demo\"\n[workload.trace]\nfile = \"{file}\"\naddresses = \"strict\"\n");
    let (scenario, _) = parse_text(&text).unwrap();
    let target = WorkloadTarget {
        capacity,
        seed: 1,
        unit: Bytes::kib(4),
        handles: 0,
        zones: None,
        namespaces: Vec::new(),
    };
    let mut workload = scenario.workload.open(&target).unwrap();
    let mut requests = Vec::new();
    while workload.source.fill(&mut requests, 1000).unwrap() > 0 {}
    requests
}

#[test]
fn a_run_of_the_trace_is_given_what_the_log_has() {
    let mut load = RecordedLoad::new(folder("traced"), DRIVE, 24, 11);
    for turn in 0..400 {
        load.turn();
        match turn {
            100 => load.give(&DeviceInput::Power(PowerChange::Cut { force: false })),
            200 => load.give(&DeviceInput::Mark("half\nof it")),
            300 => {
                let fault = parse_fault(&serde_json::json!({"kind": "die", "die": 2})).unwrap();
                load.give(&DeviceInput::Fault(&fault));
            }
            _ => {}
        }
    }
    load.turn();
    let given = given(&load.folder, load.number());
    assert!(given.len() > 200 && given.iter().any(|(_, command)| command.fua), "{}", given.len());
    assert!(
        [Op::Read, Op::Write, Op::Trim, Op::Flush].iter().all(|&op| given.iter().any(|own| own.1.op == op))
    );
    let trace = load.folder.with_extension("blkparse");
    let mut file = File::create(&trace).unwrap();
    let traced = DeviceImage::trace(&load.folder, &mut file).unwrap();
    assert_eq!(traced, LogTraceSummary { requests: given.len() as u64, remarks: 3, is_whole: true });
    let text = fs::read_to_string(&trace).unwrap();
    for remark in ["m   N power cut\n", "m   N mark half of it\n", "m   N fault die die 2\n"] {
        assert_eq!(text.matches(remark).count(), 1, "{remark}");
    }
    let run = of_a_run(&trace, load.device.identify().capacity);
    let start = given[0].0;
    let expected = given.into_iter().map(|(at, command)| WorkloadRequest { at: at - start, command });
    assert_eq!(run, expected.collect::<Vec<_>>());
}
