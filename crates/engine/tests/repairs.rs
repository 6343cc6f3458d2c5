//! Is what a result says of a repair what was done, and the risk what the closed forms say?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_engine::RepairSummary;
use support::{DriveText, assert_close, run, scenario};

/// Four drives of 4 MiB in eight dies, which two flash cores share; a die of the second fails.
fn repaired(more: &str) -> RepairSummary {
    let text = format!(
        r#"
{drive}
[device.repair]
identifier = "l2p-all-cores"
bad_blocks = 4
[array]
level = "raid5"
members = 4
chunk = "16KiB"
[precondition]
overwrite = "none"
[[faults]]
at = "5ms"
kind = "die"
device = 1
die = 3
[workload.synthetic]
pattern = "uniform"
read_percent = 100
requests = 3000
{more}
"#,
        drive = DriveText::of_two_cores()
    );
    let run = run(scenario(&text));
    let [repair] = &run.summary().repair[..] else { panic!("one die failed") };
    repair.clone()
}

#[test]
fn a_repair_writes_exactly_the_failed_data() {
    let repair = repaired("");
    assert_eq!((repair.device, repair.die, repair.way), (Some(1), 3, Some("die")));
    assert!(repair.finished_s.is_some() && repair.lost_bytes == 0 && repair.failed_units > 0);
    // Only reads: what is lost is neither written by the host nor trimmed. Reads of the host may rewrite some before the repair does.
    let units = repair.failed_units + repair.fake_failures;
    assert!(repair.bytes_written <= units * 4096 && repair.bytes_written > repair.fake_failures * 4096);
    // RAID-5 of four: three chunks make one.
    assert_eq!(repair.bytes_read_from_peers, 3 * repair.bytes_written);
    assert_close("the parts of the time", repair.identify_s + repair.recover_s, repair.total_s, 1e-12);
    // Equation 3: two cores of four dies share the loss of one.
    let shared = repair.space_utilisation_before * 8.0 / 7.0;
    for utilisation in &repair.space_utilisation_by_core {
        assert_close("utilisation", *utilisation, shared, 2.0 / 768.0);
    }
}

#[test]
fn the_risk_is_that_of_equations_1_and_2() {
    let repair = repaired("[run]\nmember_mttf_hours = 1000");
    let risk = repair.risk.unwrap();
    let hours = repair.total_s / 3600.0;
    assert_close("a second failure", risk.second_failure, 1.0 - (-hours * 3.0 / 1000.0f64).exp(), 1e-6);
    let bits = repair.bytes_read_from_peers as f64 * 8.0;
    assert_close("a read failure", risk.read_failure, -(-1e-16 * bits).exp_m1(), 1e-6);
    // Of failures at a rate of 4 / MTTF each leads to loss by a second one, or by a read that fails.
    let loss = risk.second_failure + risk.read_failure * (1.0 - risk.second_failure);
    assert_close("mean time to data loss", risk.mttdl_hours, 1000.0 / 4.0 / loss, 1e-2);
}

#[test]
fn only_figures_that_grow_with_the_size_of_dies_are_scaled() {
    let (plain, larger) = (repaired(""), repaired("[run]\ncapacity_scale = 3"));
    assert!(plain.scaled.is_none());
    let scaled = larger.scaled.unwrap();
    assert_eq!(larger.total_s.to_bits(), plain.total_s.to_bits());
    assert_close("time", scaled.total_s, 3.0 * plain.total_s, 1e-12);
    assert_close("units", scaled.failed_units, 3.0 * plain.failed_units as f64, 1e-12);
    assert_close("bytes", scaled.bytes_written, 3.0 * plain.bytes_written as f64, 1e-12);
    assert_close("detection", larger.detected_after_ms.unwrap(), plain.detected_after_ms.unwrap(), 1e-12);
}
