//! Are tables of a user's own read as their settings say, published tables recognised, and packed files named?
#![allow(
    clippy::unwrap_used,
    clippy::format_collect,
    reason = "tests fail by panicking and build small texts"
)]

use crate::trace_formats::file;
use outlast_device::{Command, Op};
use outlast_units::{Bytes, Lba, Nanos};
use outlast_workload::{
    AddressUnit, ColumnSeparator, ColumnsSpec, TimeUnit, TraceFormat, TraceSpec, WorkloadRequest,
    WorkloadSpec, WorkloadTarget, parse_bytes, trace_info,
};
use proptest::prelude::*;

/// The requests of a table.
fn read(text: &[u8], name: &str, spec: TraceSpec) -> Result<Vec<WorkloadRequest>, String> {
    let spec = TraceSpec { file: file(name, text), ..spec };
    let target = WorkloadTarget {
        capacity: Bytes(u64::MAX),
        seed: 0,
        unit: Bytes::kib(4),
        handles: 0,
        zones: None,
        namespaces: Vec::new(),
    };
    let workload = WorkloadSpec { trace: Some(spec), ..WorkloadSpec::default() };
    let mut workload = workload.open(&target).map_err(|error| error.to_string())?;
    let mut out = Vec::new();
    while workload.source.fill(&mut out, 64).map_err(|error| error.to_string())? > 0 {}
    Ok(out)
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|&name| name.to_owned()).collect()
}

prop_compose! {
    fn requests()(list in prop::collection::vec((0u64..1_000_000, 0u64..1 << 40, 1u32..10_000, any::<bool>()), 1..40)) -> Vec<WorkloadRequest> {
        let mut at = 0;
        list.into_iter().enumerate().map(|(index, (gap, lba, sectors, is_read))| {
            if index > 0 { at += 1000 * gap; }
            let op = if is_read { Op::Read } else { Op::Write };
            WorkloadRequest { at: Nanos(at), command: Command::new(op, Lba(lba), sectors) }
        }).collect()
    }
}

proptest! {
    #[test]
    fn a_table_is_read_whatever_its_columns(
        requests in requests(),
        order in Just(vec!["time", "op", "offset", "size", "other", "device"]).prop_shuffle(),
        separator in prop::sample::select(vec![ColumnSeparator::Comma, ColumnSeparator::Semicolon, ColumnSeparator::Tab, ColumnSeparator::Blanks]),
        header in any::<bool>(),
        in_sectors in any::<bool>(),
        sizes_in_sectors in any::<bool>(),
        base in 0u64..1_000_000,
        start in 0u64..1_000_000_000,
        words in prop::sample::select(vec![("R", "W"), ("0", "1"), ("in", "out"), ("Read", "Write")]),
    ) {
        let unit = |sectors: bool| if sectors { AddressUnit::Sector } else { AddressUnit::Byte };
        let scale = |sectors: bool, value: u64| if sectors { value } else { value * 512 };
        let between = match separator {
            ColumnSeparator::Comma => ", ",
            ColumnSeparator::Semicolon => ";",
            ColumnSeparator::Tab => "\t",
            ColumnSeparator::Blanks => "  ",
        };
        // A header is found by its names, whatever their order in the settings.
        let mut text = if header { format!("{}\n", order.join(between)) } else { String::new() };
        for request in &requests {
            let fields: Vec<String> = order.iter().map(|&column| match column {
                "time" => (start + request.at.0 / 1000).to_string(),
                "op" => (if request.command.op == Op::Read { words.0 } else { words.1 }).to_owned(),
                "offset" => (scale(in_sectors, request.command.lba.0) + base).to_string(),
                "size" => scale(sizes_in_sectors, u64::from(request.command.sectors)).to_string(),
                "device" => "sda".to_owned(),
                _ => "x".to_owned(),
            }).collect();
            text += &(fields.join(between) + "\n");
        }
        let given = if header { vec!["time", "op", "offset", "size", "device"] } else { order };
        let columns = ColumnsSpec {
            names: names(&given),
            separator,
            header,
            size_unit: Some(unit(sizes_in_sectors)),
            read: names(&[words.0]),
            write: names(&[words.1]),
            base,
            ..ColumnsSpec::default()
        };
        let spec = TraceSpec {
            format: TraceFormat::Columns,
            columns: Some(columns),
            time_unit: Some(TimeUnit::Us),
            address_unit: Some(unit(in_sectors)),
            ..TraceSpec::default()
        };
        prop_assert_eq!(read(text.as_bytes(), "columns-drawn", spec), Ok(requests));
    }

    #[test]
    fn no_table_panics(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for format in [TraceFormat::MsrShort, TraceFormat::Fiu, TraceFormat::Tencent, TraceFormat::Systor, TraceFormat::K5, TraceFormat::CloudPhysics, TraceFormat::OracleGeneral, TraceFormat::Biosnoop, TraceFormat::BlockRq] {
            if let Err(error) = parse_bytes(format, &bytes) { prop_assert!(!error.to_string().contains('\n')); }
        }
    }
}

