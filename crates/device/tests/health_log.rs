//! Is the health log's page what tools read? It is decoded by the layout that nvme-cli has of it (`struct nvme_smart_log` of libnvme), in
//! Python's `struct`, where there is a Python; and by the specification's offsets.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use outlast_device::Smart;
use outlast_device::health_log::{HealthLog, critical_warning};
use outlast_units::Nanos;
use std::process::Command;

fn log() -> HealthLog {
    HealthLog {
        smart: Smart {
            host_read_commands: 0x0102_0304_0506_0708,
            host_write_commands: 12,
            data_units_read: 13,
            data_units_written: 14,
            media_errors: 15,
            available_spare: 9,
            percentage_used: 16,
            read_only: true,
        },
        critical_warning: critical_warning::SPARE | critical_warning::READ_ONLY,
        controller_busy: Nanos::secs(17 * 60 + 59),
        power_cycles: 18,
        power_on: Nanos::secs(19 * 3600 + 3599),
        unsafe_shutdowns: 20,
        error_log_entries: 21,
    }
}

#[test]
fn every_field_of_the_page_is_where_the_specification_has_it() {
    let page = log().page();
    let number = |from: usize| u128::from_le_bytes(page[from..from + 16].try_into().unwrap());
    assert_eq!((page[0], page[3], page[4], page[5]), (0b1001, 9, 10, 16));
    assert_eq!([number(32), number(48), number(64), number(80)], [13, 14, 0x0102_0304_0506_0708, 12]);
    assert_eq!([number(96), number(112), number(128), number(144)], [17, 18, 19, 20]);
    assert_eq!([number(160), number(176)], [15, 21]);
    assert!(page[1..3].iter().chain(&page[6..32]).chain(&page[192..]).all(|&byte| byte == 0));
}

#[test]
fn wear_beyond_the_scale_is_its_end() {
    let worn = |percentage_used| HealthLog { smart: Smart { percentage_used, ..Smart::default() }, ..log() };
    assert_eq!([254, 255, 256, 1_000_000].map(|used| worn(used).page()[5]), [254, 255, 255, 255]);
    assert_eq!(worn(70_000).smartctl().percentage_used, 255);
}

/// The page, read by the names and sizes of `struct nvme_smart_log`, is what smartctl's names say.
#[test]
fn another_reader_finds_the_same_figures() {
    const READER: &str = r#"
import json, struct, sys
page = bytes.fromhex(sys.argv[1])
names = ["critical_warning", "temperature", "available_spare", "available_spare_threshold", "percentage_used",
         "endurance_group", "reserved"]
head = dict(zip(names, struct.unpack_from("<BHBBBB25s", page, 0)))
numbers = ["data_units_read", "data_units_written", "host_reads", "host_writes", "controller_busy_time", "power_cycles",
           "power_on_hours", "unsafe_shutdowns", "media_errors", "num_err_log_entries"]
values = struct.unpack_from("<" + "QQ" * 10, page, 32)
assert all(high == 0 for high in values[1::2])
head.update(zip(numbers, values[0::2]))
head.update(zip(["warning_temp_time", "critical_comp_time"], struct.unpack_from("<II", page, 192)))
assert len(page) == 512 and head.pop("temperature") == 0 and head.pop("endurance_group") == 0
assert head.pop("reserved") == bytes(25)
print("\n".join(f"{name}={value}" for name, value in head.items()))
"#;
    let hex = log().page().iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    let Ok(read) = Command::new("python3").args(["-c", READER, &hex]).output() else {
        eprintln!("skipped: there is no python3 to read the page");
        return;
    };
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    let mut read: Vec<String> = String::from_utf8(read.stdout).unwrap().lines().map(str::to_owned).collect();
    // Debug output of a struct has a field a line: `    name: value,`.
    let shape = format!("{:#?}", log().smartctl());
    let fields = shape.lines().filter_map(|line| line.trim().trim_end_matches(',').split_once(": "));
    let mut told: Vec<String> = fields.map(|(name, value)| format!("{name}={value}")).collect();
    read.sort_unstable();
    told.sort_unstable();
    assert_eq!(read, told);
    assert_eq!(read.len(), 16);
}
