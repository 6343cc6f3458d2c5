//! Does what is written read back, is every damage reported by name and place, and does no input panic?
#![allow(
    clippy::unwrap_used,
    clippy::format_collect,
    clippy::print_stdout,
    reason = "tests fail by panicking, build small texts, and say what they skip"
)]

use crate::trace_settings::TARGET;
use outlast_device::{Command, Op};
use outlast_units::{Bytes, Lba, Nanos};
use outlast_workload::{
    AddressUnit, TimeUnit, TraceFormat, TraceSpec, WorkloadError, WorkloadRequest, WorkloadSpec,
    WorkloadTarget,
};
use outlast_workload::{convert, parse_bytes, trace_info};
use proptest::prelude::*;
use std::io::Write as _;
use std::path::PathBuf;

const FORMATS: [TraceFormat; 10] = [
    TraceFormat::Msr,
    TraceFormat::Spc,
    TraceFormat::Ascii,
    TraceFormat::Blkparse,
    TraceFormat::FioIolog,
    TraceFormat::FioIologV2,
    TraceFormat::Vscsi,
    TraceFormat::Alibaba,
    TraceFormat::Etw,
    TraceFormat::Commands,
];

/// A file in the test's own folder.
pub(crate) fn file(name: &str, bytes: &[u8]) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    #[allow(clippy::disallowed_methods, reason = "tests write the traces that they read")]
    std::fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Written in `format` through an ASCII trace, which is exact.
fn written(name: &str, requests: &[WorkloadRequest], format: TraceFormat) -> Vec<u8> {
    let text: String = requests
        .iter()
        .map(|r| {
            format!(
                "{} 0 {} {} {}\n",
                r.at.0,
                r.command.lba,
                r.command.sectors,
                u8::from(r.command.op == Op::Read)
            )
        })
        .collect();
    let spec = TraceSpec {
        file: file(name, text.as_bytes()),
        format: TraceFormat::Ascii,
        time_unit: Some(TimeUnit::Ns),
        address_unit: Some(AddressUnit::Sector),
        ..TraceSpec::default()
    };
    let mut out = Vec::new();
    let count = convert(&spec, format, &mut out, &mut |_| true).unwrap();
    assert_eq!(count, requests.len() as u64);
    out
}

fn request(at: u64, lba: u64, sectors: u32, op: Op) -> WorkloadRequest {
    WorkloadRequest { at: Nanos(at), command: Command::new(op, Lba(lba), sectors) }
}

prop_compose! {
    fn requests()(list in prop::collection::vec((0u64..1_000_000_000, 0u64..1 << 40, 1u32..10_000, any::<bool>()), 1..60)) -> Vec<WorkloadRequest> {
        let mut at = 0;
        list.into_iter().enumerate().map(|(index, (gap, lba, sectors, read))| {
            if index > 0 { at += gap; }
            request(at, lba, sectors, if read { Op::Read } else { Op::Write })
        }).collect()
    }
}

proptest! {
    #[test]
    fn written_traces_read_back(requests in requests(), index in 0usize..10) {
        let format = FORMATS[index];
        let resolution = match format {
            TraceFormat::Msr => 100,
            TraceFormat::FioIolog | TraceFormat::FioIologV2 | TraceFormat::Vscsi | TraceFormat::Alibaba | TraceFormat::Etw => 1000,
            _ => 1,
        };
        let bytes = written(&format!("roundtrip-{index}"), &requests, format);
        let found = if format == TraceFormat::Ascii {
            let spec = TraceSpec { file: file("roundtrip-ascii", &bytes), time_unit: Some(TimeUnit::Ns), address_unit: Some(AddressUnit::Sector), ..TraceSpec::default() };
            let mut workload = WorkloadSpec { trace: Some(spec), ..WorkloadSpec::default() }
                .open(&WorkloadTarget { capacity: Bytes(u64::MAX), ..TARGET }).unwrap();
            let mut out = Vec::new();
            while workload.source.fill(&mut out, 16).unwrap() > 0 {}
            out
        } else {
            parse_bytes(TraceFormat::Auto, &bytes).unwrap()
        };
        let wanted: Vec<WorkloadRequest> = requests.iter().map(|r| WorkloadRequest { at: Nanos(r.at.0 / resolution * resolution), ..*r }).collect();
        prop_assert_eq!(found, wanted);
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = parse_bytes(TraceFormat::Auto, &bytes);
        for format in FORMATS { let _ = parse_bytes(format, &bytes); }
    }

    #[test]
    fn no_damage_panics(requests in requests(), index in 0usize..10, damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8), cut in any::<prop::sample::Index>()) {
        let format = FORMATS[index];
        let mut bytes = written(&format!("damage-{index}"), &requests, format);
        for (at, byte) in damage { let at = at.index(bytes.len()); bytes[at] = byte; }
        bytes.truncate(cut.index(bytes.len()) + 1);
        for format in [format, TraceFormat::Auto] {
            if let Err(error) = parse_bytes(format, &bytes) { prop_assert!(!error.to_string().contains('\n')); }
        }
    }
}

