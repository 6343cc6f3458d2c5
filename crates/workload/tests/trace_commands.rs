//! Are traces of commands, to zones too, written and read back as they are, do handles reach writes, and is what cannot be refused by line?
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use crate::trace_formats::file;
use outlast_device::{Command, Op, PlacementId, ZoneAction, ZoneLayout};
use outlast_units::{Bytes, Lba, Nanos};
use outlast_workload::{
    AddressOverflow, ColumnsSpec, TraceFormat, TraceSpec, TraceWriter, WorkloadRequest, WorkloadSpec,
    WorkloadTarget, ZonedTarget, parse_bytes, trace_info,
};
use proptest::prelude::*;

const LAYOUT: ZoneLayout = ZoneLayout { zones: 8, size: 256, capacity: 200, block: 8 };

fn target(zones: bool, handles: u16) -> WorkloadTarget {
    let own = ZonedTarget { layout: LAYOUT, active: 4, open: 4, filled: 0, random_write: None };
    let capacity = if zones { Bytes(LAYOUT.sectors() * 512) } else { Bytes::gib(1) };
    WorkloadTarget { capacity, handles, zones: zones.then_some(own), ..crate::trace_settings::TARGET }
}

fn read(spec: TraceSpec, target: &WorkloadTarget) -> Result<Vec<WorkloadRequest>, String> {
    let workload = WorkloadSpec { trace: Some(spec), ..WorkloadSpec::default() };
    let mut workload = workload.open(target).map_err(|error| error.to_string())?;
    let mut out = Vec::new();
    while workload.source.fill(&mut out, 64).map_err(|error| error.to_string())? > 0 {}
    Ok(out)
}

fn commands(name: &str, text: &str) -> TraceSpec {
    TraceSpec { file: file(name, text.as_bytes()), format: TraceFormat::Commands, ..TraceSpec::default() }
}

fn request() -> impl Strategy<Value = Command> {
    let lba = (0..LAYOUT.sectors() - 64).prop_map(Lba);
    let moves = prop::sample::select(vec![Op::Read, Op::Write, Op::Trim, Op::Append]);
    prop_oneof![
        6 => (moves, lba.clone(), 1..64u32, 0..3u16).prop_map(|(op, lba, sectors, handle)| {
            let placement = PlacementId(if op == Op::Write { handle } else { 0 });
            Command { placement, ..Command::new(op, lba, sectors) }
        }),
        3 => (prop::sample::select(ZoneAction::ALL.to_vec()), lba).prop_map(|(action, lba)| Command::manage_zone(action, lba)),
        1 => Just(Command::FLUSH),
    ]
}

proptest! {
    /// What is written is read back, recognised by its header, with and without a drive.
    #[test]
    fn commands_are_read_back(list in prop::collection::vec((0u64..1 << 40, request()), 1..40)) {
        let mut at = 0;
        let requests: Vec<WorkloadRequest> = list.iter().enumerate().map(|(index, &(gap, command))| {
            at += if index == 0 { 0 } else { gap };
            WorkloadRequest { at: Nanos(at), command }
        }).collect();
        let mut bytes = Vec::new();
        let mut writer = TraceWriter::new(TraceFormat::Commands, &mut bytes).unwrap();
        for request in &requests { writer.write(request).unwrap(); }
        prop_assert_eq!(writer.finish().unwrap(), requests.len() as u64);
        prop_assert_eq!(&parse_bytes(TraceFormat::Auto, &bytes).unwrap(), &requests);
        let spec = TraceSpec { file: file("commands-back", &bytes), ..TraceSpec::default() };
        prop_assert_eq!(&read(spec.clone(), &target(true, 0)).unwrap(), &requests);
        let info = trace_info(&spec).unwrap();
        prop_assert_eq!(info.records, requests.len() as u64);
    }
}

