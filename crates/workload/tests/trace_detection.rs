//! Is a table of somebody else's ever taken for a trace, and is every trace still recognised?
#![allow(
    clippy::unwrap_used,
    clippy::format_collect,
    reason = "tests fail by panicking and build small texts"
)]

use outlast_workload::{TraceFormat, WorkloadError, parse_bytes};
use proptest::prelude::*;

/// Columns of a format as its files have them, with the names of a header that the reader of a table might have given it.
struct Table {
    format: TraceFormat,
    separator: &'static str,
    names: &'static [&'static str],
    /// True if the format knows a header, which has these names.
    headed: bool,
}

const TABLES: [Table; 4] = [
    Table {
        format: TraceFormat::Msr,
        separator: ",",
        names: &["Timestamp", "Hostname", "DiskNumber", "Type", "Offset", "Size", "ResponseTime"],
        headed: true,
    },
    Table {
        format: TraceFormat::Alibaba,
        separator: ",",
        names: &["device_id", "opcode", "offset", "length", "timestamp"],
        headed: true,
    },
    Table {
        format: TraceFormat::Spc,
        separator: ",",
        names: &["ASU", "LBA", "Size", "Opcode", "Timestamp"],
        headed: false,
    },
    Table {
        format: TraceFormat::Ascii,
        separator: " ",
        names: &["time", "device", "address", "size", "op"],
        headed: false,
    },
];

/// One request: gap in microseconds, device, address in units of 4 KiB, size in sectors, whether it reads, response.
type Draw = (u64, u64, u64, u64, bool, u64);

fn draws() -> impl Strategy<Value = Vec<Draw>> {
    // As of a volume of 2 TiB, most of it beyond 1 GiB; two to four devices, sizes up to 64 KiB, responses in 100 ns.
    prop::collection::vec(
        (5u64..2000, 0u64..4, 300_000u64..1 << 29, 1u64..=128, any::<bool>(), 101u64..90_000),
        40..60,
    )
}

impl Table {
    /// The columns of the records.
    fn rows(&self, draws: &[Draw]) -> Vec<Vec<String>> {
        let mut now = 17;
        let mut row = |&(gap, device, place, sectors, reads, response): &Draw| {
            now += gap;
            let (offset, size) = (place * 4096, sectors * 512);
            let letter = if reads { "R" } else { "W" };
            let word = if reads { "Read" } else { "Write" };
            match self.format {
                TraceFormat::Msr => vec![
                    (128_166_372_003_061_629 + now * 10).to_string(),
                    "hm".to_owned(),
                    device.to_string(),
                    word.to_owned(),
                    offset.to_string(),
                    size.to_string(),
                    (response | 1).to_string(),
                ],
                TraceFormat::Alibaba => vec![
                    (device + 7).to_string(),
                    letter.to_owned(),
                    offset.to_string(),
                    size.to_string(),
                    (1_577_808_000_000_046 + now).to_string(),
                ],
                TraceFormat::Spc => vec![
                    device.to_string(),
                    (place * 8 + 1).to_string(),
                    size.to_string(),
                    letter.to_owned(),
                    format!("{}.{:06}", now / 1_000_000, now % 1_000_000),
                ],
                _ => vec![
                    (now * 1000 + 1).to_string(),
                    (device + 20).to_string(),
                    (place * 8).to_string(),
                    sectors.to_string(),
                    u8::from(reads).to_string(),
                ],
            }
        };
        draws.iter().map(&mut row).collect()
    }

    fn text(&self, header: Option<&[&str]>, rows: &[Vec<String>]) -> Vec<u8> {
        let header = header.map(|names| names.join(self.separator) + "\n").unwrap_or_default();
        let rows: String = rows.iter().map(|row| row.join(self.separator) + "\n").collect();
        (header + &rows).into_bytes()
    }
}

fn recognised(bytes: &[u8]) -> Result<usize, WorkloadError> {
    parse_bytes(TraceFormat::Auto, bytes).map(|requests| requests.len())
}

