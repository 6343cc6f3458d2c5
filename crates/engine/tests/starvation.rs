//! Does collection always end, and never starve the work that it waits for? Each case was found by random settings.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(
    clippy::format_push_string,
    clippy::too_many_lines,
    reason = "texts of scenarios are put together line by line"
)]

use crate::random_settings::{Fate, MIX, TIMES, fate};
use crate::support;

use outlast_engine::parse_text;
use support::DriveText;

/// Found by [`whatever_is_not_refused_runs_to_its_end`]; each has its story.
fn ends(text: &str) {
    let scenario = parse_text(text).unwrap().0;
    if let Fate::Broken(why) = fate(scenario) {
        panic!("{why}");
    }
}

/// Superblocks of two pages of eight units. Padding the last page of every victim ate all that collecting it had gained, for
/// ever, with half of the drive free.
#[test]
fn padding_does_not_use_up_the_space_that_collection_gains() {
    for over in [0.6, 1.0, 1.2] {
        ends(&format!(
            r#"
{drive}
[precondition]
overwrite = "none"
[workload.synthetic]
size = "512B"
queue_depth = 4
requests = 2000
"#,
            drive = DriveText::channels(1)
                .planes(2)
                .blocks(20, 1, "4KiB")
                .spare(over)
                .ftl("mapping_unit = \"512B\"\nmulti_plane = false")
                .controller("write_cache = \"off\"")
        ));
    }
}

/// A buffer larger than the drive. Collection was urgent, went before host programs, and gained nothing, since the stale units
/// were in superblocks that waited for just those programs.
#[test]
fn urgent_collection_does_not_starve_the_programs_it_needs() {
    ends(&format!(
        r#"
seed = 4272917669
{drive}
[precondition]
fill = "none"
[workload.synthetic]
{MIX}
"#,
        drive = DriveText::channels(1)
            .planes(2)
            .blocks(43, 4, "2KiB")
            .spare(0.5)
            .gc("policy = \"d-choices\", choices = 2")
            .ftl("mapping_unit = \"512B\"")
            .buffer("512KiB")
            .controller("write_cache = \"volatile\"")
    ));
}

/// First in, first out, with superblocks sealed at the same moment of the write clock, which stands still while the host waits:
/// the same few wholly valid ones were taken again and again.
#[test]
fn first_in_first_out_reaches_every_superblock() {
    let drive = DriveText::channels(2).planes(2).blocks(54, 4, "512B").timing(TIMES).spare(0.3).ftl("mapping_unit = \"2KiB\"\nspare_blocks = 1\nstreams = 4\nmulti_plane = true\nallocation = \"PDWC\"").buffer("512KiB").controller("flash_cores = 2\nwrite_cache = \"protected\"\nqueue_depth = 23\ninternal_operations = 2\nlink = \"500MB/s\"\nmaster_cost = \"700ns\"\nread_cost = \"900ns\"\nwrite_cost = \"1100ns\"\nrelocation_cost = \"300ns\"");
    ends(&format!(
        r#"
seed = 1088516186
{drive}
[device.defects]
factory_bad = 0
[device.ftl.gc]
policy = "fifo"
choices = 1
pacing = false
[device.ftl.wear_leveling]
dynamic = false
static_gap = 0
[precondition]
fill = "none"
overwrite = "none"
min_drive_writes = 0.5
max_drive_writes = 1
[run]
timing = "full"
[workload.synthetic]
pattern = "uniform"
read_percent = 20
trim_percent = 5
flush_every = 30
fua_percent = 5
sizes = [{{ size = "512B", weight = 1 }}, {{ size = "4KiB", weight = 4 }}, {{ size = "20KiB", weight = 1 }}]
align = "512B"
rate_iops = 3000
requests = 2000
"#
    ));
}

/// Units begun by wear levelling while the drive was prepared counted as collection's: its victim waited for them to reach flash, and
/// they for company.
#[test]
fn collection_does_not_wait_for_units_of_wear_levelling() {
    for seed in 0..8 {
        ends(&format!(
            r#"
seed = {seed}
{drive}
[precondition]
overwrite = "workload"
min_drive_writes = 1
max_drive_writes = 2
[workload.synthetic]
{MIX}
"#,
            drive = DriveText::channels(2)
                .planes(2)
                .blocks(48, 16, "16KiB")
                .spare(0.4)
                .ftl("wear_leveling = { static_gap = 2 }")
                .buffer("1MiB")
                .controller("write_cache = \"volatile\"")
        ));
    }
}