#[test]
fn places_may_be_named_by_zone() {
    let text = "0,open,1z\n0.5,write,1z,4096\n# the next one\n\n1,append,2z,8192\n1.5,commit,1z+4096\n2,read,1z+8192,4096\n";
    let requests = read(commands("by-zone", text), &target(true, 0)).unwrap();
    let expected = [
        Command::manage_zone(ZoneAction::Open, Lba(256)),
        Command::new(Op::Write, Lba(256), 8),
        Command::new(Op::Append, Lba(512), 16),
        Command::manage_zone(ZoneAction::Commit, Lba(264)),
        Command::new(Op::Read, Lba(272), 8),
    ];
    let found: Vec<Command> = requests.iter().map(|request| request.command).collect();
    assert_eq!(found, expected);
    assert_eq!(requests[1].at, Nanos(500_000_000));
}

#[test]
fn what_cannot_be_is_refused_by_line_with_value_and_limit() {
    let cases = [
        ("0,read,0,4096\n1,open,0", false, 0, &["line 2", "the drive has none"][..]),
        ("0,read,0,4096\n1,append,0,4096", false, 0, &["line 2", "the drive has none"]),
        ("0,open,0z", false, 0, &["line 1", "place", "0z", "unknown"]),
        ("0,write,0,4096,2\n", false, 2, &["line 1", "handle", "2", "at most 1: the host may use 2"]),
        ("0,reset,0\n1,reset,8z", true, 0, &["line 2", "LBA 2048", "2048 sectors"]),
        ("0,reset,0\n1,read,7z+131072,4096", true, 0, &["line 2", "LBA 2048"]),
        ("0,reset,0\n1,erase,1z", true, 0, &["line 2", "command", "erase", "open-random"]),
    ];
    for (text, zones, handles, parts) in cases {
        let message = read(commands("refused", text), &target(zones, handles)).unwrap_err();
        assert!(parts.iter().all(|part| message.contains(part)), "{text}: {message}");
    }
    let msr = TraceSpec { file: file("msr-on-zones", b"0,h,0,Write,0,4096,0\n"), ..TraceSpec::default() };
    let message = read(msr, &target(true, 0)).unwrap_err();
    assert!(message.contains("workload.trace.format") && message.contains("msr"), "{message}");
    let wrapped = TraceSpec { addresses: AddressOverflow::Wrap, ..commands("wrapped", "0,reset,0") };
    let message = read(wrapped, &target(true, 0)).unwrap_err();
    assert!(message.contains("workload.trace.addresses") && message.contains("wrap"), "{message}");
    let aligned = TraceSpec { align: Some(Bytes::kib(4)), ..commands("aligned", "0,reset,0") };
    assert!(read(aligned, &target(true, 0)).unwrap_err().contains("workload.trace.align"));
}

#[test]
fn a_column_of_handles_reaches_writes() {
    let columns = ColumnsSpec {
        names: ["time", "op", "offset", "size", "handle"].map(String::from).into(),
        ..ColumnsSpec::default()
    };
    let spec = |name, text: &str| TraceSpec {
        format: TraceFormat::Columns,
        columns: Some(columns.clone()),
        ..TraceSpec { file: file(name, text.as_bytes()), ..TraceSpec::default() }
    };
    let text = "0,W,0,4096,2\n1,W,4096,4096,\n2,R,0,4096,9\n3,W,8192,4096,1\n";
    let requests = read(spec("handles", text), &target(false, 3)).unwrap();
    let handles: Vec<u16> = requests.iter().map(|request| request.command.placement.0).collect();
    assert_eq!(handles, [2, 0, 0, 1], "reads have none, and empty is the first");
    for (text, parts) in [
        ("0,W,0,4096,0\n1,W,0,4096,3\n", ["line 2", "at most 2: the host may use 3"]),
        ("0,W,0,4096,0\n1,W,0,4096,x\n", ["line 2", "a whole number"]),
        ("0,W,0,4096,65536\n", ["line 1", "at most 65535"]),
    ] {
        let message = read(spec("bad-handles", text), &target(false, 3)).unwrap_err();
        assert!(parts.iter().all(|part| message.contains(part)), "{text}: {message}");
    }
    let twice =
        ColumnsSpec { names: [columns.names.clone(), vec!["handle".into()]].concat(), ..columns.clone() };
    let spec = TraceSpec { columns: Some(twice), ..spec("handles-twice", text) };
    assert!(read(spec, &target(false, 3)).unwrap_err().contains("at most once"));
}