/// Four requests: sector, sectors, read.
const ROWS: [(u64, u64, bool); 4] =
    [(387_920, 8, true), (635_016, 8, true), (271_952, 16, false), (567_248, 8, false)];

#[test]
fn published_tables_are_recognised_and_read() {
    let line = |format: TraceFormat, at: u64, (lba, sectors, is_read): (u64, u64, bool)| {
        let (letter, word) = if is_read { ("R", "Read") } else { ("W", "Write") };
        let (offset, size) = (lba * 512, sectors * 512);
        match format {
            TraceFormat::MsrShort => {
                format!("{},hm,0,{word},{offset},{size}", 128_166_372_003_064_000 + at * 10)
            }
            TraceFormat::Fiu => {
                format!(
                    "{} 1234 gzip {lba} {sectors} {letter} 6 0 56f11b711d91a065a2b6458eca924523",
                    89_967_404_336_000 + at * 1000
                )
            }
            TraceFormat::Tencent => format!("1538323200,{lba},{sectors},{},1296", u8::from(!is_read)),
            TraceFormat::Systor => format!("{}.{:06},0.000123,{letter},4,{offset},{size}", 1_456_789_000, at),
            TraceFormat::K5 => format!("7,{}.{:06},{letter},{offset},{size}", at / 1_000_000, at),
            TraceFormat::CloudPhysics => {
                format!("1,5633898,{},{size},{lba}", if is_read { "28" } else { "2a" })
            }
            TraceFormat::Biosnoop => format!("0.{at:06} Web Content 5689 sdb {letter} {lba} {size} 0.20"),
            _ => format!(
                "fio 77 [001] 5.{at:06}: block:block_rq_issue: 259,0 {letter}S {size} () {lba} + {sectors} [fio]"
            ),
        }
    };
    let headers = [
        (TraceFormat::MsrShort, ""),
        (TraceFormat::Fiu, ""),
        (TraceFormat::Tencent, ""),
        (TraceFormat::Systor, "Timestamp,Response,IOType,LUN,Offset,Size\n"),
        (TraceFormat::K5, ""),
        (TraceFormat::CloudPhysics, "version,time,op,size,lbn\n"),
        (TraceFormat::Biosnoop, "TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  LAT(ms)\n"),
        (TraceFormat::BlockRq, ""),
    ];
    for (format, header) in headers {
        let lines: String = (0..40).map(|i| line(format, 7 * i, ROWS[i as usize % 4]) + "\n").collect();
        let text = header.to_owned() + &lines;
        let info =
            trace_info(&TraceSpec { file: file("published", text.as_bytes()), ..TraceSpec::default() })
                .unwrap();
        assert_eq!(info.format, format);
        assert_eq!((info.reads.count, info.writes.count), (20, 20), "{format}");
        let found = parse_bytes(TraceFormat::Auto, text.as_bytes()).unwrap();
        for (index, request) in found.iter().enumerate() {
            let (lba, sectors, is_read) = ROWS[index % 4];
            let op = if is_read { Op::Read } else { Op::Write };
            assert_eq!(request.command, Command::new(op, Lba(lba), sectors as u32), "{format}");
            let has_whole_seconds = matches!(format, TraceFormat::Tencent | TraceFormat::CloudPhysics);
            let at = if has_whole_seconds { 0 } else { 7000 * index as u64 };
            assert_eq!(request.at, Nanos(at), "{format}");
        }
    }
}