#[test]
fn compressed_traces_are_read_and_truncated_ones_are_refused() {
    let text: String = (0..5000)
        .map(|i| {
            format!("{},hm,0,Read,{},4096,0\n", 128_166_372_003_061_629u64 + i * 17, i * 7919 % 4096 * 512)
        })
        .collect();
    let plain = parse_bytes(TraceFormat::Auto, text.as_bytes()).unwrap();
    assert_eq!(plain.len(), 5000);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    let gzip = encoder.finish().unwrap();
    let zstd = zstd::encode_all(text.as_bytes(), 1).unwrap();
    for (name, bytes) in [("gzip", gzip), ("zstd", zstd)] {
        assert_eq!(parse_bytes(TraceFormat::Auto, &bytes).unwrap(), plain);
        let error = parse_bytes(TraceFormat::Msr, &bytes[..bytes.len() / 2]).unwrap_err();
        assert!(error.to_string().contains(name) && error.to_string().contains("truncated"), "{error}");
        assert!(matches!(error, WorkloadError::Compressed { .. }));
    }
}

#[test]
fn messages_name_place_field_value_and_expectation() {
    let msr = |rows: &str| rows.replace('|', "\n").into_bytes();
    for (bytes, parts) in [
        (msr("1,hm,0,Read,0,4096,1|2,hm,0,Read,0,4096"), &["line 2", "line is", "7 columns", "not 6"][..]),
        (msr("1,hm,0,Read,0,4096,1|2,hm,0,Erase,0,4096,1"), &["line 2", "type", "Erase", "Read or Write"]),
        (msr("1,hm,0,Read,0,4096,1|2,hm,0,Read,0,-4096,1"), &["line 2", "size", "-4096", "at least 0"]),
        (msr("1,hm,0,Read,0,4096,1|2,hm,0,Read,0,0,1"), &["line 2", "size", "\"0\"", "more than 0"]),
        (
            msr("5,hm,0,Read,0,4096,1|2,hm,0,Read,0,4096,1"),
            &["line 2", "backwards", "by 300 ns", "unordered"],
        ),
        (b"".to_vec(), &["empty"]),
        (b"\n\n".to_vec(), &["empty"]),
        (b"hello world\n".to_vec(), &["not recognised", "hello world", "msr, spc"]),
    ] {
        let message = parse_bytes(TraceFormat::Auto, &bytes).unwrap_err().to_string();
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
    let mut vscsi =
        written("vscsi-cut", &[request(0, 5, 8, Op::Read), request(9, 5, 8, Op::Read)], TraceFormat::Vscsi);
    vscsi.truncate(40);
    let message = parse_bytes(TraceFormat::Vscsi, &vscsi).unwrap_err().to_string();
    assert!(
        message.contains("record 2 (byte 32)")
            && message.contains("8 bytes")
            && message.contains("truncated"),
        "{message}"
    );
}

#[test]
fn a_request_that_a_format_cannot_express_is_refused() {
    let path = file("trim", b"fio version 2 iolog\n/dev/x add\n/dev/x trim 0 4096\n/dev/x wait 150 0\n/dev/x sync 0 0\n/dev/x wait 50 0\n/dev/x write 512 512\n");
    let spec = TraceSpec { file: path, ..TraceSpec::default() };
    let error = convert(&spec, TraceFormat::Spc, &mut Vec::new(), &mut |_| true).unwrap_err().to_string();
    assert!(error.contains("request 1") && error.contains("spc") && error.contains("no trim"), "{error}");
    let mut text = Vec::new();
    assert_eq!(convert(&spec, TraceFormat::Blkparse, &mut text, &mut |_| true).unwrap(), 3);
    let back = parse_bytes(TraceFormat::Auto, &text).unwrap();
    let flush = Command { sectors: 0, op: Op::Flush, ..request(0, 0, 0, Op::Flush).command };
    assert_eq!(
        back,
        [
            request(0, 0, 8, Op::Trim),
            WorkloadRequest { at: Nanos(150_000), command: flush },
            request(200_000, 1, 1, Op::Write)
        ]
    );
    let info = trace_info(&spec).unwrap();
    assert_eq!(
        (info.trims.count, info.flushes.count, info.records, info.devices),
        (1, 1, 3, vec!["/dev/x".to_owned()])
    );
}

/// The requests of a trace with the given settings.
pub(crate) fn replay(name: &str, text: &str, settings: &str) -> Result<Vec<WorkloadRequest>, WorkloadError> {
    let path = file(name, text.as_bytes());
    let spec: WorkloadSpec = toml::from_str(&format!("[trace]\nfile = {path:?}\n{settings}")).unwrap();
    let mut workload = spec.open(&TARGET)?;
    let mut out = Vec::new();
    while workload.source.fill(&mut out, 3)? > 0 {}
    Ok(out)
}

/// Two disks of a server, by the columns that the published Microsoft traces have; written by hand.
const ETW: &str = "\
BeginHeader
               DiskRead,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr,   ByteOffset,     IOSize, ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri,  VolSnap,         FileObject, FileName
              DiskWrite,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr,   ByteOffset,     IOSize, ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri,  VolSnap,         FileObject, FileName
           DiskReadInit,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr
              DiskFlush,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr,                           ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri
EndHeader
OS Version: 6.0.6001, Trace Size: 1024KB, Events Lost: 0, Buffers lost: 0
           DiskReadInit,       1000,        store.exe (4184),       9876, 0xfffffa800aa1c2f0
               DiskRead,       6214,        store.exe (4184),       9876, 0xfffffa800aa1c2f0, 0x0000002000, 0x00002000,        5214,        3, 0x060043,        5214,       3, Original, 0xfffffa80, \"E:\\db, 1.edb\"
              DiskWrite,       7000,           System (   4),         88, 0xfffffa800aa1c2f8, 0x0000000200, 0x00000600,         200,        1, 0x060043,         200,       3, Original, 0xfffffa80, \"C:\\$LogFile\"
              DiskFlush,       7500,           System (   4),         88, 0xfffffa800aa1c300,                                100,        1, 0x000000,         100,       3
";

#[test]
fn disk_events_of_windows_are_read_by_the_columns_that_the_file_names() {
    let found = replay("etw", ETW, "addresses = \"wrap\"").unwrap();
    let flush = Command { sectors: 0, op: Op::Flush, ..request(0, 0, 0, Op::Flush).command };
    let wanted = [
        request(0, 16, 16, Op::Read),
        request(786_000, 1, 3, Op::Write),
        WorkloadRequest { at: Nanos(1_286_000), command: flush },
    ];
    assert_eq!(found, wanted);
    let disk = replay("etw", ETW, "addresses = \"wrap\"\ndevice = 3").unwrap();
    assert_eq!(disk, wanted[..1]);
    let info = trace_info(&TraceSpec { file: file("etw", ETW.as_bytes()), ..TraceSpec::default() }).unwrap();
    assert_eq!((info.records, info.devices), (3, vec!["3".to_owned(), "1".to_owned()]));
    let error = replay("etw-cut", &ETW.replace("0x00000600", "0x0000g600"), "").unwrap_err().to_string();
    assert!(
        ["etw-cut", "line 10", "IOSize", "0x0000g600", "hexadecimal"].iter().all(|part| error.contains(part)),
        "{error}"
    );
}

/// A byte order mark, comments and blank lines, as spreadsheets and people add them, change nothing before the header and
/// between records.
#[test]
fn byte_order_marks_and_comments_change_nothing() {
    let samples = [
        (
            "msr",
            "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n128166372003061629,h,0,Read,8192,4096,0\n128166372003061639,h,0,Write,0,512,0\n",
        ),
        ("spc", "0,8,4096,r,0.0\n0,16,512,w,0.5\n"),
        ("ascii", "1000 0 8 8 1\n2000 0 16 1 0\n"),
        ("alibaba", "device_id,opcode,offset,length,timestamp\n1,R,4096,4096,10\n1,W,0,512,20\n"),
        (
            "fio-iolog",
            "fio version 3 iolog\n0 /dev/a add\n0 /dev/a open\n5 /dev/a read 4096 4096\n9 /dev/a close\n",
        ),
        ("etw", ETW),
        ("blkparse", "  8,0    3        1     0.000000000   697  Q   R 223490 + 8 [kjournald]\n"),
    ];
    for (name, text) in samples {
        let settings = "addresses = \"wrap\"";
        // Other tests write files of the formats' names at the same time.
        let name = &format!("decorated-{name}");
        let plain = replay(name, text, settings).unwrap();
        assert!(!plain.is_empty(), "{name}");
        let mut decorated = "\u{feff}# made by a spreadsheet\r\n\n".to_owned();
        for line in text.lines() {
            decorated += line;
            decorated += "\r\n  # a remark, with, commas\n\n";
        }
        assert_eq!(replay(name, &decorated, settings).unwrap(), plain, "{name}");
        assert_eq!(replay(name, &format!("\u{feff}{text}"), settings).unwrap(), plain, "{name}");
    }
}

/// The line of a fault is that of the file, comments counted.
#[test]
fn lines_are_counted_with_comments() {
    let text = "# one\n\n0,8,4096,r,0.0\n# four\n0,8,4096,x,1.0\n";
    let error = replay("commented", text, "format = \"spc\"").unwrap_err().to_string();
    assert!(error.contains("line 5"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_pipe_is_refused_rather_than_waited_for() {
    for path in ["/dev/null", "/dev/zero"] {
        let spec: WorkloadSpec = toml::from_str(&format!("[trace]\nfile = {path:?}\n")).unwrap();
        let error = spec.open(&TARGET).unwrap_err().to_string();
        assert!(error.contains("must be a regular file"), "{error}");
    }
}