fn permuted<T: Clone>(row: &[T], order: &[usize]) -> Vec<T> {
    order.iter().map(|&column| row[column].clone()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Its own files are read, with its own header where it has one.
    #[test]
    fn a_format_is_recognised_by_its_columns(draws in draws()) {
        for table in &TABLES {
            let rows = table.rows(&draws);
            prop_assert_eq!(recognised(&table.text(None, &rows)).unwrap(), draws.len());
            let headed = recognised(&table.text(Some(table.names), &rows));
            prop_assert_eq!(headed.ok(), table.headed.then_some(draws.len()));
        }
    }

    /// Somebody else's table: the same columns in another order. Two columns of an ASCII trace, device and size, are small numbers of which
    /// nothing tells which is which.
    #[test]
    fn columns_in_another_order_are_no_trace(
        draws in draws(),
        orders in [Just((0..7usize).collect::<Vec<_>>()).prop_shuffle(), Just((0..5usize).collect::<Vec<_>>()).prop_shuffle()],
    ) {
        for table in &TABLES {
            let order = orders.iter().find(|order| order.len() == table.names.len()).unwrap();
            let same = order.is_sorted() || (table.format == TraceFormat::Ascii && order[..] == [0, 3, 2, 1, 4]);
            if same {
                continue;
            }
            let rows: Vec<Vec<String>> = table.rows(&draws).iter().map(|row| permuted(row, order)).collect();
            let names = permuted(table.names, order);
            for header in [None, Some(&names[..])] {
                let found = recognised(&table.text(header, &rows));
                prop_assert!(found.is_err(), "{:?} as {:?} with {:?}: {:?}", table.format, order, header, found);
            }
        }
    }

    /// The very columns of a format under other names are not its columns.
    #[test]
    fn a_header_of_other_names_is_believed(draws in draws(), column in 0usize..5) {
        for table in &TABLES {
            let mut names = table.names.to_vec();
            names[column] = "latency_us";
            let text = table.text(Some(&names), &table.rows(&draws));
            let message = recognised(&text).unwrap_err().to_string();
            prop_assert!(message.contains("its header is"), "{}", message);
            let given = parse_bytes(table.format, &text);
            prop_assert!(given.is_err(), "{:?}: {:?}", table.format, given);
        }
    }
}

#[test]
fn a_table_in_seconds_is_not_alibabas() {
    let rows: String = (0..40)
        .map(|i| {
            format!("0.{:06},R,{},4096,0.{:06}\n", 472 + 311 * i, 4096 * (94_531 + 77 * i), 1272 + 311 * i)
        })
        .collect();
    let header = "start_s,op,offset,size,end_s\n";
    assert!(recognised(format!("{header}{rows}").as_bytes()).is_err());
    assert!(recognised(rows.as_bytes()).is_err(), "nor without its header");
    let message =
        parse_bytes(TraceFormat::Alibaba, format!("{header}{rows}").as_bytes()).unwrap_err().to_string();
    assert!(
        message.contains("line 1") && message.contains("device_id,opcode,offset,length,timestamp"),
        "{message}"
    );
    let message = parse_bytes(TraceFormat::Alibaba, rows.as_bytes()).unwrap_err().to_string();
    assert!(message.contains("device is \"0.000472\"") && message.contains("whole number"), "{message}");
}

#[test]
fn records_that_no_device_had_are_refused_with_the_reason() {
    let text = |row: &dyn Fn(u64) -> String| (0..50).map(row).collect::<String>();
    for (rows, why) in [
        (text(&|i| format!("{i},R,{},4096,{}\n", i * 4096, 1000 + i)), "device of its own"),
        (text(&|i| format!("3,R,{},4096,{}\n", i * 4096, 1_000_000 - i * 7)), "runs backwards"),
        (text(&|i| format!("3,R,{},4096,{}\n", i * 4096, 5)), "arrive within 0 ns"),
        (text(&|i| format!("3,R,{},4097,{}\n", i * 4096, 1000 + i)), "whole sectors"),
        (text(&|i| format!("0,{i},4096,R,0.0000000{i:02}\n")), "arrive within 49 ns"),
    ] {
        let message = recognised(rows.as_bytes()).unwrap_err().to_string();
        assert!(message.contains(why) && message.contains("set format = "), "{why}: {message}");
    }
}

#[test]
fn a_row_index_before_msr_has_its_name_or_none() {
    let row = "128166372003061629,hm,0,Read,8192,4096,3\n";
    let header = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n";
    for text in [
        row.to_owned(),
        format!("{header}{row}"),
        format!(",{header}0,{row}"),
        format!("index,{header}0,{row}"),
        format!("0 {row}"),
    ] {
        assert_eq!(recognised(text.as_bytes()).unwrap(), 1, "{text}");
    }
    assert!(recognised(format!("latency,{header}0,{row}").as_bytes()).is_err());
}