#[test]
fn a_blank_type_of_systor_is_left_out_and_counted() {
    let text = "Timestamp,Response,IOType,LUN,Offset,Size\n1.5,0.1,R,0,0,4096\n1.6,0.1,,0,0,4096\n1.7,0.1,W,0,512,4096\n";
    let info =
        trace_info(&TraceSpec { file: file("systor", text.as_bytes()), ..TraceSpec::default() }).unwrap();
    assert_eq!((info.records, info.reads.count, info.writes.count), (2, 1, 1));
    assert!(info.notes.iter().any(|note| note.contains('2')), "{:?}", info.notes);
}

#[test]
fn packed_files_are_named_with_what_unpacks_them() {
    let tar = [&b"2018-10-01-01\x00"[..], &[0; 257 - 14], b"ustar\x0000", &[0; 249]].concat();
    let cases: [(&[u8], &str); 4] = [
        (b"7z\xbc\xaf...", "a 7-Zip archive"),
        (&tar, "a tar archive"),
        (b"\x07tae\x01\x00\x00\x00", "binary output of blktrace"),
        (b"\x65\x61\x74\x07\x01\x00\x00\x00", "binary output of blktrace"),
    ];
    for (bytes, what) in cases {
        let error = parse_bytes(TraceFormat::Auto, bytes).unwrap_err().to_string();
        assert!(error.contains(what) && !error.contains('\n'), "{error}");
    }
}

#[test]
fn a_wrong_description_of_columns_is_refused_by_name() {
    let spec = |columns: Option<ColumnsSpec>| TraceSpec {
        format: TraceFormat::Columns,
        columns,
        ..TraceSpec::default()
    };
    let of = |list: &[&str]| ColumnsSpec { names: names(list), ..ColumnsSpec::default() };
    let all = of(&["time", "op", "offset", "size"]);
    let text = "time,op,offset,size\n1,R,0,512\n";
    let cases = [
        (spec(None), "workload.trace.columns"),
        (spec(Some(of(&["time", "op", "offset"]))), "workload.trace.columns.names"),
        (spec(Some(of(&["time", "op", "offset", "size", "size"]))), "workload.trace.columns.names"),
        (
            spec(Some(of(&["time", "op", "offset", "size", "device", "device"]))),
            "workload.trace.columns.names",
        ),
        (spec(Some(of(&["x"; 40]))), "at most 32 columns"),
        (
            spec(Some(ColumnsSpec { read: names(&["1"]), write: names(&["1"]), ..all.clone() })),
            "workload.trace.columns.read",
        ),
        (
            spec(Some(ColumnsSpec { write: names(&[" "]), ..all.clone() })),
            "columns.write = an empty word: must be words of at least one letter; skip_others",
        ),
        (TraceSpec { columns: Some(all.clone()), ..spec(None) }, "line 1: op is \"op\""),
        (spec(Some(ColumnsSpec { header: true, ..of(&["time", "op", "offset", "size", "device"]) })), "R"),
        (TraceSpec { format: TraceFormat::Msr, ..spec(Some(all.clone())) }, "set format = \"columns\""),
        (spec(Some(ColumnsSpec { header: true, base: 1, ..all })), "at least the base, 1"),
    ];
    for (index, (spec, says)) in cases.into_iter().enumerate() {
        let found = read(text.as_bytes(), "wrong-columns", spec);
        // A header without a device is no fault: it is a column that may be absent.
        if index == 8 {
            assert_eq!(found.map(|all| all.len()), Ok(1));
            continue;
        }
        let error = found.unwrap_err();
        assert!(error.contains(says) && !error.contains('\n'), "{says}: {error}");
    }
}
